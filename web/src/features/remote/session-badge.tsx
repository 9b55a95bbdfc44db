import type { EndReason, SessionStatus } from '@palisade/contract/remote';
import { IconCheck, IconClock, IconPlugConnected, IconX } from '@tabler/icons-react';
import { Badge } from '#ui/badge.tsx';

export const BADGES = {
  pending: { label: 'Pending', icon: IconClock, tone: 'attention' },
  active: { label: 'Active', icon: IconPlugConnected, tone: 'safe' },
  completed: { label: 'Completed', icon: IconCheck, tone: 'note' },
  cancelled: { label: 'Cancelled', icon: IconX, tone: 'plain' },
} as const satisfies Record<SessionStatus, unknown>;

export function SessionBadge({ status }: { status: SessionStatus }) {
  const { label, icon, tone } = BADGES[status];
  return (
    <Badge tone={tone} icon={icon}>
      {label}
    </Badge>
  );
}

export const END_REASONS: Record<EndReason, string> = {
  cancelled: 'Cancelled by the customer',
  expired: 'Nobody joined within 30 minutes',
  replaced: 'Replaced by a newer session',
};
