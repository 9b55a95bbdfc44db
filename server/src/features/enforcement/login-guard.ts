import { createHash, randomUUID } from 'node:crypto';
import { BROWSER_SOURCE } from '@palisade/contract/blocks';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import type { Audit, AuditTables } from '#platform/audit.ts';
import type { Counters } from '#platform/counters.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import type { Limits, Rate } from '#platform/limits.ts';
import type { BlockRow, Blocks, Target } from './blocks.ts';
import { refuseFor } from './enforcement.refusals.ts';
import type { EnforcementTables } from './enforcement.tables.ts';
import { createWaiting } from './waiting.ts';

/** An attempt to sign in: the origin's source key, and the hash of the email, known or not. */
interface Attempt {
  source: string;
  account: string;
}

/** An attempt, and the id of the browser that makes it. A browser that signed in to the account before has its own count. */
interface BrowserAttempt extends Attempt {
  browser_id?: string | undefined;
}

/** A try that was admitted to check the password or second factor. If neither function is called, it was incomplete or could not be checked, and does not count. */
interface Admission {
  /** The try was wrong. Resolves when the resulting refusal, if any, is in force. `user_id` is null if no account has the email. Returns the number of tries left. */
  failed(user_id: string | null): Promise<number>;
  /** It was right, and a person is signed in. */
  succeeded(user_id: string): Promise<void>;
}

type Tables = EnforcementTables & AuditTables;

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;
/** Guessing counts as distributed from this many sources (our own heuristic). */
const DISTRIBUTED_SOURCES = 5;
/** Delay of each try while many sources guess at an account, in ms: doubled with each ten further failures. */
const DELAY = { first_ms: 500, most_ms: 4 * SECOND_MS, doubled_each: 10 } as const;
/** Maximum number of waiting tries; further ones are refused, so that waiting uses a bounded number of connections. */
const WAITING_MAXIMUM = 200;
const WAITING_RETRY_MS = 5 * SECOND_MS;
/** Maximum numbers that are stored per account, more than any rule needs. */
const KEPT = { failures: 1_000, sources: 100, accounts: 1_000 } as const;
/** Time for which repeated failures of one account count once for the rule on many accounts, in ms. */
const SAME_ACCOUNT_MS = 600_000;
/** Longest time that an admitted attempt may take: shorter than the first refusal. */
const LET_IN_MS = 60_000;
/** Time for which a source stays known to an account without a sign-in from there. */
const KNOWN_MS = 90 * DAY_MS;

/** Delay of an attempt, in ms. `failures` are those of the account, `from` is the number from which they count as guessing. */
export function delayOf(failures: number, from: number): number {
  return Math.min(DELAY.most_ms, DELAY.first_ms * 2 ** Math.floor((failures - from) / DELAY.doubled_each));
}

interface LoginGuardOptions {
  database: Kysely<Tables>;
  blocks: Blocks;
  counters: Counters;
  limits: Limits;
  audit: Audit;
  /** Whether a source is never refused as a whole: the machine itself in local exposure, which is everybody there, and a private network. */
  isExempt: (source: string) => boolean;
  /** Called when a person has ended a block. */
  onLift: (block: { source: string; account: string | null }) => Promise<void>;
  now: () => number;
  /** Waits so many ms. */
  pause: (ms: number) => Promise<void>;
  logger: FastifyBaseLogger;
}

const at = (now: () => number, offset_ms = 0) => new Date(now() + offset_ms).toISOString();

const browserSource = (browser_id: string) => BROWSER_SOURCE + createHash('sha256').update(browser_id).digest('hex');

async function remember(
  database: Kysely<Tables>,
  now: () => number,
  { source, account, browser_id }: BrowserAttempt,
  user_id: string,
): Promise<void> {
  await database.deleteFrom('sign_in_sources').where('user_id', '=', user_id).where('last_at', '<', at(now, -KNOWN_MS)).execute();
  const sources = [source, ...(browser_id === undefined ? [] : [browserSource(browser_id)])];
  await database
    .insertInto('sign_in_sources')
    .values(sources.map((known) => ({ account, source: known, user_id, last_at: at(now) })))
    .onConflict((conflict) => conflict.columns(['account', 'source']).doUpdateSet({ user_id, last_at: at(now) }))
    .execute();
}

const refusal = (now: () => number, { kind, until }: { kind: BlockRow['kind']; until: number }) =>
  refuseFor(until - now(), kind === 'pair' ? 'sign_in.too_many_for_email' : 'sign_in.too_many_from_network');

