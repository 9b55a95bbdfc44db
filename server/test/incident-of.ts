import { asWritten } from '@palisade/contract/alert-phrases';
import type { Incident } from '#platform/incident.ts';

/** An incident about a person, of which a test says what it is about. */
export function incidentOf(user_id: string, parts: Partial<Incident> = {}): Incident {
  return {
    user_id,
    rule: 'test.rule',
    key: 'one',
    threat_type: 'intrusion_attempt',
    severity: 'high',
    phrase: asWritten('It happened.'),
    at: new Date().toISOString(),
    outcome: 'unknown',
    ip_address: null,
    evidence: { threshold: asWritten('One.'), events: [] },
    browser_id: null,
    session_id: null,
    ...parts,
  };
}
