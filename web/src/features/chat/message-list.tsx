import type { ChatMessage } from '@palisade/contract/chat-record';
import { IconMessageCircle } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import type { Outgoing, OutgoingQueue } from '#api/outgoing.ts';
import { SentAttachments } from '#domain/conversation/attachments.tsx';
import { MessageCard } from '#domain/conversation/message-card.tsx';
import { CheckMessage } from '#domain/scam/check-message.tsx';
import { type ConversationLine, ConversationLog, useJump } from '#ui/conversation-log.tsx';
import { Drawing } from '#ui/drawing.tsx';
import { OutgoingState } from '#ui/outgoing-state.tsx';
import { EmptyState } from '#ui/states.tsx';
import { useChatState, useMarkRead, useMessages, useOutgoing } from './chat.queries.ts';

const keyOf = ({ client_message_id, id }: ChatMessage) => client_message_id ?? id;

function lineOf(message: ChatMessage, state: ReactNode): ConversationLine {
  const isOwn = message.sender === 'user';
  return {
    key: keyOf(message),
    id: message.id,
    at: message.timestamp,
    who: isOwn ? 'You' : (message.author ?? 'Support'),
    side: isOwn ? 'own' : 'other',
    mark: message.is_automatic ? 'Automatic reply' : undefined,
    text: message.message,
    below: (
      <>
        {message.card && <MessageCard card={message.card} />}
        <SentAttachments attachments={message.attachments} />
        {!message.is_automatic && <CheckMessage text={message.message} />}
      </>
    ),
    state,
  };
}

type Written = ReturnType<OutgoingQueue<{ message: string; attachments: ChatMessage['attachments'] }>['read']>[number];

function lineOfOutgoing({ id, at, body }: Written, state: ReactNode): ConversationLine {
  return {
    key: id,
    at,
    who: 'You',
    side: 'own',
    text: body.message,
    below: <SentAttachments attachments={body.attachments} />,
    state,
  };
}

/** The conversation: confirmed messages, and unconfirmed ones below. */
export function MessageList({ onEdit }: { onEdit: (message: string) => void }) {
  const { query, messages } = useMessages();
  const jump = useJump();
  const { queue, outgoing } = useOutgoing();
  const read_seq = useChatState()?.read_seq ?? 0;
  const arrived = new Set(messages?.map(({ client_message_id }) => client_message_id));
  const left = outgoing.filter(({ id }) => !arrived.has(id));
  const [seen, setSeen] = useState<string>();
  const newest = messages?.at(-1);
  useMarkRead(newest && keyOf(newest) === seen ? newest.seq : undefined);
  const lastOwn = messages?.findLast(({ sender }) => sender === 'user');

  function stateOf(message: ChatMessage): string | undefined {
    if (message !== lastOwn || left.length > 0) return undefined;
    return message.is_read || message.seq <= read_seq ? 'Read' : 'Sent';
  }

  function edit({ id }: Outgoing<unknown>) {
    const body = queue.discard(id);
    if (body) onEdit(body.message);
  }

  const lines = messages && [
    ...messages.map((message) => lineOf(message, stateOf(message))),
    ...left.map((entry) =>
      lineOfOutgoing(entry, <OutgoingState outgoing={entry} onRetry={() => queue.retry(entry.id)} onEdit={() => edit(entry)} />),
    ),
  ];

  return (
    <ConversationLog
      label="Messages"
      jump={jump}
      onSeen={setSeen}
      lines={lines}
      error={query.error}
      onRetry={query.refetch}
      older={{
        isThere: query.hasNextPage,
        isLoading: query.isFetchingNextPage,
        hasFailed: query.isFetchNextPageError,
        onRead: query.fetchNextPage,
      }}
      empty={
        <EmptyState
          icon={IconMessageCircle}
          drawing={<Drawing of="messages" />}
          title="What can we help with?"
          sentence="Write what happened, or choose a topic below."
        />
      }
    />
  );
}
