import type { Conversation } from '@palisade/contract/desk-record';
import { useEffect } from 'react';
import { onEvent } from '#api/events.ts';
import { giveNotice } from '#api/notices.ts';
import { currentSession } from '#api/session.ts';

/** So much of a message is shown by the browser. */
const SHOWN = 140;

function isForMe({ assignee, status }: Conversation): boolean {
  return status === 'open' && (assignee === null || assignee.id === currentSession()?.user_info.id);
}

/** Announces new messages of customers in one's own or unassigned conversations, as far as the person has asked for it. */
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
