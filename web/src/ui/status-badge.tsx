import type { ScanStatus } from '@palisade/contract/antivirus';
import { IconAlertTriangle, IconCheck, IconClock } from '@tabler/icons-react';
import './status-badge.css';

const BADGES = {
  clean: { label: 'Clean', icon: IconCheck },
  infected: { label: 'Infected', icon: IconAlertTriangle },
  pending: { label: 'Pending', icon: IconClock },
} as const satisfies Record<ScanStatus, unknown>;

export function StatusBadge({ status }: { status: ScanStatus }) {
  const { label, icon: Icon } = BADGES[status];
  return (
    <span className="status-badge" data-status={status}>
      <Icon size={14} stroke={2} aria-hidden="true" />
      {label}
    </span>
  );
}

export function StatusIcon({ status }: { status: ScanStatus }) {
  const { icon: Icon } = BADGES[status];
  return (
    <span className="status-icon" data-status={status} aria-hidden="true">
      <Icon size={20} stroke={1.7} />
    </span>
  );
}
