import { accessSync, constants, mkdirSync } from 'node:fs';
import { readdir, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Disk } from '#platform/disk.ts';
import { refuse } from './antivirus.refusals.ts';

/** A file of at most this many bytes is held in memory, and written to the folder only if it must wait. */
export const HELD_BYTES_MAXIMUM = 64 * 1024;

const ARRIVING = '.part';
const UNPACKED = '.unpacked';
/** Seconds after which a retry is useful. */
const RETRY_AFTER_S = { person: 30, all: 60 } as const;
/** Free disk space is checked again after this many bytes: other writes meanwhile must stay below the reserve. */
const LOOK_EVERY_BYTES = 1024 ** 2;

/** Maximum bytes in the spool: files being received, waiting ones, and those that could not be sealed yet. */
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

/** `rm` with `force` first checks the file, which costs as much again. */
async function removeFile(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  });
}

interface SpoolOptions {
  folder: string;
  limits: SpoolLimits;
  disk: Disk;
}

/**
 * Uploaded bytes that no engine has read yet: in a folder, or in memory while small and waiting only briefly. Files are named by scan id; a person's filename is never a
 * path. @throws when the folder cannot be created or written.
 */
export class Spool {
  private readonly folder: string;
  private readonly limits: SpoolLimits;
  private readonly disk: Disk;
  private readonly files = new Map<string, { user_id: string; size: number }>();
  private readonly people = new Map<string, number>();
  private readonly memory = new Map<string, Buffer>();
  /** Bytes reserved for running uploads that have not arrived yet. */
  private readonly claims = new Map<string, { user_id: string; size: number }>();
  private claimed = 0;
  private all = 0;
  private since_look = LOOK_EVERY_BYTES;

  constructor(options: SpoolOptions) {
    this.folder = options.folder;
    this.limits = options.limits;
    this.disk = options.disk;
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    accessSync(this.folder, constants.W_OK | constants.R_OK | constants.X_OK);
  }

  /** The folder in which they wait after `keep` or `store`. */
  path(id: string): string {
    return join(this.folder, id);
  }

  /** The folder in which the bytes of an upload arrive. */
  arriving(id: string): string {
    return join(this.folder, id + ARRIVING);
  }

  /** The engine's folder for archive members that are too large for memory. */
  unpacked(id: string): string {
    return join(this.folder, id + UNPACKED);
  }

  private count({ id, user_id, size }: SpooledFile): void {
    this.files.set(id, { user_id, size: (this.files.get(id)?.size ?? 0) + size });
    this.people.set(user_id, (this.people.get(user_id) ?? 0) + size);
    this.all += size;
  }

  /** Releases a part of a file's reservation. */
  private unclaim(id: string, size: number): number {
    const claim = this.claims.get(id);
    if (claim === undefined) return 0;
    const used = Math.min(size, claim.size);
    claim.size -= used;
    this.claimed -= used;
    if (claim.size === 0) this.claims.delete(id);
    return used;
  }

  private claimedBy(user_id: string): number {
    return [...this.claims.values()].reduce((sum, claim) => sum + (claim.user_id === user_id ? claim.size : 0), 0);
  }

  private requireDisk(size: number): void {
    if (this.disk.fits(size)) return;
    throw refuse('waiting_files.disk_full', {}, { retry_after: RETRY_AFTER_S.all });
  }

  private giveBack(id: string): void {
    this.unclaim(id, Number.POSITIVE_INFINITY);
    const file = this.files.get(id);
    if (file === undefined) return;
    this.files.delete(id);
    this.all -= file.size;
    const left = (this.people.get(file.user_id) ?? 0) - file.size;
    if (left > 0) this.people.set(file.user_id, left);
    else this.people.delete(file.user_id);
  }

