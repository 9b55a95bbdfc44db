import type { BodyOf } from '@palisade/contract/endpoint';
import { PUSH_SUBSCRIPTIONS_MAXIMUM, type PushBrowser, type subscribePush } from '@palisade/contract/push';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely, Selectable } from 'kysely';
import { z } from 'zod';
import type { Counters } from '#platform/counters.ts';
import { newId } from '#platform/id.ts';
import { jobKind } from '#platform/jobs/job-kind.ts';
import type { JobTables } from '#platform/jobs/job-tables.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import { lifetimeStarts, type PersonTables, type SessionTables } from '#platform/session.ts';
import { describeUserAgent } from '#platform/user-agent.ts';
import { refuse, refuseField } from './push.refusals.ts';
import type { PushTables } from './push.tables.ts';
import { encryptForBrowser, type PushKey, pushAuthorization } from './web-push.ts';

/** The push services of Chromium, Firefox, Safari and Edge. Browsers name theirs, and the server calls no other host for them. */
const SERVICES =
  /^(?:fcm\.googleapis\.com|updates\.push\.services\.mozilla\.com|(?:[a-z0-9-]+\.)?push\.apple\.com|[a-z0-9-]+\.notify\.windows\.com)$/u;
const SEND_MS = 10_000;
/** Services keep a notice for a browser that is off for this long. Seconds. */
const TTL_SECONDS = 24 * 3_600;
const DAY_MS = 86_400_000;

const noticeSchema = z.object({ title: z.string(), body: z.string(), path: z.string(), tag: z.string() });
export type PushNotice = z.infer<typeof noticeSchema>;

const SEND = jobKind({
  name: 'push',
  payload: z.object({ subscription_id: z.string(), notice: noticeSchema }),
  at_once: 4,
  attempts: { most: 5 },
});

type Tables = PushTables & JobTables & SessionTables & PersonTables;
export type PushRow = Selectable<PushTables['push_subscriptions']>;

interface PushOptions {
  database: Kysely<Tables>;
  jobs: Pick<Jobs, 'handle' | 'enqueueAll' | 'wake'>;
  counters: Pick<Counters, 'take'>;
  key: PushKey;
  /** An address of the operator, which services may write to. */
  subject: () => Promise<string>;
  /** A test's push service, by its origin. */
  test_service: string | undefined;
  now: () => number;
  logger: FastifyBaseLogger;
}

/** Notifications to browsers that people have enabled. Only the browser can read a notification, not the push service. */
export class Push {
  private readonly options: PushOptions;

  constructor(options: PushOptions) {
    this.options = options;
    options.jobs.handle(SEND, async ({ payload: { subscription_id, notice } }) => {
      const row = await this.living()
        .selectAll('push_subscriptions')
        .where('push_subscriptions.id', '=', subscription_id)
        .executeTakeFirst();
      if (row !== undefined) await this.send(row, notice);
    });
  }

  get publicKey(): string {
    return this.options.key.public_key;
  }

  /** Subscriptions with a valid session, of people who may sign in. */
  private living() {
    const { created, used } = lifetimeStarts(this.options.now);
    return this.options.database
      .selectFrom('push_subscriptions')
      .innerJoin('sessions', 'sessions.id', 'push_subscriptions.session_id')
      .innerJoin('users', 'users.id', 'push_subscriptions.user_id')
      .where('sessions.created_at', '>', created)
      .where('sessions.last_used_at', '>', used)
      .where('users.disabled_at', 'is', null);
  }

  /** The one form of an endpoint; undefined for one of no push service. */
  private serviceOf(endpoint: string): string | undefined {
    const url = new URL(endpoint);
    url.hash = '';
    const { protocol, host, hostname, origin, username, password, href } = url;
    if (username !== '' || password !== '') return undefined;
    if (origin === this.options.test_service) return href;
    return protocol === 'https:' && host === hostname && SERVICES.test(hostname) ? href : undefined;
  }

  /** The browsers of a person that get notices, newest first. `session_id` is the session that asks. */
  async list(user_id: string, session_id: string): Promise<PushBrowser[]> {
    const rows = await this.living()
      .select(['push_subscriptions.id', 'push_subscriptions.created_at', 'session_id', 'user_agent'])
      .where('push_subscriptions.user_id', '=', user_id)
      .orderBy('push_subscriptions.id', 'desc')
      .execute();
    return rows.map(({ id, created_at, session_id: its, user_agent }) => ({
      ...{ id, created_at },
      client: describeUserAgent(user_agent),
      current: its === session_id,
    }));
  }

  find(id: string): Promise<PushRow | undefined> {
    return this.options.database.selectFrom('push_subscriptions').selectAll().where('id', '=', id).executeTakeFirst();
  }

