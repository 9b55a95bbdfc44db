import { access, constants, type FileHandle, lstat, mkdir, open, readdir, readFile, rm } from 'node:fs/promises';

/**
 * Access to the agent's own files below /var/lib/palisade-agent and /run/palisade-agent: folders of root that no other user can enter, so that paths are safe to use. Records are
 * accessed by `store.ts`. For paths that another user can change, `foreign.ts` must be used.
 */

/** Names in a folder; empty if the folder does not exist. */
export const ownNames = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

export async function makeOwnFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

/** Removes a file if it exists. */
export const removeOwn = (path: string): Promise<void> => rm(path, { force: true });

/** Removes a folder with its content if it exists. */
export const removeOwnFolder = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });

/** Text of a file; undefined if it does not exist. */
export const ownText = (path: string): Promise<string | undefined> => readFile(path, 'utf8').catch(() => undefined);

/** @param flags `wx` creates a new file that only root can read; it fails if the file exists */
export const openOwn = (path: string, flags: 'r' | 'r+' | 'wx'): Promise<FileHandle> => open(path, flags, 0o600);

/** Size of a file in bytes; undefined if it does not exist. */
export const ownSize = (path: string): Promise<number | undefined> =>
  lstat(path).then(
    ({ size }) => size,
    () => undefined,
  );

/** Whether the file exists and can be executed. */
export const isProgram = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
