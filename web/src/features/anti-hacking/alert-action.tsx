import { CHECKED_SCAM_RULE } from '@palisade/contract/alert-advice';
import type { Alert } from '@palisade/contract/anti-hacking';
import { Button } from '#ui/button.tsx';
import { ScreenLink } from '#ui/button-link.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { useAcknowledgeAlert } from './alerts.queries.ts';

/** The link to the screen that deals with the subject of an alert; undefined if there is no such screen. */
export function placeOf({ rule, scan_id, simulated }: Alert): { label: string; to: string } | undefined {
  if (simulated || rule === CHECKED_SCAM_RULE) return undefined;
  if (scan_id !== null) return { label: 'See what to do', to: `/antivirus?scan=${scan_id}` };
  if (rule === 'device_infected_file') return { label: 'See infected files', to: '/antivirus?status=infected' };
  return rule.startsWith('device_') ? { label: 'Open your devices', to: '/devices' } : undefined;
}

/** Types of alerts that ask "Was this you?". */
const ASKS: readonly string[] = ['suspicious_login', 'brute_force'];

/** The next step of an alert in a list. */
export function AlertAction({ alert }: { alert: Alert }) {
  const acknowledge = useAcknowledgeAlert(alert.id);
  if (alert.status === 'resolved') return null;
  const here = `?alert=${alert.id}`;
  const isAsked = !alert.simulated && ASKS.includes(alert.threat_type);
  const resolve = alert.status === 'acknowledged' ? { label: 'Resolve', to: here } : undefined;
  const place = isAsked ? { label: 'Was this you?', to: here } : (placeOf(alert) ?? resolve);
  if (place !== undefined) {
    return (
      <ScreenLink to={place.to} preventScrollReset size="s" variant="quiet" aria-label={`${place.label}: ${alert.description}`}>
        {place.label}
      </ScreenLink>
    );
  }
  return (
    <>
      <Button
        size="s"
        variant="quiet"
        loading={acknowledge.isPending}
        aria-label={`Mark as seen: ${alert.description}`}
        onClick={() => acknowledge.mutate()}
      >
        Mark as seen
      </Button>
      <Refusal error={acknowledge.error} />
    </>
  );
}
