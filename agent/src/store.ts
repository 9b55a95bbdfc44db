import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { z } from 'zod';

/** One record in a file of its own, readable by its owner alone. */
export interface Store<T> {
  /** Undefined where nothing is kept, or what is kept cannot be read. */
  read(): Promise<T | undefined>;
  /** Whole or not at all: written beside, forced to the disk, put in place. */
  write(value: T): Promise<void>;
  remove(): Promise<void>;
}

export async function writeWhole(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const beside = join(dirname(path), `.${randomBytes(6).toString('hex')}.new`);
  try {
    const file = await open(beside, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, path);
    const folder = await open(dirname(path), 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

export function createStore<T>(path: string, schema: z.ZodType<T>): Store<T> {
  return {
    async read() {
      const text = await readFile(path, 'utf8').catch(() => undefined);
      if (text === undefined) return undefined;
      try {
        return schema.safeParse(JSON.parse(text)).data;
      } catch {
        return undefined;
      }
    },
    write: (value) => writeWhole(path, `${JSON.stringify(value)}\n`),
    remove: () => rm(path, { force: true }),
  };
}
