import { currentSubscription } from '@palisade/contract/current-subscription';
import {
  listAllPlanRequests,
  listPlanRequests,
  listSubscriptions,
  listTemplates,
  readAnswerTime,
} from '@palisade/contract/subscription';
import { queryOptions } from '@tanstack/react-query';
import { call } from '#api/call.ts';
import { readAll, SUBSCRIPTION_KEY } from '#domain/plan/plans.tsx';

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
