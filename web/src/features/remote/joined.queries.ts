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

// Calls of a session that somebody has joined: they come with its screens.

/** A change of an own session whose answer is how it stands now. */
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

/** Feedback of a customer on their own session. */
export const useTalkOnly = (id: string) => useOwnChange(() => call(approveSession, { params: { id }, body: { view: 'talk' } }));
export const useDecline = (id: string) => useOwnChange(() => call(declineSession, { params: { id } }));
export const useReaffirm = (id: string) => useOwnChange(() => call(reaffirmSession, { params: { id } }));
export const useReport = (id: string) =>
  useOwnChange((body: { reason: ReportKind; comment: string }) => call(reportSession, { params: { id }, body }));
export const useGrant = (id: string) =>
  useOwnChange((body: { grant: GrantKind; device_id: string | null }) => call(grantInSession, { params: { id }, body }));
/** Either side ends a grant. Both are told how the session stands then. */
export const useRevoke = (id: string) =>
  useOwnChange((grant: GrantKind | 'all') => call(revokeInSession, { params: { id }, body: { grant } }));
export const useRateSession = (id: string) =>
  useOwnChange((body: { rating: number; comment: string }) => call(rateSession, { params: { id }, body }));

/** So many messages come at once. */
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

/** Puts a message where it belongs, once. */
function withMessage(messages: readonly SessionMessage[], message: SessionMessage): SessionMessage[] {
  const others = messages.filter(({ id }) => id !== message.id);
  return [...others, message].toSorted((one, other) => one.seq - other.seq);
}

/** Has the messages of a session follow what is told. */
export function useMessageEvents(id: string): void {
  const queries = useQueryClient();
  useEffect(() => {
    const { queryKey } = sessionMessagesQuery(id);
    const readAnew = () => void queries.invalidateQueries({ queryKey });
    const stops = [
      onTopicMissed({ session_id: id }, readAnew),
      onEvent('remote_message', ({ message }) => {
        if (message.session_id !== id) return;
        changeList(queries, queryKey, (messages) => withMessage(messages, message));
        if (!queries.getQueryData(queryKey)) readAnew();
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

/** It grows while the session runs, so it is read each time that it is opened. */
export const sessionAuditQuery = (id: string) =>
  queryOptions({
    queryKey: ['remote-audit', id],
    queryFn: ({ signal }) => call(listSessionAudit, { params: { id }, signal }),
    staleTime: 0,
  });

/** Devices say it after the session: it is read anew with their news. */
export const sessionChangesQuery = (id: string) =>
  queryOptions({
    queryKey: ['devices', 'session-changes', id],
    queryFn: ({ signal }) => call(readSessionChanges, { params: { id }, signal }),
  });

/** Each reading of it is in the audit log, so it is read only when somebody opens it. */
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
