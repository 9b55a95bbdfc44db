import { statfsSync } from 'node:fs';

/** A disk on which something else, the database first of all, needs room as well. */
export interface Disk {
  /** Whether so many bytes more leave the reserve as it is. */
  fits(bytes: number): boolean;
  /** @throws NoSpaceError when they do not. */
  require(bytes: number): void;
}

/** A disk that has no room for more. Its code is the file system's, so that code for that one handles this too. */
class NoSpaceError extends Error {
  override name = 'NoSpaceError';
  readonly code = 'ENOSPC';
}

/** Bytes that this process may still write on the disk of a folder. */
export type FreeBytes = (folder: string) => number;

const freeBytes: FreeBytes = (folder) => {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
};

/** The disk of `folder`, of which `reserve` bytes are kept free. */
export function openDisk(folder: string, reserve: number, free: FreeBytes = freeBytes): Disk {
  const fits = (bytes: number) => free(folder) - bytes >= reserve;
  return {
    fits,
    require(bytes) {
      if (!fits(bytes)) throw new NoSpaceError('The disk is too full for this.');
    },
  };
}
