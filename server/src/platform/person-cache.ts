/** Time for which an answer is trusted: a change by another server counts here after at most this. A change made here counts at once. */
const TRUSTED_MS = 5_000;
const SIZE_MAXIMUM = 10_000;

export interface PersonCache<T, Asker = string> {
  of(asker: Asker): Promise<T>;
  /** To be called after each change: an answer that was begun before it is thrown away with it. */
  forget(user_id: string): void;
  forgetAll(): void;
}

interface PersonCacheOptions<T, Asker> {
  read: (asker: Asker) => Promise<T>;
  /** In ms. */
  now: () => number;
  /** People who are remembered. */
  most?: number;
}

/** Keeps what is read of a person far more often than it changes. `keyOf` is the id of who asks, where more of them than that is needed to read. */
export function createPersonCache<T>(parts: PersonCacheOptions<T, string>): PersonCache<T>;
export function createPersonCache<T, Asker>(
  parts: PersonCacheOptions<T, Asker> & { keyOf: (asker: Asker) => string },
): PersonCache<T, Asker>;
export function createPersonCache<T, Asker>(
  parts: PersonCacheOptions<T, Asker> & { keyOf?: (asker: Asker) => string },
): PersonCache<T, Asker> {
  const { read, keyOf = String, now, most = SIZE_MAXIMUM } = parts;
  const cache = new Map<string, { answer: Promise<T>; trusted_until: number }>();
  return {
    async of(asker) {
      const user_id = keyOf(asker);
      const cached = cache.get(user_id);
      if (cached !== undefined && cached.trusted_until > now()) return await cached.answer;
      const fresh = { answer: read(asker), trusted_until: now() + TRUSTED_MS };
      if (cache.size >= most) cache.clear();
      cache.set(user_id, fresh);
      try {
        return await fresh.answer;
      } catch (error) {
        if (cache.get(user_id) === fresh) cache.delete(user_id);
        throw error;
      }
    },
    forget: (user_id) => void cache.delete(user_id),
    forgetAll: () => cache.clear(),
  };
}