  async remove(id: string): Promise<void> {
    await this.options.database.deleteFrom('push_subscriptions').where('id', '=', id).execute();
  }

  /**
   * @throws Problem `invalid_field` for an unknown service, `conflict` if there are too many browsers or the browser is another person's, `not_found` for a renewal without
   * a subscription.
   */
  async subscribe(
    user_id: string,
    session_id: string,
    { endpoint: given, keys, renews }: BodyOf<typeof subscribePush>,
  ): Promise<void> {
    const { database, now } = this.options;
    const endpoint = this.serviceOf(given);
    if (endpoint === undefined) throw refuseField('endpoint', 'notices.unknown_service');
    try {
      encryptForBrowser('', keys);
    } catch {
      throw refuseField('keys', 'notices.other_key');
    }
    const known = await this.living()
      .select('push_subscriptions.id')
      .where('push_subscriptions.user_id', '=', user_id)
      .where('endpoint', '!=', endpoint)
      .execute();
    if (known.length >= PUSH_SUBSCRIPTIONS_MAXIMUM) throw refuse('notices.too_many', { maximum: PUSH_SUBSCRIPTIONS_MAXIMUM });
    const row = { session_id, p256dh: keys.p256dh, auth: keys.auth, created_at: new Date(now()).toISOString() };
    if (renews === true) {
      const renewed = await database
        .updateTable('push_subscriptions')
        .set(row)
        .where('endpoint', '=', endpoint)
        .where('user_id', '=', user_id)
        .returning('id')
        .executeTakeFirst();
      if (renewed === undefined) throw refuse('notices.none_before');
      return;
    }
    // A browser that a person left without signing out belongs to that person until the session ends.
    const current = this.living().select('push_subscriptions.id').where('endpoint', '=', endpoint);
    await database
      .deleteFrom('push_subscriptions')
      .where('endpoint', '=', endpoint)
      .where('user_id', '!=', user_id)
      .where('id', 'not in', current)
      .execute();
    const stored = await database
      .insertInto('push_subscriptions')
      .values({ id: newId(), user_id, endpoint, ...row })
      .onConflict((conflict) => conflict.column('endpoint').doUpdateSet(row).where('push_subscriptions.user_id', '=', user_id))
      .returning('id')
      .executeTakeFirst();
    if (stored === undefined) throw refuse('notices.other_person');
  }

  async unsubscribe(user_id: string, given: string): Promise<void> {
    const endpoint = this.serviceOf(given) ?? given;
    await this.options.database
      .deleteFrom('push_subscriptions')
      .where('user_id', '=', user_id)
      .where('endpoint', '=', endpoint)
      .execute();
  }

  /** Sends a notice to each browser of a person; with `daily`, at most one of this tag a day. */
  async notify(user_id: string, notice: PushNotice, { daily = false } = {}): Promise<void> {
    const { database, jobs, counters } = this.options;
    const rows = await this.living().select('push_subscriptions.id').where('push_subscriptions.user_id', '=', user_id).execute();
    if (rows.length === 0) return;
    const rate = { count: 1, period_ms: DAY_MS };
    if (daily && (await counters.take([{ key: `push:${user_id}:${notice.tag}`, rate }])) !== undefined) return;
    await jobs.enqueueAll(
      database.$pickTables<keyof JobTables>(),
      SEND,
      rows.map(({ id }) => ({ payload: { subscription_id: id, notice } })),
    );
    jobs.wake(SEND);
  }

  /** @throws when the service did not take it, so that the job is tried again. */
  private async send(row: PushRow, notice: PushNotice): Promise<void> {
    const { key, subject, now, logger } = this.options;
    if (this.serviceOf(row.endpoint) === undefined) return;
    const body = new Uint8Array(encryptForBrowser(JSON.stringify(notice), row));
    const answer = await fetch(row.endpoint, {
      method: 'POST',
      redirect: 'error',
      signal: AbortSignal.timeout(SEND_MS),
      headers: {
        authorization: pushAuthorization(key, row.endpoint, await subject(), now()),
        'content-encoding': 'aes128gcm',
        'content-type': 'application/octet-stream',
        ttl: String(TTL_SECONDS),
        urgency: 'high',
      },
      body,
    });
    await answer.body?.cancel();
    if (answer.ok) return;
    // The subscription has ended (RFC 8030, section 7.3).
    if (answer.status === 404 || answer.status === 410) {
      await this.remove(row.id);
      return;
    }
    if (answer.status === 429 || answer.status >= 500) throw new Error(`The push service answered ${answer.status}.`);
    logger.warn({ status: answer.status, service: new URL(row.endpoint).host }, 'a push service refused a notice');
  }
}
