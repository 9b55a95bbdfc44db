import type { StatusDetail } from '@palisade/contract/antivirus';

const MIB = 1024 ** 2;

/** Limits of one scan, in bytes and ms. Data beyond them is not read, and the record of the scan states that. */
export interface ScanLimits {
  /** Maximum depth of archives within archives. */
  depth: number;
  /** Members of all archives of one upload. */
  members: number;
  /** Unpacked bytes of one upload. */
  unpacked_bytes: number;
  /** A member that unpacks to more than this many times its packed size is a bomb, once it is past `ratio_floor_bytes`. */
  ratio: number;
  ratio_floor_bytes: number;
  time_ms: number;
}

/** Product defaults. Deflate reaches 1032:1 at most (zlib's own figure), ordinary text and logs stay below 60:1. */
export const SCAN_LIMITS: ScanLimits = {
  depth: 16,
  members: 10_000,
  unpacked_bytes: 4 * 1024 * MIB,
  ratio: 250,
  ratio_floor_bytes: 16 * MIB,
  time_ms: 120_000,
};

/**
 * Time limit by file size: `least`, plus `per_mib` for each MiB, up to the limit of the scan. A user should not wait two minutes for a kilobyte that was made to be
 * slow. ms.
 */
const TIME = { least: 20_000, per_mib: 1_000 } as const;

/** Time limit for a file of `upload_bytes`, in ms. */
export function timeFor(limits: ScanLimits, upload_bytes: number): number {
  return Math.min(limits.time_ms, TIME.least + (TIME.per_mib * upload_bytes) / MIB);
}

/**
 * Processor time limit, which does not count time that other processes took: `small_ms` for a file of up to `small_mib`, plus `per_mib` for each further MiB. `small_ms`
 * leaves some seconds of the ten that a small file may take (docs/decisions/scanner.md). `threads`: the most that work at once. `look_ms`: time between two checks.
 */
const PROCESSOR = { small_ms: 8_000, small_mib: 10, per_mib: 2_000, threads: 4, look_ms: 50 } as const;

/** Processor time limit for a file of `upload_bytes`, in ms. */
export function processorTimeFor(limits: ScanLimits, upload_bytes: number): number {
  const { small_ms, small_mib, per_mib } = PROCESSOR;
  return Math.min(limits.time_ms, small_ms + per_mib * Math.max(0, upload_bytes / MIB - small_mib));
}

/** This process's processor time so far, in ms. */
function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * Work limit, in bytes that readers read; a byte read twice counts twice. Readers of ordinary files read fewer than ten bytes for each byte of the file and of its
 * unpacked content (measured over the files of an operating system); a reader that exceeds the limit follows crafted loops.
 */
const WORK = { floor: 64 * MIB, per_byte: 64 } as const;
/** Work between two checks of the time. Bytes. */
const WORK_BETWEEN_CHECKS = MIB;

/**
 * Maximum number of files encoded in texts, such as literals of programs, as a multiple of the limit of members: a package of 1,900 programs had 16,000.
 */
const WRITTEN_PER_MEMBER = 20;

/** Stops reading at a limit. This is an expected outcome: the walk ends and reports `detail`. */
export class LimitReached extends Error {
  override name = 'LimitReached';
  readonly detail: StatusDetail;

  constructor(detail: StatusDetail) {
    super(detail);
    this.detail = detail;
  }
}

/** Counts a scan's use. Each method throws LimitReached when its limit is passed. */
export class Budget {
  members = 0;
  private written = 0;
  /** Number of members that archives claim to have, at most the limit; used only to show progress. */
  members_announced = 0;
  /** Work of all readers so far. Bytes. */
  work = 0;
  private checked_at_work = 0;
  private unpacked_bytes = 0;
  private readonly deadline: number;
  /** Time of the next check of the processor time, by `performance.now()`. */
  private processor_from: number;
  private readonly processor_until: number;
  private readonly limits: ScanLimits;
  private readonly upload_bytes: number;

