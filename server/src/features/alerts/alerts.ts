import { isOfTestFile } from '@palisade/contract/alert-advice';
import type { AlertDecision, AlertDetail, Monitor, resolveAlert } from '@palisade/contract/alerts';
import { ACCEPTED_RISK_DAYS_MAXIMUM } from '@palisade/contract/alerts';
import type { AlertStatus, AlertsQuery } from '@palisade/contract/anti-hacking';
import type { AuditKind } from '@palisade/contract/audit';
import type { BodyOf } from '@palisade/contract/endpoint';
import type { LiveEvent } from '@palisade/contract/events';
import { severitySchema } from '@palisade/contract/severity';
import { type Kysely, sql, type Updateable } from 'kysely';
import type { Audit, AuditTables } from '#platform/audit.ts';
import { newId } from '#platform/id.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import type { Claim, FindingTables, Incident } from '#platform/incident.ts';
import type { InstallationTables } from '#platform/installation.ts';
import type { MailTables } from '#platform/mail.ts';
import { containing } from '#platform/page.ts';
import { Problem } from '#platform/problem.ts';
import type { AlertMails } from './alert-mails.ts';
import { type AlertRow, alertOf, type Decider, isAboutSignIn, isSuppressible, sessionsOf } from './alert-record.ts';
import { refuse, refuseField } from './alerts.refusals.ts';
import type { AlertTables } from './alerts.tables.ts';
import { recordIncident, UNRESOLVED } from './merging.ts';
import { createSuppressions, requireSuppressible, type Suppressions } from './suppressions.ts';

const DAY_MS = 86_400_000;

type Tables = AlertTables & FindingTables & AuditTables & MailTables & InstallationTables;

/** Effects of "Was me" and "Wasn't me" beyond the alert. */
export interface Consequences {
  /** Decisions about browsers: trust one, stop asking about it, or treat it as new again. */
  browsers: Record<'trustBrowser' | 'reviewBrowser' | 'forgetBrowser', (user_id: string, browser_id: string) => Promise<void>>;
  /** Ends a session of a person; false when they have none of this id. */
  endSession: (user_id: string, session_id: string) => Promise<boolean>;
  secondFactor: (user_id: string) => Promise<{ enabled: boolean }>;
}

/** The effects of a decision: on the alert, its history, and the audit log. */
interface Decision {
  from: readonly AlertStatus[];
  /** The refusal in any other state. */
  otherwise: 'alert.not_open' | 'alert.already_resolved' | 'alert.already_open' | 'alert.gone';
  set: Updateable<AlertTables['alerts']>;
  kind: AlertDecision['kind'];
  reason?: AlertDecision['reason'];
  note?: string | null;
  until?: string | null;
  audit: AuditKind;
  details?: Record<string, string | number | boolean | null>;
}

const suppressionTables = (database: Kysely<Tables>) => database.$pickTables<keyof (AlertTables & AuditTables)>();

interface AlertsOptions {
  database: Kysely<Tables>;
  audit: Audit;
  mails: AlertMails;
  tell: (user_id: string, event: LiveEvent) => void;
  consequences: Consequences;
  now: () => number;
  /** Called with each person whose alerts changed. */
  onChange: (user_id: string) => void;
  /** Called with an incident that needs its person's attention. */
  onShown?: ((incident: Incident) => void) | undefined;
}

/** The decider of consequences of other changes. */
const MONITOR = { user_id: null, origin: undefined };

/** A file whose infection ended, or is open again. */
interface SettledFile {
  id: string;
  user_id: string;
  file_hash: string;
  device_id: string | null;
}

const at = (now: () => number, offset_ms = 0) => new Date(now() + offset_ms).toISOString();

const RANK = sql<number>`case severity when 'critical' then 4 when 'high' then 3 when 'medium' then 2 else 1 end`;

function matching(
  database: Kysely<Tables>,
  user_id: string,
  { status, severity, type, simulated, search }: Omit<AlertsQuery, 'limit' | 'cursor' | 'sort'>,
) {
  let query = database.selectFrom('alerts').where('user_id', '=', user_id);
  query = query.where('hidden_by', status === 'hidden' ? 'is not' : 'is', null);
  if (status === 'active') query = query.where('status', 'in', ['open', 'acknowledged']);
  else if (status !== undefined && status !== 'hidden') query = query.where('status', '=', status);
  if (severity !== undefined) query = query.where('severity', '=', severity);
  if (type !== undefined) query = query.where('threat_type', '=', type);
  if (simulated !== undefined) query = query.where('simulated', '=', simulated === 'true' ? 1 : 0);
  return search === '' ? query : query.where(containing(search, ['description', 'ip_address']));
}

