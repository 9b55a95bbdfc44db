import { queryOptions } from '@tanstack/react-query';
import { WAITING_KEY } from './desk-keys.ts';

/** Refetch interval in ms, should an event get lost. */
const ASKED_AGAIN = 60_000;

/**
 * The most urgent conversations that wait for an answer of the technician: their own and unassigned ones. `useDeskCounts` keeps them fresh.
 * The call has a file of its own, because the dashboard of every person has this one.
 */
export const waitingQuery = queryOptions({
  queryKey: WAITING_KEY,
  queryFn: async ({ client, signal }) => (await import('./read-waiting.ts')).readWaiting(client, signal),
  retryOnMount: false,
  refetchInterval: ASKED_AGAIN,
});
