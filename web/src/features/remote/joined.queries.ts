import type { RemoteSession } from '@palisade/contract/remote';
import type { GrantKind } from '@palisade/contract/remote-grant';
import type { SessionMessage } from '@palisade/contract/remote-record';
import {
  approveSession,
  declineSession,
  grantInSession,
  listSessionAudit,
  listSessionMessages,
  type ReportKind,
  rateSession,
  readSessionChanges,
  reaffirmSession,
  reportSession,
  revokeInSession,
  writeSessionMessage,
} from '@palisade/contract/remote-session';
import { readSessionCustomer, writeNotes } from '@palisade/contract/remote-staff';
import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { changeList } from '#api/change-list.ts';
import { onEvent, onTopicMissed } from '#api/events.ts';
import { sessionsQuery, useSettled, withSession } from './remote.queries.ts';

// Queries and changes of a joined session, loaded together with its screens.

/** A change of the person's own session. The reply is the session after the change. */
function useOwnChange<Input = void>(change: (input: Input) => Promise<RemoteSession>) {
  const { queries, ...settled } = useSettled();
  return useChange({
    ...settled,
    mutationFn: change,
    onSuccess: (session) =>
      changeList(queries, sessionsQuery.queryKey, (sessions) =>
        sessions.some(({ id }) => id === session.id) ? withSession(sessions, session) : sessions,
      ),
  });
}

/** The customer's decisions and feedback about their own session. */
export const useTalkOnly = (id: string) => useOwnChange(() => call(approveSession, { params: { id }, body: { view: 'talk' } }));
export const useDecline = (id: string) => useOwnChange(() => call(declineSession, { params: { id } }));
export const useReaffirm = (id: string) => useOwnChange(() => call(reaffirmSession, { params: { id } }));
export const useReport = (id: string) =>
  useOwnChange((body: { reason: ReportKind; comment: string }) => call(reportSession, { params: { id }, body }));
export const useGrant = (id: string) =>
  useOwnChange((body: { grant: GrantKind; device_id: string | null }) => call(grantInSession, { params: { id }, body }));
/** Either side ends a grant. The server sends the new state to both. */
export const useRevoke = (id: string) =>
  useOwnChange((grant: GrantKind | 'all') => call(revokeInSession, { params: { id }, body: { grant } }));
export const useRateSession = (id: string) =>
  useOwnChange((body: { rating: number; comment: string }) => call(rateSession, { params: { id }, body }));

/** Page size of the messages of a session. */
const MESSAGES_AT_ONCE = 200;

export const sessionMessagesQuery = (id: string) =>
  queryOptions({
    queryKey: ['remote-messages', id],
    async queryFn({ signal }) {
      const messages: SessionMessage[] = [];
      for (;;) {
        const after = messages.at(-1)?.seq ?? 0;
        const more = await call(listSessionMessages, { params: { id }, query: { after }, signal });
        messages.push(...more);
        if (more.length < MESSAGES_AT_ONCE) return messages;
      }
    },
    networkMode: 'always',
  });

/** Inserts or replaces a message, ordered by `seq`. */
function withMessage(messages: readonly SessionMessage[], message: SessionMessage): SessionMessage[] {
  const others = messages.filter(({ id }) => id !== message.id);
  return [...others, message].toSorted((one, other) => one.seq - other.seq);
}

/** Updates the messages of a session from events. */
export function useMessageEvents(id: string): void {
  const queries = useQueryClient();
  useEffect(() => {
    const { queryKey } = sessionMessagesQuery(id);
    const refetch = () => void queries.invalidateQueries({ queryKey });
    const stops = [
      onTopicMissed({ session_id: id }, refetch),
      onEvent('remote_message', ({ message }) => {
        if (message.session_id !== id) return;
        changeList(queries, queryKey, (messages) => withMessage(messages, message));
        if (!queries.getQueryData(queryKey)) refetch();
      }),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }, [id, queries]);
}

export function useWriteMessage(id: string) {
  const queries = useQueryClient();
  return useChange({
    mutationFn: (body: { message: string; client_message_id: string }) => call(writeSessionMessage, { params: { id }, body }),
    onSuccess: (message) => changeList(queries, sessionMessagesQuery(id).queryKey, (messages) => withMessage(messages, message)),
  });
}

/** The log grows while the session runs, so it is refetched each time that it is opened. */
export const sessionAuditQuery = (id: string) =>
  queryOptions({
    queryKey: ['remote-audit', id],
    queryFn: ({ signal }) => call(listSessionAudit, { params: { id }, signal }),
    staleTime: 0,
  });

/** Devices report their changes after the session. The key starts with `devices`, so events of devices refetch it. */
export const sessionChangesQuery = (id: string) =>
  queryOptions({
    queryKey: ['devices', 'session-changes', id],
    queryFn: ({ signal }) => call(readSessionChanges, { params: { id }, signal }),
  });

/** Each request is recorded in the audit log, so it is sent only when the technician opens the card. */
export const sessionCustomerQuery = (id: string) =>
  queryOptions({
    queryKey: ['remote-customer', id],
    queryFn: ({ signal }) => call(readSessionCustomer, { params: { id }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });

export function useWriteNotes(id: string) {
  const { queries: _, ...settled } = useSettled();
  return useChange({
    ...settled,
    mutationFn: (notes: string) => call(writeNotes, { params: { id }, body: { notes } }),
  });
}
