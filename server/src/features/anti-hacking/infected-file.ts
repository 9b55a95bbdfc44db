import type { Incident } from './anti-hacking.ts';

/** As much of an infected upload as its alert tells. */
interface InfectedUpload {
  user_id: string;
  scan: { id: string; filename: string; scanned_at: string; threat_detected: string | null; threat_member: string | null };
  is_test_file: boolean;
  removed: boolean;
}

/**
 * The alert of an infected upload. `blocked` speaks of the copy that reached this server, and the sentence says so: the original lies where the person
 * took it from, and no server can vouch for it.
 */
export function infectedFileIncident({ user_id, scan, is_test_file, removed }: InfectedUpload): Incident {
  const where = scan.threat_member === null ? scan.filename : `${scan.filename} (${scan.threat_member})`;
  const found = `${scan.threat_detected ?? 'A threat'} was found in ${where}.`;
  const outcome = removed
    ? 'The uploaded copy was deleted. Delete the original too.'
    : 'The uploaded copy could not be deleted yet. Delete the original.';
  return {
    key: `scan:${scan.id}`,
    user_id,
    threat_type: 'malware_detected',
    severity: is_test_file ? 'low' : 'high',
    description: is_test_file ? `${found} It is a harmless test file. The uploaded copy was deleted.` : `${found} ${outcome}`,
    at: scan.scanned_at,
    blocked: removed,
    ip_address: null,
  };
}
