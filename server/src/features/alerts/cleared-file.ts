import { alertPhrase } from '@palisade/contract/alert-phrases';
import type { Incident } from '#platform/incident.ts';

/** The part of an upload that turned out to be harmless that its alert tells. */
interface ClearedUpload {
  user_id: string;
  scan: { id: string; filename: string; scanned_at: string; file_hash: string };
  threat: string;
}

/** The news that an earlier alert was a false one: of a kind of its own, so that it counts neither as malware that was blocked nor as one that was not. */
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
