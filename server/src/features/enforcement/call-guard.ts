import type { Bucket, Counters } from '#platform/counters.ts';
import { type Limits, type Rate, sharedRate } from '#platform/limits.ts';
import { refuseFor } from './enforcement.refusals.ts';
import { createWaiting } from './waiting.ts';

/**
 * The recovery that is asked for; each kind is counted on its own, so that a person who forgot both is not refused
 * the second.
 */
interface RecoveryAsked {
  kind: 'password' | 'username' | 'reset';
  source: string;
  account: string | null;
}

/** Limits requests without a password: creating accounts, and sending mails to accounts. */
export interface CallGuard {
  /** For an email that a token or a username is asked for; without one, for a token that is used. @throws Problem `too_many_requests`, the same for every email. */
  recovery(asked: RecoveryAsked): Promise<void>;
  /** @throws Problem `too_many_requests`. */
  registration(asked: { source: string }): Promise<void>;
  /**
   * Counts a letter that anyone can trigger by naming an address. Each kind has its own limit; reset tokens requested from a source known to the account are counted apart
   * from strangers'. Returns undefined, or the ms until one is allowed.
   */
  letter(asked: { kind: string; account: string; source: string | undefined }): Promise<{ wait_ms: number } | undefined>;
}

/** Bounds how often a signed-in person may give a wrong password. */
export interface PasswordGuard {
  /**
   * Runs work that checks a password: it returns a value for the right one, or undefined for a wrong one. As many may be wrong as for sign-in, per account and source, and
   * per account; a right one clears them. @throws Problem `too_many_requests`, and what the work throws, which is not counted.
   */
  attempt<Right>(
    attempt: { user_id: string; source: string },
    work: () => Promise<Right | undefined>,
  ): Promise<Right | undefined>;
}

const BUSY_RETRY_MS = 5_000;

export function createPasswordGuard({ counters, limits }: { counters: Counters; limits: Limits }): PasswordGuard {
  const waiting = createWaiting();
  // The number of attempts under way here, for each account.
  const underway = new Map<string, number>();
  return {
    async attempt({ user_id, source }, work) {
      const buckets = [
        { key: `password:${user_id}:${source}`, rate: limits.pair },
        { key: `password:${user_id}`, rate: limits.distributed },
      ];
      const began = performance.now();
      for (;;) {
        const empty = await counters.take(buckets);
        if (empty === undefined) break;
        if (!underway.has(user_id)) throw refuseFor(empty.wait_ms, 'password.too_many_wrong');
        // The pending requests may be right.
        if (!(await waiting.forOthers(user_id, began))) throw refuseFor(BUSY_RETRY_MS, 'password.too_often');
      }
      underway.set(user_id, (underway.get(user_id) ?? 0) + 1);
      try {
        const right = await work().catch(async (error: unknown) => {
          await counters.giveBack(buckets);
          throw error;
        });
        if (right !== undefined) await counters.clear(buckets.map(({ key }) => key));
        return right;
      } finally {
        const left = (underway.get(user_id) ?? 1) - 1;
        if (left > 0) underway.set(user_id, left);
        else underway.delete(user_id);
        waiting.wake(user_id);
      }
    },
  };
}

export function createCallGuard(parts: {
  counters: Counters;
  limits: Limits;
  /** Whether many people come from a source. */
  isShared: (source: string) => boolean;
  /** Whether an account was signed in to from a source. */
  isKnown: (attempt: { source: string; account: string }) => Promise<boolean>;
}): CallGuard {
  const { counters, limits, isShared, isKnown } = parts;
  const ofSource = (source: string, rate: Rate) => (isShared(source) ? sharedRate(rate) : rate);

  async function take(buckets: readonly Bucket[], why: 'recovery.too_many' | 'registration.too_many'): Promise<void> {
    const empty = await counters.take(buckets);
    if (empty) throw refuseFor(empty.wait_ms, why);
  }
  return {
    recovery: ({ source, account, kind }) =>
      take(
        [
          { key: `recovery-source:${kind}:${source}`, rate: ofSource(source, limits['recovery.source']) },
          // Counts only that source: other people's requests do not use it up. If all people share one source, the limit on letters must suffice.
          ...(account === null || isShared(source)
            ? []
            : [{ key: `recovery:${kind}:${account}:${source}`, rate: limits.recovery }]),
        ],
        'recovery.too_many',
      ),
    registration: ({ source }) =>
      take([{ key: `register-source:${source}`, rate: ofSource(source, limits['register.source']) }], 'registration.too_many'),
    async letter({ kind, account, source }) {
      const isReset = kind === 'reset';
      const isOwn = isReset && source !== undefined && !isShared(source) && (await isKnown({ source, account }));
      const key = `letters:${kind}${isOwn ? '-known' : ''}:${account}`;
      return await counters.take([{ key, rate: limits[isReset ? 'letters.reset' : 'letters.asked'] }]);
    },
  };
}
