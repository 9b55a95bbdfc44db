import type { Alert, Severity, ThreatType } from '@palisade/contract/anti-hacking';
import type { Kysely } from 'kysely';
import { newId } from '#platform/id.ts';
import { alertOf } from './alert-record.ts';
import type { AlertTables } from './alerts.tables.ts';
import { UNRESOLVED } from './merging.ts';

/** The incident that a drill pretends. The alert carries `simulated`. */
interface Drill {
  threat_type: ThreatType;
  severity: Severity;
  description: string;
  ip_address: string | null;
}

const DRILLS: readonly Omit<Drill, 'ip_address'>[] = [
  {
    threat_type: 'brute_force',
    severity: 'medium',
    description: 'Someone entered five wrong passwords in ten minutes from one address.',
  },
  { threat_type: 'suspicious_login', severity: 'high', description: 'Someone signed in from a new device.' },
  { threat_type: 'malware_detected', severity: 'high', description: 'A download contains a program that steals passwords.' },
  { threat_type: 'phishing_attempt', severity: 'medium', description: 'An email links to a fake bank sign-in page.' },
  {
    threat_type: 'intrusion_attempt',
    severity: 'high',
    description: 'Someone is probing for database errors and hidden folders.',
  },
  { threat_type: 'ddos_attempt', severity: 'low', description: 'More requests came in a minute than usually come in an hour.' },
];

/** Networks set aside for examples (RFC 5737), so that a drill names no real address. */
const EXAMPLE_NETWORKS = ['192.0.2', '198.51.100', '203.0.113'] as const;
const WITH_ADDRESS: readonly ThreatType[] = ['brute_force', 'suspicious_login', 'intrusion_attempt', 'ddos_attempt'];

/** Makes a drill up. `random` answers from 0 up to, not including, 1. */
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
  const row = {
    id,
    user_id,
    ...drill(parts.random),
    created_at: at,
    last_seen: at,
    last_id: id,
    count: 1,
    rule: 'drill',
    source: null,
    outcome: 'blocked' as const,
    evidence: JSON.stringify({ threshold: 'This is simulated. You requested it, and none of it happened.', events: [] }),
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
