import { type ChatState, listMessages, readChat } from '@palisade/contract/chat-read';
import type { ChatMessage } from '@palisade/contract/chat-record';
import type { Conversation } from '@palisade/contract/desk-record';
import {
  type InfiniteData,
  infiniteQueryOptions,
  type QueryClient,
  type QueryKey,
  queryOptions,
  useQuery,
} from '@tanstack/react-query';
import { call } from '#api/call.ts';
import { changeList } from '#api/change-list.ts';
import { useIsStartOver } from '#api/start.ts';

/** Number of messages in one page of the conversation. */
export const MESSAGES_PAGE = 50;

/** The conversation in pages, newest first. The call runs even when the browser reports no network, because only a failed call gives a reason. */
export const messagesQuery = infiniteQueryOptions({
  queryKey: ['chat', 'messages'],
  queryFn: ({ signal, pageParam }) =>
    call(listMessages, { signal, query: { limit: MESSAGES_PAGE, ...(pageParam !== '' && { cursor: pageParam }) } }),
  initialPageParam: '',
  // New messages are added to the first page, so a full page may be longer than the limit.
  getNextPageParam: (page: ChatMessage[]) => (page.length >= MESSAGES_PAGE ? page.at(-1)?.id : undefined),
  networkMode: 'always',
});

/** State of the person's own conversation, and presence of support. */
export const chatStateQuery = queryOptions({
  queryKey: ['chat', 'state'],
  queryFn: ({ signal }) => call(readChat, { signal }),
});

/** Number of unread messages from support; 0 if unknown. */
export function useUnread(): number {
  return useQuery({ ...chatStateQuery, enabled: useIsStartOver() }).data?.unread ?? 0;
}

/** Median time to a first answer in the last 7 days, in seconds; null if unknown. */
export function useResponseTime(): number | null {
  return useQuery({ ...chatStateQuery, enabled: useIsStartOver() }).data?.response_s ?? null;
}

/** The fields that decide the position of a message. */
interface Placed {
  id: string;
  seq: number;
}

/** Inserts a message by `seq`, or replaces it: a fetch may have returned it already, and two messages may arrive out of order. */
function placed<Message extends Placed>(page: readonly Message[], message: Message): Message[] {
  const others = page.filter(({ id }) => id !== message.id);
  const at = others.findIndex(({ seq }) => seq < message.seq);
  return others.toSpliced(at === -1 ? others.length : at, 0, message);
}

/** Puts a message into the newest page of a conversation. A conversation that has not been read yet is refetched. */
export function mergeMessage<Message extends Placed>(queries: QueryClient, queryKey: QueryKey, message: Message): void {
  changeList<QueryKey, InfiniteData<Message[], string>>(queries, queryKey, (read) => {
    const [first = [], ...rest] = read.pages;
    const isOlder = rest.some((page) => page.some(({ id }) => id === message.id));
    if (isOlder) return { ...read, pages: read.pages.map((page) => page.map((one) => (one.id === message.id ? message : one))) };
    return { ...read, pages: [placed(first, message), ...rest] };
  });
  if (queries.getQueryData(queryKey) === undefined) void queries.invalidateQueries({ queryKey, exact: true });
}

function changeState(queries: QueryClient, change: (state: ChatState) => ChatState): void {
  changeList(queries, chatStateQuery.queryKey, change);
}

/** Adds a message of the person's own conversation, on every screen. */
export function takeMessage(queries: QueryClient, message: ChatMessage): void {
  mergeMessage(queries, messagesQuery.queryKey, message);
  const before = queries.getQueryData(chatStateQuery.queryKey);
  changeState(queries, (state) => {
    const isNew = message.seq > state.last_seq;
    const unread = isNew && message.sender === 'support' && !message.is_automatic ? state.unread + 1 : state.unread;
    return { ...state, unread, last_seq: Math.max(state.last_seq, message.seq) };
  });
  // The person's own message can start or reopen a conversation, or mark earlier messages as read; only the server knows the resulting state.
  if (message.sender === 'user' && before !== undefined && (before.status !== 'open' || before.unread > 0))
    void queries.invalidateQueries({ queryKey: chatStateQuery.queryKey, exact: true });
}

/** One side has read the person's own conversation up to a message. */
export function takeRead(queries: QueryClient, reader: 'user' | 'support', seq: number): void {
  changeState(queries, (state) => {
    if (reader === 'support') return { ...state, read_seq: Math.max(state.read_seq, seq) };
    return seq >= state.last_seq ? { ...state, unread: 0 } : state;
  });
}

export function takePresence(queries: QueryClient, is_here: boolean): void {
  changeState(queries, (state) => ({ ...state, staff: { ...state.staff, is_here } }));
}

/** Properties of a conversation that `may` needs. */
export function decidedBy({ user_id, assignee, status }: Conversation) {
  return { user_id, assignee_id: assignee?.id ?? null, status };
}
