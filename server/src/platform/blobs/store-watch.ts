import { setTimeout as pause } from 'node:timers/promises';

const ASKED_EVERY_MS = 5_000;
const WAITED_MS = 1_000;

/** Knows whether the store of STORAGE_URL answers. */
export interface StoreWatch {
  /** Asks at most every 5 s and waits at most 1 s for the answer; until it arrives, the previous one counts. */
  state(): Promise<'ok' | 'away'>;
}

/** `check` rejects while the store does not answer or refuses this server. The store is assumed to have answered at the start. */
export function createStoreWatch({
  check,
  now = () => performance.now(),
}: {
  check: () => Promise<void>;
  now?: () => number;
}): StoreWatch {
  let known: 'ok' | 'away' = 'ok';
  let asked_at = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | undefined;
  const ask = async () => {
    try {
      await check();
      known = 'ok';
    } catch {
      known = 'away';
    }
    asking = undefined;
  };
  return {
    async state() {
      if (asking === undefined && now() - asked_at >= ASKED_EVERY_MS) {
        asked_at = now();
        asking = ask();
      }
      if (asking === undefined) return known;
      const late = new AbortController();
      const waited = pause(WAITED_MS, 'late' as const, { ref: false, signal: late.signal }).catch(() => undefined);
      const is_late = (await Promise.race([asking, waited])) === 'late';
      late.abort();
      return is_late ? 'away' : known;
    },
  };
}
