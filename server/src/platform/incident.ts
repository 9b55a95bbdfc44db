import type { AlertPhrase } from '@palisade/contract/alert-phrases';
import type { ThreatType } from '@palisade/contract/anti-hacking';
import type { Severity } from '@palisade/contract/severity';
import type { Kysely } from 'kysely';

/** Findings, kept until all recipients have been notified. */
export interface FindingTables {
  detection_findings: {
    id: string;
    created_at: string;
    /** JSON. */
    found: string;
    /** JSON: the ids of the notified recipients. */
    told: string;
  };
}

/** The evidence of an incident: the threshold of its rule, and up to 5 sample events. */
interface IncidentEvidence {
  threshold: AlertPhrase;
  events: readonly { at: string; what: AlertPhrase; source: string | null }[];
}

/** The finding of a rule, or a report about a file. */
export interface Incident {
  /** The rule's id, `brute_force.pair`. */
  rule: string;
  /** Grouping key: incidents of the same rule, key and person are one alert while it is open. */
  key: string;
  user_id: string;
  threat_type: ThreatType | 'false_alarm' | 'device_offline' | 'remote_report';
  severity: Severity;
  /** The event, from which the alert's description is made. */
  phrase: AlertPhrase;
  /** ISO time. */
  at: string;
  /** The outcome: `blocked` only when the action itself was refused. */
  outcome: 'blocked' | 'allowed' | 'unknown';
  ip_address: string | null;
  evidence: IncidentEvidence;
  /** The browser that "Was me" trusts, and the session that "Wasn't me" ends. */
  browser_id: string | null;
  session_id: string | null;
  /** Largest pause between occurrences of one alert, in ms; an hour by default. */
  gap_ms?: number;
}

/** Marks an incident as reported, in the transaction that reports it; false if it was already reported, so that it is not repeated. */
export type Claim = (transaction: Kysely<FindingTables>) => Promise<boolean>;
