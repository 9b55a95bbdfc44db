import { closeSync, constants, type Dir, opendirSync, openSync, readlinkSync, readSync, type Stats, statSync } from 'node:fs';

/**
 * Reads the kernel's facts in /proc and /sys: without starting a program, and without a turn through the thread pool, which would cost ten times the kernel's own answer. No
 * person decides what lies there. Of a process of another person only files that do not read that process's memory are used (`comm`, `fd`, `exe`, `ns`, `status`): reading
 * `environ` or `cmdline` waits as long as that process wants (userfaultfd(2)); the agent's own processes have no such memory.
 */

const TEXT_BYTES = 64 * 1024 ** 2;
const PART_BYTES = 64 * 1024;
const NAMES_MAXIMUM = 100_000;

/** Reads something that may be gone by then. */
function unlessGone<T>(look: () => T, otherwise: T): T {
  try {
    return look();
  } catch {
    return otherwise;
  }
}

/** Text of a kernel file; `''` if it does not exist. */
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

/** A process ended while its entry in /proc was read: the kernel gave no kind for the entry, and Node's own question for it (lstat) failed. The entries behind it can still be read. */
const isEntryGone = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT' && 'syscall' in error && error.syscall === 'lstat';

/** The next name in a folder; undefined after the last one. */
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
 * Names in a folder of the kernel, at most so many. Node reads them one by one: in a larger part, the end of one process would lose the names of the others, and a person who
 * starts many short programs could hide them.
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

/** The target of a link of the kernel, `''` where there is none. */
export const kernelLink = (path: string): string => unlessGone(() => readlinkSync(path), '');

/** The stats of a system's file, without opening it; undefined where there is none. */
export const kernelStat = (path: string): Stats | undefined => unlessGone(() => statSync(path), undefined);
