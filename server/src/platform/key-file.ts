import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { newId } from './id.ts';

/** Length of every key of the installation, in bytes (AES-256). */
export const KEY_BYTES = 32;

class NotAFile extends Error {
  constructor(path: string) {
    super(`${path} isn’t a key file. Restore the file or choose another one.`);
  }
}

/** Reads a key of the installation; undefined if the file does not exist. @throws when the file does not hold a key. */
export function readKeyFile(path: string): Buffer | undefined {
  try {
    const stats = statSync(path);
    // Reading a pipe without a writer would block, and reading a device would not end.
    if (!stats.isFile() && !stats.isDirectory()) throw new NotAFile(path);
    const key = readFileSync(path);
    if (key.length === KEY_BYTES) return key;
  } catch (error) {
    if (error instanceof NotAFile) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    if (code === 'ENOENT') return undefined;
    if (code === 'EISDIR') throw new Error(`${path} is a folder, not a key file. Restore the file or choose another one.`);
    throw new Error(
      `We can’t read the key file ${path} (${code}). Make the Palisade user its owner (chown) and allow reading (chmod 600).`,
      { cause: error },
    );
  }
  throw new Error(`The key file ${path} doesn’t contain a key of ${KEY_BYTES} bytes. Restore it.`);
}

/** Reads a key of the installation, or creates it, readable by its owner only. @throws when the file does not hold a key. */
export function openKeyFile(path: string): Buffer {
  const known = readKeyFile(path);
  if (known !== undefined) return known;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const made = `${path}.${newId()}`;
  try {
    writeFileSync(made, randomBytes(KEY_BYTES), { flag: 'wx', mode: 0o600, flush: true });
    linkSync(made, path);
  } catch (error) {
    // Another server created the file first; use its key.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(made, { force: true });
  }
  return readFileSync(path);
}
