import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAXIMUM } from '@palisade/contract/constants';
import { currentSubscription } from '@palisade/contract/current-subscription';
import {
  listAllPlanRequests,
  listPlanRequests,
  listPlans,
  listSubscriptions,
  listTemplates,
  readAnswerTime,
} from '@palisade/contract/subscription';
import { queryOptions } from '@tanstack/react-query';
import { call } from '#api/call.ts';

interface PageOf {
  limit?: number;
  cursor?: string;
}

/** Reads all pages of a list, because search, sorting and export need all rows. */
async function readAll<Row extends { id: string }>(read: (page: PageOf) => Promise<Row[]>): Promise<Row[]> {
  let asked: number = PAGE_SIZE_DEFAULT;
  let page = await read({});
  const rows = [...page];
  while (page.length >= asked) {
    const last = page.at(-1);
    if (last === undefined) break;
    asked = PAGE_SIZE_MAXIMUM;
    page = await read({ limit: asked, cursor: last.id });
    rows.push(...page);
  }
  return rows;
}

/** Prefix of all queries here, because any change may affect all of them. */
const SUBSCRIPTION_KEY = ['subscription'];

export const subscriptionsQuery = queryOptions({
  queryKey: [...SUBSCRIPTION_KEY, 'all'],
  queryFn: ({ signal }) => readAll((query) => call(listSubscriptions, { query, signal })),
});

export const templatesQuery = queryOptions({
  queryKey: [...SUBSCRIPTION_KEY, 'templates'],
  queryFn: ({ signal }) => readAll((query) => call(listTemplates, { query, signal })),
});

export const allPlanRequestsQuery = queryOptions({
  queryKey: [...SUBSCRIPTION_KEY, 'all-requests'],
  queryFn: ({ signal }) => readAll((query) => call(listAllPlanRequests, { query, signal })),
});

export const currentSubscriptionQuery = queryOptions({
  queryKey: [...SUBSCRIPTION_KEY, 'current'],
  queryFn: ({ signal }) => call(currentSubscription, { signal }),
});

export const plansQuery = queryOptions({
  queryKey: [...SUBSCRIPTION_KEY, 'plans'],
  queryFn: ({ signal }) => readAll((query) => call(listPlans, { query, signal })),
});

export const planRequestsQuery = queryOptions({
  queryKey: [...SUBSCRIPTION_KEY, 'requests'],
  queryFn: ({ signal }) => readAll((query) => call(listPlanRequests, { query, signal })),
});

export const answerTimeQuery = queryOptions({
  queryKey: [...SUBSCRIPTION_KEY, 'answer-time'],
  queryFn: ({ signal }) => call(readAnswerTime, { signal }),
});

/** Whether the first reply is pending. False after a failure, also during a retry, so that the error stays visible. */
export function isAwaited({ isPending, errorUpdateCount }: { isPending: boolean; errorUpdateCount: number }): boolean {
  return isPending && errorUpdateCount === 0;
}
