import { attachmentSchema } from '@palisade/contract/chat-record';
import {
  answerConversation,
  assignConversation,
  claimConversation,
  closeConversation,
  listCanned,
  listDeskMessages,
  markConversationRead,
  readConversation,
  readCustomerCard,
  readShared,
  reopenConversation,
  snoozeConversation,
  sortConversation,
  startRemoteSession,
} from '@palisade/contract/desk';
import { type ConversationsQuery, listConversations, type View } from '@palisade/contract/desk-list';
import type { Conversation, DeskMessage, Presence } from '@palisade/contract/desk-record';
import { listTeam, setPresence, type TeamMember } from '@palisade/contract/desk-team';
import type { LiveEvent } from '@palisade/contract/events';
import {
  type InfiniteData,
  infiniteQueryOptions,
  type QueryClient,
  type QueryKey,
  queryOptions,
  useQueryClient,
} from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { z } from 'zod';
import { call, callPage, type Page } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { changeList } from '#api/change-list.ts';
import { hearTopic, onEvent } from '#api/events.ts';
import { createOutgoing, type OutgoingQueue } from '#api/outgoing.ts';
import { pagesQuery } from '#api/pages.ts';
import { currentSession } from '#api/session.ts';
import { MESSAGES_PAGE, mergeMessage } from '#domain/conversation/chat.ts';
import { deskCountsQuery } from '#domain/conversation/desk-counts.ts';
import { useMarkSeen } from '#domain/conversation/mark-seen.ts';

/** Filter and order of the conversations. */
export type InboxChoice = Pick<ConversationsQuery, 'sort' | 'search' | 'tag' | 'priority'> & { view: View };

const INBOX_KEY = ['desk', 'inbox'];

export const inboxQuery = (choice: InboxChoice) =>
  pagesQuery([...INBOX_KEY, choice], (page, signal) => callPage(listConversations, { signal, query: { ...choice, ...page } }));

export const conversationQuery = (id: string) =>
  queryOptions({
    queryKey: ['desk', 'conversation', id],
    queryFn: ({ signal }) => call(readConversation, { params: { id }, signal }),
  });

export const deskMessagesQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['desk', 'messages', id],
    queryFn: ({ signal, pageParam }) =>
      call(listDeskMessages, {
        signal,
        params: { id },
        query: { limit: MESSAGES_PAGE, ...(pageParam !== '' && { cursor: pageParam }) },
      }),
    initialPageParam: '',
    getNextPageParam: (page: DeskMessage[]) => (page.length >= MESSAGES_PAGE ? page.at(-1)?.id : undefined),
    networkMode: 'always',
  });

/** Each request is recorded in the audit log, so it is sent only when staff open the card. */
export const customerQuery = (id: string) =>
  queryOptions({
    queryKey: ['desk-customer', id],
    queryFn: ({ signal }) => call(readCustomerCard, { params: { id }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });

export const sharedQuery = (message_id: string) =>
  queryOptions({
    queryKey: ['desk-shared', message_id],
    queryFn: ({ signal }) => call(readShared, { params: { id: message_id }, signal }),
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });

export const teamQuery = queryOptions({
  queryKey: ['desk', 'team'],
  queryFn: ({ signal }) => call(listTeam, { signal }),
});

export const cannedQuery = queryOptions({
  queryKey: ['desk', 'canned'],
  queryFn: ({ signal }) => call(listCanned, { signal }),
  staleTime: 60_000,
});

/** Updates a conversation in all cached queries, unless they have a newer version. */
function takeConversation(queries: QueryClient, conversation: Conversation): void {
  const newer = (known: Conversation) => (known.version > conversation.version ? known : conversation);
  changeList(queries, conversationQuery(conversation.id).queryKey, newer, { begin: conversation });
  const inInbox = (page: Page<Conversation[]>) => ({
    ...page,
    // `found` belongs to the search and not to the conversation.
    rows: page.rows.map((row) => (row.id === conversation.id ? { ...newer(row), found: row.found } : row)),
  });
  changeList<QueryKey, InfiniteData<Page<Conversation[]>, string>>(
    queries,
    INBOX_KEY,
    (read) => ({ ...read, pages: read.pages.map(inInbox) }),
    { isExact: false },
  );
}

/** Shortest interval between two refetches of the lists, in ms. Only the server knows the position of a conversation in them. */
const REFETCH_PAUSE = 800;

/** Updates all cached data of the desk from events while the page is open. */
export function useDeskEvents(): void {
  const queries = useQueryClient();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const readListsSoon = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void queries.invalidateQueries({ queryKey: INBOX_KEY });
      }, REFETCH_PAUSE);
    };
    const stops = [
      hearTopic('staff', () => void queries.invalidateQueries({ queryKey: ['desk'] })),
      onEvent('conversation_changed', ({ conversation }) => {
        takeConversation(queries, conversation);
        readListsSoon();
      }),
      onEvent('conversation_removed', ({ conversation_id }) => {
        void queries.invalidateQueries({ queryKey: conversationQuery(conversation_id).queryKey });
        readListsSoon();
      }),
      onEvent('presence_changed', ({ user_id, presence }) => void takePresence(queries, user_id, presence)),
    ];
    return () => {
      clearTimeout(timer);
      for (const stop of stops) stop();
    };
  }, [queries]);
}

