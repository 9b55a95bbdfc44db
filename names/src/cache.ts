import { leadsHome } from './private-address.ts';
import { aliasesOf, readRecords, secondsOf, type WireRecord, withoutOpt } from './records.ts';
import { FLAG, type Question, RCODE } from './wire.ts';

/** A parsed answer of an upstream server. */
export interface Known {
  /** The answer without its OPT record. */
  bytes: Buffer;
  records: readonly WireRecord[];
  aliases: readonly Buffer[];
  is_private: boolean;
  rcode: number;
  stored_at: number;
  /** Time at which the entry was last moved to the end of the cache, in ms. */
  used_at: number;
  /** Time to live, in seconds. */
  seconds: number;
}

/** Parses an upstream’s answer. Undefined if its records are malformed. */
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

/** The cache key: name, type, and the flags DO (DNSSEC OK) and CD (checking disabled). */
export function cacheKey({ name, type, edns, flags }: Question): string {
  const dnssec = (edns?.is_dnssec ? 2 : 0) + ((flags & FLAG.CD) !== 0 ? 1 : 0);
  return `${name.toString('latin1')}${String.fromCharCode(type, dnssec)}`;
}

/** Approximate bytes of an entry without its answer. */
const ENTRY_BYTES = 400;
const RECORD_BYTES = 80;
const STALE_MS = 86_400_000;
const SECONDS_MAXIMUM = 86_400;
/** An entry is moved to the end of the cache at most once per this time, in ms, because a move costs more than a lookup. */
const USED_MS = 1_000;
/** Smaller backward steps of the clock, in ms, do not clear the cache: time synchronization causes them. */
const STEP_MS = 1_000;

/** LRU cache of upstream answers with a maximum size in bytes. */
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
   * Returns an answer that has not expired; with `stale`, also up to a day after its expiry. Uses the wall clock, because a monotonic clock may stop while the
   * computer sleeps. If the clock is set back, the cache is cleared.
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