export class LoginGuard {
  private readonly database: Kysely<Tables>;
  private readonly blocks: Blocks;
  private readonly counters: Counters;
  private readonly limits: Limits;
  private readonly audit: Audit;
  private readonly isExempt: (source: string) => boolean;
  private readonly onLift: (block: { source: string; account: string | null }) => Promise<void>;
  private readonly now: () => number;
  private readonly pause: (ms: number) => Promise<void>;
  private readonly logger: FastifyBaseLogger;
  private readonly underway = new Set<Promise<void>>();
  private waiting = 0;
  private readonly waitingTries = createWaiting();
  private readonly keys = {
    // Tries under way, and wrong ones.
    tries: ({ source, account }: Attempt) => `tries:${account}:${source}`,
    failures: ({ source, account }: Attempt) => `failures:${account}:${source}`,
    failuresAnywhere: (account: string) => `failures-anywhere:${account}`,
    failureSources: (account: string) => `failure-sources:${account}`,
    failedAccounts: (source: string) => `failed-accounts:${source}`,
    spray: (source: string) => `spray:${source}`,
    refusing: (source: string) => `refusing:${source}`,
  };
  // Fires at try number `spray.count`: the bucket holds the tries before it.
  private readonly sprayBucket: Rate;

  constructor(options: LoginGuardOptions) {
    this.database = options.database;
    this.blocks = options.blocks;
    this.counters = options.counters;
    this.limits = options.limits;
    this.audit = options.audit;
    this.isExempt = options.isExempt;
    this.onLift = options.onLift;
    this.now = options.now;
    this.pause = options.pause;
    this.logger = options.logger;
    this.sprayBucket = {
      count: this.limits.spray.count - 1,
      period_ms: (this.limits.spray.period_ms * (this.limits.spray.count - 1)) / this.limits.spray.count,
    };
  }

  /** Runs work for known accounts after the answer, so that its time does not reveal which emails are known. */
  private afterwards(work: () => Promise<void>): void {
    const done = new Promise((resolve) => setImmediate(resolve))
      .then(work)
      .catch((error: unknown) => this.logger.error({ err: error }, 'what follows on a refused sign-in could not be done'))
      .finally(() => this.underway.delete(done));
    this.underway.add(done);
  }

  private async refuse(target: Target, rule: BlockRow['rule'], user_id: string | null): Promise<void> {
    const block = await this.blocks.add(target, rule, user_id);
    if (user_id === null) return;
    const details = { source: block.source, rule, until: block.until };
    this.afterwards(() =>
      this.audit.record(this.database, { kind: 'block_added', subject_id: user_id, actor_id: null, details }),
    );
  }

  private async isGuessedAt(account: string): Promise<number | undefined> {
    const failures = await this.counters.count(this.keys.failuresAnywhere(account), this.limits.distributed.period_ms);
    if (failures < this.limits.distributed.count) return undefined;
    const sources = await this.counters.count(this.keys.failureSources(account), this.limits.distributed.period_ms);
    return sources >= DISTRIBUTED_SOURCES ? failures : undefined;
  }

  /** Whether an account was signed in to from a source, not too long ago. */
  async isKnown({ source, account }: Attempt): Promise<boolean> {
    const row = await this.database
      .selectFrom('sign_in_sources')
      .select('last_at')
      .where('account', '=', account)
      .where('source', '=', source)
      .where('last_at', '>', at(this.now, -KNOWN_MS))
      .executeTakeFirst();
    return row !== undefined;
  }

  /** The place whose tries are counted together: a browser that signed in to the account before, or else the source. */
  private async placeOf({ source, account, browser_id }: BrowserAttempt): Promise<Attempt> {
    if (browser_id === undefined) return { source, account };
    const browser = { source: browserSource(browser_id), account };
    return (await this.isKnown(browser)) ? browser : { source, account };
  }

  /** The owner at a known place is not delayed. */
  private async delay(place: Attempt): Promise<void> {
    const failures = await this.isGuessedAt(place.account);
    if (failures === undefined || (await this.isKnown(place))) return;
    if (this.waiting >= WAITING_MAXIMUM) throw refuseFor(WAITING_RETRY_MS, 'sign_in.busy');
    this.waiting += 1;
    try {
      await this.pause(delayOf(failures, this.limits.distributed.count));
    } finally {
      this.waiting -= 1;
    }
  }

  private async countAnywhere({ source, account }: Attempt, ticket: string): Promise<void> {
    const { period_ms: window_ms } = this.limits.distributed;
    await this.counters.put(this.keys.failuresAnywhere(account), { member: ticket, most: KEPT.failures, window_ms });
    await this.counters.put(this.keys.failureSources(account), { member: source, most: KEPT.sources, window_ms });
  }

