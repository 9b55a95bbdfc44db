import { type AlertPhrase, alertEnglish, knownAlertPhrase } from '@palisade/contract/alert-phrases';
import { type Alert, EVIDENCE_EVENTS_MAXIMUM, evidenceSchema } from '@palisade/contract/anti-hacking';
import { idSchema } from '@palisade/contract/fields';
import { phraseSchema } from '@palisade/contract/phrase';
import type { Severity } from '@palisade/contract/severity';
import type { Selectable } from 'kysely';
import { z } from 'zod';
import type { Incident } from '#platform/incident.ts';
import { type Origin, sourceOf } from '#platform/origin.ts';
import type { AlertTables } from './alerts.tables.ts';

export type AlertRow = Selectable<AlertTables['alerts']>;

/** The person who decides, and the place of the request. */
export interface Decider {
  user_id: string;
  session_id: string;
  origin: Origin;
}

type Evidence = Alert['evidence'];

const SEVERITY_RANK: Record<Severity, number> = { low: 0, medium: 1, high: 2, critical: 3 };
const SESSIONS_MAXIMUM = 20;
const sessionIdsSchema = z.array(idSchema);

export function isGraver(severity: Severity, than: Severity): boolean {
  return SEVERITY_RANK[severity] > SEVERITY_RANK[than];
}

function resolutionOf(row: AlertRow): Alert['resolution'] {
  const { resolved_reason: reason, resolved_at: at, resolved_by: by, resolved_note: note, resolved_until: until } = row;
  return reason === null || at === null || by === null ? null : { reason, note, until, at, by };
}

/** The phrase of a stored description; null if none with the same text is stored, as in a row of an older server. */
export function phraseOf({ description, phrase }: Pick<AlertRow, 'description' | 'phrase'>): Alert['phrase'] {
  const known = phrase === null ? undefined : knownAlertPhrase(phraseSchema.parse(JSON.parse(phrase)));
  return known !== undefined && alertEnglish(known) === description ? known : null;
}

/** The columns of a description: its English text, and the phrase it is made from. */
export function describedBy(phrase: AlertPhrase): { description: string; phrase: string } {
  return { description: alertEnglish(phrase), phrase: JSON.stringify(phrase) };
}

/** An incident's evidence as stored and sent: each sentence in English, with its phrase. */
export function evidenceOf({ threshold, events }: Incident['evidence']): Evidence {
  return {
    threshold: alertEnglish(threshold),
    threshold_phrase: threshold,
    events: events.map(({ at, what, source }) => ({ at, what: alertEnglish(what), source, phrase: what })),
  };
}

/** The key of an alert about an uploaded file (detection/rules.ts, cleared-file.ts). */
const OF_SCAN = /^scan:(?<id>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?::|$)/u;

/** An alert as the wire has it. */
export function alertOf(row: AlertRow): Alert {
  const { id, threat_type, severity, description, created_at, ip_address, rule, outcome, count, last_seen, status } = row;
  return {
    id,
    threat_type,
    severity,
    description,
    phrase: phraseOf(row),
    created_at,
    blocked: outcome === 'blocked',
    ip_address,
    simulated: row.simulated === 1,
    rule,
    outcome,
    evidence: evidenceSchema.parse(JSON.parse(row.evidence)),
    count,
    first_seen: created_at,
    last_seen,
    status,
    resolution: resolutionOf(row),
    hidden: row.hidden_by !== null,
    scan_id: OF_SCAN.exec(row.dedupe_key)?.groups?.['id'] ?? null,
  };
}

/** Whether the alert concerns a sign-in, so that the person can be asked whether it was them. */
export function isAboutSignIn(row: Pick<AlertRow, 'threat_type' | 'simulated'>): boolean {
  return row.simulated === 0 && (row.threat_type === 'suspicious_login' || row.threat_type === 'brute_force');
}

/** Whether alerts like this can be suppressed: a rule for one source, never a whole type, a critical alert or a drill. */
export function isSuppressible(row: AlertRow): row is AlertRow & { source: string } {
  return row.source !== null && row.severity !== 'critical' && row.simulated === 0;
}

export function sessionsOf(row: Pick<AlertRow, 'session_ids'>): string[] {
  return sessionIdsSchema.parse(JSON.parse(row.session_ids));
}

/** The source of an incident: the network of its address, else the single source that all its samples share. */
export function incidentSource({ ip_address, evidence }: Incident): string | null {
  if (ip_address !== null) return sourceOf(ip_address);
  const [source = null, ...others] = new Set(evidence.events.map((event) => event.source));
  return others.length === 0 ? source : null;
}

/** The newest samples of both, without duplicates. */
export function mergeEvidence(known: Evidence, added: Evidence): Evidence {
  const named = [...known.events, ...added.events].map(
    (event) => [JSON.stringify([event.at, event.what, event.source]), event] as const,
  );
  const events = new Map(named);
  const newest = [...events.values()].sort((a, b) => a.at.localeCompare(b.at)).slice(-EVIDENCE_EVENTS_MAXIMUM);
  return { ...added, events: newest };
}

/** Adds the session of one more occurrence; the newest ones are kept. */
export function addSession(ids: readonly string[], session_id: string | null): string {
  const all = session_id === null ? ids : [...ids.filter((id) => id !== session_id), session_id];
  return JSON.stringify(all.slice(-SESSIONS_MAXIMUM));
}
