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

/** Messages that are read at once; older ones on demand. */
export const MESSAGES_PAGE = 50;

/** The conversation in pages, newest first. A call is tried even when the browser believes that it is offline: only then is it said why it failed. */
export const messagesQuery = infiniteQueryOptions({
  queryKey: ['chat', 'messages'],
  queryFn: ({ signal, pageParam }) =>
    call(listMessages, { signal, query: { limit: MESSAGES_PAGE, ...(pageParam !== '' && { cursor: pageParam }) } }),
  initialPageParam: '',
  // The first page grows by what is sent meanwhile, so a full one is one that is at least full.
  getNextPageParam: (page: ChatMessage[]) => (page.length >= MESSAGES_PAGE ? page.at(-1)?.id : undefined),
  networkMode: 'always',
});

/** State of one's own conversation, and presence of support. */
export const chatStateQuery = queryOptions({
  queryKey: ['chat', 'state'],
  queryFn: ({ signal }) => call(readChat, { signal }),
});

/** Number of unread messages of support; 0 where that is not known. */
export function useUnread(): number {
  return useQuery({ ...chatStateQuery, enabled: useIsStartOver() }).data?.unread ?? 0;
}

/** The median time of a first answer in the last 7 days, in seconds; null where that is not known. */
export function useResponseTime(): number | null {
  return useQuery({ ...chatStateQuery, enabled: useIsStartOver() }).data?.response_s ?? null;
}

/** As much of a message as its place among the others takes. */
interface Placed {
  id: string;
  seq: number;
}

/** A page with a message in its place: an answer that was read meanwhile may hold it already, and two may arrive in another order than they were written. */
function placed<Message extends Placed>(page: readonly Message[], message: Message): Message[] {
  const others = page.filter(({ id }) => id !== message.id);
  const at = others.findIndex(({ seq }) => seq < message.seq);
  return others.toSpliced(at === -1 ? others.length : at, 0, message);
}

/** Puts a message into the newest page of a conversation that has been read. One that has not been read is read anew. */
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

/** A message of one's own conversation has come, on whichever screen its person is. */
export function takeMessage(queries: QueryClient, message: ChatMessage): void {
  mergeMessage(queries, messagesQuery.queryKey, message);
  const before = queries.getQueryData(chatStateQuery.queryKey);
  changeState(queries, (state) => {
    const isNew = message.seq > state.last_seq;
    const unread = isNew && message.sender === 'support' && !message.is_automatic ? state.unread + 1 : state.unread;
    return { ...state, unread, last_seq: Math.max(state.last_seq, message.seq) };
  });
  // One's own message, from whichever page, begins a conversation, opens it again or says that what stood above was read: how it stands then, the server knows.
  if (message.sender === 'user' && before !== undefined && (before.status !== 'open' || before.unread > 0))
    void queries.invalidateQueries({ queryKey: chatStateQuery.queryKey, exact: true });
}

/** One side has read one's own conversation up to a message. */
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
