import { engineAnswerSchema } from '@palisade/contract/antivirus';
import type { PageQuery } from '@palisade/contract/fields';
import type { FalseAlarm, ReportStatus, ScanDetail } from '@palisade/contract/quarantine';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { Audit, AuditTables, Doer } from '#platform/audit.ts';
import { isForeignKeyViolation, isUniqueViolation } from '#platform/database.ts';
import { newId } from '#platform/id.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import type { InstallationTables } from '#platform/installation.ts';
import { jobKind } from '#platform/jobs/job-kind.ts';
import type { JobTables } from '#platform/jobs/job-tables.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { Mail, MailTables } from '#platform/mail.ts';
import { Problem } from '#platform/problem.ts';
import { refuse } from './antivirus.refusals.ts';
import type { AntivirusTables } from './antivirus.tables.ts';
import type { ScanRow } from './scan-row.ts';

/** Declares the owner of the account tables. */
interface Accounts {
  findUsers(ids: readonly string[]): Promise<{ id: string; email: string; username: string }[]>;
}

type Decision = Exclude<ReportStatus, 'open'>;
type Tables = AntivirusTables & AuditTables & JobTables & MailTables & InstallationTables;

/** Time in which a decision can be withdrawn before the person gets a mail, in ms. */
const TOLD_AFTER_MS = 60_000;
/** Sends a mail with the state of a report at the time of the job. A decision that was withdrawn meanwhile causes none, unless the person already had a mail about it. */
const TOLD = jobKind({
  name: 'false_alarm_told',
  payload: z.object({ report_id: z.string(), decided_at: z.string(), taken_back: z.boolean() }),
});

/** The letter about a decision, and its effect on the file. */
function decisionLetter({ filename, decision, page }: { filename: string; decision: Decision; page: string[] }) {
  const about = `you reported a false alarm for your file “${filename}”.`;
  return decision === 'confirmed'
    ? {
        subject: 'your report: false alarm confirmed',
        lines: [
          'Hello,',
          about,
          'An administrator reviewed your report and agrees: it’s a false alarm.',
          'The file stays in quarantine, and its scan says infected until the scanner is updated. To get the file, open its scan in Antivirus and choose Download file.',
          ...page,
        ],
      }
    : {
        subject: 'your report: the file is dangerous',
        lines: [
          'Hello,',
          about,
          'An administrator reviewed your report: the file is dangerous.',
          'The file stays in quarantine. Don’t download it. You can delete it from its scan in Antivirus.',
          ...page,
        ],
      };
}

function takenBackLetter({ filename, page }: { filename: string; page: string[] }) {
  return {
    subject: 'your report is under review again',
    lines: [
      'Hello,',
      `we told you our decision about your file “${filename}”. We withdrew that decision. An administrator will review your report again.`,
      'Leave the file in quarantine until you hear from us.',
      ...page,
    ],
  };
}

const enginesSchema = z.array(engineAnswerSchema);

interface FalseAlarmsOptions {
  database: Kysely<Tables>;
  audit: Audit;
  accounts: Accounts;
  mail: Pick<Mail, 'queue' | 'wake'>;
  jobs: Pick<Jobs, 'handle' | 'enqueue' | 'wake'>;
  public_url: string | undefined;
  /** Called with the person whose report has changed. */
  onChange: (user_id: string) => void;
  now: () => number;
  /** Replaces the minute in tests, in ms. */
  told_after_ms?: number | undefined;
}

const at = (now: () => number) => new Date(now()).toISOString();

const auditTables = (transaction: Kysely<Tables>) => transaction.$pickTables<'audit_entries' | 'audit_head'>();

/** False alarms reported by owners of files, and administrators' decisions about them. */
export class FalseAlarms {
  private readonly database: Kysely<Tables>;
  private readonly audit: Audit;
  private readonly accounts: Accounts;
  private readonly jobs: Pick<Jobs, 'handle' | 'enqueue' | 'wake'>;
  private readonly onChange: (user_id: string) => void;
  private readonly now: () => number;
  private readonly told_after_ms: number;

  constructor(options: FalseAlarmsOptions) {
    this.database = options.database;
    this.audit = options.audit;
    this.accounts = options.accounts;
    this.jobs = options.jobs;
    this.onChange = options.onChange;
    this.now = options.now;
    this.told_after_ms = options.told_after_ms ?? TOLD_AFTER_MS;
    this.jobs.handle(TOLD, async ({ payload: { report_id, decided_at, taken_back }, conclude }) => {
      const whose = await this.database
        .selectFrom('quarantine_reports')
        .select('user_id')
        .where('id', '=', report_id)
        .executeTakeFirst();
      const [person] = whose === undefined ? [] : await this.accounts.findUsers([whose.user_id]);
      if (person === undefined) return;
      await inTransaction(this.database, async (transaction) => {
        const report = await transaction
          .selectFrom('quarantine_reports')
          .innerJoin('scans', 'scans.id', 'quarantine_reports.scan_id')
          .select(['quarantine_reports.status', 'quarantine_reports.decided_at', 'scans.id', 'scans.filename'])
          .where('quarantine_reports.id', '=', report_id)
          .executeTakeFirst();
        const holds = taken_back ? report?.status === 'open' : report?.decided_at === decided_at;
        if (report !== undefined && holds) {
          const { filename, status } = report;
          // The scan's address, as in links of the history.
          const page = options.public_url === undefined ? [] : [new URL(`/antivirus?scan=${report.id}`, options.public_url).href];
          const letter =
            status === 'open' ? takenBackLetter({ filename, page }) : decisionLetter({ filename, decision: status, page });
          await options.mail.queue(transaction.$pickTables<'mails' | 'installation'>(), { recipient: person.email, ...letter });
        }
        await conclude(transaction.$pickTables<'jobs'>());
      });
      options.mail.wake();
    });
  }

