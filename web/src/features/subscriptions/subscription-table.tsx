import { shownEmail } from '@palisade/contract/shown-email';
import type { Subscription } from '@palisade/contract/subscription';
import { IconCheck, IconX } from '@tabler/icons-react';
import { Badge } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { type Column, Records } from '#ui/records.tsx';
import { TwoLines } from '#ui/two-lines.tsx';
import { TypeBadge } from './plan-card.tsx';
import { describeExpiry, describeMonths, describePrice } from './plan-words.ts';
import { type SortKey, STATUS_LABELS, type View } from './subscription-view.ts';

/** Window width in px up to which rows are cards: a table of eight columns needs more. */
const CARDS_UP_TO = 1180;

export const COLUMNS: readonly Column<Subscription, SortKey>[] = [
  { key: 'user', label: 'User', cell: (row) => <Who row={row} />, onCard: 'head' },
  { key: 'plan', label: 'Plan', cell: (row) => <bdi>{row.plan_name}</bdi>, onCard: 'line' },
  { key: 'price', label: 'Price', cell: (row) => describePrice(row.price, row.currency), isFigure: true },
  { key: 'duration', label: 'Duration', cell: (row) => describeMonths(row.duration_months), isFigure: true },
  { key: 'type', label: 'Type', cell: (row) => <TypeBadge isPremium={row.is_premium} />, onCard: 'line' },
  { key: 'status', label: 'Status', cell: (row) => <Status row={row} />, onCard: 'state' },
  { key: 'expires', label: 'Expires', cell: (row) => describeExpiry(row.expires_at), isFigure: true },
];

interface SubscriptionTableProps {
  subscriptions: readonly Subscription[];
  sort: View['sort'];
  onSort: (key: SortKey) => void;
  onCancel: (subscription: Subscription) => void;
}

export function SubscriptionTable({ subscriptions, sort, onSort, onCancel }: SubscriptionTableProps) {
  return (
    <Records
      label="Subscriptions"
      rows={subscriptions}
      columns={COLUMNS}
      cardsUpTo={CARDS_UP_TO}
      sorting={{ sort, onSort }}
      action={(row) => <CancelButton row={row} onCancel={onCancel} />}
    />
  );
}

function Who({ row }: { row: Subscription }) {
  return <TwoLines name={<bdi>{shownEmail(row.user_email)}</bdi>} line={<bdi>{row.user_username}</bdi>} />;
}

function Status({ row: { status } }: { row: Subscription }) {
  const isActive = status === 'active';
  return (
    <Badge tone={isActive ? 'safe' : 'danger'} icon={isActive ? IconCheck : IconX}>
      {STATUS_LABELS[status]}
    </Badge>
  );
}

function CancelButton({ row, onCancel }: { row: Subscription; onCancel: (row: Subscription) => void }) {
  if (row.status !== 'active') return null;
  return (
    <Button variant="quiet" size="s" aria-label={`Cancel plan of ${shownEmail(row.user_email)}`} onClick={() => onCancel(row)}>
      Cancel plan
    </Button>
  );
}
