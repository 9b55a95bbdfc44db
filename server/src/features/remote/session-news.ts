import { alertPhrase } from '@palisade/contract/alert-phrases';
import type { UserInfo } from '@palisade/contract/auth';
import { formatSpan } from '@palisade/contract/intl';
import type { EndReason } from '@palisade/contract/remote';
import type { Kysely } from 'kysely';
import { inTransaction } from '#platform/in-transaction.ts';
import type { Incident } from '#platform/incident.ts';
import type { InstallationTables } from '#platform/installation.ts';
import type { JobTables } from '#platform/jobs/job-tables.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { Mail, MailTables } from '#platform/mail.ts';
import type { RemoteTables } from './remote.tables.ts';
import { ENDED, REPORTED } from './session-changes.ts';
import type { Row } from './session-state.ts';

const MINUTE_MS = 60_000;

/** Why a session ended, to its customer. */
const REASONS: Record<EndReason, string> = {
  cancelled: 'You cancelled it.',
  expired: 'No technician joined in time.',
  replaced: 'You started another session.',
  declined: 'You declined the technician.',
  no_answer: 'You didn’t answer the technician’s request.',
  ended_by_customer: 'You ended it.',
  ended_by_technician: 'The technician ended it.',
  ended_by_admin: 'An administrator ended it.',
  reported: 'You reported it.',
  share_stopped: 'You shared nothing for a minute.',
  customer_gone: 'Your page was closed for a minute.',
  technician_gone: 'The technician was away for two minutes.',
  not_reaffirmed: 'You didn’t confirm within half an hour that it may continue.',
  time_limit: 'It reached the limit of four hours.',
  server_restart: 'The connection to the server was lost.',
  access_lost: 'One of the two accounts lost access.',
};

const minutes = (from: string, to: string) => {
  const count = Math.max(1, Math.round((Date.parse(to) - Date.parse(from)) / MINUTE_MS));
  return formatSpan(count, 'minute');
};

function summary(row: Row, customer: UserInfo, public_url: string | undefined) {
  const { support_agent, provider, approved_at, ended_at, end_reason, has_shared } = row;
  const technician = support_agent ?? 'A technician';
  const helper = provider === null || provider === '' ? technician : `${technician} of ${provider}`;
  const duration = minutes(approved_at ?? '', ended_at ?? '');
  return {
    recipient: customer.email,
    subject: 'Your remote session has ended',
    lines: [
      `Hello ${customer.username},`,
      has_shared === 1
        ? `${helper} helped you for ${duration} and saw what you shared of your screen.`
        : `${helper} helped you for ${duration}. You didn’t share your screen.`,
      ...(end_reason === null ? [] : [`Why it ended: ${REASONS[end_reason]}`]),
      public_url === undefined
        ? 'Read the session’s record, rate the help, or report a problem under Remote Access.'
        : `Read the session’s record, rate the help, or report a problem: ${new URL('/remote', public_url).href}`,
      'We never call first or ask for passwords, money, or gift cards. Anyone who does isn’t from us.',
    ],
  };
}

function incidentOf(row: Row, administrator_id: string): Incident {
  const { id, customer, support_agent, reported_at, report_reason, report_comment } = row;
  const at = reported_at ?? row.started_at;
  const reason = report_reason ?? 'else';
  const comment = report_comment ?? '';
  return {
    rule: 'remote_session.reported',
    key: `remote:${id}`,
    user_id: administrator_id,
    threat_type: 'remote_report',
    severity: 'high',
    phrase:
      support_agent === null
        ? alertPhrase('remote_report.unnamed', { customer, reason })
        : alertPhrase('remote_report', { customer, technician: support_agent, reason }),
    at,
    outcome: 'unknown',
    ip_address: null,
    evidence: {
      threshold: alertPhrase('threshold.remote_report', {}),
      events: [
        {
          at: row.joined_at ?? at,
          what:
            support_agent === null
              ? alertPhrase('event.asked_to_join.unnamed', {})
              : alertPhrase('event.asked_to_join', { technician: support_agent }),
          source: null,
        },
        ...(row.approved_at === null
          ? []
          : [{ at: row.approved_at, what: alertPhrase('event.approved', { customer }), source: null }]),
        {
          at,
          what: comment === '' ? alertPhrase('event.reported', {}) : alertPhrase('event.reported.comment', { comment }),
          source: null,
        },
      ],
    },
    browser_id: null,
    session_id: null,
  };
}

/** Reports about sessions besides pages: the customer gets a summary by mail, and administrators an alert about each report. */
export function tellOfSessions(parts: {
  database: Kysely<RemoteTables & MailTables & InstallationTables & JobTables>;
  jobs: Pick<Jobs, 'handle'>;
  mail: Pick<Mail, 'queue' | 'wake'>;
  people: { findUser(id: string): Promise<UserInfo | undefined>; administrators(): Promise<string[]> };
  raise: (incident: Incident) => Promise<void>;
  /** Makes the customer's devices report changes during the session. */
  measure: (session_id: string) => Promise<void>;
  public_url: string | undefined;
}): void {
  const { database, jobs, mail, people, raise, measure, public_url } = parts;
  const read = (id: string) => database.selectFrom('remote_sessions').selectAll().where('id', '=', id).executeTakeFirst();

  jobs.handle(ENDED, async ({ payload: { session_id }, conclude }) => {
    const row = await read(session_id);
    const customer = row && (await people.findUser(row.user_id));
    if (row === undefined || customer === undefined) return;
    await measure(session_id);
    await inTransaction(database, async (transaction) => {
      await mail.queue(transaction.$pickTables<'mails' | 'installation'>(), summary(row, customer, public_url));
      await conclude(transaction.$pickTables<'jobs'>());
    });
    mail.wake();
  });

  jobs.handle(REPORTED, async ({ payload: { session_id } }) => {
    const row = await read(session_id);
    if (row === undefined) return;
    const all = await people.administrators();
    // A reported administrator does not judge the report, unless there is no other.
    const others = all.filter((id) => id !== row.agent_id);
    for (const id of others.length > 0 ? others : all) await raise(incidentOf(row, id));
  });
}
