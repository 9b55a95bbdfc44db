import type { Rate } from './limits.ts';

/** A bucket that holds `rate.count` and fills by as many in each `rate.period_ms`. */
export interface Bucket {
  key: string;
  rate: Rate;
}

/** A set whose members are forgotten `window_ms` after they were last put in. It takes at most `most`. */
interface Place {
  member: string;
  most: number;
  window_ms: number;
}

/** The empty one of several buckets, and the ms until it is not. */
export interface Empty {
  index: number;
  wait_ms: number;
}

/** Counters of rate limits: exact, also under concurrency. Of one process, or with Redis of all servers together. */
export interface Counters {
  /**
   * Takes one from each bucket, or nothing when one of them is empty. Answers undefined, or which is empty and the ms until it is not.
   */
  take(buckets: readonly Bucket[]): Promise<Empty | undefined>;
  /** Takes one from each bucket in turn, until one is empty: earlier ones stay taken. Answers as `take`. */
  takeInTurn(buckets: readonly Bucket[]): Promise<Empty | undefined>;
  /** Puts one back into each bucket that it was taken from. */
  giveBack(buckets: readonly Bucket[]): Promise<void>;
  /**
   * Puts a member into a set. `count` are its members now; `isNew` is whether this one was not in it before; `wait_ms` is 0, or for a set that is full the time
   * until it takes another one.
   */
  put(key: string, place: Place): Promise<{ count: number; isNew: boolean; wait_ms: number }>;
  /** The number of members of a set. */
  count(key: string, window_ms: number): Promise<number>;
  /** Takes a member out of a set. */
  remove(key: string, member: string): Promise<void>;
  /** Empties sets and fills buckets. */
  clear(keys: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** Far more sources and accounts than are seen at once; a bucket takes some 200 bytes. */
const KEYS_MAXIMUM = 100_000;
/** Share of the least recently used entries that is evicted when expired ones are not enough. */
const EVICTED_SHARE = 0.1;

/** The first of a map's keys are those that were set longest ago. */
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
  // The generic cell rate algorithm (ITU-T I.371): a bucket is the one moment at which it is full again.
  const full = new Map<string, number>();
  const sets = new Map<string, { window_ms: number; members: Map<string, number> }>();

  /** The members that still count. */
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
      // A billionth of a period is rounding.
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
      // Last, as the latest: the first is dropped first.
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
