import type { Bucket, Counters } from '#platform/counters.ts';
import { type Limits, type Rate, sharedRate } from '#platform/limits.ts';
import { tooManyRequests } from '#platform/problem.ts';

/** Bounds what strangers may ask for without a password: that an account is made, and that something is mailed to one. */
export interface CallGuard {
  /** For an email that a token or a username is asked for; without one, for a token that is used. @throws Problem `too_many_requests`, the same for every email. */
  recovery(asked: { source: string; account: string | null }): Promise<void>;
  /** @throws Problem `too_many_requests`. */
  registration(asked: { source: string }): Promise<void>;
}

/** Bounds how often somebody who is signed in may be wrong about their password. */
export interface PasswordGuard {
  /**
   * Counts a try before it is looked at: no more wrong ones than a sign-in may have, of one account from one source, and of one account in all. Answers what
   * forgets them once one was right. @throws Problem `too_many_requests`.
   */
  admit(attempt: { user_id: string; source: string }): Promise<() => Promise<void>>;
}

export function createPasswordGuard({ counters, limits }: { counters: Counters; limits: Limits }): PasswordGuard {
  return {
    async admit({ user_id, source }) {
      const buckets = [
        { key: `password:${user_id}:${source}`, rate: limits.pair },
        { key: `password:${user_id}`, rate: limits.distributed },
      ];
      const empty = await counters.take(buckets);
      if (empty) throw tooManyRequests('The password was wrong too often.', empty.wait_ms);
      return () => counters.clear(buckets.map(({ key }) => key));
    },
  };
}

/** `isShared`: whether many people come from a source. */
export function createCallGuard(parts: { counters: Counters; limits: Limits; isShared: (source: string) => boolean }): CallGuard {
  const { counters, limits, isShared } = parts;
  const ofSource = (source: string, rate: Rate) => (isShared(source) ? sharedRate(rate) : rate);

  async function take(buckets: readonly Bucket[], reason: string): Promise<void> {
    const empty = await counters.take(buckets);
    if (empty) throw tooManyRequests(reason, empty.wait_ms);
  }
  return {
    recovery: ({ source, account }) =>
      take(
        [
          { key: `recovery-source:${source}`, rate: ofSource(source, limits['recovery.source']) },
          ...(account === null ? [] : [{ key: `recovery:${account}`, rate: limits.recovery }]),
        ],
        'This was asked for too often.',
      ),
    registration: ({ source }) =>
      take(
        [{ key: `register-source:${source}`, rate: ofSource(source, limits['register.source']) }],
        'Too many accounts were made from your network.',
      ),
  };
}
