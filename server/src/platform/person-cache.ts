/** Time for which a cached answer is trusted, in ms: changes by other servers are visible after at most this time, changes by this server at once. */
const TRUSTED_MS = 5_000;
const SIZE_MAXIMUM = 10_000;

export interface PersonCache<T, Asker = string> {
  of(asker: Asker): Promise<T>;
  /** Call this after each change: an answer whose reading began before it is discarded as well. */
  forget(user_id: string): void;
  forgetAll(): void;
}

interface PersonCacheOptions<T, Asker> {
  read: (asker: Asker) => Promise<T>;
  /** In ms. */
  now: () => number;
  /** The maximum number of cached people. */
  most?: number;
}

/** Caches facts about a person that are read far more often than they change. `keyOf` is the asker's id, where reading needs more of the asker than the id. */
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
