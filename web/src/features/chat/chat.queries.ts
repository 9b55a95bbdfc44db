import { AUTOMATIC_REPLY_DELAY, automaticReply, type ChatMessage, listMessages, sendMessage } from '@palisade/contract/chat';
import { infiniteQueryOptions, type QueryClient, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { call } from '#api/call.ts';
import { keepReply, readReplies } from './kept-replies.ts';

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

/** Kept beside the messages, so that leaving the screen and coming back does not take away what a person has read. */
export const repliesQuery = queryOptions({
  queryKey: ['chat', 'replies'],
  queryFn: readReplies,
  initialData: readReplies,
  staleTime: Number.POSITIVE_INFINITY,
  gcTime: Number.POSITIVE_INFINITY,
});

async function appendMessage(queries: QueryClient, sent: ChatMessage): Promise<void> {
  const { queryKey } = messagesQuery;
  const wasReading = queries.isFetching({ queryKey }) > 0;
  // A list that was asked for before this message existed must not overwrite it.
  await queries.cancelQueries({ queryKey });
  queries.setQueryData(queryKey, (read) => {
    if (!read) return read;
    const [first = [], ...rest] = read.pages;
    // The page may have been told of it, and have read it already.
    if (first.some(({ id }) => id === sent.id)) return read;
    return { ...read, pages: [[sent, ...first], ...rest] };
  });
  if (wasReading || queries.getQueryData(queryKey) === undefined) void queries.invalidateQueries({ queryKey });
}

function replyLater(queries: QueryClient, { id, message }: ChatMessage): void {
  const reply = { after: id, text: automaticReply(message), at: new Date(Date.now() + AUTOMATIC_REPLY_DELAY).toISOString() };
  // At once: a page that is loaded anew in between shows it too.
  keepReply(reply);
  setTimeout(() => {
    queries.setQueryData(repliesQuery.queryKey, (replies = []) => [...replies, reply]);
  }, AUTOMATIC_REPLY_DELAY);
}

/** Sends a message, appends what the server answers, and adds the automatic reply a little later. */
export function useSendMessage() {
  const queries = useQueryClient();
  return useMutation({
    networkMode: 'always',
    mutationFn: (message: string) => call(sendMessage, { body: { message, sender: 'user' } }),
    onSuccess: async (sent) => {
      await appendMessage(queries, sent);
      replyLater(queries, sent);
    },
    onError: (error) => console.error(error),
  });
}
