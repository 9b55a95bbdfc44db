import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import SqliteDatabase from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import type { Client } from 'pg';
import { migrations } from '#migrations/all.ts';
import { openDatabase } from '#platform/database.ts';
import { registerTextFunctions } from '#platform/folded-text.ts';
import { migrate } from '#platform/migrations.ts';

const MIGRATIONS_FOLDER = fileURLToPath(new URL('../migrations/', import.meta.url));
/** Of all workers on one server one makes the template. Any number that nothing else locks. */
const TEMPLATE_LOCK = 7_254_719;

let contents: Promise<Buffer> | undefined;

/** The bytes of an SQLite database with every migration, made once for each process of tests: the migrations of a new one take 0.2 s of a core. */
export function migratedContents(): Promise<Buffer> {
  contents ??= makeContents();
  return contents;
}

async function makeContents(): Promise<Buffer> {
  const file = new SqliteDatabase(':memory:');
  file.pragma('foreign_keys = ON');
  registerTextFunctions(file);
  const database = new Kysely<unknown>({ dialect: new SqliteDialect({ database: file }) });
  await migrate(database, migrations);
  const bytes = file.serialize();
  await database.destroy();
  return bytes;
}

/** The name of the template of these migrations; it stays on the server. */
function templateName(): string {
  const digest = createHash('sha256');
  for (const name of readdirSync(MIGRATIONS_FOLDER, { recursive: true, encoding: 'utf8' }).toSorted())
    if (name.endsWith('.ts')) digest.update(name).update(readFileSync(`${MIGRATIONS_FOLDER}${name}`));
  return `palisade_template_${digest.digest('hex').slice(0, 16)}`;
}

let template: Promise<string> | undefined;

/** A database of PostgreSQL with every migration, of which others are copied. @returns its name */
export function migratedTemplate(server: string, client: Client): Promise<string> {
  template ??= makeTemplate(server, client);
  return template;
}

async function makeTemplate(server: string, client: Client): Promise<string> {
  const name = templateName();
  await client.query('select pg_advisory_lock($1)', [TEMPLATE_LOCK]);
  try {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (rowCount === 1) return name;
    const unfinished = `${name}_unfinished`;
    await client.query(`drop database if exists ${unfinished} with (force)`);
    await client.query(`create database ${unfinished}`);
    const url = new URL(server);
    url.pathname = `/${unfinished}`;
    const database = openDatabase({ postgres: url.href });
    await migrate(database, migrations);
    await database.destroy();
    await client.query(`alter database ${unfinished} rename to ${name}`);
    return name;
  } finally {
    await client.query('select pg_advisory_unlock($1)', [TEMPLATE_LOCK]);
  }
}
