import { accessSync, constants, mkdirSync } from 'node:fs';
import { readdir, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Disk } from '#platform/disk.ts';
import { Problem } from '#platform/problem.ts';
import { describeSize } from '#platform/size-words.ts';

/** A file of at most so many bytes is held in memory, and reaches the folder only when it waits. */
export const HELD_BYTES_MAXIMUM = 64 * 1024;

const ARRIVING = '.part';
const UNPACKED = '.unpacked';
/** Seconds after which it is worth trying again. */
const RETRY_AFTER_S = { person: 30, all: 60 } as const;
/** The disk is looked at when so many bytes have come: what else is written meanwhile is to be less than the reserve. */
const LOOK_EVERY_BYTES = 1024 ** 2;

/** How much may lie in the spool, in bytes: what arrives, what waits, and what could not be sealed yet. */
export interface SpoolLimits {
  per_person: number;
  all: number;
}

/** A file of which bytes are in the spool. */
interface SpooledFile {
  id: string;
  user_id: string;
  /** Bytes. */
  size: number;
}

/**
 * Uploaded bytes that an engine has yet to read: in a folder, or in memory while they are few and nobody waits for long. Files are named by scan id; a name that a
 * person sent is never a path.
 */
export interface Spool {
  /** Where the bytes of an upload arrive. */
  arriving(id: string): string;
  /** Where they wait from `keep`, or `store`, on. */
  path(id: string): string;
  /** Where the engine puts members that are too big for memory. */
  unpacked(id: string): string;
  /**
   * Takes room for so many bytes more of a file, which `remove` gives back. Of none it looks whether there is any.
   * @throws Problem `too_many_requests` when its person has too much here, `storage_full` when everybody has or the disk has no more, `too_large` for a file that
   * alone is too much.
   */
  take(file: SpooledFile): void;
  /**
   * Keeps room of the disk free for an upload that says how many bytes it has, until they have come or `remove` is called, so that of several at once those that fit arrive. It is a claim: of one
   * person no more is kept free than one may have here, and what is beyond it is taken as it comes.
   * @throws Problem `storage_full` when the disk has no more beside what others have claimed.
   */
  reserve(file: SpooledFile): void;
  /** Takes over an upload that has arrived in the folder as a whole. When this fails nothing of it is left. */
  keep(id: string): Promise<void>;
  /** Takes over an upload that has arrived in memory as a whole. */
  hold(id: string, bytes: Buffer): void;
  /** What is held of a file; undefined when it is in the folder. */
  held(id: string): Buffer | undefined;
  /** Puts what is held of a file into the folder. When this fails nothing of it is left. */
  store(id: string): Promise<void>;
  /** Removes the bytes of a scan. Nothing there is no error. What an engine unpacks it removes itself. */
  remove(id: string): Promise<void>;
  /** Knows the complete files that an earlier run of the server left, and removes everything else that it did. */
  recover(known: readonly SpooledFile[]): Promise<void>;
  /** Ids of the complete files that are here. */
  list(): Promise<string[]>;
  /** Whether there is room left beside the reserve of the disk. */
  hasRoom(): boolean;
  /** @throws NoSpaceError when so many bytes more would leave too little. */
  require(bytes: number): void;
}

/** `rm` with `force` looks before it removes, which costs as much again. */
async function removeFile(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  });
}

