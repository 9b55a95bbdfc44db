import type { Severity, ThreatType } from '@palisade/contract/anti-hacking';
import type { Kysely } from 'kysely';

/** What was found, until everybody who is to know has been told. */
export interface FindingTables {
  detection_findings: {
    id: string;
    created_at: string;
    /** JSON. */
    found: string;
    /** JSON: the ids of those who were told. */
    told: string;
  };
}

/** What an alert rests on. `events` are up to 5 samples, in words. */
export interface Evidence {
  threshold: string; // 'five failures within 10 minutes'
  events: readonly { at: string; what: string; source: string | null }[];
}

/** What a rule found, or what was told of a file. */
export interface Incident {
  /** The rule's id, `brute_force.pair`. */
  rule: string;
  /** What belongs together: the same rule and key of a person are one alert while it goes on. */
  key: string;
  user_id: string;
  threat_type: ThreatType | 'false_alarm' | 'device_offline' | 'remote_report';
  severity: Severity;
  description: string;
  /** ISO time. */
  at: string;
  /** What became of it: `blocked` only when the thing itself was refused. */
  outcome: 'blocked' | 'allowed' | 'unknown';
  ip_address: string | null;
  evidence: Evidence;
  /** What "Was me" trusts, and the session that "Wasn't me" ends. */
  browser_id: string | null;
  session_id: string | null;
  /** How long after the last occurrence one more belongs to the same alert, in ms; an hour where it is left out. */
  gap_ms?: number;
}

/** Notes in the transaction that tells of an incident that it is told; false when it was told meanwhile, so that it is not told again. */
export type Claim = (transaction: Kysely<FindingTables>) => Promise<boolean>;
