import { useDebouncedValue } from '@mantine/hooks';
import {
  AUTOMATIC_REPLY_DELAY,
  askPerson,
  CHAT_TOPICS,
  mailTranscript,
  markRead,
  rateChat,
  sendMessage,
  shareThing,
} from '@palisade/contract/chat';
import type { ChatState } from '@palisade/contract/chat-read';
import { attachmentSchema, type ChatMessage, type SharedKind } from '@palisade/contract/chat-record';
import { SUGGESTION_PAUSE, suggestArticles } from '@palisade/contract/help';
import { keepPreviousData, type QueryClient, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { z } from 'zod';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { putRecord } from '#api/change-list.ts';
import { createOutgoing, type OutgoingQueue } from '#api/outgoing.ts';
import { currentSession } from '#api/session.ts';
import { chatStateQuery, messagesQuery, takeMessage } from '#domain/conversation/chat.ts';
import { useMarkSeen } from '#domain/conversation/mark-seen.ts';

const writtenSchema = z.object({
  message: z.string(),
  attachments: z.array(attachmentSchema),
  topic: z.enum(CHAT_TOPICS).optional(),
});
type Written = z.infer<typeof writtenSchema>;

/** One queue for each signed-in person, so that sending continues after the chat is closed. */
const queues = new WeakMap<QueryClient, OutgoingQueue<Written>>();

function outgoingOf(queries: QueryClient): OutgoingQueue<Written> {
  const known = queues.get(queries);
  if (known) return known;
  const queue = createOutgoing({
    name: currentSession()?.user_info.id ?? '',
    schema: writtenSchema,
    send: ({ message, attachments, topic }, client_message_id) =>
      call(sendMessage, {
        body: {
          message,
          sender: 'user',
          client_message_id,
          ...(topic && { topic }),
          ...(attachments.length > 0 && { attachment_ids: attachments.map(({ id }) => id) }),
        },
      }),
    onSent: ({ automatic_reply, ...message }) => {
      takeMessage(queries, message);
      if (automatic_reply) takeMessage(queries, automatic_reply);
    },
  });
  queues.set(queries, queue);
  return queue;
}

/** Messages that the server has not confirmed. */
export function useOutgoing() {
  const queue = outgoingOf(useQueryClient());
  return { queue, outgoing: useSyncExternalStore(queue.subscribe, queue.read) };
}

/** The messages, oldest first. A new automatic message appears after the delay in the specification; an older one at once. */
export function useMessages() {
  const query = useInfiniteQuery(messagesQuery);
  const messages = query.data?.pages.flat().toReversed();
  return { query, messages: useWithDelay(messages) };
}

function useWithDelay(messages: ChatMessage[] | undefined): ChatMessage[] | undefined {
  const first_seq = useRef<number>(undefined);
  const shown_at = useRef(new Map<string, number>());
  const [, redraw] = useState(0);
  const newest = messages?.at(-1)?.seq ?? 0;
  if (messages && first_seq.current === undefined) first_seq.current = newest;
  const since = first_seq.current ?? 0;
  const now = Date.now();
  const held = (messages ?? []).filter(({ id, seq, is_automatic }) => {
    if (!is_automatic || seq <= since) return false;
    const at = shown_at.current.get(id) ?? now + AUTOMATIC_REPLY_DELAY;
    shown_at.current.set(id, at);
    return at > now;
  });
  const next = Math.min(...held.map(({ id }) => shown_at.current.get(id) ?? 0));
  useEffect(() => {
    if (!Number.isFinite(next)) return undefined;
    const timer = setTimeout(() => redraw((count) => count + 1), next - Date.now());
    return () => clearTimeout(timer);
  }, [next]);
  return held.length === 0 ? messages : messages?.filter((message) => !held.includes(message));
}

export function useChatState(): ChatState | undefined {
  return useQuery(chatStateQuery).data;
}

/**
 * Whether the first replies are pending. The heights of head and messages depend on them, and content drawn earlier would move.
 * Without a connection, or after a failure, the chat does not wait: messages are stored and sent later.
 */
export function useIsAwaited(): boolean {
  const state = useQuery(chatStateQuery);
  const messages = useInfiniteQuery(messagesQuery);
  return [state, messages].some(
    ({ isPending, fetchStatus, failureCount }) => isPending && fetchStatus === 'fetching' && failureCount === 0,
  );
}

/** A change of the person's own conversation. The reply is its state after the change. */
function useStateChange<Input = void>(change: (input: Input) => Promise<ChatState>) {
  const queries = useQueryClient();
  return useChange({
    mutationFn: change,
    onSuccess: (state) => putRecord(queries, chatStateQuery.queryKey, state),
  });
}

export function useAskPerson() {
  return useStateChange(() => call(askPerson));
}

export function useRate() {
  return useStateChange((body: { rating: number; comment: string }) => call(rateChat, { body }));
}

export function useShare() {
  const queries = useQueryClient();
  return useChange({
    mutationFn: (body: { thing: SharedKind; subject_id: string; client_message_id: string }) => call(shareThing, { body }),
    onSuccess: (message) => takeMessage(queries, message),
  });
}

export function useMailTranscript() {
  return useChange({ mutationFn: () => call(mailTranscript) });
}

/** Marks the messages in view as read when the page is visible. */
export function useMarkRead(seen_seq: number | undefined): void {
  const { mutate } = useStateChange((seq: number) => call(markRead, { body: { seq } }));
  useMarkSeen(useChatState()?.unread ?? 0, seen_seq, mutate);
}

/** Minimum length of a draft that is looked up in the help pages. */
const WORTH_LOOKING_UP = 8;

/** Help pages that may answer the draft. */
export function useSuggestions(draft: string) {
  const [text] = useDebouncedValue(draft.trim(), SUGGESTION_PAUSE);
  const isWorth = text.length >= WORTH_LOOKING_UP && draft.trim() !== '';
  const { data } = useQuery({
    queryKey: ['help', 'suggestions', text],
    queryFn: ({ signal }) => call(suggestArticles, { query: { text }, signal }),
    enabled: isWorth,
    placeholderData: keepPreviousData,
    retry: false,
  });
  return isWorth ? (data ?? []) : [];
}
