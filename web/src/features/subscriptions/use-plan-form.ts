import { useRef, useState } from 'react';
import { type ChangeOptions, useChange } from '#api/change.ts';
import { type FieldMessages, type Parsed, refusalOf } from './drafts.ts';
import type { Message } from './message-line.tsx';

interface PlanFormOptions<Draft, Body> {
  draft: Draft;
  onChange: (draft: Draft) => void;
  onMessage: (message: Message | undefined) => void;
  parse: (draft: Draft) => Parsed<Body>;
  /** The endpoint that it calls. */
  of: NonNullable<ChangeOptions<string, Body>['of']>;
  /** Does it, and says what was done. */
  send: (body: Body) => Promise<string>;
  /** Said when it failed and the server gave no reason. */
  failed: string;
  /** Values of the form after a success. */
  empty: Draft;
}

/** Steps of both forms: check, send once, show the result at the top of the screen and faults at the fields. */
export function usePlanForm<Draft extends object, Body>(options: PlanFormOptions<Draft, Body>) {
  const { draft, onChange, onMessage, parse, of, send, failed, empty } = options;
  const [messages, setMessages] = useState<FieldMessages>({});
  /** Faults of the last attempt: the server's answer, or those of the fields. */
  const [refused, setRefused] = useState<object>();
  // State shows only after the next render; two presses at once must do it once.
  const isSending = useRef(false);
  const { mutate, isPending: isBusy } = useChange({
    of,
    mutationFn: send,
    onSuccess(text) {
      onChange(empty);
      onMessage({ tone: 'good', text });
    },
    onError(error) {
      console.error(error);
      const { sentence, fields } = refusalOf(error, failed);
      setMessages(fields);
      setRefused(error);
      onMessage({ tone: 'bad', text: sentence });
    },
  });

  function change(part: Partial<Draft>) {
    onChange({ ...draft, ...part });
    // The message is about the form before the change.
    onMessage(undefined);
    setMessages((before) => Object.fromEntries(Object.entries(before).filter(([field]) => !(field in part))));
  }

  function submit() {
    if (isSending.current) return;
    onMessage(undefined);
    const parsed = parse(draft);
    if (!parsed.ok) {
      setMessages(parsed.fields);
      setRefused(parsed);
      onMessage({ tone: 'bad', text: `Error: ${parsed.sentence}` });
      return;
    }
    isSending.current = true;
    setMessages({});
    mutate(parsed.body, {
      onSettled() {
        isSending.current = false;
      },
    });
  }

  return { messages, refused, isBusy, change, submit };
}
