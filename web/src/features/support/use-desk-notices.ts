import type { Conversation } from '@palisade/contract/desk-record';
import { useEffect } from 'react';
import { onEvent } from '#api/events.ts';
import { giveNotice } from '#api/notices.ts';
import { currentSession } from '#api/session.ts';

/** Maximum length of the text in a notification, in characters. */
const SHOWN = 140;

function isForMe({ assignee, status }: Conversation): boolean {
  return status === 'open' && (assignee === null || assignee.id === currentSession()?.user_info.id);
}

/** Announces customers' messages in the person's own or unassigned conversations, if notices are on. */
export function useDeskNotices(): void {
  useEffect(() => {
    const told = new Map<string, number>();
    return onEvent('conversation_changed', ({ conversation }) => {
      const { id, customer, last_message, unread } = conversation;
      if (last_message?.sender !== 'user' || unread === 0 || !isForMe(conversation)) return;
      if ((told.get(id) ?? 0) >= last_message.seq) return;
      told.set(id, last_message.seq);
      giveNotice({ title: `${customer} writes to support`, text: last_message.text.slice(0, SHOWN), tag: id });
    });
  }, []);
}
