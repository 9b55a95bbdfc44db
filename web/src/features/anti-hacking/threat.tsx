import { isOfTestFile } from '@palisade/contract/alert-advice';
import type { Alert, ThreatType } from '@palisade/contract/anti-hacking';
import type { Severity } from '@palisade/contract/severity';
import {
  IconAlertTriangle,
  IconBug,
  IconDoorEnter,
  IconFishHook,
  IconKey,
  IconTestPipe,
  IconUserExclamation,
  IconWaveSawTool,
  type TablerIcon,
} from '@tabler/icons-react';
import { Badge, IconTile, type Tone } from '#ui/badge.tsx';

const TYPES: Record<ThreatType, { label: string; icon: TablerIcon }> = {
  brute_force: { label: 'Brute Force', icon: IconKey },
  suspicious_login: { label: 'Suspicious Login', icon: IconUserExclamation },
  malware_detected: { label: 'Malware Detected', icon: IconBug },
  phishing_attempt: { label: 'Phishing Attempt', icon: IconFishHook },
  intrusion_attempt: { label: 'Intrusion Attempt', icon: IconDoorEnter },
  ddos_attempt: { label: 'DDoS Attempt', icon: IconWaveSawTool },
};

/** Alert types that the specification does not list as threats. */
const OTHER_TYPES = new Map([
  ['device_offline', 'Device Offline'],
  ['remote_report', 'Remote Session Reported'],
]);

function isKnown(type: string): type is ThreatType {
  return Object.hasOwn(TYPES, type);
}

/** Label of a threat type; an unknown type keeps the server's name. */
export function describeType(type: string): string {
  return isKnown(type) ? TYPES[type].label : (OTHER_TYPES.get(type) ?? type.replaceAll('_', ' '));
}

/** Label of an alert: its type, except for a harmless test file. */
export function describeAlert(alert: Alert): string {
  return isOfTestFile(alert) ? 'Test File' : describeType(alert.threat_type);
}

const SEVERITY_TONES: Record<Severity, Tone> = { low: 'note', medium: 'attention', high: 'danger', critical: 'danger' };

export function ThreatIcon({ alert }: { alert: Alert }) {
  if (isOfTestFile(alert)) return <IconTile tone="note" icon={IconTestPipe} />;
  const icon = isKnown(alert.threat_type) ? TYPES[alert.threat_type].icon : IconAlertTriangle;
  return <IconTile tone={SEVERITY_TONES[alert.severity]} icon={icon} />;
}

export function SeverityBadge({ severity }: { severity: Severity }) {
  return (
    <Badge tone={SEVERITY_TONES[severity]}>
      <span className="upper">{severity}</span>
    </Badge>
  );
}

/** The monitor resolves an alert about a file once the person or the agent has deleted it. */
export function isOriginalLeft(alert: Alert): boolean {
  return alert.scan_id !== null && alert.blocked && !alert.simulated && alert.status !== 'resolved' && !isOfTestFile(alert);
}

/** Badges for a simulated alert and for a stopped event. */
export function OutcomeBadges({ alert }: { alert: Alert }) {
  return (
    <>
      {isOriginalLeft(alert) && (
        <Badge tone="danger">
          <span className="upper">Original not deleted</span>
        </Badge>
      )}
      {alert.simulated && (
        <span className="badge" data-tone="plain" title="This didn’t happen.">
          SIMULATED
        </span>
      )}
      {alert.blocked && <Badge tone="safe">NEUTRALIZED</Badge>}
    </>
  );
}

/** Number of occurrences, shown from two on. */
export function TimesBadge({ count }: { count: number }) {
  if (count < 2) return null;
  return (
    <span className="badge num" data-tone="plain" title={`Happened ${count} times`}>
      {`x${count}`}
    </span>
  );
}

const STATUS_WORDS: Record<Alert['status'], string | undefined> = {
  open: undefined,
  acknowledged: 'Seen',
  resolved: 'Resolved',
};

/** Status of the alert for the person; an open alert has no badge. */
export function StatusBadge({ alert }: { alert: Pick<Alert, 'status' | 'hidden'> }) {
  const words = alert.hidden ? 'Hidden' : STATUS_WORDS[alert.status];
  if (words === undefined) return null;
  return <Badge tone="plain">{words}</Badge>;
}
