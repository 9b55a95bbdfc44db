import { useMediaQuery } from '@mantine/hooks';
import type { Subscription } from '@palisade/contract/subscription';
import { IconArrowDown, IconArrowsSort, IconArrowUp, IconCheck, IconX } from '@tabler/icons-react';
import { Button } from '#ui/button.tsx';
import { TypeBadge } from './plan-card.tsx';
import { describeExpiry, describeMonths, describePrice } from './plan-words.ts';
import { type SortKey, STATUS_LABELS, type View } from './subscription-view.ts';

/** Below this width a table of eight columns is cramped, and its rows are cards. */
const NARROW = '(max-width: 1180px)';

export const COLUMNS: readonly { key: SortKey; label: string }[] = [
  { key: 'user', label: 'User' },
  { key: 'plan', label: 'Plan' },
  { key: 'price', label: 'Price' },
  { key: 'duration', label: 'Duration' },
  { key: 'type', label: 'Type' },
  { key: 'status', label: 'Status' },
  { key: 'expires', label: 'Expires' },
];

interface SubscriptionTableProps {
  subscriptions: readonly Subscription[];
  sort: View['sort'];
  onSort: (key: SortKey) => void;
  onCancel: (subscription: Subscription) => void;
}

export function SubscriptionTable(props: SubscriptionTableProps) {
  const isNarrow = useMediaQuery(NARROW, undefined, { getInitialValueInEffect: false });
  return isNarrow ? <Cards {...props} /> : <Table {...props} />;
}

function Table({ subscriptions, sort, onSort, onCancel }: SubscriptionTableProps) {
  return (
    <table className="subscription-table" aria-label="Subscriptions">
      <thead>
        <tr>
          {COLUMNS.map(({ key, label }) => {
            const direction = sort?.key === key ? (sort.descending ? 'descending' : 'ascending') : 'none';
            const Icon = { none: IconArrowsSort, ascending: IconArrowUp, descending: IconArrowDown }[direction];
            return (
              <th key={key} scope="col" aria-sort={direction}>
                <button type="button" onClick={() => onSort(key)}>
                  {label}
                  <Icon size={14} stroke={1.7} aria-hidden="true" />
                </button>
              </th>
            );
          })}
          <th scope="col">
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {subscriptions.map((row) => (
          <tr key={row.id}>
            <td>
              <Who row={row} />
            </td>
            <td className="subscription-table__plan">
              <bdi>{row.plan_name}</bdi>
            </td>
            <td className="num">{priceOf(row)}</td>
            <td className="num">{describeMonths(row.duration_months)}</td>
            <td>
              <TypeBadge isPremium={row.is_premium} />
            </td>
            <td>
              <Status row={row} />
            </td>
            <td className="num">{describeExpiry(row.expires_at)}</td>
            <td>
              <CancelButton row={row} onCancel={onCancel} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Cards({ subscriptions, onCancel }: SubscriptionTableProps) {
  return (
    <ul className="subscription-cards" aria-label="Subscriptions">
      {subscriptions.map((row) => (
        <li key={row.id} className="subscription-card">
          <div className="subscription-card__head">
            <Who row={row} />
            <Status row={row} />
          </div>
          <p className="subscription-card__plan">
            <bdi>{row.plan_name}</bdi> <TypeBadge isPremium={row.is_premium} />
          </p>
          <dl className="subscription-card__facts num">
            <div>
              <dt>Price</dt>
              <dd>{priceOf(row)}</dd>
            </div>
            <div>
              <dt>Duration</dt>
              <dd>{describeMonths(row.duration_months)}</dd>
            </div>
            <div>
              <dt>Expires</dt>
              <dd>{describeExpiry(row.expires_at)}</dd>
            </div>
          </dl>
          <CancelButton row={row} onCancel={onCancel} />
        </li>
      ))}
    </ul>
  );
}

function priceOf({ price, currency }: Subscription): string {
  return `${describePrice(price, currency)} ${currency}`;
}

function Who({ row }: { row: Subscription }) {
  return (
    <span className="who">
      <bdi>{row.user_email}</bdi>
      <bdi>{row.user_username}</bdi>
    </span>
  );
}

function Status({ row: { status } }: { row: Subscription }) {
  const Icon = status === 'active' ? IconCheck : IconX;
  return (
    <span className="subscription-status" data-active={status === 'active'}>
      <Icon size={14} stroke={2} aria-hidden="true" />
      {STATUS_LABELS[status]}
    </span>
  );
}

function CancelButton({ row, onCancel }: { row: Subscription; onCancel: (row: Subscription) => void }) {
  if (row.status !== 'active') return null;
  return (
    <Button variant="quiet" size="s" onClick={() => onCancel(row)}>
      Cancel <span className="visually-hidden">the subscription of {row.user_email}</span>
    </Button>
  );
}
