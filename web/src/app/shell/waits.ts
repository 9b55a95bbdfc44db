import { formatNumber, plural } from '@palisade/contract/intl';
import type { Overview } from '@palisade/contract/overview';
import { useQuery } from '@tanstack/react-query';
import { useMayAdministrate } from '#api/policies.ts';
import { deskCountsQuery } from '#domain/conversation/desk-counts.ts';
import { overviewQuery } from '#domain/overview/overview.ts';

/** Number of waiting records of a screen, and its words. */
export interface Waits {
  count: number;
  words: string;
}

/** Words for one and for several waiting records. */
type Words = (count: string) => { one: string; other: string };

export function waitsOf(count: number, words: Words): Waits {
  return { count, words: plural(count, words(formatNumber(count))) };
}

/** Address of the plan requests, a tab of Subscriptions. */
export const PLAN_REQUESTS = '/subscription-manager?tab=manage';

const CONVERSATIONS: Words = (count) => ({ one: '1 conversation waits', other: `${count} conversations wait` });

const REMOTE_REQUESTS: Words = (count) => ({
  one: '1 customer waits for remote help',
  other: `${count} customers wait for remote help`,
});

/** Counts of the overview, by address. */
const WAITS: Record<string, { of: keyof Overview['waiting']; words: Words }> = {
  [PLAN_REQUESTS]: {
    of: 'plan_requests',
    words: (count) => ({ one: '1 plan request waits', other: `${count} plan requests wait` }),
  },
  '/admin/false-alarms': {
    of: 'false_alarms',
    words: (count) => ({ one: '1 report waits', other: `${count} reports wait` }),
  },
  '/admin/outbox': { of: 'mails', words: (count) => ({ one: '1 email waits', other: `${count} emails wait` }) },
  '/admin/setup': { of: 'jobs', words: (count) => ({ one: '1 task failed', other: `${count} tasks failed` }) },
};

/** The waiting records behind an address; undefined for an address without a count. `StaffNavs` keeps the counts of the desk fresh. */
export function useWaits(): (path: string) => Waits | undefined {
  const { data: counts } = useQuery({ ...deskCountsQuery, enabled: false });
  const { data: overview } = useQuery({ ...overviewQuery, enabled: useMayAdministrate() });
  return (path) => {
    if (path === '/portal') return waitsOf(counts?.remote_waiting ?? 0, REMOTE_REQUESTS);
    if (path === '/support') return waitsOf((counts?.mine_unread ?? 0) + (counts?.unassigned_waiting ?? 0), CONVERSATIONS);
    const waits = WAITS[path];
    return waits && waitsOf(overview?.waiting[waits.of] ?? 0, waits.words);
  };
}
