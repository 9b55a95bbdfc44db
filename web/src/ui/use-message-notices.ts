import { useEffect } from 'react';
import { onEvent } from '#api/events.ts';
import { giveNotice } from '#api/notices.ts';

/** So much of a message is shown by the browser. */
const SHOWN = 140;

/** Tells of messages of support, as far as the person has asked for it. */
export function useMessageNotices(): void {
  useEffect(
    () =>
      onEvent('chat_message', ({ message: { sender, author, message, is_automatic, conversation_id } }) => {
        if (sender !== 'support' || is_automatic) return;
        const text = message === '' ? 'A file' : message.slice(0, SHOWN);
        giveNotice({ title: `${author ?? 'Support'} replied`, text, tag: conversation_id });
      }),
    [],
  );
}
