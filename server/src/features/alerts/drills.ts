import { type AlertPhrase, alertPhrase } from '@palisade/contract/alert-phrases';
import type { Alert, ThreatType } from '@palisade/contract/anti-hacking';
import type { Severity } from '@palisade/contract/severity';
import type { Kysely } from 'kysely';
import { newId } from '#platform/id.ts';
import { alertOf, describedBy, evidenceOf } from './alert-record.ts';
import type { AlertTables } from './alerts.tables.ts';
import { UNRESOLVED } from './merging.ts';

/** The simulated incident of a drill. The alert has the mark `simulated`. */
interface Drill {
  threat_type: ThreatType;
  severity: Severity;
  phrase: AlertPhrase;
  ip_address: string | null;
}

const DRILLS: readonly Omit<Drill, 'ip_address'>[] = [
  { threat_type: 'brute_force', severity: 'medium', phrase: alertPhrase('drill.brute_force', {}) },
  { threat_type: 'suspicious_login', severity: 'high', phrase: alertPhrase('drill.suspicious_login', {}) },
  { threat_type: 'malware_detected', severity: 'high', phrase: alertPhrase('drill.malware_detected', {}) },
  { threat_type: 'phishing_attempt', severity: 'medium', phrase: alertPhrase('drill.phishing_attempt', {}) },
  { threat_type: 'intrusion_attempt', severity: 'high', phrase: alertPhrase('drill.intrusion_attempt', {}) },
  { threat_type: 'ddos_attempt', severity: 'low', phrase: alertPhrase('drill.ddos_attempt', {}) },
];

/** Networks reserved for documentation (RFC 5737), so that a drill names no real address. */
const EXAMPLE_NETWORKS = ['192.0.2', '198.51.100', '203.0.113'] as const;
const WITH_ADDRESS: readonly ThreatType[] = ['brute_force', 'suspicious_login', 'intrusion_attempt', 'ddos_attempt'];

/** Invents a drill. `random` returns a number from 0 up to, not including, 1. */
export function drill(random: () => number): Drill {
  const upTo = (count: number) => Math.min(count - 1, Math.floor(random() * count));
  const [first] = DRILLS;
  const chosen = DRILLS[upTo(DRILLS.length)] ?? first;
  if (chosen === undefined) throw new Error('There are no simulated alerts.');
  const network = EXAMPLE_NETWORKS[upTo(EXAMPLE_NETWORKS.length)] ?? EXAMPLE_NETWORKS[0];
  const ip_address = WITH_ADDRESS.includes(chosen.threat_type) ? `${network}.${1 + upTo(254)}` : null;
  return { ...chosen, ip_address };
}

/** Adds a drill to a person's alerts, as if it had been blocked just now. `now` is in ms. */
export async function addDrill(
  user_id: string,
  parts: { database: Kysely<Pick<AlertTables, 'alerts'>>; now: number; random: () => number },
): Promise<Alert> {
  const id = newId();
  const at = new Date(parts.now).toISOString();
  const { phrase, ...pretended } = drill(parts.random);
  const row = {
    id,
    user_id,
    ...pretended,
    ...describedBy(phrase),
    created_at: at,
    last_seen: at,
    last_id: id,
    count: 1,
    rule: 'drill',
    source: null,
    outcome: 'blocked' as const,
    evidence: JSON.stringify(evidenceOf({ threshold: alertPhrase('threshold.drill', {}), events: [] })),
    simulated: 1,
    dedupe_key: `drill:${id}`,
    status: 'open' as const,
    ...UNRESOLVED,
    browser_id: null,
    session_ids: '[]',
    hidden_by: null,
  };
  return alertOf(await parts.database.insertInto('alerts').values(row).returningAll().executeTakeFirstOrThrow());
}
