import type { EndReason, SessionStatus } from '@palisade/contract/remote';
import { IconCheck, IconClock, IconPlugConnected, IconX } from '@tabler/icons-react';
import '#ui/status-badge.css';
import './session-badge.css';

const BADGES = {
  pending: { label: 'Pending', icon: IconClock },
  active: { label: 'Active', icon: IconPlugConnected },
  completed: { label: 'Completed', icon: IconCheck },
  cancelled: { label: 'Cancelled', icon: IconX },
} as const satisfies Record<SessionStatus, unknown>;

export function SessionBadge({ status }: { status: SessionStatus }) {
  const { label, icon: Icon } = BADGES[status];
  return (
    <span className="status-badge session-badge" data-status={status}>
      <Icon size={14} stroke={2} aria-hidden="true" />
      {label}
    </span>
  );
}

export const END_REASONS: Record<EndReason, string> = {
  cancelled: 'Cancelled by the customer',
  expired: 'Nobody joined within 30 minutes',
  replaced: 'Replaced by a newer session',
};
