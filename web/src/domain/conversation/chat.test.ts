import type { ChatState } from '@palisade/contract/chat-read';
import type { ChatMessage } from '@palisade/contract/chat-record';
import { QueryClient } from '@tanstack/react-query';
import { describe, expect, it } from 'vitest';
import { chatStateQuery, takeMessage } from './chat.ts';

const message: ChatMessage = {
  id: '0190a0f0-0000-7000-8000-000000000001',
  user_id: '0190a0f0-0000-7000-8000-000000000002',
  conversation_id: '0190a0f0-0000-7000-8000-000000000003',
  seq: 8,
  message: 'Hello',
  phrases: null,
  sender: 'user',
  author: null,
  client_message_id: null,
  timestamp: '2026-11-20T10:00:00.000Z',
  is_automatic: false,
  is_read: false,
  attachments: [],
  card: null,
};
const state: ChatState = {
  conversation_id: message.conversation_id,
  status: 'open',
  agent: null,
  wants_person: false,
  response_s: null,
  staff: { is_here: true, is_open: true, opens_at: null },
  unread: 0,
  read_seq: 0,
  last_seq: 7,
  rating: null,
};

function taken(before: ChatState, one: ChatMessage) {
  const queries = new QueryClient();
  queries.setQueryData(chatStateQuery.queryKey, before);
  takeMessage(queries, one);
  const known = queries.getQueryState(chatStateQuery.queryKey);
  return { state: known?.data, isAskedAnew: known?.isInvalidated };
}

describe('a message that is told', () => {
  it('continues in an open conversation without a question to the server', () => {
    expect(taken(state, message)).toEqual({ state: { ...state, last_seq: 8 }, isAskedAnew: false });
    const answer = { ...message, sender: 'support', author: 'ana' } as const;
    expect(taken(state, answer)).toEqual({ state: { ...state, last_seq: 8, unread: 1 }, isAskedAnew: false });
  });

  it('of one’s own, written on another page, has it asked how things stand where it changes that', () => {
    expect(taken({ ...state, status: 'closed' }, message).isAskedAnew).toBe(true);
    expect(taken({ ...state, conversation_id: null, status: 'none' }, message).isAskedAnew).toBe(true);
    expect(taken({ ...state, unread: 2 }, message).isAskedAnew).toBe(true);
  });
});