  constructor(limits: ScanLimits, upload_bytes: number) {
    this.limits = limits;
    this.upload_bytes = upload_bytes;
    const now = performance.now();
    const processor_ms = processorTimeFor(limits, upload_bytes);
    this.deadline = now + timeFor(limits, upload_bytes);
    // Even with all threads busy, the processor time cannot run out earlier.
    this.processor_from = now + processor_ms / PROCESSOR.threads;
    this.processor_until = processorTime() + processor_ms;
  }

  checkTime(): void {
    const now = performance.now();
    if (now > this.deadline) throw new LimitReached('time_limit');
    if (now < this.processor_from) return;
    this.processor_from = now + PROCESSOR.look_ms;
    if (processorTime() > this.processor_until) throw new LimitReached('time_limit');
  }

  /** Counts bytes that a reader reads, or other work of the same cost, against the work limit. */
  spend(bytes: number): void {
    this.work += bytes;
    if (this.work > WORK.floor + WORK.per_byte * (this.upload_bytes + this.unpacked_bytes)) throw new LimitReached('time_limit');
    if (this.work - this.checked_at_work < WORK_BETWEEN_CHECKS) return;
    this.checked_at_work = this.work;
    this.checkTime();
  }

  addMember(): void {
    this.members += 1;
    if (this.members > this.limits.members) throw new LimitReached('too_many_members');
    this.checkTime();
  }

  /** Counts a file that is encoded in a text. */
  addWritten(): void {
    this.written += 1;
    if (this.written > WRITTEN_PER_MEMBER * this.limits.members) throw new LimitReached('too_many_members');
    this.checkTime();
  }

  /** Adds the number of members that an archive claims to have. The claim may be false, so only the displayed progress uses it. */
  announce(members: number): void {
    this.members_announced = Math.min(this.limits.members, this.members_announced + members);
  }

  /** Checks the limit for an archive that is unpacked in one pass and has given `more` members so far. They are not counted yet. */
  expectMembers(more: number): void {
    if (this.members + more > this.limits.members) throw new LimitReached('too_many_members');
    this.checkTime();
  }

  /** Size above which a member that was unpacked from `packed_bytes` is a decompression bomb. Bytes. */
  memberMaximum(packed_bytes: number): number {
    return Math.max(this.limits.ratio_floor_bytes, this.limits.ratio * packed_bytes);
  }

  /** `member_bytes`: unpacked bytes of this member so far; `packed_bytes`: their packed bytes. */
  addUnpacked(bytes: number, member_bytes: number, packed_bytes: number): void {
    this.unpacked_bytes += bytes;
    const { ratio, ratio_floor_bytes, unpacked_bytes } = this.limits;
    if (member_bytes > this.memberMaximum(packed_bytes)) throw new LimitReached('bomb');
    // Members that share one packed range (overlapping zips) and nested bombs are each within the ratio, but not together.
    if (this.unpacked_bytes > 4 * ratio_floor_bytes && this.unpacked_bytes > ratio * this.upload_bytes)
      throw new LimitReached('bomb');
    if (this.unpacked_bytes > unpacked_bytes) throw new LimitReached('too_large');
    this.checkTime();
  }

  /**
   * Calls `read` ahead of its turn. Bytes that it unpacks are checked against the limits now, but counted only when `count` is called, in the order in
   * which they are examined.
   */
  async ahead<T>(read: () => T | Promise<T>): Promise<{ value: T; count: () => void }> {
    const before = this.unpacked_bytes;
    try {
      const value = await read();
      const bytes = this.unpacked_bytes - before;
      return { value, count: () => this.addUnpacked(bytes, 0, 0) };
    } finally {
      this.unpacked_bytes = before;
    }
  }

  mayDescend(depth: number): boolean {
    return depth < this.limits.depth;
  }
}
