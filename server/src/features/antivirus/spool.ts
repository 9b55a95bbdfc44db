import { accessSync, constants, mkdirSync } from 'node:fs';
import { readdir, rename, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';

const ARRIVING = '.part';
const UNPACKED = '.unpacked';

/** The folder of uploaded bytes that an engine has yet to read. Files are named by scan id; a name that a person sent is never a path. */
export interface Spool {
  /** Where the bytes of an upload arrive. */
  arriving(id: string): string;
  /** Where they wait from `keep` on. */
  path(id: string): string;
  /** Where the engine puts members that are too big for memory. */
  unpacked(id: string): string;
  /** Takes over an upload that is complete. When this fails nothing of it is left. */
  keep(id: string): Promise<void>;
  /** Removes the bytes of a scan. Nothing there is no error. What an engine unpacks it removes itself. */
  remove(id: string): Promise<void>;
  /** Ids of complete files, and a clean-up of what a server that was killed left behind. */
  recover(known: (id: string) => boolean): Promise<void>;
}

/** `rm` with `force` looks before it removes, which costs as much again. */
async function removeFile(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  });
}

/** @throws when the folder cannot be made or written. */
export function openSpool(folder: string): Spool {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  accessSync(folder, constants.W_OK | constants.R_OK | constants.X_OK);
  const path = (id: string) => join(folder, id);
  const arriving = (id: string) => join(folder, id + ARRIVING);
  const unpacked = (id: string) => join(folder, id + UNPACKED);
  return {
    arriving,
    path,
    unpacked,
    async keep(id) {
      try {
        await rename(arriving(id), path(id));
      } catch (error) {
        await removeFile(arriving(id));
        throw error;
      }
    },
    remove: (id) => removeFile(path(id)),
    async recover(known) {
      for (const name of await readdir(folder)) {
        if (!known(name)) await rm(join(folder, name), { recursive: true, force: true });
      }
    },
  };
}
