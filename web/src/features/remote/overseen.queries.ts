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

/** Which sessions of other people are listed. */
export type OverseenChoice = Pick<OverseenQuery, 'status' | 'end_reason' | 'reported' | 'search'>;
export const ALL_OVERSEEN: OverseenChoice = { status: undefined, end_reason: undefined, reported: undefined, search: '' };

/** Read again and again while the page is visible: what happens to them happens elsewhere. */
export const overseenQuery = (choice: OverseenChoice) => ({
  ...pagesQuery([...REMOTE, 'overseen', choice], (page, signal) =>
    callPage(listOverseenSessions, { signal, query: { ...choice, ...page } }),
  ),
  refetchInterval: SESSION_POLL_INTERVAL,
});

/** Number of sessions of a choice: the server counts, one row is read. */
const countQuery = (choice: Partial<OverseenChoice>) => ({
  queryKey: [...REMOTE, 'overseen-count', choice],
  queryFn: async ({ signal }: { signal: AbortSignal }) =>
    (await callPage(listOverseenSessions, { signal, query: { ...ALL_OVERSEEN, ...choice, limit: 1 } })).total ?? 0,
  refetchInterval: SESSION_POLL_INTERVAL,
});
export const reportedQuery = queryOptions(countQuery({ reported: 'true' }));
export const runningQuery = queryOptions(countQuery({ status: 'active' }));

/** It grows while the session runs, so it is read each time that it is opened. */
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