/** Returns a function that reverts the change. */
function takePresence(queries: QueryClient, user_id: string | undefined, presence: Presence): () => void {
  const { queryKey } = teamQuery;
  if (!queries.getQueryData(queryKey)?.some(({ id }) => id === user_id)) void queries.invalidateQueries({ queryKey });
  return changeList(queries, queryKey, (team) =>
    team.map((member) => (member.id === user_id ? { ...member, presence } : member)),
  );
}

type Viewers = Extract<LiveEvent, { kind: 'conversation_viewers' }>['viewers'];

/** Subscribes to an open conversation: its messages, notes and read marks. Returns the staff who also have it open. */
export function useConversationEvents(conversation_id: string): Viewers {
  const queries = useQueryClient();
  const [viewers, setViewers] = useState<Viewers>([]);
  useEffect(() => {
    const { queryKey } = deskMessagesQuery(conversation_id);
    const stops = [
      hearTopic({ conversation_id }, () => void queries.invalidateQueries({ queryKey })),
      onEvent('desk_message', ({ message }) => {
        if (message.conversation_id === conversation_id) mergeMessage(queries, queryKey, message);
      }),
      onEvent('chat_read', (event) => {
        if (event.conversation_id !== conversation_id || event.reader !== 'user') return;
        changeList(queries, conversationQuery(conversation_id).queryKey, (known) => ({
          ...known,
          customer_read_seq: Math.max(known.customer_read_seq, event.seq),
        }));
      }),
      onEvent('conversation_viewers', (event) => {
        if (event.conversation_id === conversation_id) setViewers(event.viewers);
      }),
    ];
    return () => {
      for (const stop of stops) stop();
      setViewers([]);
    };
  }, [conversation_id, queries]);
  return viewers;
}

/** A change of a conversation. The reply is the conversation after the change. */
function useConversationChange<Input = void>(change: (input: Input) => Promise<Conversation>) {
  const queries = useQueryClient();
  return useChange({
    mutationFn: change,
    onSuccess: (conversation) => {
      takeConversation(queries, conversation);
      void queries.invalidateQueries({ queryKey: INBOX_KEY });
      void queries.invalidateQueries({ queryKey: deskCountsQuery.queryKey });
    },
    // A refusal usually means that another person was faster, so the state is refetched.
    onError: () => void queries.invalidateQueries({ queryKey: ['desk'] }),
  });
}

/** All actions on a conversation. */
export function useConversationActions(id: string) {
  const params = { id };
  return {
    claim: useConversationChange(() => call(claimConversation, { params })),
    assign: useConversationChange((assignee_id: string | null) => call(assignConversation, { params, body: { assignee_id } })),
    close: useConversationChange(() => call(closeConversation, { params })),
    reopen: useConversationChange(() => call(reopenConversation, { params })),
    snooze: useConversationChange((until: string) => call(snoozeConversation, { params, body: { until } })),
    sort: useConversationChange((body: Parameters<typeof call<typeof sortConversation>>[1]['body']) =>
      call(sortConversation, { params, body }),
    ),
    remote: useStartRemoteSession(id),
  };
}
export type ConversationActions = ReturnType<typeof useConversationActions>;

function useStartRemoteSession(id: string) {
  const queries = useQueryClient();
  return useChange({
    mutationFn: () => call(startRemoteSession, { params: { id } }),
    onSuccess: (message) => mergeMessage(queries, deskMessagesQuery(id).queryKey, message),
  });
}

/** Marks the messages in view as read when the page is visible. */
export function useMarkConversationRead({ id, unread }: Conversation, seen_seq: number | undefined): void {
  const { mutate } = useConversationChange((seq: number) => call(markConversationRead, { params: { id }, body: { seq } }));
  useMarkSeen(unread, seen_seq, mutate);
}

export function useSetPresence() {
  const queries = useQueryClient();
  return useChange({
    mutationFn: (presence: Presence) => call(setPresence, { body: { presence, by_hand: true } }),
    shows: (presence) => takePresence(queries, currentSession()?.user_info.id, presence),
    onSuccess: (member: TeamMember) => void takePresence(queries, member.id, member.presence),
  });
}

const writtenSchema = z.object({
  conversation_id: z.string(),
  message: z.string(),
  attachments: z.array(attachmentSchema),
  is_note: z.boolean(),
});
export type DeskWritten = z.infer<typeof writtenSchema>;

/** One queue for each signed-in person, so that sending continues when another conversation opens. */
const queues = new WeakMap<QueryClient, OutgoingQueue<DeskWritten>>();

function outgoingOf(queries: QueryClient): OutgoingQueue<DeskWritten> {
  const known = queues.get(queries);
  if (known) return known;
  const queue = createOutgoing({
    name: `desk.${currentSession()?.user_info.id ?? ''}`,
    schema: writtenSchema,
    send: ({ conversation_id, message, attachments, is_note }, client_message_id) =>
      call(answerConversation, {
        params: { id: conversation_id },
        body: {
          message,
          is_note,
          client_message_id,
          ...(attachments.length > 0 && { attachment_ids: attachments.map(({ id }) => id) }),
        },
      }),
    onSent: (message) => mergeMessage(queries, deskMessagesQuery(message.conversation_id).queryKey, message),
  });
  queues.set(queries, queue);
  return queue;
}

/** Messages of a conversation that the server has not confirmed. */
export function useDeskOutgoing(conversation_id: string) {
  const queue = outgoingOf(useQueryClient());
  const all = useSyncExternalStore(queue.subscribe, queue.read);
  return { queue, outgoing: all.filter(({ body }) => body.conversation_id === conversation_id) };
}
