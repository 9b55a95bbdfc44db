import { SESSION_POLL_INTERVAL } from '@palisade/contract/remote';
import {
  endOverseenSession,
  listOverseenAudit,
  listOverseenSessions,
  type OverseenQuery,
  type OverseenSession,
} from '@palisade/contract/remote-staff';
import { queryOptions } from '@tanstack/react-query';
import { call, callPage } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { pagesQuery } from '#api/pages.ts';
import { REMOTE, useSettled } from './remote.queries.ts';

/** Filter of the sessions of other people. */
export type OverseenChoice = Pick<OverseenQuery, 'status' | 'end_reason' | 'reported' | 'search'>;
export const ALL_OVERSEEN: OverseenChoice = { status: undefined, end_reason: undefined, reported: undefined, search: '' };

/** Polled while the page is visible, because most changes happen on other pages. */
export const overseenQuery = (choice: OverseenChoice) => ({
  ...pagesQuery([...REMOTE, 'overseen', choice], (page, signal) =>
    callPage(listOverseenSessions, { signal, query: { ...choice, ...page } }),
  ),
  refetchInterval: SESSION_POLL_INTERVAL,
});

/** Number of sessions that match; reads a single row for the server's count. */
const countQuery = (choice: Partial<OverseenChoice>) => ({
  queryKey: [...REMOTE, 'overseen-count', choice],
  queryFn: async ({ signal }: { signal: AbortSignal }) =>
    (await callPage(listOverseenSessions, { signal, query: { ...ALL_OVERSEEN, ...choice, limit: 1 } })).total ?? 0,
  refetchInterval: SESSION_POLL_INTERVAL,
});
export const reportedQuery = queryOptions(countQuery({ reported: 'true' }));
export const runningQuery = queryOptions(countQuery({ status: 'active' }));

/** The log grows while the session runs, so it is refetched each time that it is opened. */
export const overseenAuditQuery = (id: string) =>
  queryOptions({
    queryKey: [...REMOTE, 'overseen-audit', id],
    queryFn: ({ signal }) => call(listOverseenAudit, { params: { id }, signal }),
    staleTime: 0,
  });

export function useEndOverseen() {
  const { queries: _, ...settled } = useSettled();
  return useChange({
    ...settled,
    mutationFn: ({ id }: OverseenSession) => call(endOverseenSession, { params: { id } }),
  });
}
