import type { ChatTopic } from '@palisade/contract/chat';
import { type RefObject, useState } from 'react';
import { readDraft } from '#api/drafts.ts';
import { sayTyping } from '#api/events.ts';
import { isFirstTry } from '#api/outgoing.ts';
import { type ComposerHandle, MessageComposer } from '#domain/conversation/message-composer.tsx';
import { useChatState, useMessages, useOutgoing } from './chat.queries.ts';
import { Suggestions } from './suggestions.tsx';
import { TOPICS, Topics } from './topics.tsx';

const PLACE = 'chat';

/** The message field with topics, and help pages that may answer the question before support does. */
export function ChatComposer({ composer }: { composer: RefObject<ComposerHandle | null> }) {
  const { queue, outgoing } = useOutgoing();
  const [draft, setDraft] = useState(() => readDraft(PLACE));
  const [topic, setTopic] = useState<ChatTopic>();
  // Topics are for the first message; later the conversation needs the room.
  const hasMessages = (useMessages().messages ?? []).length > 0;
  const isBegun = useChatState()?.status === 'open' && hasMessages;
  return (
    <MessageComposer
      ref={composer}
      place={PLACE}
      placeholder={topic ? TOPICS[topic].placeholder : 'Your message'}
      isSending={isFirstTry(outgoing)}
      onSend={(written) => {
        queue.add({ ...written, ...(topic && { topic }) });
        setTopic(undefined);
      }}
      onTyping={() => sayTyping(null)}
      onDraft={setDraft}
      above={
        <>
          <Suggestions draft={draft} />
          {!isBegun && (
            <Topics
              chosen={topic}
              onChoose={(chosen) => {
                setTopic(chosen);
                composer.current?.focus();
              }}
            />
          )}
        </>
      }
      below={
        <p className="tiny faint">
          <span className="off-phone">
            Enter sends, Shift and Enter begins a new line. Files are scanned before anyone can open them.{' '}
          </span>
          Never write a password or a card number.
        </p>
      }
    />
  );
}
