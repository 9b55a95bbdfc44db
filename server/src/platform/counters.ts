import type { Rate } from './limits.ts';

/** A bucket that holds `rate.count` tokens and refills by `rate.count` in each `rate.period_ms`. */
export interface Bucket {
  key: string;
  rate: Rate;
}

/** A set whose members expire `window_ms` after they were last added. It holds at most `most`. */
interface Place {
  member: string;
  most: number;
  window_ms: number;
}

/** Index of the first empty bucket, and the ms until it has a token. */
export interface Empty {
  index: number;
  wait_ms: number;
}

/** Exact counters for rate limits, also under concurrency: of one process, or with Redis shared by all servers. */
export interface Counters {
  /** Takes one token from each bucket, or none if a bucket is empty. Returns undefined, or the empty bucket and the ms until it has a token. */
  take(buckets: readonly Bucket[]): Promise<Empty | undefined>;
  /** Takes one token from each bucket in turn, until one is empty: tokens already taken are not returned. Returns the same as `take`. */
  takeInTurn(buckets: readonly Bucket[]): Promise<Empty | undefined>;
  /** Puts one token back into each bucket. */
  giveBack(buckets: readonly Bucket[]): Promise<void>;
  /**
   * Adds a member to a set. `count` is the current number of members; `isNew` is whether this one was not in it; `wait_ms` is 0, or for a full set the time until it accepts
   * another member.
   */
  put(key: string, place: Place): Promise<{ count: number; isNew: boolean; wait_ms: number }>;
  /** The number of members of a set. */
  count(key: string, window_ms: number): Promise<number>;
  /** Removes a member from a set. */
  remove(key: string, member: string): Promise<void>;
  /** Empties sets and fills buckets. */
  clear(keys: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** Far more than the sources and accounts seen at once; a bucket takes about 200 bytes. */
const KEYS_MAXIMUM = 100_000;
/** Share of the least recently used entries that is evicted when expired ones are not enough. */
const EVICTED_SHARE = 0.1;

/** A map iterates in insertion order, so the oldest keys are first. */
function evict(map: Map<string, unknown>, isOver: (key: string) => boolean, most: number): void {
  for (const key of map.keys()) {
    if (isOver(key)) map.delete(key);
  }
  if (map.size < most) return;
  let left = Math.ceil(most * EVICTED_SHARE);
  for (const key of map.keys()) {
    if (left === 0) return;
    map.delete(key);
    left -= 1;
  }
}

/** Counts in this process. `now` is in ms. */
export function createMemoryCounters(parts: { now: () => number; keys_maximum?: number }): Counters {
  const { now, keys_maximum = KEYS_MAXIMUM } = parts;
  // The generic cell rate algorithm (ITU-T I.371): a bucket is stored as the time at which it is full again.
  const full = new Map<string, number>();
  const sets = new Map<string, { window_ms: number; members: Map<string, number> }>();

  /** The members that have not expired. */
  function membersOf(key: string, window_ms: number): Map<string, number> | undefined {
    const set = sets.get(key);
    if (set === undefined) return undefined;
    const oldest = now() - window_ms;
    for (const [member, at] of set.members) {
      if (at > oldest) break;
      set.members.delete(member);
    }
    return set.members;
  }

  function newSet(key: string, window_ms: number): Map<string, number> {
    if (sets.size >= keys_maximum) {
      const at = now();
      const isOver = (old: string) => {
        const set = sets.get(old);
        return set === undefined || [...set.members.values()].every((time) => time <= at - set.window_ms);
      };
      evict(sets, isOver, keys_maximum);
    }
    const members = new Map<string, number>();
    sets.set(key, { window_ms, members });
    return members;
  }

  async function take(buckets: readonly Bucket[]): Promise<Empty | undefined> {
    const at = now();
    const after: number[] = [];
    for (const [index, { key, rate }] of buckets.entries()) {
      const fullAt = Math.max(full.get(key) ?? at, at) + rate.period_ms / rate.count;
      const wait_ms = fullAt - at - rate.period_ms;
      // The tolerance of a billionth of a period is for rounding errors.
      if (wait_ms > rate.period_ms * 1e-9) return { index, wait_ms };
      after.push(fullAt);
    }
    for (const [index, { key }] of buckets.entries()) {
      full.delete(key);
      full.set(key, after[index] ?? at);
    }
    if (full.size > keys_maximum) evict(full, (key) => (full.get(key) ?? 0) <= at, keys_maximum);
    return undefined;
  }

  return {
    take,

    async takeInTurn(buckets) {
      for (const [index, bucket] of buckets.entries()) {
        const empty = await take([bucket]);
        if (empty !== undefined) return { ...empty, index };
      }
      return undefined;
    },

    async giveBack(buckets) {
      for (const { key, rate } of buckets) {
        const fullAt = full.get(key);
        if (fullAt !== undefined) full.set(key, fullAt - rate.period_ms / rate.count);
      }
    },

    async put(key, { member, most, window_ms }) {
      const members = membersOf(key, window_ms) ?? newSet(key, window_ms);
      const isNew = !members.has(member);
      if (isNew && members.size >= most) {
        const [oldest = now()] = members.values();
        return { count: members.size, isNew: false, wait_ms: oldest + window_ms - now() };
      }
      // Re-insert at the end, because the first member is evicted first.
      members.delete(member);
      members.set(member, now());
      return { count: members.size, isNew, wait_ms: 0 };
    },

    count: async (key, window_ms) => membersOf(key, window_ms)?.size ?? 0,

    async remove(key, member) {
      const members = sets.get(key)?.members;
      members?.delete(member);
      if (members?.size === 0) sets.delete(key);
    },

    async clear(keys) {
      for (const key of keys) {
        full.delete(key);
        sets.delete(key);
      }
    },

    close: () => Promise.resolve(),
  };
}
