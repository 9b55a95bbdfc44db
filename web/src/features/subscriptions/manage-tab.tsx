import { shownEmail } from '@palisade/contract/shown-email';
import {
  cancelSubscription,
  type Subscription,
  subscriptionStatusSchema,
  type UserPlanRequest,
} from '@palisade/contract/subscription';
import { IconDownload, IconUsers } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { useSearchParams } from 'react-router';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { downloadCsv } from '#ui/csv.ts';
import { Drawing } from '#ui/drawing.tsx';
import { useFocusKept } from '#ui/focus-kept.tsx';
import { Stack } from '#ui/layout.tsx';
import { ChoiceFilter, ListFilters, SearchFilter } from '#ui/list-filters.tsx';
import { useMinute } from '#ui/moment.tsx';
import { ShowMore } from '#ui/show-more.tsx';
import { EmptyState, LoadingRows, NothingMatches } from '#ui/states.tsx';
import { refusalOf } from './drafts.ts';
import type { Message } from './message-line.tsx';
import { OpenRequests } from './open-requests.tsx';
import { COLUMNS, SubscriptionTable } from './subscription-table.tsx';
import { EVERYTHING, FILTER_LABELS, type SortKey, type View, viewOf } from './subscription-view.ts';
import { allPlanRequestsQuery, isAwaited, subscriptionsQuery } from './subscriptions.queries.ts';
import { csvOf } from './subscriptions-csv.ts';

const FILTERS = ([...subscriptionStatusSchema.options, 'ending'] as const).map(
  (status) => [status, FILTER_LABELS[status]] as const,
);

/** Number of rows at first and with each "show more". */
const ROWS_STEP = 100;

const SORTS = COLUMNS.flatMap(({ key, label }): (readonly [string, string])[] => [
  [`${key} up`, `${label}, ascending`],
  [`${key} down`, `${label}, descending`],
]);

function sortOf(chosen: string | undefined): View['sort'] {
  const [name, direction] = (chosen ?? '').split(' ');
  const key = COLUMNS.find((column) => column.key === name)?.key;
  return key && { key, descending: direction === 'down' };
}

interface ManageTabProps {
  onMessage: (message: Message | undefined) => void;
  onLoadRequest: (request: UserPlanRequest) => void;
}

/** Filter from the address, because the administrator’s home links to some plans. */
function useAddressedView(): View {
  const [address] = useSearchParams();
  return { ...EVERYTHING, status: FILTERS.find(([status]) => status === address.get('status'))?.[0] ?? 'all' };
}

export function ManageTab({ onMessage, onLoadRequest }: ManageTabProps) {
  const { data: subscriptions, error } = useQuery(subscriptionsQuery);
  const areRequestsAwaited = isAwaited(useQuery(allPlanRequestsQuery));
  const [view, setView] = useState(useAddressedView());
  const now = useMinute();
  const [rowsMaximum, setRowsMaximum] = useState(ROWS_STEP);
  const found = viewOf(subscriptions ?? [], useDeferredValue(view), now);

  function change(part: Partial<View>) {
    setView((before) => ({ ...before, ...part }));
    setRowsMaximum(ROWS_STEP);
  }

  /** Ascending, descending, then newest first again. */
  function sortBy(key: SortKey) {
    const { sort } = view;
    if (sort?.key !== key) change({ sort: { key, descending: false } });
    else change({ sort: sort.descending ? undefined : { key, descending: true } });
  }

  const { mutate } = useChange({
    of: cancelSubscription,
    mutationFn: ({ id }: Subscription) => call(cancelSubscription, { body: { subscription_id: id } }),
    onSuccess: (_, { user_email }) =>
      onMessage({ tone: 'good', text: `Subscription of ${shownEmail(user_email)} cancelled successfully` }),
    onError(failure) {
      console.error(failure);
      onMessage({ tone: 'danger', text: refusalOf(failure, 'Failed to cancel subscription').sentence });
    },
  });

  function cancel(subscription: Subscription) {
    const { user_email, plan_name } = subscription;
    if (!window.confirm(`End the plan “${plan_name}” of ${shownEmail(user_email)} now?`)) return;
    onMessage(undefined);
    mutate(subscription);
  }

  const box = useFocusKept();
  // The requests above would move the table, so it waits for them.
  if (areRequestsAwaited) return <LoadingRows label="Loading the plan requests" />;
  const active = (subscriptions ?? []).filter(({ status }) => status === 'active').length;
  return (
    <Stack gap="4" className="manage" ref={box} tabIndex={-1}>
      <OpenRequests onMessage={onMessage} onLoad={onLoadRequest} />
      <Card
        title="Active Subscriptions"
        action={
          <Button
            variant="quiet"
            size="s"
            icon={IconDownload}
            disabled={found.length === 0}
            onClick={() => downloadCsv('subscriptions.csv', csvOf(found))}
          >
            Export CSV
          </Button>
        }
      >
        {!subscriptions && !error && <LoadingRows label="Loading the subscriptions" />}
        {!subscriptions && error && <p className="sub">We couldn’t load the subscriptions.</p>}
        {subscriptions?.length === 0 && (
          <EmptyState
            icon={IconUsers}
            drawing={<Drawing of="sheets" />}
            title="No subscriptions yet"
            sentence="Assigned subscriptions appear here with their price and end date."
          />
        )}
        {subscriptions && subscriptions.length > 0 && (
          <>
            <p className="sub num" role="status">
              {found.length === subscriptions.length
                ? `${active} active of ${subscriptions.length} assigned in total`
                : `${found.length} of ${subscriptions.length} found`}
            </p>
            <ListFilters>
              <SearchFilter
                label="Search"
                placeholder="Email, username, or plan"
                value={view.search}
                onChange={(search) => change({ search })}
              />
              <div className="list-filters__choices">
                <ChoiceFilter
                  label="Status"
                  options={FILTERS}
                  value={view.status === 'all' ? undefined : view.status}
                  onChoose={(status) => change({ status: status ?? 'all' })}
                />
                <ChoiceFilter
                  label="Sort by"
                  none="Newest first"
                  options={SORTS}
                  value={view.sort && `${view.sort.key} ${view.sort.descending ? 'down' : 'up'}`}
                  onChoose={(chosen) => change({ sort: sortOf(chosen) })}
                />
              </div>
            </ListFilters>
            {found.length === 0 ? (
              <NothingMatches
                title="No matches"
                sentence="No subscription matches this search and status."
                all="Show all"
                onAll={() => change(EVERYTHING)}
              />
            ) : (
              <SubscriptionTable subscriptions={found.slice(0, rowsMaximum)} sort={view.sort} onSort={sortBy} onCancel={cancel} />
            )}
            {found.length > rowsMaximum && (
              <ShowMore left={found.length - rowsMaximum} onMore={() => setRowsMaximum(rowsMaximum + ROWS_STEP)} />
            )}
          </>
        )}
      </Card>
    </Stack>
  );
}
