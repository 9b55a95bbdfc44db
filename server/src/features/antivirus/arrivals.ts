import { Problem } from '#platform/problem.ts';

/** How many files may be on their way to a verdict at once: being received, waiting, or being read. */
export interface ArrivalLimits {
  per_person: number;
  all: number;
}

/** A file on its way. */
interface Arriving {
  user_id: string;
  abort: AbortController;
  /** Whether it was cancelled, once it is over. */
  ended: PromiseWithResolvers<boolean>;
}

export interface Arrivals {
  /**
   * Does `work` as one of the files on their way. `key` is what the page that sends it has named it; `signal` is aborted when the person cancels.
   * @throws Problem `too_many_requests` at once, before a byte was read, when there are too many; `conflict` for a key that is in use.
   */
  during<T>(file: { user_id: string; key: string | undefined }, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  find(key: string): { user_id: string } | undefined;
  /** Answers once nothing of the file is left; false when its verdict came first, and stays. */
  cancel(key: string): Promise<boolean>;
  /** Ends all that a person has on the way, because their account is deleted. Answers once it has. */
  dismiss(user_id: string): Promise<void>;
}

/** Seconds after which it is worth trying again. */
const RETRY_AFTER_S = { person: 5, all: 15 } as const;

export const ACCOUNT_GONE = 'The account was deleted while the file was on its way. Nothing of it is kept.';

/** Whether a file's way ended because its person cancelled it. */
function wasCancelled(error: unknown): boolean {
  return error instanceof Problem && error.code === 'upload_cancelled';
}

export function createArrivals(limits: ArrivalLimits): Arrivals {
  const counts = new Map<string, number>();
  const keyed = new Map<string, Arriving>();
  const present = new Set<Arriving>();
  let all = 0;

  function count(user_id: string, change: 1 | -1): void {
    all += change;
    const theirs = (counts.get(user_id) ?? 0) + change;
    if (theirs === 0) counts.delete(user_id);
    else counts.set(user_id, theirs);
  }

  return {
    async during({ user_id, key }, work) {
      if ((counts.get(user_id) ?? 0) >= limits.per_person) {
        const detail = `You have ${limits.per_person} files on their way already. Wait until one of them is done.`;
        throw new Problem('too_many_requests', { detail, retry_after: RETRY_AFTER_S.person });
      }
      if (all >= limits.all) {
        const detail = 'The scanner has more files than it can take at once. Wait a moment and try again.';
        throw new Problem('too_many_requests', { detail, retry_after: RETRY_AFTER_S.all });
      }
      if (key !== undefined && keyed.has(key))
        throw new Problem('conflict', { detail: 'A file is on its way under this key already. Use a key once.' });
      const arriving: Arriving = { user_id, abort: new AbortController(), ended: Promise.withResolvers() };
      if (key !== undefined) keyed.set(key, arriving);
      present.add(arriving);
      count(user_id, 1);
      let cancelled = false;
      try {
        return await work(arriving.abort.signal);
      } catch (error) {
        cancelled = wasCancelled(error);
        throw error;
      } finally {
        if (key !== undefined) keyed.delete(key);
        present.delete(arriving);
        count(user_id, -1);
        arriving.ended.resolve(cancelled);
      }
    },

    find: (key) => keyed.get(key),

    async cancel(key) {
      const arriving = keyed.get(key);
      if (arriving === undefined) return false;
      arriving.abort.abort(new Problem('upload_cancelled'));
      return await arriving.ended.promise;
    },

    async dismiss(user_id) {
      const theirs = [...present].filter((arriving) => arriving.user_id === user_id);
      for (const { abort } of theirs) abort.abort(new Problem('unauthenticated', { detail: ACCOUNT_GONE }));
      await Promise.all(theirs.map(({ ended }) => ended.promise));
    },
  };
}