  /**
   * Reserves this many more bytes for a file, which `remove` releases. With 0 it checks whether there is any room. @throws Problem `too_many_requests` when the person's
   * limit is reached, `storage_full` when the total limit is reached or the disk is full, `too_large` for a file that exceeds the limit alone.
   */
  take(file: SpooledFile): void {
    const { id, user_id, size } = file;
    const mine = (this.files.get(id)?.size ?? 0) + size;
    const most = Math.min(this.limits.per_person, this.limits.all);
    if (mine > most) throw refuse('waiting_files.file_too_large', { maximum: most });
    const more = Math.max(1, size);
    if ((this.people.get(user_id) ?? 0) + more > this.limits.per_person) {
      throw refuse('waiting_files.person_full', {}, { retry_after: RETRY_AFTER_S.person });
    }
    if (this.all + more > this.limits.all) {
      throw refuse('waiting_files.server_full', {}, { retry_after: RETRY_AFTER_S.all });
    }
    this.since_look += size;
    if (size === 0 || this.since_look >= LOOK_EVERY_BYTES) {
      // A file may use its own reservation, but not those of others.
      const own = Math.min(size, this.claims.get(id)?.size ?? 0);
      this.requireDisk(own === size ? size : size + this.claimed - own);
      this.since_look = 0;
    }
    this.unclaim(id, size);
    if (size > 0) this.count(file);
  }

  /**
   * Reserves disk space for an upload that announces its size, until its bytes have arrived or `remove` is called, so that of several concurrent uploads those that fit
   * succeed. The size is only a claim: per person no more is reserved than the limit allows, and further bytes are counted as they arrive. @throws Problem `storage_full`
   * when the disk has no room besides other reservations.
   */
  reserve({ id, user_id, size }: SpooledFile): void {
    const most = Math.min(this.limits.per_person, this.limits.all);
    const more = Math.min(size, most - this.claimedBy(user_id) - (this.people.get(user_id) ?? 0));
    this.requireDisk(this.claimed + Math.max(0, more));
    if (more <= 0) return;
    this.claims.set(id, { user_id, size: more });
    this.claimed += more;
  }

  /** Moves a completely uploaded file to the waiting files. On a failure it is removed. */
  async keep(id: string): Promise<void> {
    try {
      await rename(this.arriving(id), this.path(id));
    } catch (error) {
      this.giveBack(id);
      await removeFile(this.arriving(id));
      throw error;
    }
  }

  /** Accepts a completely uploaded file in memory. */
  hold(id: string, bytes: Buffer): void {
    void this.memory.set(id, bytes);
  }

  /** The bytes of a file in memory; undefined when it is in the folder. */
  held(id: string): Buffer | undefined {
    return this.memory.get(id);
  }

  /** Moves a file from memory into the folder. On a failure it is removed. */
  async store(id: string): Promise<void> {
    const bytes = this.memory.get(id);
    if (bytes === undefined) return;
    try {
      await writeFile(this.path(id), bytes, { flag: 'wx', mode: 0o600 });
      // It was removed meanwhile.
      if (!this.memory.delete(id)) await removeFile(this.path(id));
    } catch (error) {
      this.memory.delete(id);
      this.giveBack(id);
      await removeFile(this.path(id));
      throw error;
    }
  }

  /** Removes the bytes of a scan. A missing object is no error. An engine removes the files that it unpacks. */
  async remove(id: string): Promise<void> {
    if (!this.memory.delete(id)) await removeFile(this.path(id));
    this.giveBack(id);
  }

  /** Registers the complete files that an earlier run left, and removes its other files. */
  async recover(known: readonly SpooledFile[]): Promise<void> {
    const ids = new Set(known.map(({ id }) => id));
    for (const name of await readdir(this.folder)) {
      if (!ids.has(name)) await rm(join(this.folder, name), { recursive: true, force: true });
    }
    for (const file of known) if (!this.files.has(file.id)) this.count(file);
  }

  /** Ids of the complete files that are here. */
  async list(): Promise<string[]> {
    return (await readdir(this.folder)).filter((name) => !name.endsWith(ARRIVING) && !name.endsWith(UNPACKED));
  }

  /** Whether there is room left beside the reserve of the disk. */
  hasRoom(): boolean {
    return this.disk.fits(0);
  }

  /** @throws NoSpaceError when so many bytes more would leave too little. */
  require(bytes: number): void {
    this.disk.require(bytes);
  }
}

export function openSpool(options: SpoolOptions): Spool {
  return new Spool(options);
}
