import type { ChatMessage } from '@palisade/contract/chat';
import { IconMessageCircle } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { sentenceOf } from '#api/call.ts';
import { Button } from '#ui/button.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { EmptyState, ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { messagesQuery, repliesQuery } from './chat.queries.ts';

interface Line {
  id: string;
  from: 'user' | 'support';
  isAutomatic: boolean;
  text: string;
  at: string;
}

function lineOf({ id, sender, message, timestamp }: ChatMessage): Line {
  return { id, from: sender, isAutomatic: false, text: message, at: timestamp };
}

/** The conversation, oldest first, each automatic reply below what it answers. */
function useLines() {
  const messages = useInfiniteQuery(messagesQuery);
  const { data: replies } = useQuery(repliesQuery);
  const lines = messages.data?.pages
    .flat()
    .toReversed()
    .flatMap((message) => [
      lineOf(message),
      ...replies
        .filter(({ after }) => after === message.id)
        .map(({ text, at }) => ({ id: `${message.id}-reply`, from: 'support' as const, isAutomatic: true, text, at })),
    ]);
  return { messages, lines };
}

export function MessageList({ isSending }: { isSending: boolean }) {
  const { messages, lines } = useLines();
  const now = useMinute();
  const scroller = useRef<HTMLDivElement>(null);
  const newest = lines?.at(-1)?.id;

  // biome-ignore lint/correctness/useExhaustiveDependencies: what comes last is brought into view
  useEffect(() => {
    if (scroller.current) scroller.current.scrollTop = 0;
  }, [newest, isSending]);

  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <div ref={scroller} className="messages" role="log" aria-live="polite" aria-label="Messages" tabIndex={0}>
      <div className="messages__content">
        {messages.error && (
          <ErrorNotice
            title="The conversation could not be read"
            sentence={sentenceOf(messages.error)}
            onRetry={() => void messages.refetch()}
          />
        )}
        {!lines && !messages.error && <LoadingRows label="Loading the conversation" />}
        {messages.hasNextPage && (
          <Button variant="text" size="s" loading={messages.isFetchingNextPage} onClick={() => void messages.fetchNextPage()}>
            Show earlier messages
          </Button>
        )}
        {lines?.length === 0 && (
          <EmptyState
            icon={<IconMessageCircle size={28} stroke={1.7} />}
            title="What can we help with?"
            sentence="Write what happened, or choose one of the questions below."
          />
        )}
        {lines && lines.length > 0 && (
          <ol className="messages__list">
            {lines.map((line) => (
              <Message key={line.id} line={line} now={now} />
            ))}
          </ol>
        )}
        {isSending && (
          <p className="messages__typing">
            <span className="messages__dots" aria-hidden="true">
              <i />
              <i />
              <i />
            </span>
            Typing…
          </p>
        )}
      </div>
    </div>
  );
}

function Message({ line, now }: { line: Line; now: number }) {
  return (
    <li className="message" data-from={line.from}>
      <p className="message__who">
        <b>{line.from === 'user' ? 'You' : 'Support'}</b>
        {line.isAutomatic && <span className="message__mark">Automatic reply</span>}
        <Moment iso={line.at} now={now} />
      </p>
      <p className="message__text" dir="auto">
        {line.text}
      </p>
    </li>
  );
}
