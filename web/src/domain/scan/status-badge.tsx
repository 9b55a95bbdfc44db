import type { ScanStatus } from '@palisade/contract/antivirus';
import { IconAlertTriangle, IconCheck, IconClock } from '@tabler/icons-react';
import { Badge, IconTile } from '#ui/badge.tsx';

const BADGES = {
  clean: { label: 'Clean', icon: IconCheck, tone: 'safe' },
  infected: { label: 'Infected', icon: IconAlertTriangle, tone: 'danger' },
  pending: { label: 'Pending', icon: IconClock, tone: 'attention' },
} as const satisfies Record<ScanStatus, unknown>;

export function StatusBadge({ status }: { status: ScanStatus }) {
  const { label, icon, tone } = BADGES[status];
  return (
    <Badge tone={tone} icon={icon}>
      {label}
    </Badge>
  );
}

export function StatusIcon({ status }: { status: ScanStatus }) {
  const { icon, tone } = BADGES[status];
  return <IconTile tone={tone} icon={icon} />;
}