function requireFitting(now: () => number, row: AlertRow, { reason, until, suppress: hides }: BodyOf<typeof resolveAlert>): void {
  if (reason === 'was_me' && !isAboutSignIn(row)) throw refuseField('reason', 'alert.reason_about_sign_in');
  if (until !== undefined && until <= at(now)) throw refuseField('until', 'alert.date_passed');
  if (until !== undefined && until > at(now, ACCEPTED_RISK_DAYS_MAXIMUM * DAY_MS))
    throw refuseField('until', 'alert.risk_too_long');
  if (hides) requireSuppressible(row, 'suppress');
}

export class Alerts {
  private readonly database: Kysely<Tables>;
  private readonly audit: Audit;
  private readonly mails: AlertMails;
  private readonly tell: (user_id: string, event: LiveEvent) => void;
  private readonly consequences: Consequences;
  private readonly now: () => number;
  private readonly onChange: (user_id: string) => void;
  private readonly onShown: ((incident: Incident) => void) | undefined;
  readonly suppressions: Suppressions;

  constructor(options: AlertsOptions) {
    this.database = options.database;
    this.audit = options.audit;
    this.mails = options.mails;
    this.tell = options.tell;
    this.consequences = options.consequences;
    this.now = options.now;
    this.onChange = options.onChange;
    this.onShown = options.onShown;
    this.suppressions = createSuppressions({ ...options, database: suppressionTables(this.database), changed: this.changed });
  }

  private readonly changed = (user_id: string): void => {
    this.onChange(user_id);
    this.tell(user_id, { kind: 'alerts_changed' });
  };

  find(id: string): Promise<AlertRow | undefined> {
    return this.database.selectFrom('alerts').selectAll().where('id', '=', id).executeTakeFirst();
  }

  async detail(row: AlertRow): Promise<AlertDetail> {
    const decisions = await this.database
      .selectFrom('alert_decisions')
      .select(['id', 'kind', 'at', 'by', 'reason', 'note', 'until'])
      .where('alert_id', '=', row.id)
      .orderBy('id', 'desc')
      .execute();
    return { ...alertOf(row), about_sign_in: isAboutSignIn(row), suppressible: isSuppressible(row), decisions };
  }

  private async decide(
    row: AlertRow,
    { user_id, origin }: Omit<Decider, 'session_id'> | typeof MONITOR,
    decision: Decision,
    also?: (transaction: Kysely<Tables>, changed_row: AlertRow) => Promise<void>,
  ): Promise<AlertDetail> {
    const { from, otherwise, set, kind, reason = null, note = null, until = null } = decision;
    const changedRow = await inTransaction(this.database, async (transaction) => {
      const moved = await transaction
        .updateTable('alerts')
        .set(set)
        .where('id', '=', row.id)
        .where('status', 'in', from)
        .returningAll()
        .executeTakeFirst();
      if (moved === undefined) throw refuse(otherwise);
      await transaction
        .insertInto('alert_decisions')
        .values({
          id: newId(),
          alert_id: row.id,
          kind,
          at: at(this.now),
          by: user_id === null ? 'monitor' : 'person',
          reason,
          note,
          until,
        })
        .execute();
      await also?.(transaction, moved);
      await this.audit.record(transaction.$pickTables<'audit_entries' | 'audit_head'>(), {
        kind: decision.audit,
        subject_id: row.user_id,
        actor_id: user_id,
        origin,
        details: { alert_id: row.id, rule: row.rule, ...decision.details },
      });
      return moved;
    });
    this.changed(row.user_id);
    return await this.detail(changedRow);
  }

  /** Raises an alert or counts one more occurrence, and informs the person's pages; grave ones are mailed. If `claim` refuses, nothing is changed. */
  async raise(incident: Incident, claim?: Claim): Promise<void> {
    const letter = await this.mails.letterOf(incident);
    const is_shown = await inTransaction(this.database, async (transaction) => {
      if (claim !== undefined && !(await claim(transaction.$pickTables<'detection_findings'>()))) return false;
      const recorded = await recordIncident(
        transaction.$pickTables<keyof AlertTables | 'audit_entries' | 'audit_head'>(),
        this.audit,
        incident,
      );
      if (recorded?.is_shown && letter) {
        const tables = transaction.$pickTables<keyof AlertTables | 'mails' | 'installation'>();
        await this.mails.queueOnce(tables, incident, letter(recorded.alert_id));
      }
      return recorded?.is_shown ?? false;
    });
    this.mails.wake();
    this.changed(incident.user_id);
    if (is_shown) this.onShown?.(incident);
  }

