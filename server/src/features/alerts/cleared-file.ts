import { alertPhrase } from '@palisade/contract/alert-phrases';
import type { Incident } from '#platform/incident.ts';

/** The facts about a cleared upload that its alert names. */
interface ClearedUpload {
  user_id: string;
  scan: { id: string; filename: string; scanned_at: string; file_hash: string };
  threat: string;
}

/** Reports that an earlier alert was false. It has its own kind, so that it counts neither as blocked nor as unblocked malware. */
export function clearedFileIncident({ user_id, scan, threat }: ClearedUpload): Incident {
  return {
    rule: 'false_alarm.cleared',
    key: `scan:${scan.id}:cleared`,
    user_id,
    threat_type: 'false_alarm',
    severity: 'low',
    phrase: alertPhrase('false_alarm', { threat, filename: scan.filename }),
    at: scan.scanned_at,
    outcome: 'unknown',
    ip_address: null,
    evidence: {
      threshold: alertPhrase('threshold.false_alarm', {}),
      events: [{ at: scan.scanned_at, what: alertPhrase('event.cleared', {}), source: `sha256:${scan.file_hash}` }],
    },
    browser_id: null,
    session_id: null,
  };
}
