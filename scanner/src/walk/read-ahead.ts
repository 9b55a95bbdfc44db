import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import type { Budget } from '#scanner/reading/limits.ts';
import type { Member, MemberBody } from '#scanner/reading/member.ts';
import type { Finding } from './examination.ts';
import type { Help } from './help.ts';

// Unpacks the next members of an archive ahead of their turn and has an idle process match them, so that two processes work on one archive. The findings, and their order,
// are the same as without it.

/** A smaller archive is read faster alone. Bytes. */
export const AHEAD_LEAST_BYTES = 4 * 1024 ** 2;

/** Once so much is unpacked and not examined, no further member is unpacked. A nested archive that is itself read ahead has at least these bytes, so memory does not add up. */
const AHEAD = { bytes: AHEAD_LEAST_BYTES, members: 256 } as const;
/** Maximum of one request, except for a single larger member. */
const BATCH = { bytes: 384 * 1024, members: 64 } as const;
/** Larger members are matched by this process: other files must not wait for them. Bytes. */
const MEMBER_BYTES_MAXIMUM = 1024 ** 2;
/** Maximum number of open requests: one is matched while the next is on its way. */
const QUESTIONS_MAXIMUM = 2;
/** Number of next members that this process matches itself, because it would otherwise wait for them. */
const OWN = 3;

/** A file with the bytes of one request. */
interface Slot {
  path: string;
  file: number;
}

/** A member, with another process's finding for its content if that was requested ahead of its turn. */
export interface MemberAhead extends Member {
  matched?: Promise<Finding | undefined>;
}

interface Ahead {
  member: MemberAhead;
  /** Unpacked size. */
  bytes: number;
  /** Content and path of a member that another process may match. */
  asks: { bytes: Buffer; path: string | undefined } | undefined;
}

/** Asks another process to match members, in batches. */
class Questions {
  private open = 0;
  private readonly help: Help;
  private readonly newPath: () => string;
  private readonly slots: Slot[] = [];
  private readonly free: Slot[] = [];

  constructor(help: Help, newPath: () => string) {
    this.help = help;
    this.newPath = newPath;
  }

  get may_ask(): boolean {
    return this.open < QUESTIONS_MAXIMUM && this.help.isLikely();
  }

  /** Writes the bytes to a file; undefined if that fails. */
  private keep(bytes: Buffer): Slot | undefined {
    let slot = this.free.pop();
    try {
      if (slot === undefined) {
        const path = this.newPath();
        slot = { path, file: openSync(path, 'wx', 0o600) };
        this.slots.push(slot);
      }
      if (writeSync(slot.file, bytes, 0, bytes.length, 0) === bytes.length) return slot;
    } catch {
      // Content that cannot be written is matched by this process.
    }
    if (slot !== undefined) this.free.push(slot);
    return undefined;
  }

  /** Requests the findings of a batch and sets `matched` of each member; it resolves to undefined if no process could match it. */
  ask(batch: readonly Ahead[]): void {
    const asked = batch.flatMap((ahead) => ahead.asks ?? []);
    const slot = this.keep(Buffer.concat(asked.map(({ bytes }) => bytes)));
    if (slot === undefined) return;
    let from = 0;
    const ranges = asked.map(({ bytes, path }) => {
      const range = { from, length: bytes.length, is_within: false, ...(path === undefined ? {} : { path }) };
      from += bytes.length;
      return range;
    });
    this.open += 1;
    const findings = this.help.ask(slot.path, ranges).findings.finally(() => {
      this.open -= 1;
      this.free.push(slot);
    });
    for (const [index, ahead] of batch.entries()) {
      ahead.asks = undefined;
      ahead.member.matched = findings.then((all): Finding | undefined => all?.[index]);
    }
  }

  close(): void {
    for (const { file, path } of this.slots) {
      closeSync(file);
      rmSync(path, { force: true });
    }
  }
}

/** The members of the next request, without those that this process matches itself; may be empty. */
function batchOf(waiting: readonly Ahead[]): Ahead[] {
  const batch: Ahead[] = [];
  let bytes = 0;
  for (const ahead of waiting.slice(OWN)) {
    if (ahead.asks === undefined) continue;
    const { length } = ahead.asks.bytes;
    if (batch.length > 0 && (bytes + length > BATCH.bytes || batch.length >= BATCH.members)) return batch;
    batch.push(ahead);
    bytes += length;
  }
  return batch;
}

/** The bytes of a content, copied if their buffer is much larger: a window of the archive, or of the size that the member claims. */
function ownBytes({ bytes, size }: { bytes: Buffer; size: number }): Buffer {
  const own = bytes.subarray(0, size);
  return own.buffer.byteLength > 2 * size ? Buffer.from(own) : own;
}

/** Reads a member ahead of its turn. `is_last`: it must be examined before another member is read. */
async function aheadOf(member: Member, path: string | undefined, budget: Budget): Promise<Ahead & { is_last: boolean }> {
  if (member.closed !== undefined) return { member, bytes: 0, asks: undefined, is_last: false };
  if (member.kind !== undefined) return { member, bytes: 0, asks: undefined, is_last: true };
  let read: { value: MemberBody; count: () => void };
  try {
    read = await budget.ahead(() => member.read());
  } catch (error) {
    const fail = () => {
      throw error;
    };
    return { member: { ...member, read: fail }, bytes: 0, asks: undefined, is_last: true };
  }
  const { value, count } = read;
  const known = (body: MemberBody): Member => ({
    ...member,
    read() {
      count();
      return body;
    },
  });
  if ('stream' in value || !('bytes' in value.content)) return { member: known(value), bytes: 0, asks: undefined, is_last: true };
  const bytes = ownBytes(value.content);
  const is_asked = bytes.length > 0 && bytes.length <= MEMBER_BYTES_MAXIMUM;
  return {
    member: known({ ...value, content: { size: bytes.length, bytes } }),
    bytes: bytes.length,
    asks: is_asked ? { bytes, path } : undefined,
    is_last: false,
  };
}

/**
 * Yields the same members in the same order, with another process's finding where it was requested. Only for readers whose members can be read before earlier ones
 * are examined.
 *
 * @param newPath returns a path that is not used yet
 * @param pathOf returns the path of a member, for rules that test it
 */
export async function* readAhead(
  members: AsyncGenerator<Member>,
  parts: { help: Help; budget: Budget; newPath: () => string; pathOf: (member: Member) => string | undefined },
): AsyncGenerator<MemberAhead> {
  const { help, budget, newPath, pathOf } = parts;
  const questions = new Questions(help, newPath);
  const waiting: Ahead[] = [];
  let bytes = 0;
  let ended: { error?: unknown } | undefined;
  let is_last = false;
  try {
    for (;;) {
      while (ended === undefined && !is_last && bytes < AHEAD.bytes && waiting.length < AHEAD.members) {
        try {
          const step = await members.next();
          if (step.done) ended = {};
          else {
            const ahead = await aheadOf(step.value, pathOf(step.value), budget);
            bytes += ahead.bytes;
            waiting.push(ahead);
            is_last = ahead.is_last;
          }
        } catch (error) {
          // Earlier members are valid.
          ended = { error };
        }
      }
      if (questions.may_ask) {
        const batch = batchOf(waiting);
        if (batch.length > 0) questions.ask(batch);
      }
      const next = waiting.shift();
      if (next === undefined) break;
      bytes -= next.bytes;
      yield next.member;
      if (waiting.length === 0) is_last = false;
      if (help.isBusy()) await turnOfLoop();
    }
    if (ended?.error !== undefined) throw ended.error;
  } finally {
    questions.close();
    await members.return(undefined);
  }
}
