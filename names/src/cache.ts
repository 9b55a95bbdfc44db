import { leadsHome } from './private-address.ts';
import { aliasesOf, readRecords, secondsOf, type WireRecord, withoutOpt } from './records.ts';
import { FLAG, type Question, RCODE } from './wire.ts';

/** An answer of an upstream, read once. */
export interface Known {
  /** Without OPT. */
  bytes: Buffer;
  records: readonly WireRecord[];
  aliases: readonly Buffer[];
  is_private: boolean;
  rcode: number;
  stored_at: number;
  /** Time at which it became the latest one of the cache. */
  used_at: number;
  /** Seconds that it holds for. */
  seconds: number;
}

/** Reads an upstream’s answer. Undefined where its records do not fit its bytes. */
export function readAnswer(answer: Buffer, now: number): Known | undefined {
  const all = readRecords(answer);
  if (all === undefined) return undefined;
  const bytes = withoutOpt(answer, all);
  const records = all.filter(({ end }) => end <= bytes.length);
  return {
    bytes,
    records,
    aliases: aliasesOf(bytes, records),
    is_private: leadsHome(bytes, records),
    rcode: bytes.readUInt16BE(2) & 0xf,
    stored_at: now,
    used_at: now,
    seconds: secondsOf(bytes, records),
  };
}

/** Answers differ by name, type, and whether DNSSEC was asked for, checked or not. */
export function cacheKey({ name, type, edns, flags }: Question): string {
  const dnssec = (edns?.is_dnssec ? 2 : 0) + ((flags & FLAG.CD) !== 0 ? 1 : 0);
  return `${name.toString('latin1')}${String.fromCharCode(type, dnssec)}`;
}

/** Bytes of an entry beside its answer, about. */
const ENTRY_BYTES = 400;
const RECORD_BYTES = 80;
const STALE_MS = 86_400_000;
const SECONDS_MAXIMUM = 86_400;
/** An entry becomes the latest one again after this time: a move costs more than a look. */
const USED_MS = 1_000;
/** Steps of a clock that is being corrected. */
const STEP_MS = 1_000;

/** Answers of upstreams, the least used ones first, within a number of bytes. */
export class Cache {
  private readonly entries = new Map<string, Known>();
  private readonly maximum: number;
  private held = 0;
  private latest = 0;

  constructor(maximum: number) {
    this.maximum = maximum;
  }

  private clear(): void {
    this.entries.clear();
    this.held = 0;
  }

  private static weigh({ bytes, records }: Known): number {
    return bytes.length + records.length * RECORD_BYTES + ENTRY_BYTES;
  }

  private remove(key: string): void {
    const entry = this.entries.get(key);
    if (entry === undefined) return;
    this.entries.delete(key);
    this.held -= Cache.weigh(entry);
  }

  /**
   * An answer whose time has not passed; with `stale`, one of the last day. Times are those of the calendar, since a monotonic clock may stand still while the
   * machine sleeps. When the clock is put back, all answers go.
   */
  find(key: string, now: number, stale = false): Known | undefined {
    if (now < this.latest - STEP_MS) this.clear();
    this.latest = now;
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    const age = now - entry.stored_at;
    if (age > Math.min(entry.seconds, SECONDS_MAXIMUM) * 1000 + (stale ? STALE_MS : 0)) {
      if (age > STALE_MS) this.remove(key);
      return undefined;
    }
    if (now - entry.used_at > USED_MS) {
      entry.used_at = now;
      this.entries.delete(key);
      this.entries.set(key, entry);
    }
    return entry;
  }

  store(key: string, entry: Known): void {
    if (entry.seconds === 0 || (entry.rcode !== RCODE.NOERROR && entry.rcode !== RCODE.NXDOMAIN)) return;
    this.remove(key);
    this.entries.set(key, entry);
    this.held += Cache.weigh(entry);
    for (const oldest of this.entries.keys()) {
      if (this.held <= this.maximum) return;
      this.remove(oldest);
    }
  }
}
