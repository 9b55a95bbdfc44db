import {
  cancelSession,
  completeJoined,
  completeSession,
  createSession,
  type JoinedSession,
  joinSession,
  listJoined,
  listRemoteSessions,
  type RemoteSession,
  SESSION_POLL_INTERVAL,
  type SessionsQuery,
} from '@palisade/contract/remote';
import type { LiveSession } from '@palisade/contract/remote-record';
import { type InfiniteData, type QueryClient, type QueryKey, queryOptions, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { call, callPage, type Page } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { changeList } from '#api/change-list.ts';
import { onEvent } from '#api/events.ts';
import { pagesQuery } from '#api/pages.ts';

/** Prefix of all queries of sessions. */
export const REMOTE = ['remote'] as const;

/** Whether a session is waiting for a technician or running. */
export function isOpen({ status }: RemoteSession): boolean {
  return status === 'pending' || status === 'active';
}

/** Filter of the history of sessions. */
export type SessionChoice = Pick<SessionsQuery, 'status' | 'search'>;
export const EVERY_SESSION: SessionChoice = { status: undefined, search: '' };

/** Page size of `sessionsQuery`. The open session is among the newest, because only one may wait at a time. */
const NEWEST = 20;

/** The history, page by page. Refetched when an open session changes. */
export const historyQuery = (choice: SessionChoice) => ({
  ...pagesQuery([...REMOTE, 'history', choice], (page, signal) =>
    callPage(listRemoteSessions, { signal, query: { ...choice, ...page } }),
  ),
  networkMode: 'always' as const,
});

export const joinedHistoryQuery = (choice: SessionChoice) => ({
  ...pagesQuery([...REMOTE, 'joined', choice], (page, signal) => callPage(listJoined, { signal, query: { ...choice, ...page } })),
  refetchInterval: SESSION_POLL_INTERVAL,
  networkMode: 'always' as const,
});

/** Polled while a session is open and the page is visible, because most changes happen on the other side. */
export const sessionsQuery = queryOptions({
  queryKey: [...REMOTE, 'sessions'],
  queryFn: ({ signal }) => call(listRemoteSessions, { signal, query: { limit: NEWEST } }),
  refetchInterval: (query) => (query.state.data?.some(isOpen) ? SESSION_POLL_INTERVAL : false),
  networkMode: 'always',
});

/** Inserts or replaces a session, newest first. */
export function withSession<Session extends RemoteSession>(sessions: readonly Session[], session: Session): Session[] {
  const others = sessions.filter(({ id }) => id !== session.id);
  return [...others, session].toSorted((one, other) => (one.id < other.id ? 1 : -1));
}

/** Stores the person's own session that the server has returned. */
function takeSession(queries: QueryClient, session: RemoteSession): void {
  changeList(queries, sessionsQuery.queryKey, (sessions) => withSession(sessions, session), { begin: [session] });
}

export function useSettled() {
  const queries = useQueryClient();
  return {
    queries,
    // Only the server knows the effect of a change on other sessions.
    renews: [REMOTE],
    onError: (error: Error) => console.error(error),
  };
}

export function useCreateSession() {
  const { queries, ...settled } = useSettled();
  return useChange({
    ...settled,
    mutationFn: () => call(createSession),
    onSuccess: (session) => takeSession(queries, session),
  });
}

/** Ends the person's session: cancels a waiting one, completes a running one. */
export function useEndSession() {
  const { queries, ...settled } = useSettled();
  return useChange({
    ...settled,
    mutationFn: ({ id, status }: RemoteSession) =>
      status === 'pending' ? call(cancelSession, { params: { id } }) : call(completeSession, { params: { id } }),
    onSuccess: (session) => takeSession(queries, session),
  });
}

export function useJoinSession() {
  const { queries: _, ...settled } = useSettled();
  return useChange({
    ...settled,
    mutationFn: (session_code: string) => call(joinSession, { body: { session_code } }),
  });
}

export function useCompleteJoined() {
  const { queries: _, ...settled } = useSettled();
  return useChange({
    ...settled,
    mutationFn: ({ id }: JoinedSession) => call(completeJoined, { params: { id } }),
  });
}

function isNewer(session: LiveSession, known: LiveSession): boolean {
  return session.id === known.id && session.version > known.version;
}

/** Updates the shown sessions from events. */
export function useSessionEvents(): void {
  const queries = useQueryClient();
  useEffect(
    () =>
      onEvent('remote_changed', ({ session }) => {
        const newer = <Known extends RemoteSession>(known: Known): Known =>
          isNewer(session, known) ? { ...known, ...session } : known;
        changeList(queries, sessionsQuery.queryKey, (sessions) => sessions.map(newer));
        changeList<QueryKey, InfiniteData<Page<JoinedSession[]>, string>>(
          queries,
          [...REMOTE, 'joined'],
          (read) => ({ ...read, pages: read.pages.map((page) => ({ ...page, rows: page.rows.map(newer) })) }),
          { isExact: false },
        );
        if (session.phase === 'ended') void queries.invalidateQueries({ queryKey: REMOTE });
      }),
    [queries],
  );
}
