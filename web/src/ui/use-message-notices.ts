import { useEffect } from 'react';
import { onEvent } from '#api/events.ts';
import { giveNotice } from '#api/notices.ts';

/** Maximum length of the text in a notification, in characters. */
const SHOWN = 140;

/** Announces messages from support, if notices are on. */
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
