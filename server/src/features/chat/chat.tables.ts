import type { AttachmentStatus } from '@palisade/contract/chat-record';
import type { ConversationStatus, Presence, Priority } from '@palisade/contract/desk-record';
import type { PersonalTable } from '#platform/personal-data.ts';

export interface ChatTables {
  /** One for each customer. */
  conversations: {
    id: string;
    user_id: string;
    status: ConversationStatus;
    assignee_id: string | null;
    priority: Priority;
    wants_person: number;
    opened_at: string;
    closed_at: string | null;
    snoozed_until: string | null;
    last_customer_message_at: string | null;
    /** The time since which the customer waits for a person's answer. */
    waiting_since: string | null;
    /** Since when its assignee is expected to answer; null: since the customer has been waiting. */
    held_since: string | null;
    last_at: string;
    /** `seq` of the last message, and of the last one other than a note. */
    last_seq: number;
    last_shown_seq: number;
    customer_read_seq: number;
    support_read_seq: number;
    /** The last message that a mail to the customer reported. */
    mailed_seq: number;
    /** Increases with each change. */
    version: number;
    /** The last change, and the last message, that pages received. */
    told_version: number;
    told_seq: number;
  };
  conversation_tags: { conversation_id: string; tag: string };
  /** The matters of a conversation, each from its opening to its closing. */
  conversation_matters: {
    id: string;
    conversation_id: string;
    user_id: string;
    opened_at: string;
    first_answered_at: string | null;
    first_answered_by: string | null;
    closed_at: string | null;
    closed_by: string | null;
    rating: number | null;
    rating_comment: string | null;
    rated_at: string | null;
  };
  chat_messages: {
    id: string;
    conversation_id: string;
    /** The conversation's customer, not the author. */
    user_id: string;
    seq: number;
    message: string;
    /** JSON: the phrases of the server's own sentences; null for the words of a person. */
    phrases: string | null;
    sender: 'user' | 'support';
    /** The author, the customer too; null for an automatic message. */
    author_id: string | null;
    /** The username of the staff member at that time. */
    author: string | null;
    is_automatic: number;
    is_note: number;
    client_message_id: string | null;
    /** JSON. */
    card: string | null;
    timestamp: string;
  };
  chat_attachments: {
    id: string;
    uploader_id: string | null;
    /** These three are null until it is sent. */
    conversation_id: string | null;
    message_id: string | null;
    place: number | null;
    filename: string;
    size: number;
    sha256: string;
    /** The media type of a picture that pages may show, by its bytes. */
    picture_type: string | null;
    status: AttachmentStatus;
    threat: string | null;
    created_at: string;
  };
  /** Mails as they arrived; their bytes are sealed. */
  arrived_mails: {
    id: string;
    conversation_id: string;
    user_id: string;
    /** The same for all copies of a mail. */
    mail_key: string;
    /** `unverified`: its text does not count as the customer's until staff confirm it. */
    state: 'unverified' | 'message';
    size: number;
    sha256: string;
    /** The message or the note that it became. */
    message_id: string | null;
    arrived_at: string;
    /** When a member of staff has read it. */
    read_at: string | null;
  };
  desk_staff: {
    user_id: string;
    /** The presence that they have chosen. */
    chosen: Presence;
    /** 1: their page reported that they are away. */
    is_absent: number;
    /** Time since when they have no open page. */
    gone_since: string | null;
  };
  canned_answers: { id: string; shortcut: string; title: string; text: string; updated_at: string };
}

export type ArrivedMailRow = ChatTables['arrived_mails'];

export const CHAT_PERSONAL: readonly PersonalTable[] = [
  {
    table: 'conversations',
    withheld: ['assignee_id', 'held_since', 'priority', 'mailed_seq', 'version', 'told_version', 'told_seq'],
  },
  // Staff's notes are left out; all messages to the person are here.
  { table: 'chat_messages', withheld: ['author_id', 'is_note'], json: ['card', 'phrases'], where: { column: 'is_note', is: 0 } },
  { table: 'conversation_matters', withheld: ['first_answered_by', 'closed_by'] },
  { table: 'chat_attachments', column: 'uploader_id', withheld: ['uploader_id'] },
  { table: 'arrived_mails', withheld: ['mail_key', 'sha256', 'message_id'] },
  { table: 'desk_staff', key: 'user_id' },
];

declare module '#platform/tables.ts' {
  interface Tables extends ChatTables {}
}
