import { setTimeout as sleep } from 'node:timers/promises';

/** Tries that wait for pending ones, whose result is not known yet. */
export interface Waiting {
  /**
   * Waits until a try ends here under the key, or it is time to check those on other servers. Returns whether to check again; false if too many wait, or this one has waited
   * too long since `began` (`performance.now()`).
   */
  forOthers(key: string, began: number): Promise<boolean>;
  /** A try ended under a key. */
  wake(key: string): void;
}

/** Tries that wait at once, so that waiting costs the server a bounded number of connections, and how long one waits at the most. */
const WAITING_MAXIMUM = 200;
const WAIT_MS = 15_000;
/** Interval between looks at attempts under way at another server. */
const LOOK_MS = 250;

export function createWaiting(): Waiting {
  const waiters = new Map<string, Set<() => void>>();
  let waiting = 0;

  return {
    async forOthers(key, began) {
      const left_ms = WAIT_MS - (performance.now() - began);
      if (waiting >= WAITING_MAXIMUM || left_ms <= 0) return false;
      const over = new AbortController();
      const { promise, resolve } = Promise.withResolvers<void>();
      const own = waiters.get(key) ?? new Set();
      waiters.set(key, own);
      own.add(resolve);
      waiting += 1;
      try {
        const late = sleep(Math.min(LOOK_MS, left_ms), undefined, { signal: over.signal }).catch(() => undefined);
        await Promise.race([promise, late]);
      } finally {
        over.abort();
        waiting -= 1;
        own.delete(resolve);
        if (own.size === 0) waiters.delete(key);
      }
      return true;
    },

    wake(key) {
      for (const resume of waiters.get(key) ?? []) resume();
    },
  };
}
