import type { Role } from './auth.ts';

/**
 * Permissions, stated once for the server and the pages. The record is found first; what one may not even read is answered as if it were not there (404), what one may
 * read and not do is refused (409 or 403).
 */
export interface Me {
  id: string;
  role: Role;
}

/** The part of a conversation that decides. `user_id` is the customer's. */
export interface ConversationOf {
  user_id: string;
  assignee_id: string | null;
  status: 'open' | 'snoozed' | 'closed';
}

/** The part of a file of the chat that decides: who uploaded it, and where it was sent; `conversation` is null until then. */
export interface AttachmentOf {
  uploader_id: string;
  status: 'scanning' | 'clean' | 'infected' | 'unread' | 'failed';
  is_note: boolean;
  conversation: ConversationOf | null;
}

const isAdministrator = ({ role }: Pick<Me, 'role'>) => role === 'admin';
const isStaff = ({ role }: Pick<Me, 'role'>) => role === 'support' || role === 'admin';
const isOwn = (me: Me, conversation: ConversationOf) => conversation.user_id === me.id;
/** Staff are customers of their own conversations, and nobody else's helper in them. */
const serves = (me: Me, conversation: ConversationOf) => isStaff(me) && !isOwn(me, conversation);

export const may = {
  /** Everything that is an administrator's alone. */
  administrate: isAdministrator,
  /** The support desk: its inbox, its team, its canned answers. */
  useDesk: isStaff,
  /** Ask with a code to see a customer's screen, and continue while one does. */
  joinSessions: isStaff,
  /** The messages of a conversation. */
  read: (me: Me, conversation: ConversationOf) => isOwn(me, conversation) || serves(me, conversation),
  /** All that staff see of a conversation: notes, tags, who has it. */
  serve: serves,
  /** Write to the customer, and notes. A closed one is reopened first. */
  answer: (me: Me, conversation: ConversationOf) => serves(me, conversation) && conversation.status !== 'closed',
  note: serves,
  /** Take a conversation that nobody has. */
  claim: (me: Me, conversation: ConversationOf) =>
    serves(me, conversation) && conversation.assignee_id === null && conversation.status !== 'closed',
  /** Give it to a person or back to all: its holder and administrators may; an unassigned one may be given by any staff member. */
  assign: (me: Me, conversation: ConversationOf) =>
    serves(me, conversation) &&
    conversation.status !== 'closed' &&
    (conversation.assignee_id === null || conversation.assignee_id === me.id || isAdministrator(me)),
  close: (me: Me, conversation: ConversationOf) => serves(me, conversation) && conversation.status !== 'closed',
  reopen: (me: Me, conversation: ConversationOf) => serves(me, conversation) && conversation.status !== 'open',
  snooze: (me: Me, conversation: ConversationOf) => serves(me, conversation) && conversation.status !== 'closed',
  /** Tags and priority. */
  sort: serves,
  openCustomerCard: serves,
  /** The record of a person: support only of somebody they serve, administrators of everybody. */
  openPersonRecord: (me: Me, conversation: ConversationOf | undefined) =>
    isAdministrator(me) || (conversation !== undefined && serves(me, conversation)),
  /** The one thing that the customer has shared. */
  openShared: serves,
  startRemoteSession: (me: Me, conversation: ConversationOf) => serves(me, conversation) && conversation.status !== 'closed',
  /** See that a file is there. */
  seeAttachment: (me: Me, file: AttachmentOf) =>
    file.uploader_id === me.id ||
    (file.conversation !== null &&
      file.status === 'clean' &&
      (serves(me, file.conversation) || (isOwn(me, file.conversation) && !file.is_note))),
} as const;
