import type { UserInfo } from '@palisade/contract/auth';
import type { EndReason } from '@palisade/contract/remote';
import type { ReportKind } from '@palisade/contract/remote-session';
import type { Kysely } from 'kysely';
import type { Incident } from '#platform/incident.ts';
import type { InstallationTables } from '#platform/installation.ts';
import type { JobTables } from '#platform/jobs/job-store.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { Mail, MailTables } from '#platform/mail.ts';
import type { RemoteTables } from './remote.tables.ts';
import { ENDED, REPORTED } from './session-changes.ts';
import type { Row } from './session-state.ts';

const MINUTE_MS = 60_000;

/** Why it is over, after "It ended because". */
const REASONS: Record<EndReason, string> = {
  cancelled: 'you cancelled it',
  expired: 'nobody joined in time',
  replaced: 'you started another one',
  declined: 'you declined',
  no_answer: 'you did not answer',
  ended_by_customer: 'you ended it',
  ended_by_technician: 'the technician ended it',
  ended_by_admin: 'an administrator ended it',
  reported: 'you reported it',
  share_stopped: 'nothing was shared for a minute',
  customer_gone: 'your page was closed for a minute',
  technician_gone: 'the technician was gone for two minutes',
  not_reaffirmed: 'nobody said for half an hour that it may go on',
  time_limit: 'it had lasted four hours',
  server_restart: 'the connection to the server was lost',
  access_lost: 'one of the two accounts may not take part any more',
};

const REPORTS: Record<ReportKind, string> = {
  asked_for_money: 'They were asked for money or gift cards.',
  asked_for_password: 'They were asked for a password or a code.',
  did_what_i_did_not_want: 'The technician did what the customer did not want.',
  not_who_they_said: 'The technician is not who they said they are.',
  else: 'Something else.',
};

const minutes = (from: string, to: string) => {
  const count = Math.max(1, Math.round((Date.parse(to) - Date.parse(from)) / MINUTE_MS));
  return count === 1 ? 'a minute' : `${count} minutes`;
};

function summary(row: Row, customer: UserInfo, public_url: string | undefined) {
  const { support_agent, provider, approved_at, ended_at, end_reason, has_shared } = row;
  const helped = support_agent ?? 'Somebody of support';
  return {
    recipient: customer.email,
    subject: 'your remote session is over',
    lines: [
      `Hello ${customer.username},`,
      `${helped}${provider === null || provider === '' ? '' : ` of ${provider}`} helped you for ${minutes(approved_at ?? '', ended_at ?? '')}${has_shared === 1 ? ' and saw what you shared of your screen' : '; nothing of your screen was shared'}. It ended because ${end_reason === null ? 'it was done' : REASONS[end_reason]}.`,
      `Everything that happened is in the session’s record. You can read it, rate the help and report what was not right${public_url === undefined ? ' under Remote Access.' : `: ${new URL('/remote', public_url).href}`}`,
      'We never call first, and never ask for passwords, money or gift cards. Whoever does is not us.',
    ],
  };
}

function incidentOf(row: Row, administrator_id: string): Incident {
  const { id, customer, support_agent, reported_at, report_reason, report_comment } = row;
  const at = reported_at ?? row.started_at;
  return {
    rule: 'remote_session.reported',
    key: `remote:${id}`,
    user_id: administrator_id,
    threat_type: 'remote_report',
    severity: 'high',
    description:
      `${customer} reported the remote session with ${support_agent ?? 'a technician'}. ${report_reason === null ? '' : REPORTS[report_reason]}`.trim(),
    at,
    outcome: 'unknown',
    ip_address: null,
    evidence: {
      threshold: 'One report is enough.',
      events: [
        { at: row.joined_at ?? at, what: `${support_agent ?? 'A technician'} asked to join`, source: null },
        ...(row.approved_at === null ? [] : [{ at: row.approved_at, what: `${customer} approved`, source: null }]),
        { at, what: `Reported${report_comment === null || report_comment === '' ? '' : `: ${report_comment}`}`, source: null },
      ],
    },
    browser_id: null,
    session_id: null,
  };
}

/** Reports about sessions beyond the pages: the customer gets a summary by mail, and administrators an alert of each report. */
export function tellOfSessions(parts: {
  database: Kysely<RemoteTables & MailTables & InstallationTables & JobTables>;
  jobs: Pick<Jobs, 'handle'>;
  mail: Pick<Mail, 'queue' | 'wake'>;
  people: { findUser(id: string): Promise<UserInfo | undefined>; administrators(): Promise<string[]> };
  raise: (incident: Incident) => Promise<void>;
  /** Has the customer's devices say what changed on them meanwhile. */
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
    await database.transaction().execute(async (transaction) => {
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
