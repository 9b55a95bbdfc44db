import { readdirSync } from 'node:fs';
import type { Migration } from 'kysely/migration';

const NAME = /^(\d{4}-[a-z0-9-]+)\.ts$/;

function isMigration(module: unknown): module is Migration {
  return typeof module === 'object' && module !== null && 'up' in module && typeof module.up === 'function';
}

async function load(name: string): Promise<Migration> {
  const module: unknown = await import(new URL(`${name}.ts`, import.meta.url).href);
  if (!isMigration(module)) throw new Error(`the migration ${name} exports no function "up"`);
  return module;
}

/** Loads the migrations of this folder by name. The build replaces this file by a static list (scripts/build.mjs). */
export async function readFolder(): Promise<Record<string, Migration>> {
  const names = readdirSync(import.meta.dirname).flatMap((file) => NAME.exec(file)?.[1] ?? []);
  return Object.fromEntries(await Promise.all(names.map(async (name): Promise<[string, Migration]> => [name, await load(name)])));
}
