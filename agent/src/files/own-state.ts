import { access, constants, type FileHandle, lstat, mkdir, open, readdir, readFile, rm } from 'node:fs/promises';

/**
 * The agent's own files, below /var/lib/palisade-agent and /run/palisade-agent: folders of root that no other user can enter, so that a path is reliable. Records are
 * kept by `store.ts`. No path that another person can change is ever given to anything here; `foreign.ts` is for those.
 */

/** Names in a folder; none where there is no such folder. */
export const ownNames = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

export async function makeOwnFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

/** Removes a file; nothing happens where there is none. */
export const removeOwn = (path: string): Promise<void> => rm(path, { force: true });

/** Removes a folder with all that is in it; nothing happens where there is none. */
export const removeOwnFolder = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });

/** Text of a file; undefined where there is none. */
export const ownText = (path: string): Promise<string | undefined> => readFile(path, 'utf8').catch(() => undefined);

/** @param flags `wx` makes a file that is readable for root alone and was not there before */
export const openOwn = (path: string, flags: 'r' | 'r+' | 'wx'): Promise<FileHandle> => open(path, flags, 0o600);

/** Bytes of a file, or undefined where nothing has its name. */
export const ownSize = (path: string): Promise<number | undefined> =>
  lstat(path).then(
    ({ size }) => size,
    () => undefined,
  );

/** Whether a program of the system is there to be started. */
export const isProgram = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
