import { statfsSync } from 'node:fs';

/** A disk that other parts, above all the database, need room on as well. */
export interface Disk {
  /** Whether this many more bytes leave the reserve untouched. */
  fits(bytes: number): boolean;
  /** @throws NoSpaceError when they do not. */
  require(bytes: number): void;
}

/** The disk has no room left. Has the file system's error code, so that code for file-system errors handles this too. */
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

/** The disk of `folder`, of which `reserve` bytes stay free. */
export function openDisk(folder: string, reserve: number, free: FreeBytes = freeBytes): Disk {
  const fits = (bytes: number) => free(folder) - bytes >= reserve;
  return {
    fits,
    require(bytes) {
      if (!fits(bytes)) throw new NoSpaceError('The disk is too full for this.');
    },
  };
}
