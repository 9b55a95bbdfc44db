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
  expired: 'No one joined within 30 minutes',
  replaced: 'Replaced by a newer session',
  declined: 'The customer declined',
  no_answer: 'The customer did not answer within a minute',
  ended_by_customer: 'Ended by the customer',
  ended_by_technician: 'Ended by the technician',
  ended_by_admin: 'Ended by an administrator',
  reported: 'Reported by the customer',
  share_stopped: 'Nothing was shared for a minute',
  customer_gone: 'The customer was disconnected for a minute',
  technician_gone: 'The technician was disconnected for two minutes',
  not_reaffirmed: 'The customer didn’t continue the session',
  time_limit: 'The four-hour limit was reached',
  server_restart: 'The connection was lost when the server restarted',
  access_lost: 'The technician can no longer join sessions',
};

/** The end reasons in words for the customer. */
const OWN_END_REASONS: Partial<Record<EndReason, string>> = {
  cancelled: 'You cancelled it',
  declined: 'You declined',
  no_answer: 'You did not answer within a minute',
  ended_by_customer: 'You ended it',
  reported: 'You reported it',
  customer_gone: 'You were disconnected for a minute',
  not_reaffirmed: 'You didn’t continue it',
};

export const ownEndReason = (reason: EndReason) => OWN_END_REASONS[reason] ?? END_REASONS[reason];
