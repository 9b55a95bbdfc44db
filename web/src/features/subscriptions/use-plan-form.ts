import { useRef, useState } from 'react';
import { type ChangeOptions, useChange } from '#api/change.ts';
import { type FieldMessages, type Parsed, refusalOf } from './drafts.ts';
import type { Message } from './message-line.tsx';

interface PlanFormOptions<Draft, Body> {
  draft: Draft;
  onChange: (draft: Draft) => void;
  onMessage: (message: Message | undefined) => void;
  parse: (draft: Draft) => Parsed<Body>;
  /** The called endpoint. */
  of: NonNullable<ChangeOptions<string, Body>['of']>;
  /** Sends the plan and returns the message of success. */
  send: (body: Body) => Promise<string>;
  /** Message of a failure without a reason from the server. */
  failed: string;
  /** Values of the form after success. */
  empty: Draft;
}

/** Behaviour of both forms: validates, sends once, and shows the result at the top and errors at the fields. */
export function usePlanForm<Draft extends object, Body>(options: PlanFormOptions<Draft, Body>) {
  const { draft, onChange, onMessage, parse, of, send, failed, empty } = options;
  const [messages, setMessages] = useState<FieldMessages>({});
  /** Errors of the last attempt, from the server or the fields. */
  const [refused, setRefused] = useState<object>();
  // State updates at the next render, but two quick presses must send once.
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
      onMessage({ tone: 'danger', text: sentence });
    },
  });

  function change(part: Partial<Draft>) {
    onChange({ ...draft, ...part });
    // The message refers to the previous values.
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
      onMessage({ tone: 'danger', text: `Error: ${parsed.sentence}` });
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
