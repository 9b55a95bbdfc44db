import { evidenceSchema } from '@palisade/contract/anti-hacking';
import { type Insertable, type Kysely, sql } from 'kysely';
import type { Audit, AuditTables } from '#platform/audit.ts';
import { newId } from '#platform/id.ts';
import type { Incident } from '#platform/incident.ts';
import {
  type AlertRow,
  addSession,
  describedBy,
  evidenceOf,
  incidentSource,
  isGraver,
  mergeEvidence,
  sessionsOf,
} from './alert-record.ts';
import type { AlertTables } from './alerts.tables.ts';

const HOUR_MS = 3_600_000;
/** Repetitions within an hour, in ms, belong to one alert, for a day at most. */
const GAP_MS = HOUR_MS;
const SPAN_MS = 24 * HOUR_MS;
/** Key prefix of incidents about one file: further reports do not count as repetitions. */
const TOLD_ONCE = 'scan:';
const ATTEMPTS = 5;

export const UNRESOLVED = {
  resolved_reason: null,
  resolved_note: null,
  resolved_until: null,
  resolved_at: null,
  resolved_by: null,
} as const;

/** A recorded incident. `is_shown`: it needs the person's attention. */
interface Recorded {
  alert_id: string;
  is_shown: boolean;
}

type Tables = AlertTables & AuditTables;

function isToldOnce({ key }: Pick<Incident, 'key'>): boolean {
  return key.startsWith(TOLD_ONCE);
}

/** The key of mails, of which one is sent per day. */
export function mailKey({ user_id, rule, key, at }: Incident): string {
  return JSON.stringify([user_id, rule, isToldOnce({ key }) ? null : key, at.slice(0, 10)]);
}

/** Two browsers get two alerts, because each is a separate question to the person. */
function dedupeKey({ user_id, rule, key, browser_id }: Incident): string {
  return isToldOnce({ key }) ? key : JSON.stringify([user_id, rule, key, browser_id]);
}

const before = (at: string, ms: number) => new Date(Date.parse(at) - ms).toISOString();

function newRow(incident: Incident, source: string | null, suppression_id: string | null): Insertable<AlertTables['alerts']> {
  const { user_id, threat_type, severity, phrase, at, rule, outcome, evidence, ip_address, browser_id, session_id } = incident;
  const id = newId();
  return {
    id,
    user_id,
    threat_type,
    severity,
    ...describedBy(phrase),
    created_at: at,
    last_seen: at,
    last_id: id,
    count: 1,
    rule,
    source,
    outcome,
    evidence: JSON.stringify(evidenceOf(evidence)),
    ip_address,
    simulated: 0,
    dedupe_key: dedupeKey(incident),
    status: 'open',
    ...UNRESOLVED,
    browser_id,
    session_ids: addSession([], session_id),
    hidden_by: suppression_id,
  };
}

/** Whether a resolved alert stays resolved when the incident repeats. */
function isSettled(row: AlertRow, incident: Incident): boolean {
  if (row.status !== 'resolved' || isGraver(incident.severity, row.severity)) return false;
  if (row.resolved_reason === 'accepted_risk') return row.resolved_until !== null && row.resolved_until > incident.at;
  // "Was me" applies to this browser only: at another one it may be another person.
  return row.resolved_reason === 'was_me' && (incident.browser_id !== null || incident.ip_address === row.ip_address);
}

/**
 * Records an incident as one more occurrence of an open alert, or as a new one. The database decides which, also between concurrent calls: by the update that finds the
 * alert, and by its unique key. Undefined for a repeated report.
 */
export async function recordIncident(database: Kysely<Tables>, audit: Audit, incident: Incident): Promise<Recorded | undefined> {
  const once = isToldOnce(incident);
  if (once && (await isKnown(database, incident))) {
    await tellAgain(database, incident);
    return undefined;
  }
  const source = incidentSource(incident);
  const suppression_id = await takeSuppression(database, incident, source);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const known = once ? undefined : await takeCurrent(database, incident);
    if (known !== undefined) {
      const is_shown = await addOccurrence(database, audit, { known, incident, source, suppression_id });
      return { alert_id: known.id, is_shown };
    }
    if (!once) await letGo(database, incident);
    const inserted = await database
      .insertInto('alerts')
      .values(newRow(incident, source, suppression_id))
      .onConflict((conflict) => conflict.column('dedupe_key').doNothing())
      .returning('id')
      .executeTakeFirst();
    if (inserted !== undefined) return { alert_id: inserted.id, is_shown: suppression_id === null };
    if (once) {
      await tellAgain(database, incident);
      return undefined;
    }
  }
  throw new Error('An alert changed on every attempt to store it.');
}

