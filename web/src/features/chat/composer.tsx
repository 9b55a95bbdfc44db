import { Textarea } from '@mantine/core';
import { MESSAGE_LENGTH_MAXIMUM, messageLength } from '@palisade/contract/chat';
import { IconSend } from '@tabler/icons-react';
import { type FormEvent, type KeyboardEvent, useRef, useState } from 'react';
import { sentenceOf } from '#api/call.ts';
import { Button } from '#ui/button.tsx';
import { ErrorNotice } from '#ui/states.tsx';
import type { useSendMessage } from './chat.queries.ts';
import { QUICK_PROMPTS, withPrompt } from './quick-prompts.ts';

const count = new Intl.NumberFormat('en');

/** The field, the chips that fill it, and Send. What could not be sent stays in the field. */
export function Composer({ sending }: { sending: ReturnType<typeof useSendMessage> }) {
  const [draft, setDraft] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  const isBlank = draft.trim() === '';
  const length = messageLength(draft);
  const isTooLong = length > MESSAGE_LENGTH_MAXIMUM;

  function send() {
    if (isBlank || isTooLong || sending.isPending) return;
    sending.mutate(draft, { onSuccess: () => setDraft('') });
    field.current?.focus();
  }

  function submit(event: FormEvent) {
    event.preventDefault();
    send();
  }

  function press(event: KeyboardEvent) {
    // While an input method composes, Enter takes its word over.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  }

  function fill(prompt: string) {
    setDraft(withPrompt(draft, prompt));
    field.current?.focus();
  }

  return (
    <form className="composer" onSubmit={submit}>
      {sending.isError && (
        <ErrorNotice
          title="Your message was not sent"
          sentence={`${sentenceOf(sending.error)} It is still in the field.`}
          onRetry={send}
        />
      )}
      <fieldset className="composer__prompts">
        <legend className="visually-hidden">Start with</legend>
        {QUICK_PROMPTS.map(({ label, prompt }) => (
          <button key={label} type="button" className="composer__chip" disabled={sending.isPending} onClick={() => fill(prompt)}>
            {label}
          </button>
        ))}
      </fieldset>
      <div className="composer__line">
        <Textarea
          ref={field}
          className="composer__field"
          size="md"
          rows={1}
          aria-label="Message"
          placeholder="Your message"
          value={draft}
          readOnly={sending.isPending}
          error={
            isTooLong
              ? `${count.format(length)} of ${count.format(MESSAGE_LENGTH_MAXIMUM)} characters. Send it in parts.`
              : undefined
          }
          onChange={(event) => setDraft(event.currentTarget.value)}
          onKeyDown={press}
        />
        <Button
          type="submit"
          size="l"
          icon={<IconSend size={18} stroke={1.7} aria-hidden="true" />}
          loading={sending.isPending}
          disabled={isBlank || isTooLong}
        >
          Send
        </Button>
      </div>
      <p className="composer__hint">Enter sends, Shift and Enter begins a new line. Never write a password or a card number.</p>
    </form>
  );
}
