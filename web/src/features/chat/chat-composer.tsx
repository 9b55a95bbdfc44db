import { type RefObject, useState } from 'react';
import { readDraft } from '#api/drafts.ts';
import { sayTyping } from '#api/events.ts';
import { isFirstTry } from '#api/outgoing.ts';
import { type ComposerHandle, MessageComposer } from '#domain/conversation/message-composer.tsx';
import { useOutgoing } from './chat.queries.ts';
import { QUICK_PROMPTS, withPrompt } from './quick-prompts.ts';
import { Suggestions } from './suggestions.tsx';

const PLACE = 'chat';

/** The field, its suggestion chips, and help pages that may answer the question before support does. */
export function ChatComposer({ composer }: { composer: RefObject<ComposerHandle | null> }) {
  const { queue, outgoing } = useOutgoing();
  const [draft, setDraft] = useState(() => readDraft(PLACE));
  return (
    <MessageComposer
      ref={composer}
      place={PLACE}
      placeholder="Your message"
      isSending={isFirstTry(outgoing)}
      onSend={(written) => queue.add(written)}
      onTyping={() => sayTyping(null)}
      onDraft={setDraft}
      above={
        <>
          <Suggestions draft={draft} />
          <fieldset className="composer__prompts">
            <legend className="visually-hidden">Start with</legend>
            {QUICK_PROMPTS.map(({ label, prompt }) => (
              <button
                key={label}
                type="button"
                className="composer__chip"
                onClick={() => composer.current?.write((before) => withPrompt(before, prompt))}
              >
                {label}
              </button>
            ))}
          </fieldset>
        </>
      }
      below={
        <p className="composer__hint">
          Enter sends, Shift and Enter begins a new line. Files are scanned before anyone can open them. Never write a password or
          a card number.
        </p>
      }
    />
  );
}
