import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import type { Budget } from '#scanner/reading/limits.ts';
import type { Member, MemberBody } from '#scanner/reading/member.ts';
import type { Finding } from './examination.ts';
import type { Help } from './help.ts';

// The next members of an archive are unpacked while another process matches them, if one has nothing else to do, so that two read it. The findings, and their order, are the same as
// without it.

/** Smaller archives are read sooner than anybody is asked. Bytes. */
export const AHEAD_LEAST_BYTES = 4 * 1024 ** 2;

/** The most that is unpacked and not examined yet, but for the last one. So nothing waits behind an archive of which others are asked as well: in archives within archives it adds up nowhere. */
const AHEAD = { bytes: AHEAD_LEAST_BYTES, members: 256 } as const;
/** The most that is asked for at once, but for one member that is larger. */
const BATCH = { bytes: 384 * 1024, members: 64 } as const;
/** Larger members are matched here: other files must not wait for them. Bytes. */
const MEMBER_BYTES_MAXIMUM = 1024 ** 2;
/** So many questions are open at a time: one is answered while the next is on its way. */
const QUESTIONS_MAXIMUM = 2;
/** The next members are left for this process, which would wait for them. */
const OWN = 3;

/** A file with the bytes of one question. */
interface Slot {
  path: string;
  file: number;
}

/** A member with the finding of another process for its content, if one was asked before its turn. */
export interface MemberAhead extends Member {
  matched?: Promise<Finding | undefined>;
}

interface Ahead {
  member: MemberAhead;
  /** Unpacked. */
  bytes: number;
  /** Of a member that another process may match. */
  asks: { bytes: Buffer; path: string | undefined } | undefined;
}

/** Asks another process for members, many at a time. */
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

  /** The bytes in a file, or undefined where the disk takes no more. */
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
      // A content that cannot be put there is matched here.
    }
    if (slot !== undefined) this.free.push(slot);
    return undefined;
  }

  /** Gives each member its finding, once it is known; undefined where no process could be asked after all. */
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

/** Members to ask for, behind those that are next; empty where it is not worth while. */
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

/** The bytes of a content without the buffer around them: a window of the archive, or as much as the member claims to have. */
function ownBytes({ bytes, size }: { bytes: Buffer; size: number }): Buffer {
  const own = bytes.subarray(0, size);
  return own.buffer.byteLength > 2 * size ? Buffer.from(own) : own;
}

/** A member that is read before its turn. `is_last`: its archive must be examined before the next member is read. */
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
 * The same members, in their order, each with what another process finds in it where one was asked. Of readers whose members can be read before the ones that came
 * earlier were examined.
 *
 * @param newPath a path for a file that nobody else uses
 * @param pathOf where a member stands, for rules that ask for it
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
          // Those before are good.
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
