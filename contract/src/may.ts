import type { Role } from './auth.ts';

/**
 * Permissions, defined once for server and pages. The record is looked up first: if the caller may not read it, the reply is 404; if the caller may
 * read it but not perform the action, the reply is 409 or 403.
 */
export interface Me {
  id: string;
  role: Role;
}

/** The fields of a conversation that decide permissions. `user_id` is the customer's. */
export interface ConversationOf {
  user_id: string;
  assignee_id: string | null;
  status: 'open' | 'snoozed' | 'closed';
}

/** The fields of an attachment that decide permissions: its uploader, and its conversation (null until it is sent). */
export interface AttachmentOf {
  uploader_id: string;
  status: 'scanning' | 'clean' | 'infected' | 'unread' | 'failed';
  is_note: boolean;
  conversation: ConversationOf | null;
}

const isAdministrator = ({ role }: Pick<Me, 'role'>) => role === 'admin';
const isStaff = ({ role }: Pick<Me, 'role'>) => role === 'support' || role === 'admin';
const isOwn = (me: Me, conversation: ConversationOf) => conversation.user_id === me.id;
/** Whether a person may act as staff in a conversation. In their own conversation staff are customers. */
const serves = (me: Me, conversation: ConversationOf) => isStaff(me) && !isOwn(me, conversation);

export const may = {
  /** Everything that is for administrators only. */
  administrate: isAdministrator,
  /** The support desk: its inbox, its team, its canned answers. */
  useDesk: isStaff,
  /** Ask with a code to see a customer's screen, and take part in the session. */
  joinSessions: isStaff,
  /** The messages of a conversation. */
  read: (me: Me, conversation: ConversationOf) => isOwn(me, conversation) || serves(me, conversation),
  /** Everything that staff see of a conversation: notes, tags, assignee. */
  serve: serves,
  /** Write to the customer, or write notes. A closed conversation must be reopened before it is answered. */
  answer: (me: Me, conversation: ConversationOf) => serves(me, conversation) && conversation.status !== 'closed',
  note: serves,
  /** Take an unassigned conversation. */
  claim: (me: Me, conversation: ConversationOf) =>
    serves(me, conversation) && conversation.assignee_id === null && conversation.status !== 'closed',
  /** Assign it to a person or unassign it: the assignee and administrators may; any staff member may assign an unassigned one. */
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
  /** The record of a person: support staff only for customers whom they may serve, administrators for everyone. */
  openPersonRecord: (me: Me, conversation: ConversationOf | undefined) =>
    isAdministrator(me) || (conversation !== undefined && serves(me, conversation)),
  /** The record that the customer has shared. */
  openShared: serves,
  startRemoteSession: (me: Me, conversation: ConversationOf) => serves(me, conversation) && conversation.status !== 'closed',
  /** See that an attachment exists. */
  seeAttachment: (me: Me, file: AttachmentOf) =>
    file.uploader_id === me.id ||
    (file.conversation !== null &&
      file.status === 'clean' &&
      (serves(me, file.conversation) || (isOwn(me, file.conversation) && !file.is_note))),
} as const;
