import { alertAdvice, alertProof, alertTitle } from '@palisade/contract/alert-advice';
import { alertEnglish } from '@palisade/contract/alert-phrases';
import type { UserInfo } from '@palisade/contract/auth';
import { formatDate, formatNumber, plural } from '@palisade/contract/intl';
import type { Status } from '@palisade/contract/status';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { BATCH } from '#platform/batches.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import type { Incident } from '#platform/incident.ts';
import type { InstallationTables } from '#platform/installation.ts';
import { jobKind } from '#platform/jobs/job-kind.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { Mail, MailTables } from '#platform/mail.ts';
import type { AlertTables } from './alerts.tables.ts';
import { mailKey } from './merging.ts';

type Tables = AlertTables & MailTables & InstallationTables;
type Letter = Parameters<Mail['queue']>[1];

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
const DIGEST = 1;
/** Checks whether a week is over, and continues unfinished digests. */
const DIGESTS = jobKind({ name: 'digests', payload: z.object({}), every_ms: 15 * 60_000 });
/** Maximum number of lines of a digest; further alerts are only counted. */
const DIGEST_LINES = 10;

/** "20 November 2026, 10:24 UTC": the reader of a mail may be in any time zone. */
function describeTime(iso: string): string {
  const at = new Date(iso);
  return `${formatDate('long', at, { time_zone: 'UTC' })}, ${formatDate('time', at, { time_zone: 'UTC' })} UTC`;
}

interface AlertMailsOptions {
  database: Kysely<Tables>;
  mail: Pick<Mail, 'queue' | 'queueAll' | 'wake'>;
  jobs: Pick<Jobs, 'handle'>;
  accounts: { findUsers(ids: readonly string[]): Promise<UserInfo[]> };
  premium: { current(user_id: string): Promise<{ is_premium: boolean }> };
  /** The overall status of a person. */
  status: (user_id: string) => Promise<Status>;
  public_url: string | undefined;
  now: () => number;
}

const at = (now: () => number, offset_ms = 0) => new Date(now() + offset_ms).toISOString();

const digestRow = (database: Kysely<Tables>) =>
  database.selectFrom('alert_digest').selectAll().where('id', '=', DIGEST).executeTakeFirst();

/** Sends mails about alerts: grave ones at once, to everybody; the rest weekly, to those who can read them. */
export class AlertMails {
  private readonly options: AlertMailsOptions;

  constructor(options: AlertMailsOptions) {
    this.options = options;
    options.jobs.handle(DIGESTS, ({ signal }) => this.sendDigests(signal));
  }

  private pageAt(path: string) {
    return this.options.public_url === undefined ? [] : [new URL(path, this.options.public_url).href];
  }

  /** The letter about an incident, as a function of its alert's id; undefined if none is sent. */
  async letterOf(incident: Incident): Promise<((alert_id: string) => Letter) | undefined> {
    const { user_id, severity, phrase, ip_address } = incident;
    if (severity !== 'high' && severity !== 'critical') return undefined;
    const [user] = await this.options.accounts.findUsers([user_id]);
    if (user === undefined) return undefined;
    const { is_premium } = await this.options.premium.current(user_id);
    const advised = { ...incident, simulated: false };
    return (alert_id) => ({
      recipient: user.email,
      subject: `Security alert, ${severity} severity`,
      priority: 'alert',
      lines: [
        'Hello,',
        `${alertTitle(advised)}:`,
        alertEnglish(phrase),
        [`When: ${describeTime(incident.at)}`, ...(ip_address === null ? [] : [`From: ${ip_address}`])].join('\n'),
        alertProof(advised),
        ['What to do:', ...alertAdvice(advised).map((sentence) => `- ${sentence}`)].join('\n'),
        ...this.pageAt(is_premium ? `/anti-hacking?alert=${alert_id}` : '/dashboard'),
        'You’ll get at most one email a day about this.',
      ],
    });
  }

