/** Time for which an answer is trusted: a change by another server counts here after at most this. A change made here counts at once. */
const TRUSTED_MS = 5_000;
const SIZE_MAXIMUM = 10_000;

export interface PersonCache<T> {
  of(user_id: string): Promise<T>;
  /** To be called after each change: an answer that was begun before it is thrown away with it. */
  forget(user_id: string): void;
}

/** Caches a person's facts that are read far more often than they change. `now` is in ms. */
export function createPersonCache<T>(parts: { read: (user_id: string) => Promise<T>; now: () => number }): PersonCache<T> {
  const { read, now } = parts;
  const cache = new Map<string, { answer: Promise<T>; trusted_until: number }>();
  return {
    async of(user_id) {
      const cached = cache.get(user_id);
      if (cached !== undefined && cached.trusted_until > now()) return await cached.answer;
      const fresh = { answer: read(user_id), trusted_until: now() + TRUSTED_MS };
      if (cache.size >= SIZE_MAXIMUM) cache.clear();
      cache.set(user_id, fresh);
      try {
        return await fresh.answer;
      } catch (error) {
        if (cache.get(user_id) === fresh) cache.delete(user_id);
        throw error;
      }
    },
    forget: (user_id) => void cache.delete(user_id),
  };
}