/** @throws when the folder cannot be made or written. */
export function openSpool({ folder, limits, disk }: { folder: string; limits: SpoolLimits; disk: Disk }): Spool {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  accessSync(folder, constants.W_OK | constants.R_OK | constants.X_OK);
  const path = (id: string) => join(folder, id);
  const arriving = (id: string) => join(folder, id + ARRIVING);
  const unpacked = (id: string) => join(folder, id + UNPACKED);
  const files = new Map<string, { user_id: string; size: number }>();
  const people = new Map<string, number>();
  const memory = new Map<string, Buffer>();
  /** Bytes that are kept free for uploads under way, and have not come yet. */
  const claims = new Map<string, { user_id: string; size: number }>();
  let claimed = 0;
  let all = 0;
  let since_look = LOOK_EVERY_BYTES;

  function count({ id, user_id, size }: SpooledFile): void {
    files.set(id, { user_id, size: (files.get(id)?.size ?? 0) + size });
    people.set(user_id, (people.get(user_id) ?? 0) + size);
    all += size;
  }

  /** Lets go of so much of what is kept free for a file. */
  function unclaim(id: string, size: number): number {
    const claim = claims.get(id);
    if (claim === undefined) return 0;
    const used = Math.min(size, claim.size);
    claim.size -= used;
    claimed -= used;
    if (claim.size === 0) claims.delete(id);
    return used;
  }

  function claimedBy(user_id: string): number {
    return [...claims.values()].reduce((sum, claim) => sum + (claim.user_id === user_id ? claim.size : 0), 0);
  }

  function requireDisk(size: number): void {
    if (disk.fits(size)) return;
    const detail = 'The server has too little space left to take a file. Try again later.';
    throw new Problem('storage_full', { detail, retry_after: RETRY_AFTER_S.all });
  }

  function giveBack(id: string): void {
    unclaim(id, Number.POSITIVE_INFINITY);
    const file = files.get(id);
    if (file === undefined) return;
    files.delete(id);
    all -= file.size;
    const left = (people.get(file.user_id) ?? 0) - file.size;
    if (left > 0) people.set(file.user_id, left);
    else people.delete(file.user_id);
  }

  return {
    arriving,
    path,
    unpacked,

    take(file) {
      const { id, user_id, size } = file;
      const mine = (files.get(id)?.size ?? 0) + size;
      const most = Math.min(limits.per_person, limits.all);
      if (mine > most)
        throw new Problem('too_large', { detail: `The file is larger than ${describeSize(most)}, the most that is taken here.` });
      const more = Math.max(1, size);
      if ((people.get(user_id) ?? 0) + more > limits.per_person) {
        const detail =
          'Your files that wait to be read take all the room there is for one person. Wait until one of them is done.';
        throw new Problem('too_many_requests', { detail, retry_after: RETRY_AFTER_S.person });
      }
      if (all + more > limits.all) {
        const detail = 'The files that wait to be read take all the room there is for them. Try again in a moment.';
        throw new Problem('storage_full', { detail, retry_after: RETRY_AFTER_S.all });
      }
      since_look += size;
      if (size === 0 || since_look >= LOOK_EVERY_BYTES) {
        // What is kept free for this file is its own; what is kept free for others is theirs.
        const own = Math.min(size, claims.get(id)?.size ?? 0);
        requireDisk(own === size ? size : size + claimed - own);
        since_look = 0;
      }
      unclaim(id, size);
      if (size > 0) count(file);
    },

    reserve({ id, user_id, size }) {
      const most = Math.min(limits.per_person, limits.all);
      const more = Math.min(size, most - claimedBy(user_id) - (people.get(user_id) ?? 0));
      requireDisk(claimed + Math.max(0, more));
      if (more <= 0) return;
      claims.set(id, { user_id, size: more });
      claimed += more;
    },

    async keep(id) {
      try {
        await rename(arriving(id), path(id));
      } catch (error) {
        giveBack(id);
        await removeFile(arriving(id));
        throw error;
      }
    },
    hold: (id, bytes) => void memory.set(id, bytes),
    held: (id) => memory.get(id),

    async store(id) {
      const bytes = memory.get(id);
      if (bytes === undefined) return;
      try {
        await writeFile(path(id), bytes, { flag: 'wx', mode: 0o600 });
        // It was removed meanwhile.
        if (!memory.delete(id)) await removeFile(path(id));
      } catch (error) {
        memory.delete(id);
        giveBack(id);
        await removeFile(path(id));
        throw error;
      }
    },

    async remove(id) {
      if (!memory.delete(id)) await removeFile(path(id));
      giveBack(id);
    },
    async recover(known) {
      const ids = new Set(known.map(({ id }) => id));
      for (const name of await readdir(folder)) {
        if (!ids.has(name)) await rm(join(folder, name), { recursive: true, force: true });
      }
      for (const file of known) if (!files.has(file.id)) count(file);
    },
    list: async () => (await readdir(folder)).filter((name) => !name.endsWith(ARRIVING) && !name.endsWith(UNPACKED)),
    hasRoom: () => disk.fits(0),
    require: disk.require,
  };
}