  /** The next page begins after the `last_id` of this one's last. */
  async list(user_id: string, query: AlertsQuery): Promise<AlertRow[]> {
    const { limit, cursor, sort } = query;
    const rows = matching(this.database, user_id, query).selectAll().limit(limit);
    if (sort === 'latest') {
      const latest = rows.orderBy('last_id', 'desc');
      return await (cursor === undefined ? latest : latest.where('last_id', '<', cursor)).execute();
    }
    const ordered = rows.orderBy(RANK, 'desc').orderBy('last_id', 'desc');
    if (cursor === undefined) return await ordered.execute();
    const last = await this.database
      .selectFrom('alerts')
      .select(RANK.as('rank'))
      .where('user_id', '=', user_id)
      .where('last_id', '=', cursor)
      .executeTakeFirst();
    // The cursor's alert occurred again since. The page receives that event and reads the list anew.
    if (last === undefined) return [];
    return await ordered
      .where(({ or, and, eb }) => or([eb(RANK, '<', last.rank), and([eb(RANK, '=', last.rank), eb('last_id', '<', cursor)])]))
      .execute();
  }

  /** The number of matching alerts on all pages. */
  async count(user_id: string, query: AlertsQuery): Promise<number> {
    const { count } = await matching(this.database, user_id, query)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  }

  /** @throws Problem `conflict` when it is not open. */
  acknowledge(row: AlertRow, decider: Decider): Promise<AlertDetail> {
    return this.decide(row, decider, {
      from: ['open'],
      otherwise: 'alert.not_open',
      set: { status: 'acknowledged' },
      kind: 'acknowledged',
      audit: 'alert_acknowledged',
    });
  }

  /** @throws Problem `conflict` when it is resolved already, `invalid_field` for a reason that does not fit it. */
  async resolve(row: AlertRow, resolution: BodyOf<typeof resolveAlert>, decider: Decider): Promise<AlertDetail> {
    requireFitting(this.now, row, resolution);
    const { reason, note: written, until = null, suppress: hides } = resolution;
    const note = written === undefined || written === '' ? null : written;
    const resolved = await this.decide(
      row,
      decider,
      {
        from: ['open', 'acknowledged'],
        otherwise: 'alert.already_resolved',
        set: {
          status: 'resolved',
          resolved_reason: reason,
          resolved_note: note,
          resolved_until: until,
          resolved_at: at(this.now),
          resolved_by: decider.user_id,
        },
        kind: 'resolved',
        reason,
        note,
        until,
        audit: 'alert_resolved',
        details: { reason, until },
      },
      hides ? (transaction, moved) => this.suppressions.add(suppressionTables(transaction), moved, decider) : undefined,
    );
    const { trustBrowser, reviewBrowser } = this.consequences.browsers;
    if (row.browser_id !== null) await (reason === 'was_me' ? trustBrowser : reviewBrowser)(row.user_id, row.browser_id);
    return resolved;
  }

  /** @throws Problem `conflict` when it is not resolved. */
  reopen(row: AlertRow, decider: Decider): Promise<AlertDetail> {
    return this.decide(row, decider, {
      from: ['resolved'],
      otherwise: 'alert.already_open',
      set: { status: 'open', ...UNRESOLVED },
      kind: 'reopened',
      audit: 'alert_reopened',
    });
  }

