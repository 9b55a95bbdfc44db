import type { Evidence, Incident } from './incident.ts';

/** As much of an infected upload as its alert tells. */
interface InfectedUpload {
  user_id: string;
  scan: {
    id: string;
    filename: string;
    scanned_at: string;
    threat_detected: string | null;
    threat_member: string | null;
    file_hash: string;
  };
  is_test_file: boolean;
  /** What became of the uploaded bytes. */
  copy: 'sealed' | 'deleted' | 'left' | 'waiting';
}

/** As much of an upload that turned out to be harmless as its alert tells. */
interface ClearedUpload {
  user_id: string;
  scan: { id: string; filename: string; scanned_at: string; file_hash: string };
  threat: string;
}

const OUTCOMES: Record<InfectedUpload['copy'], string> = {
  sealed: 'The uploaded copy is locked away in quarantine. Delete the original.',
  deleted: 'The uploaded copy was deleted. Delete the original too.',
  left: 'The uploaded copy could not be deleted yet. Delete the original.',
  waiting: 'The uploaded copy could not be deleted yet. Delete the original.',
};

const COPY_OUTCOMES: Record<InfectedUpload['copy'], Incident['outcome']> = {
  sealed: 'blocked',
  deleted: 'blocked',
  left: 'allowed',
  waiting: 'unknown',
};

/** What an alert about a file rests on: the file is known by its content, whatever it is called. */
function fileEvidence(what: string, { scanned_at, file_hash }: { scanned_at: string; file_hash: string }): Evidence {
  return { threshold: 'One file is enough.', events: [{ at: scanned_at, what, source: `sha256:${file_hash}` }] };
}

/**
 * The alert of an infected upload. `blocked` speaks of the copy that reached this server, and the sentence says so: the original lies where the person
 * took it from, and no server can vouch for it.
 */
export function infectedFileIncident({ user_id, scan, is_test_file, copy }: InfectedUpload): Incident {
  const where = scan.threat_member === null ? scan.filename : `${scan.filename} (${scan.threat_member})`;
  const found = `${scan.threat_detected ?? 'A threat'} was found in ${where}.`;
  const test_outcome = copy === 'sealed' ? 'The uploaded copy is in quarantine.' : 'The uploaded copy was deleted.';
  return {
    rule: 'malware_detected.infected',
    key: `scan:${scan.id}`,
    user_id,
    threat_type: 'malware_detected',
    severity: is_test_file ? 'low' : 'high',
    description: is_test_file ? `${found} It is a harmless test file. ${test_outcome}` : `${found} ${OUTCOMES[copy]}`,
    at: scan.scanned_at,
    outcome: COPY_OUTCOMES[copy],
    ip_address: null,
    evidence: fileEvidence(found, scan),
    device_id: null,
    session_id: null,
  };
}

/** The news that an earlier alert was a false one: of a kind of its own, so that it counts neither as malware that was blocked nor as one that was not. */
export function clearedFileIncident({ user_id, scan, threat }: ClearedUpload): Incident {
  return {
    rule: 'false_alarm.cleared',
    key: `scan:${scan.id}:cleared`,
    user_id,
    threat_type: 'false_alarm',
    severity: 'low',
    description: `${threat} was not in ${scan.filename} after all: newer signatures find nothing in it. You can get the file back.`,
    at: scan.scanned_at,
    outcome: 'unknown',
    ip_address: null,
    evidence: fileEvidence('Newer signatures find nothing in the file.', scan),
    device_id: null,
    session_id: null,
  };
}
