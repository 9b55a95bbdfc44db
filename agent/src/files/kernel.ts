import { closeSync, constants, type Dir, opendirSync, openSync, readlinkSync, readSync, type Stats, statSync } from 'node:fs';

/**
 * Reads data of the kernel in /proc and /sys with synchronous calls, because the thread pool would cost ten times as much as the kernel's answer. Other users
 * cannot place files there. Of another user's process, only files that do not access the process's memory are used (`comm`, `fd`, `exe`, `ns`, `status`): a read of
 * `environ` or `cmdline` can be blocked by the process (userfaultfd(2)). The agent's own processes do not do this.
 */

const TEXT_BYTES = 64 * 1024 ** 2;
const PART_BYTES = 64 * 1024;
const NAMES_MAXIMUM = 100_000;

/** Calls `look`, and returns `otherwise` if the file no longer exists. */
function unlessGone<T>(look: () => T, otherwise: T): T {
  try {
    return look();
  } catch {
    return otherwise;
  }
}

/** Text of a kernel file; `''` if the file does not exist. */
export function kernelText(path: string, bytes_maximum = TEXT_BYTES): string {
  return unlessGone(() => {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const parts: Buffer[] = [];
      for (let length = 0; length < bytes_maximum; ) {
        const part = Buffer.allocUnsafe(Math.min(PART_BYTES, bytes_maximum - length));
        const read = readSync(file, part);
        if (read === 0) break;
        parts.push(part.subarray(0, read));
        length += read;
      }
      return Buffer.concat(parts).toString('utf8');
    } finally {
      closeSync(file);
    }
  }, '');
}

/** Whether the error means that a process ended while /proc was listed: the kernel returned no type for its entry, and Node's lstat failed. The following entries can still be read. */
const isEntryGone = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT' && 'syscall' in error && error.syscall === 'lstat';

/** Reads the next name in a folder; undefined after the last one. */
function nextName(folder: Dir): string | undefined {
  for (;;) {
    try {
      return folder.readSync()?.name;
    } catch (error) {
      if (!isEntryGone(error)) throw error;
    }
  }
}

/**
 * At most `most` names in a folder of the kernel. They are read one by one: in a larger batch, an ended process would lose the names of the others, so that a user who
 * starts many short-lived programs could hide them.
 */
export function kernelNames(path: string, most = NAMES_MAXIMUM): string[] {
  return unlessGone(() => {
    const folder = opendirSync(path, { bufferSize: 1 });
    try {
      const names: string[] = [];
      for (let name = nextName(folder); name !== undefined && names.length < most; name = nextName(folder)) names.push(name);
      return names;
    } finally {
      folder.closeSync();
    }
  }, []);
}

/** The target of a link in a kernel folder; `''` if there is none. */
export const kernelLink = (path: string): string => unlessGone(() => readlinkSync(path), '');

/** The stats of a path; undefined if it does not exist. */
export const kernelStat = (path: string): Stats | undefined => unlessGone(() => statSync(path), undefined);
