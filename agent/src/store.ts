import { randomBytes } from 'node:crypto';
import { closeSync, fsync, mkdirSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { z } from 'zod';

/** One record in its own file, which only its owner can read. */
export interface Store<T> {
  /** Undefined if the file is missing or unreadable. */
  read(): Promise<T | undefined>;
  /** Atomic and durable: writes a temporary file, syncs it to disk, and renames it. */
  write(value: T): Promise<void>;
  remove(): Promise<void>;
}

const synced = promisify(fsync);

async function syncFolder(path: string): Promise<void> {
  const folder = openSync(path, 'r');
  try {
    await synced(folder);
  } finally {
    closeSync(folder);
  }
}

/** Atomic and durable. Only the sync is asynchronous: a thread-pool call costs more than the other steps, and each edit of the rules makes two such writes. */
export async function writeWhole(path: string, text: string): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const beside = join(dirname(path), `.${randomBytes(6).toString('hex')}.new`);
  try {
    const file = openSync(beside, 'wx', 0o600);
    try {
      writeFileSync(file, text);
      await synced(file);
    } finally {
      closeSync(file);
    }
    renameSync(beside, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

/** Atomic for readers, but not durable: it does not sync to disk. Each path has one writer. */
export function showWhole(path: string, text: string): void {
  const beside = `${path}.new`;
  writeFileSync(beside, text, { mode: 0o600 });
  renameSync(beside, path);
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