  async of(scan_id: string): Promise<ScanDetail['report']> {
    const report = await this.database
      .selectFrom('quarantine_reports')
      .select(['status', 'reported_at', 'decided_at'])
      .where('scan_id', '=', scan_id)
      .executeTakeFirst();
    return report ?? null;
  }

  /** @throws Problem `conflict` for a record that is not infected, or was reported already. */
  async report({ id, user_id, scan_status }: ScanRow, reason: string): Promise<void> {
    if (scan_status !== 'infected') {
      throw refuse('false_alarm.no_threat');
    }
    const report = {
      id: newId(),
      scan_id: id,
      user_id,
      reason,
      status: 'open' as const,
      reported_at: at(this.now),
      decided_at: null,
    };
    try {
      await this.database.insertInto('quarantine_reports').values(report).execute();
    } catch (error) {
      if (isForeignKeyViolation(error)) throw new Problem('not_found', { cause: error });
      if (!isUniqueViolation(error, 'scan_id')) throw error;
      throw refuse('false_alarm.already_reported');
    }
  }

  async list({ limit, cursor }: PageQuery): Promise<FalseAlarm[]> {
    let query = this.database
      .selectFrom('quarantine_reports')
      .innerJoin('scans', 'scans.id', 'quarantine_reports.scan_id')
      .select([
        'quarantine_reports.id',
        'quarantine_reports.user_id',
        'quarantine_reports.reason',
        'quarantine_reports.status',
        'quarantine_reports.reported_at',
        'quarantine_reports.decided_at',
        'scans.filename',
        'scans.file_hash',
        'scans.threat_detected',
        'scans.threat_member',
        'scans.engines',
      ])
      .orderBy('quarantine_reports.id', 'desc')
      .limit(limit);
    if (cursor !== undefined) query = query.where('quarantine_reports.id', '<', cursor);
    const rows = await query.execute();
    const people = await this.accounts.findUsers([...new Set(rows.map((row) => row.user_id))]);
    const byId = new Map(people.map((person) => [person.id, person]));
    return rows.flatMap(({ user_id, engines, ...row }) => {
      const person = byId.get(user_id);
      if (person === undefined) return [];
      return [
        {
          ...row,
          engines: enginesSchema.parse(JSON.parse(engines)),
          user_email: person.email,
          user_username: person.username,
        },
      ];
    });
  }

  async countOpen(): Promise<number> {
    const row = await this.database
      .selectFrom('quarantine_reports')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('status', '=', 'open')
      .executeTakeFirstOrThrow();
    return Number(row.count);
  }

  /** @throws Problem `not_found` when it is not open. */
  async decide(id: string, decision: Decision, by: Doer): Promise<void> {
    const decided_at = at(this.now);
    const { user_id } = await inTransaction(this.database, async (transaction) => {
      const decided = await transaction
        .updateTable('quarantine_reports')
        .set({ status: decision, decided_at })
        .where('id', '=', id)
        .where('status', '=', 'open')
        .returning(['user_id', 'scan_id'])
        .executeTakeFirst();
      if (decided === undefined) throw refuse('false_alarm.already_decided');
      const { user_id, scan_id } = decided;
      const entry = { kind: 'false_alarm_decided', subject_id: user_id, details: { scan_id, decision } } as const;
      await this.audit.record(auditTables(transaction), { ...entry, ...by });
      const payload = { report_id: id, decided_at, taken_back: false };
      await this.jobs.enqueue(transaction.$pickTables<'jobs'>(), TOLD, payload, { delay_ms: this.told_after_ms });
      return decided;
    });
    this.jobs.wake(TOLD);
    this.onChange(user_id);
  }

  /** Reopens a report. @throws Problem `conflict` when the decision of that time is no longer current. */
  async reopen(id: string, decided_at: string, by: Doer): Promise<void> {
    const { user_id } = await inTransaction(this.database, async (transaction) => {
      const reopened = await transaction
        .updateTable('quarantine_reports')
        .set({ status: 'open', decided_at: null })
        .where('id', '=', id)
        .where('status', '!=', 'open')
        .where('decided_at', '=', decided_at)
        .returning(['user_id', 'scan_id'])
        .executeTakeFirst();
      if (reopened === undefined) throw refuse('false_alarm.decision_changed');
      const { user_id, scan_id } = reopened;
      const entry = { kind: 'false_alarm_reopened', subject_id: user_id, details: { scan_id } } as const;
      await this.audit.record(auditTables(transaction), { ...entry, ...by });
      if (this.now() - Date.parse(decided_at) >= this.told_after_ms)
        await this.jobs.enqueue(transaction.$pickTables<'jobs'>(), TOLD, { report_id: id, decided_at, taken_back: true }, {});
      return reopened;
    });
    this.jobs.wake(TOLD);
    this.onChange(user_id);
  }
}

export function createFalseAlarms(options: FalseAlarmsOptions): FalseAlarms {
  return new FalseAlarms(options);
}