  /** Resolves the alerts about files whose infections ended as fixed, or reopens those that were. Each gets a decision in its history. */
  async settleFiles(files: readonly SettledFile[], is_over: boolean): Promise<void> {
    for (const { id, user_id, file_hash, device_id } of files) {
      const rows = await this.database
        .selectFrom('alerts')
        .selectAll()
        .where('user_id', '=', user_id)
        .where(({ eb, and }) =>
          device_id === null
            ? eb('dedupe_key', '=', `scan:${id}`)
            : and([eb('source', '=', `sha256:${file_hash}`), eb('dedupe_key', 'like', `scan:device:${device_id}:%`)]),
        )
        .where('status', is_over ? '!=' : '=', 'resolved')
        .execute();
      const over = { status: 'resolved', resolved_reason: 'fixed', resolved_at: at(this.now), resolved_by: user_id } as const;
      for (const row of rows.filter(({ resolved_reason }) => is_over || resolved_reason === 'fixed'))
        await this.decide(row, MONITOR, {
          from: is_over ? ['open', 'acknowledged'] : ['resolved'],
          otherwise: is_over ? 'alert.already_resolved' : 'alert.already_open',
          set: is_over ? over : { status: 'open', ...UNRESOLVED },
          ...(is_over
            ? { kind: 'resolved', reason: 'fixed', audit: 'alert_resolved' }
            : { kind: 'reopened', audit: 'alert_reopened' }),
        }).catch((error: unknown) => {
          // Another person decided at the same moment: nothing is left to do.
          if (!(error instanceof Problem && error.code === 'conflict')) throw error;
        });
    }
  }

  /** Handles "Wasn't me". @throws Problem `conflict` for an alert that does not concern a sign-in. */
  async disown(
    row: AlertRow,
    decider: Decider,
  ): Promise<{ alert: AlertDetail; sessions_ended: number; change_password: true; offer_two_factor: boolean }> {
    if (!isAboutSignIn(row)) throw refuse('alert.not_about_sign_in');
    const others = sessionsOf(row).filter((id) => id !== decider.session_id);
    const ended = await Promise.all(others.map((id) => this.consequences.endSession(row.user_id, id)));
    const sessions_ended = ended.filter(Boolean).length;
    const alert = await this.decide(row, decider, {
      from: ['open', 'acknowledged', 'resolved'],
      otherwise: 'alert.gone',
      // An ended session is refused from now on, so the alert is `blocked`.
      set: { status: 'acknowledged', ...UNRESOLVED, ...(sessions_ended > 0 ? { outcome: 'blocked' } : {}) },
      kind: 'not_me',
      audit: 'alert_acknowledged',
      details: { not_me: true, sessions_ended },
    });
    if (row.browser_id !== null) await this.consequences.browsers.forgetBrowser(row.user_id, row.browser_id);
    const { enabled } = await this.consequences.secondFactor(row.user_id);
    return { alert, sessions_ended, change_password: true, offer_two_factor: !enabled };
  }

  async counts(user_id: string): Promise<Monitor['alerts']> {
    const rows = await this.database
      .selectFrom('alerts')
      .select(({ fn }) => ['status', 'hidden_by', 'simulated', 'outcome', 'severity', fn.countAll<number>().as('count')])
      .select(['rule', 'threat_type'])
      .where('user_id', '=', user_id)
      .groupBy(['status', 'hidden_by', 'simulated', 'outcome', 'severity', 'rule', 'threat_type'])
      .execute();
    const sum = (matches: (row: (typeof rows)[number]) => boolean) =>
      rows.reduce((total, row) => total + (matches(row) ? row.count : 0), 0);
    const isActive = (row: (typeof rows)[number]) => row.hidden_by === null && row.status !== 'resolved';
    const isTest = (row: (typeof rows)[number]) => isOfTestFile({ ...row, simulated: row.simulated === 1 });
    const isReal = (row: (typeof rows)[number]) => isActive(row) && row.simulated === 0 && !isTest(row);
    const unstopped = rows.filter((row) => isReal(row) && row.outcome !== 'blocked');
    const severity = severitySchema.options.findLast((one) => unstopped.some((row) => row.severity === one));
    const gravest =
      severity &&
      (await matching(this.database, user_id, { status: 'active', severity, simulated: 'false', search: '' })
        .where('outcome', '!=', 'blocked')
        .select(['id', 'threat_type', 'severity'])
        .orderBy('last_id', 'desc')
        .limit(1)
        .executeTakeFirst());
    return {
      real: sum(isReal),
      test_files: sum((row) => isActive(row) && isTest(row)),
      unstopped: sum((row) => unstopped.includes(row)),
      gravest: gravest ?? null,
      active: sum(isActive),
      resolved: sum((row) => row.hidden_by === null && row.status === 'resolved'),
      hidden: sum((row) => row.hidden_by !== null),
    };
  }
}

export function createAlerts(options: AlertsOptions): Alerts {
  return new Alerts(options);
}
