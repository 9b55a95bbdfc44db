import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { newId } from './id.ts';

/** Length of every key of the installation, in bytes (AES-256). */
export const KEY_BYTES = 32;

/**
 * A key of the installation: made on first use, and read by its owner alone. `locks` is what is lost with it, in words.
 * @throws when the file holds something else.
 */
export function openKeyFile(path: string, locks: string): Buffer {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const made = `${path}.${newId()}`;
  try {
    const key = readFileSync(path);
    if (key.length !== KEY_BYTES) {
      throw new Error(`The key file ${path} does not hold a key. Restore it, or remove it together with ${locks}.`);
    }
    return key;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
  try {
    writeFileSync(made, randomBytes(KEY_BYTES), { flag: 'wx', mode: 0o600, flush: true });
    linkSync(made, path);
  } catch (error) {
    // Another server was faster; its key counts.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(made, { force: true });
  }
  return readFileSync(path);
}
