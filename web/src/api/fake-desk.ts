import type { ChatState } from '@palisade/contract/chat-read';
import type { Attachment, ChatMessage } from '@palisade/contract/chat-record';
import type { Conversation, DeskMessage } from '@palisade/contract/desk-record';
import type { TeamMember } from '@palisade/contract/desk-team';
import type { Article } from '@palisade/contract/help';
import { MARIA } from './fake-records.ts';

/** Records of the support desk for tests. A test sets the fields that it is about. */

let lastSeq = 0;

function idOf(group: string, number: number): string {
  return `01930000-0000-7000-${group}-${String(number).padStart(12, '0')}`;
}

export const CONVERSATION_ID = idOf('a000', 1);
export const TINA = { id: idOf('a001', 1), username: 'tina', email: 'tina@example.com', role: 'support' } as const;
export const ADA = { id: idOf('a001', 2), username: 'ada', email: 'ada@example.com', role: 'admin' } as const;

export function messageOf(message: string, parts: Partial<ChatMessage> = {}): ChatMessage {
  lastSeq += 1;
  return {
    id: idOf('9000', lastSeq),
    user_id: MARIA.id,
    conversation_id: CONVERSATION_ID,
    seq: lastSeq,
    message,
    phrases: null,
    sender: 'user',
    author: null,
    is_automatic: false,
    timestamp: '2026-11-20T10:00:00.000Z',
    is_read: false,
    client_message_id: null,
    attachments: [],
    card: null,
    ...parts,
  };
}

export function deskMessageOf(message: string, parts: Partial<DeskMessage> = {}): DeskMessage {
  return { ...messageOf(message, parts), is_note: false, author_id: null, ...parts };
}

export function chatStateOf(parts: Partial<ChatState> = {}): ChatState {
  return {
    conversation_id: CONVERSATION_ID,
    status: 'open',
    agent: null,
    wants_person: false,
    staff: { is_here: false, is_open: true, opens_at: null },
    response_s: null,
    unread: 0,
    read_seq: 0,
    last_seq: 0,
    rating: null,
    ...parts,
  };
}

export function attachmentOf(parts: Partial<Attachment> = {}): Attachment {
  return {
    id: idOf('9001', 1),
    filename: 'screenshot.png',
    size: 68,
    status: 'clean',
    threat: null,
    is_image: false,
    ...parts,
  };
}

export function articleOf(parts: Partial<Article> = {}): Article {
  return {
    id: idOf('9002', 1),
    slug: 'what-pending-means',
    title: 'What Pending means',
    summary: 'A file that was not read as a whole is not called clean.',
    is_published: true,
    updated_at: '2026-11-20T10:00:00.000Z',
    body: '## In short\n\nWait, **or give the password**.',
    ...parts,
  };
}

export function conversationOf(parts: Partial<Conversation> = {}): Conversation {
  return {
    id: CONVERSATION_ID,
    version: 1,
    user_id: MARIA.id,
    customer: 'maria',
    status: 'open',
    assignee: null,
    tags: [],
    priority: 'normal',
    is_in_danger: false,
    wants_person: false,
    opened_at: '2026-11-20T09:00:00.000Z',
    closed_at: null,
    snoozed_until: null,
    last_customer_message_at: '2026-11-20T10:00:00.000Z',
    waiting_since: '2026-11-20T10:00:00.000Z',
    last_message: {
      ...{ seq: 1, text: 'My printer', phrases: null, sender: 'user', is_automatic: false },
      at: '2026-11-20T10:00:00.000Z',
    },
    last_seq: 1,
    customer_read_seq: 0,
    support_read_seq: 1,
    unread: 0,
    rating: null,
    found: null,
    ...parts,
  };
}

export function teamMemberOf(parts: Partial<TeamMember> = {}): TeamMember {
  return { id: TINA.id, username: TINA.username, presence: 'here', open: 0, ...parts };
}
