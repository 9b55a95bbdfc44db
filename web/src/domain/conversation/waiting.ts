import { queryOptions } from '@tanstack/react-query';
import { WAITING_KEY } from './desk-keys.ts';

/** Refetch interval in ms, in case an event is lost. */
const ASKED_AGAIN = 60_000;

/**
 * The most urgent conversations that wait for an answer by the technician: their own and unassigned ones. `useDeskCounts` keeps them fresh. The query has its own file,
 * because every dashboard loads it.
 */
export const waitingQuery = queryOptions({
  queryKey: WAITING_KEY,
  queryFn: async ({ client, signal }) => (await import('./read-waiting.ts')).readWaiting(client, signal),
  retryOnMount: false,
  refetchInterval: ASKED_AGAIN,
});