/** A repeated report about a file is not counted; with `blocked` its alert becomes blocked, never the reverse. */
async function tellAgain(database: Kysely<Tables>, incident: Incident): Promise<void> {
  if (incident.outcome !== 'blocked') return;
  await database
    .updateTable('alerts')
    .set({ outcome: 'blocked', ...describedBy(incident.phrase) })
    .where('dedupe_key', '=', dedupeKey(incident))
    .where('outcome', '!=', 'blocked')
    .execute();
}

/** Locks the open alert until the transaction ends. */
function takeCurrent(database: Kysely<Tables>, incident: Incident): Promise<AlertRow | undefined> {
  const { at, gap_ms = GAP_MS } = incident;
  return database
    .updateTable('alerts')
    .set((update) => ({ count: update('count', '+', 1) }))
    .where('dedupe_key', '=', dedupeKey(incident))
    .where((where) =>
      where.or([
        where.and([where('last_seen', '>', before(at, gap_ms)), where('created_at', '>', before(at, SPAN_MS))]),
        where.and([where('resolved_reason', '=', 'accepted_risk'), where('resolved_until', '>', at)]),
      ]),
    )
    .returningAll()
    .executeTakeFirst();
}

/** A closed alert releases its key for the next one. */
async function letGo(database: Kysely<Tables>, incident: Incident): Promise<void> {
  const dedupe_key = dedupeKey(incident);
  const { at, gap_ms = GAP_MS } = incident;
  await database
    .updateTable('alerts')
    .set({ dedupe_key: sql<string>`id || ':' || dedupe_key` })
    .where('dedupe_key', '=', dedupe_key)
    .where((where) => where.or([where('last_seen', '<=', before(at, gap_ms)), where('created_at', '<=', before(at, SPAN_MS))]))
    .execute();
}

/** Returns whether the alert needs attention. */
async function addOccurrence(
  database: Kysely<Tables>,
  audit: Audit,
  found: { known: AlertRow; incident: Incident; source: string | null; suppression_id: string | null },
): Promise<boolean> {
  const { known, incident, source, suppression_id } = found;
  const { at, severity, outcome, phrase, ip_address, evidence } = incident;
  const graver = isGraver(severity, known.severity);
  const is_shown = suppression_id === null && !isSettled(known, incident);
  const is_closed = known.status === 'resolved' || known.hidden_by !== null;
  const reopens = is_shown && (is_closed || (known.status === 'acknowledged' && graver));
  const newest = at >= known.last_seen ? { last_seen: at, outcome, ...describedBy(phrase), ip_address } : {};
  await database
    .updateTable('alerts')
    .set({
      ...newest,
      ...(graver ? { severity } : {}),
      ...(source === known.source ? {} : { source: null }),
      ...(is_shown ? { last_id: newId() } : {}),
      ...(reopens ? { status: 'open', hidden_by: null, ...UNRESOLVED } : {}),
      evidence: JSON.stringify(mergeEvidence(evidenceSchema.parse(JSON.parse(known.evidence)), evidenceOf(evidence))),
      session_ids: addSession(sessionsOf(known), incident.session_id),
    })
    .where('id', '=', known.id)
    .execute();
  if (reopens) {
    await database
      .insertInto('alert_decisions')
      .values({ id: newId(), alert_id: known.id, kind: 'recurred', at, by: 'monitor', reason: null, note: null, until: null })
      .execute();
    await audit.record(database.$pickTables<'audit_entries' | 'audit_head'>(), {
      kind: 'alert_reopened',
      subject_id: known.user_id,
      actor_id: null,
      details: { alert_id: known.id, rule: known.rule },
    });
  }
  return is_shown;
}

async function isKnown(database: Kysely<Tables>, incident: Incident): Promise<boolean> {
  const row = await database.selectFrom('alerts').select('id').where('dedupe_key', '=', dedupeKey(incident)).executeTakeFirst();
  return row !== undefined;
}

/** The suppression that hides an incident, which counts it: the row is locked until the incident is recorded. */
async function takeSuppression(database: Kysely<Tables>, incident: Incident, source: string | null): Promise<string | null> {
  if (source === null || incident.severity === 'critical') return null;
  const row = await database
    .updateTable('alert_suppressions')
    .set((update) => ({ hidden_count: update('hidden_count', '+', 1), last_hidden_at: incident.at }))
    .where('user_id', '=', incident.user_id)
    .where('rule', '=', incident.rule)
    .where('source', '=', source)
    .where('until', '>', incident.at)
    .returning('id')
    .executeTakeFirst();
  return row?.id ?? null;
}

/** Removes a person, in a transaction, from the keys of administrators' alerts about them. */
export async function forgetInKeys(transaction: Kysely<AlertTables>, user_id: string): Promise<void> {
  const named = `%${user_id}%`;
  await transaction
    .updateTable('alerts')
    .set({ dedupe_key: sql<string>`id` })
    .where('dedupe_key', 'like', named)
    .where('user_id', '!=', user_id)
    .execute();
  await transaction.deleteFrom('alert_mails').where('dedupe_key', 'like', named).execute();
}
