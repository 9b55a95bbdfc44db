import { compareNames } from '@palisade/contract/intl';
import { PLANS_END_WITHIN_DAYS } from '@palisade/contract/overview';
import { shownEmail } from '@palisade/contract/shown-email';
import type { Subscription, SubscriptionStatus } from '@palisade/contract/subscription';

export const STATUS_LABELS: Record<SubscriptionStatus, string> = {
  active: 'Active',
  expired: 'Expired',
  replaced: 'Replaced',
  cancelled: 'Cancelled',
};

export type SortKey = 'user' | 'plan' | 'price' | 'duration' | 'type' | 'status' | 'expires';

/** Labels of the filter: the states, and active plans that end soon. */
export const FILTER_LABELS = { ...STATUS_LABELS, ending: `Ends within ${PLANS_END_WITHIN_DAYS} days` } as const;

/** Filter and order of the subscriptions; without `sort` the server's order, newest first. */
export interface View {
  search: string;
  status: keyof typeof FILTER_LABELS | 'all';
  sort: { key: SortKey; descending: boolean } | undefined;
}

export const EVERYTHING: View = { search: '', status: 'all', sort: undefined };

const DAY_MS = 86_400_000;

type Compare = (one: Subscription, other: Subscription) => number;

const COMPARE: Record<SortKey, Compare> = {
  user: (one, other) => compareNames(one.user_email, other.user_email),
  plan: (one, other) => compareNames(one.plan_name, other.plan_name),
  price: (one, other) => one.price - other.price,
  duration: (one, other) => one.duration_months - other.duration_months,
  type: (one, other) => Number(one.is_premium) - Number(other.is_premium),
  status: (one, other) => compareNames(STATUS_LABELS[one.status], STATUS_LABELS[other.status]),
  // No end sorts after every end. ISO times in UTC sort as text.
  expires: (one, other) => {
    if (one.expires_at === other.expires_at) return 0;
    if (one.expires_at === null) return 1;
    if (other.expires_at === null) return -1;
    return one.expires_at < other.expires_at ? -1 : 1;
  },
};

function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

function isIn(status: View['status'], { status: own, expires_at }: Subscription, now: number): boolean {
  if (status !== 'ending') return status === 'all' || own === status;
  return own === 'active' && expires_at !== null && Date.parse(expires_at) <= now + PLANS_END_WITHIN_DAYS * DAY_MS;
}

/** Each search word must occur in email, username or plan. The sort is stable. */
export function viewOf(subscriptions: readonly Subscription[], { search, status, sort }: View, now: number): Subscription[] {
  const words = folded(search).split(/\s+/u).filter(Boolean);
  const found = subscriptions.filter((subscription) => {
    if (!isIn(status, subscription, now)) return false;
    const text = folded(
      `${subscription.user_email} ${shownEmail(subscription.user_email)} ${subscription.user_username} ${subscription.plan_name}`,
    );
    return words.every((word) => text.includes(word));
  });
  if (!sort) return found;
  const compare = COMPARE[sort.key];
  return found.sort((one, other) => (sort.descending ? compare(other, one) : compare(one, other)));
}