  /** The next people after `after` with alerts that no mail was about, and a digest for each of them with a premium plan. Empty when all digests are written. */
  private async digestsOf(
    { since, until }: { since: string; until: string },
    after: string,
  ): Promise<{ last: string; letters: Letter[] } | undefined> {
    const told = this.options.database
      .selectFrom('alerts')
      .where('last_seen', '>=', since)
      .where('last_seen', '<', until)
      .where('severity', 'in', ['low', 'medium'])
      .where('simulated', '=', 0)
      .where('hidden_by', 'is', null)
      .where('status', '!=', 'resolved');
    const people = await told.select('user_id').distinct().where('user_id', '>', after).orderBy('user_id').limit(BATCH).execute();
    const last = people.at(-1)?.user_id;
    if (last === undefined) return undefined;
    const letters: Letter[] = [];
    for (const user of await this.options.accounts.findUsers(people.map(({ user_id }) => user_id))) {
      const { is_premium } = await this.options.premium.current(user.id);
      if (!is_premium) continue;
      const theirs = told.where('user_id', '=', user.id);
      const { count } = await theirs.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
      const happened = await theirs
        .select(['threat_type', 'severity', 'rule', 'description', 'count', 'last_seen'])
        .orderBy('last_id', 'desc')
        .limit(DIGEST_LINES)
        .execute();
      const lines = happened.map(({ threat_type, severity, rule, description, count: times, last_seen }) => {
        const title = alertTitle({ threat_type, severity, rule, simulated: false });
        const first = plural(times, { one: `- ${title}`, other: `- ${title} (${formatNumber(times)} times)` });
        return `${first}\n  Last seen: ${describeTime(last_seen)}\n  ${description}`;
      });
      const more = count - lines.length;
      const { sentence, detail, next } = await this.options.status(user.id);
      letters.push({
        recipient: user.email,
        subject: 'Your weekly security summary',
        priority: 'digest',
        lines: [
          'Hello,',
          [sentence, detail, ...(next === null ? [] : this.pageAt(next.fix_route))].join('\n'),
          'These less serious alerts are from last week. We email serious ones at once.',
          lines.join('\n'),
          ...(more > 0 ? [`And ${formatNumber(more)} more.`] : []),
          ...this.pageAt('/anti-hacking'),
        ],
      });
    }
    return { last, letters };
  }

  /** Writes the digests of the next people and records the progress, or the end. Returns whether there is more to do. */
  private async writeSome(row: { since: string; until: string; written_to: string | null }): Promise<boolean> {
    const some = await this.digestsOf(row, row.written_to ?? '');
    const next =
      some === undefined
        ? // A week after the planned time, however long the letters took.
          { since: row.until, next_at: new Date(Date.parse(row.until) + WEEK_MS).toISOString(), until: null, written_to: null }
        : { written_to: some.last };
    await inTransaction(this.options.database, async (transaction) => {
      // One of several servers advances the row; the letters are stored in the same transaction.
      const claimed = await transaction
        .updateTable('alert_digest')
        .set(next)
        .where('id', '=', DIGEST)
        .where('until', '=', row.until)
        .where('written_to', row.written_to === null ? 'is' : '=', row.written_to)
        .returning('id')
        .executeTakeFirst();
      if (claimed === undefined) return;
      if (some !== undefined) await this.options.mail.queueAll(transaction.$pickTables<'mails' | 'installation'>(), some.letters);
      else await transaction.deleteFrom('alert_mails').where('day', '<', at(this.options.now, -WEEK_MS).slice(0, 10)).execute();
    });
    return some !== undefined;
  }

  private async sendDigests(signal: AbortSignal): Promise<void> {
    let row = await digestRow(this.options.database);
    if (row === undefined) {
      await this.options.database
        .insertInto('alert_digest')
        .values({
          id: DIGEST,
          since: at(this.options.now),
          next_at: at(this.options.now, WEEK_MS),
          until: null,
          written_to: null,
        })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
      return;
    }
    if (row.until === null) {
      if (row.next_at > at(this.options.now)) return;
      // Later incidents belong to the next one.
      const { next_at } = row;
      await this.options.database
        .updateTable('alert_digest')
        .set({ until: at(this.options.now) })
        .where('id', '=', DIGEST)
        .where('until', 'is', null)
        .where('next_at', '=', next_at)
        .execute();
      row = await digestRow(this.options.database);
    }
    while (row !== undefined && row.until !== null) {
      signal.throwIfAborted();
      const { since, until, written_to } = row;
      if (!(await this.writeSome({ since, until, written_to }))) break;
      this.options.mail.wake();
      await new Promise((resolve) => setImmediate(resolve));
      row = await digestRow(this.options.database);
    }
  }

  /** Queues a letter unless one about the same key was written on that day. */
  async queueOnce(transaction: Kysely<Tables>, incident: Incident, letter: Letter): Promise<void> {
    const claimed = await transaction
      .insertInto('alert_mails')
      .values({ dedupe_key: mailKey(incident), user_id: incident.user_id, day: incident.at.slice(0, 10) })
      .onConflict((conflict) => conflict.column('dedupe_key').doNothing())
      .returning('dedupe_key')
      .executeTakeFirst();
    if (claimed !== undefined) await this.options.mail.queue(transaction.$pickTables<'mails' | 'installation'>(), letter);
  }

  wake(): void {
    this.options.mail.wake();
  }
}

export function createAlertMails(options: AlertMailsOptions): AlertMails {
  return new AlertMails(options);
}