  private async countSource({ source, account }: Attempt): Promise<void> {
    if (this.isExempt(source)) return;
    const place = { member: account, most: KEPT.accounts, window_ms: SAME_ACCOUNT_MS };
    const { isNew } = await this.counters.put(this.keys.failedAccounts(source), place);
    if (!isNew) return;
    const overflow = await this.counters.take([{ key: this.keys.spray(source), rate: this.sprayBucket }]);
    if (overflow === undefined) return;
    // Further failures are another series.
    await this.counters.clear([this.keys.spray(source), this.keys.failedAccounts(source)]);
    // Tries that were let in before the refusal belong to it, however many they are.
    const { isNew: is_first } = await this.counters.put(this.keys.refusing(source), {
      member: source,
      most: 1,
      window_ms: LET_IN_MS,
    });
    if (is_first) await this.refuse({ source, account: null }, 'many_accounts', null);
  }

  /** A person who knows the password had only mistyped it: the account is not under attack. Call this before its failures are cleared. */
  private async forgiveSource({ source, account }: Attempt, failures: string): Promise<void> {
    if (this.isExempt(source) || (await this.counters.count(failures, this.limits.pair.period_ms)) === 0) return;
    await this.counters.remove(this.keys.failedAccounts(source), account);
    await this.counters.giveBack([{ key: this.keys.spray(source), rate: this.sprayBucket }]);
  }

  /**
   * Runs the work of a try, or makes it wait. At most as many run at once as may fail; others wait for them. @throws Problem `too_many_requests`, the same for known and
   * unknown emails, and the work's own errors.
   */
  async attempt<Result>(attempt: BrowserAttempt, work: (admission: Admission) => Promise<Result>): Promise<Result> {
    const counted = await this.placeOf(attempt);
    const requireUnrefused = async () => {
      const refused = await this.blocks.refusal(counted);
      if (refused) throw refusal(this.now, refused);
    };
    await requireUnrefused();
    await this.delay(counted);
    const [tries, failures] = [this.keys.tries(counted), this.keys.failures(counted)];
    const place = { member: randomUUID(), most: this.limits.pair.count, window_ms: this.limits.pair.period_ms };
    const began = performance.now();
    for (;;) {
      const { wait_ms } = await this.counters.put(tries, place);
      if (wait_ms <= 0) break;
      // Refused since the check above, or about to be.
      if ((await this.counters.count(failures, this.limits.pair.period_ms)) >= this.limits.pair.count)
        throw refusal(this.now, (await this.blocks.refusal(counted)) ?? { kind: 'pair', until: this.now() + wait_ms });
      // The pending tries may be right.
      if (!(await this.waitingTries.forOthers(tries, began))) throw refuseFor(WAITING_RETRY_MS, 'sign_in.busy');
      await requireUnrefused();
    }
    let isSettled = false;
    try {
      return await work({
        failed: async (user_id) => {
          isSettled = true;
          const { count } = await this.counters.put(failures, place);
          // A set counts each member once, so exactly one of several concurrent tries is the last.
          if (count === this.limits.pair.count) await this.refuse(counted, 'wrong_passwords', user_id);
          await this.countSource(attempt);
          await this.countAnywhere(attempt, place.member);
          return this.limits.pair.count - count;
        },
        succeeded: async (user_id) => {
          isSettled = true;
          await this.forgiveSource(attempt, failures);
          await this.counters.clear([tries, failures]);
          await this.blocks.forgive(counted);
          await remember(this.database, this.now, attempt, user_id);
        },
      });
    } finally {
      if (!isSettled) await this.counters.remove(tries, place.member);
      this.waitingTries.wake(tries);
    }
  }

  /** Ends a block as the account's owner or an administrator, and clears its causes. Returns whether it was in force. */
  async lift(block_id: string, by: string): Promise<boolean> {
    const block = await inTransaction(this.database, async (transaction) => {
      const lifted = await this.blocks.lift(transaction.$pickTables<'blocks' | 'sign_in_sources'>(), block_id, by);
      if (lifted === undefined) return undefined;
      const { source, rule, user_id } = lifted;
      await this.audit.record(transaction.$pickTables<'audit_entries' | 'audit_head'>(), {
        kind: 'block_lifted',
        subject_id: user_id ?? by,
        actor_id: by,
        details: { source, rule },
      });
      return lifted;
    });
    if (block === undefined) return false;
    const { source, account } = block;
    if (account === null)
      await this.counters.clear([this.keys.spray(source), this.keys.failedAccounts(source), this.keys.refusing(source)]);
    else await this.counters.clear([this.keys.tries({ source, account }), this.keys.failures({ source, account })]);
    await this.onLift({ source, account });
    return true;
  }

  async close(): Promise<void> {
    await Promise.all(this.underway);
  }
}

export function createLoginGuard(options: LoginGuardOptions): LoginGuard {
  return new LoginGuard(options);
}
