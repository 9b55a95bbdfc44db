import { REFUSED_NAME_RULE } from '@palisade/contract/alert-advice';
import { alertPhrase } from '@palisade/contract/alert-phrases';
import type { Incident } from '#platform/incident.ts';
import type { DangerousRefusal } from './question-counts.ts';

const DAY_MS = 86_400_000;

/** The alert about a refused dangerous name: one per device and day. It contains no private name. */
export function refusedNameIncident(user_id: string, { device, name, at }: DangerousRefusal): Incident {
  const phrase = alertPhrase('web_protection.refused', { device: device.name });
  return {
    rule: REFUSED_NAME_RULE,
    key: `device:${device.id}:${at.slice(0, 10)}`,
    user_id,
    threat_type: 'phishing_attempt',
    severity: 'medium',
    phrase,
    at,
    outcome: 'blocked',
    ip_address: null,
    evidence: {
      threshold: alertPhrase('threshold.web_protection.refused', {}),
      events: [
        { at, what: name === undefined ? phrase : alertPhrase('web_protection.refused.question', { name }), source: null },
      ],
    },
    browser_id: null,
    session_id: null,
    gap_ms: DAY_MS,
  };
}

/** Raises an alert for each person concerned who has a premium plan. */
export async function raiseRefusedName(
  refusal: DangerousRefusal,
  parts: {
    peopleOf: (device: Pick<DangerousRefusal, 'user_id' | 'profile_id'>) => Promise<readonly string[]>;
    isPremium: (user_id: string) => Promise<boolean>;
    raise: (incident: Incident) => Promise<void>;
  },
): Promise<void> {
  for (const user_id of await parts.peopleOf(refusal))
    if (await parts.isPremium(user_id)) await parts.raise(refusedNameIncident(user_id, refusal));
}
