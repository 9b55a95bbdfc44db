import { alertAdvice, alertProof, alertTitle } from '@palisade/contract/alert-advice';
import type { UserInfo } from '@palisade/contract/auth';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import type { InstallationTables } from '#platform/installation.ts';
import type { Mail, MailTables } from '#platform/mail.ts';
import type { AlertTables } from './anti-hacking.tables.ts';
import type { Incident } from './incident.ts';
import { mailKey } from './merging.ts';

type Tables = AlertTables & MailTables & InstallationTables;
type Letter = Parameters<Mail['queue']>[1];

/** Where people are written to about alerts. */
export interface AlertMails {
  /** What is written about an incident, given its alert's id; undefined when nobody is written to. */
  letterOf(incident: Incident): Promise<((alert_id: string) => Letter) | undefined>;
  /** Queues a letter unless one about the same key was written on that day. */
  queueOnce(transaction: Kysely<Tables>, incident: Incident, letter: Letter): Promise<void>;
  wake(): void;
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
const DIGEST = 1;
const LOOK_EVERY_MS = 15 * 60_000;
/** Lines of a digest; what is more is counted. */
const DIGEST_LINES = 10;

/** "20 November 2026, 10:24 UTC": whoever reads a mail may be in any time zone. */
const when = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
const describeTime = (iso: string) => `${when.format(new Date(iso)).replace(' at ', ', ')} UTC`;

/** Mails about alerts: grave ones at once, to everybody; the rest once a week, to those who can read them. */
export function createAlertMails(parts: {
  database: Kysely<Tables>;
  mail: Pick<Mail, 'queue' | 'wake'>;
  accounts: { findUsers(ids: readonly string[]): Promise<UserInfo[]> };
  premium: { current(user_id: string): Promise<{ is_premium: boolean }> };
  public_url: string | undefined;
  now: () => number;
  logger: FastifyBaseLogger;
  /** How often it is looked whether a digest is due, in ms. */
  look_ms?: number | undefined;
}): AlertMails {
  const { database, mail, accounts, premium, public_url, now, logger, look_ms = LOOK_EVERY_MS } = parts;
  const at = (offset_ms = 0) => new Date(now() + offset_ms).toISOString();
  const pageAt = (path: string) => (public_url === undefined ? [] : [new URL(path, public_url).href]);

  async function letterOf(incident: Incident): Promise<((alert_id: string) => Letter) | undefined> {
    const { user_id, severity, threat_type, description, ip_address } = incident;
    if (severity !== 'high' && severity !== 'critical') return undefined;
    const [user] = await accounts.findUsers([user_id]);
    if (user === undefined) return undefined;
    const { is_premium } = await premium.current(user_id);
    const advised = { ...incident, simulated: false };
    return (alert_id) => ({
      recipient: user.email,
      subject: `security alert, ${severity}`,
      lines: [
        'Hello,',
        `${alertTitle(threat_type)}:`,
        description,
        [`When: ${describeTime(incident.at)}`, ...(ip_address === null ? [] : [`From: ${ip_address}`])].join('\n'),
        alertProof(advised),
        ['What to do:', ...alertAdvice(advised).map((sentence) => `- ${sentence}`)].join('\n'),
        ...pageAt(is_premium ? `/anti-hacking?alert=${alert_id}` : '/dashboard'),
        'You get at most one mail a day about the same thing.',
      ],
    });
  }

  /** A digest for each person with a premium plan to whom something happened that no mail was written about. */
  async function lettersBetween(since: string, until: string): Promise<Letter[]> {
    const rows = await database
      .selectFrom('alerts')
      .select(['user_id', 'threat_type', 'description', 'count', 'last_seen'])
      .where('last_seen', '>=', since)
      .where('last_seen', '<', until)
      .where('severity', 'in', ['low', 'medium'])
      .where('simulated', '=', 0)
      .where('hidden_by', 'is', null)
      .where('status', '!=', 'resolved')
      .orderBy('last_id', 'desc')
      .execute();
    const byUser = Map.groupBy(rows, (row) => row.user_id);
    const letters: Letter[] = [];
    for (const user of await accounts.findUsers([...byUser.keys()])) {
      const { is_premium } = await premium.current(user.id);
      const happened = byUser.get(user.id) ?? [];
      if (!is_premium) continue;
      const lines = happened
        .slice(0, DIGEST_LINES)
        .map(
          ({ threat_type, description, count, last_seen }) =>
            `- ${alertTitle(threat_type)}${count > 1 ? ` (${count} times)` : ''}, last on ${describeTime(last_seen)}\n  ${description}`,
        );
      const more = happened.length - lines.length;
      letters.push({
        recipient: user.email,
        subject: 'your week in security',
        lines: [
          'Hello,',
          'nothing grave happened in the last week that you were not told of at once. What is still open:',
          lines.join('\n'),
          ...(more > 0 ? [`And ${more} more.`] : []),
          'Look at them when you have a quiet moment, and say which of them are settled.',
          ...pageAt('/anti-hacking'),
        ],
      });
    }
    return letters;
  }

  async function sendDigests(): Promise<void> {
    const row = await database.selectFrom('alert_digest').selectAll().where('id', '=', DIGEST).executeTakeFirst();
    if (row === undefined) {
      await database
        .insertInto('alert_digest')
        .values({ id: DIGEST, since: at(), next_at: at(WEEK_MS) })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
      return;
    }
    if (row.next_at > at()) return;
    // What happens from here on is the next one's.
    const until = at();
    const letters = await lettersBetween(row.since, until);
    await database.transaction().execute(async (transaction) => {
      // Of several servers one moves it on; the letters are there if and only if it did.
      const claimed = await transaction
        .updateTable('alert_digest')
        .set({ since: until, next_at: at(WEEK_MS) })
        .where('id', '=', DIGEST)
        .where('next_at', '=', row.next_at)
        .returning('id')
        .executeTakeFirst();
      if (claimed === undefined) return;
      for (const letter of letters) await mail.queue(transaction.$pickTables<'mails' | 'installation'>(), letter);
      await transaction.deleteFrom('alert_mails').where('day', '<', at(-WEEK_MS).slice(0, 10)).execute();
    });
    mail.wake();
  }

  let looking = Promise.resolve();
  function look(): void {
    looking = looking
      .then(sendDigests)
      .catch((error: unknown) => logger.error({ err: error }, 'the weekly digests could not be written'));
  }
  const timer = setInterval(look, look_ms).unref();
  look();

  return {
    letterOf,

    async queueOnce(transaction, incident, letter) {
      const claimed = await transaction
        .insertInto('alert_mails')
        .values({ dedupe_key: mailKey(incident), user_id: incident.user_id, day: incident.at.slice(0, 10) })
        .onConflict((conflict) => conflict.column('dedupe_key').doNothing())
        .returning('dedupe_key')
        .executeTakeFirst();
      if (claimed !== undefined) await mail.queue(transaction.$pickTables<'mails' | 'installation'>(), letter);
    },

    wake: mail.wake,

    async close() {
      clearInterval(timer);
      await looking;
    },
  };
}
