import type { AlertDecision } from '@palisade/contract/alerts';
import type { Alert, AlertStatus, ResolutionReason } from '@palisade/contract/anti-hacking';
import type { Severity } from '@palisade/contract/severity';
import type { PersonalTable } from '#platform/personal-data.ts';

export interface AlertTables {
  alerts: {
    id: string;
    user_id: string;
    threat_type: string;
    severity: Severity;
    description: string;
    /** JSON: the phrase that the description was made from; null in rows from before. */
    phrase: string | null;
    /** When it was first seen. */
    created_at: string;
    last_seen: string;
    /** The id of its latest occurrence: the order and cursor of the list. */
    last_id: string;
    count: number;
    rule: string;
    /** The source in the rule's finding: a network, an address or a file; null if there are several or none. */
    source: string | null;
    outcome: Alert['outcome'];
    /** JSON, as the contract has it. */
    evidence: string;
    ip_address: string | null;
    /** 0 or 1. */
    simulated: number;
    /** Identifies repetitions of an open alert; released when the alert is resolved. */
    dedupe_key: string;
    status: AlertStatus;
    resolved_reason: ResolutionReason | null;
    resolved_note: string | null;
    resolved_until: string | null;
    resolved_at: string | null;
    resolved_by: string | null;
    browser_id: string | null;
    /** JSON: the ids of the sessions that it is about. */
    session_ids: string;
    /** The suppression that hides it from the list. */
    hidden_by: string | null;
  };
  alert_decisions: {
    id: string;
    alert_id: string;
    kind: AlertDecision['kind'];
    at: string;
    by: AlertDecision['by'];
    reason: ResolutionReason | null;
    note: string | null;
    until: string | null;
  };
  alert_suppressions: {
    id: string;
    user_id: string;
    rule: string;
    source: string;
    description: string;
    /** Copied from the alert that it was made from. */
    phrase: string | null;
    created_at: string;
    until: string;
    hidden_count: number;
    last_hidden_at: string | null;
  };
  /** One row for each person, key and day about which a mail was written. */
  alert_mails: { dedupe_key: string; user_id: string; day: string };
  /**
   * One row: at `next_at` digests about alerts from `since` until `until` are written, person by person; `written_to` is the last person done. Each part is written by the
   * server that advances this row.
   */
  alert_digest: { id: number; since: string; next_at: string; until: string | null; written_to: string | null };
}

export const ALERT_PERSONAL: readonly PersonalTable[] = [
  { table: 'alerts', json: ['evidence', 'phrase', 'session_ids'], withheld: ['dedupe_key'] },
  { table: 'alert_suppressions', json: ['phrase'] },
  { table: 'alert_mails', key: 'dedupe_key' },
];

declare module '#platform/tables.ts' {
  interface Tables extends AlertTables {}
}
