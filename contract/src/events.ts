import { z } from 'zod';
import { scanSchema } from './antivirus.ts';
import { CLOSED, channel } from './channel.ts';
import { attachmentSchema, chatMessageSchema } from './chat-record.ts';
import { conversationSchema, deskMessageSchema, presenceSchema } from './desk-record.ts';
import { INSTALLATION_TOPICS, TOPICS } from './endpoint.ts';
import { idSchema } from './fields.ts';
import { pipeSchema } from './remote-pipe.ts';
import { liveSessionSchema, sessionMessageSchema, sideSchema } from './remote-record.ts';
import { SDP_LENGTH_MAXIMUM, SIGNALS, signalSchema } from './remote-signal.ts';

/**
 * The events socket, `WS /api/events`: one for each signed-in page (mechanism: channel.ts). The page sends its token; the server replies with `welcome`, then sends an
 * `event` for each change. Each side sends a frame at least every `heartbeat_ms`.
 */
export const EVENTS_PATH = '/events';

export const EVENTS_CLOSED = {
  ...CLOSED,
  /** The session is held until the person has set up the required second factor. */
  two_factor_setup_required: 4403,
  /** Like `unauthenticated`: the account was deleted with its sessions. */
  account_deleted: 4411,
} as const;

/** The stage of a file that has no verdict yet. */
export const scanProgressSchema = z.discriminatedUnion('stage', [
  /** Position in the queue; 1 is the next file. */
  z.object({ stage: z.literal('queued'), place: z.int().min(1) }),
  /** `share` is the part of the file that has been read, from 0 to 1; the members are those found so far in all archives in it. */
  z.object({
    stage: z.literal('reading'),
    engine: z.string(),
    share: z.number().min(0).max(1),
    members_read: z.int(),
    members_found: z.int(),
  }),
]);
export type ScanProgress = z.infer<typeof scanProgressSchema>;

/**
 * Events. Each is sent to one or more topics: a person's (their own pages), the staff's, a conversation's (staff who have it open), or a
 * remote session's (the page of each side). The comment of each kind names its topics. "Transient" events are listed in `OF_THE_MOMENT`.
 */
export const liveEventSchema = z.discriminatedUnion('kind', [
  /** `upload_key` is the name that the sending page gave its upload; null without one. */
  z.object({
    kind: z.literal('scan_progress'),
    scan_id: idSchema,
    upload_key: z.string().nullable(),
    progress: scanProgressSchema,
  }),
  z.object({ kind: z.literal('scan_changed'), scan: scanSchema }),
  z.object({ kind: z.literal('scan_removed'), scan_id: idSchema }),
  z.object({ kind: z.literal('alerts_changed') }),
  /** A part of the account or the installation has changed: pages refetch the data that shows it. */
  z.object({ kind: z.literal('changed'), topic: z.enum([...TOPICS, ...INSTALLATION_TOPICS]) }),
  /** Person: a message of their conversation, including their own for other tabs, but no notes. */
  z.object({ kind: z.literal('chat_message'), message: chatMessageSchema }),
  /** Person and conversation: one side has read up to `seq`. */
  z.object({
    kind: z.literal('chat_read'),
    conversation_id: idSchema,
    reader: z.enum(['user', 'support']),
    seq: z.int(),
  }),
  /** Person (the uploader): the result of a file's scan. */
  z.object({ kind: z.literal('chat_attachment'), attachment: attachmentSchema }),
  /**
   * Transient, valid for `TYPING_HOLDS`. Person: a member of support is typing. Conversation: the customer or a colleague is typing (`user_id` and `username` say who; both
   * null for customers, who do not see names of people who have not answered).
   */
  z.object({
    kind: z.literal('chat_typing'),
    conversation_id: idSchema,
    side: z.enum(['user', 'support']),
    user_id: idSchema.nullable(),
    username: z.string().nullable(),
  }),
  /** Everyone, transient: whether support is present. */
  z.object({ kind: z.literal('support_here'), is_here: z.boolean() }),
  /** Conversation: a message or note as staff see it. */
  z.object({ kind: z.literal('desk_message'), message: deskMessageSchema }),
  /** Staff: a conversation is new or has changed. A page ignores a lower `version` than it has. */
  z.object({ kind: z.literal('conversation_changed'), conversation: conversationSchema }),
  /** Staff: a conversation was deleted with its customer's account. */
  z.object({ kind: z.literal('conversation_removed'), conversation_id: idSchema }),
  /** Staff, transient: the presence of a staff member. */
  z.object({ kind: z.literal('presence_changed'), user_id: idSchema, username: z.string(), presence: presenceSchema }),
  /** Conversation, transient: the staff who have it open, including the receiver. */
  z.object({
    kind: z.literal('conversation_viewers'),
    conversation_id: idSchema,
    viewers: z.array(z.object({ id: idSchema, username: z.string() })),
  }),
  /** Session: it has changed. A page ignores a lower `version` than it has. */
  z.object({ kind: z.literal('remote_changed'), session: liveSessionSchema }),
  /** Session: a message of either side. */
  z.object({ kind: z.literal('remote_message'), message: sessionMessageSchema }),
  /** Session, transient: a signal from the page of the other side. */
  z.object({ kind: z.literal('remote_signal'), session_id: idSchema, from: sideSchema, signal: signalSchema }),
  /** Session, transient: a page has replaced the page of this side, so one with a lower `version` receives no more events. Between servers only. */
  z.object({ kind: z.literal('remote_seat'), session_id: idSchema, side: sideSchema, seat: idSchema, version: z.int() }),
  /** Control of a session, transient: messages between the servers of its two ends. Between servers only. */
  z.object({ kind: z.literal('remote_pipe'), session_id: idSchema, said: pipeSchema }),
]);
export type LiveEvent = z.infer<typeof liveEventSchema>;

/** Transient events: they are not sent again after a gap. */
export const OF_THE_MOMENT: ReadonlySet<LiveEvent['kind']> = new Set([
  'scan_progress',
  'chat_typing',
  'support_here',
  'presence_changed',
  'conversation_viewers',
  'remote_signal',
  'remote_seat',
  'remote_pipe',
]);

/** `after` is the last event id or cursor that the page has received: later events are sent first. */
const helloSchema = z.object({ kind: z.literal('hello'), access_token: z.string().max(128), after: idSchema.optional() });

/** Maximum number of conversations that one page can have open. */
export const OPEN_CONVERSATIONS_MAXIMUM = 5;

/**
 * Frames of a page after the welcome. `listen` subscribes to a topic besides the person's own, starting after the event or cursor `after`: `staff` (may.useDesk), or with
 * `listen_conversation` that of a conversation (may.serve), which also marks it as open; repeating it starts again. A forbidden topic is answered with `refused`, and
 * the socket stays open. `typing` concerns the named conversation; null is the person's own.
 *
 * `listen_remote` makes this page the page of its side in an unfinished remote session; a previous page of the same side receives `refused` with
 * `why: taken`. A page can have one session at a time. `leave_remote` ends this, and the side counts as gone, as when the socket closes. `remote_signal` is sent to
 * the page of the other side. `signal` is parsed by the schema of the sender's side; signals that are invalid or not allowed for this side are dropped.
 */
export const saidFrameSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('listen'), topic: z.literal('staff'), after: idSchema.optional() }),
  z.object({
    kind: z.literal('listen_conversation'),
    conversation_id: idSchema,
    after: idSchema.optional(),
  }),
  z.object({ kind: z.literal('leave_conversation'), conversation_id: idSchema }),
  z.object({ kind: z.literal('typing'), conversation_id: idSchema.nullable() }),
  z.object({ kind: z.literal('listen_remote'), session_id: idSchema, after: idSchema.optional() }),
  z.object({ kind: z.literal('leave_remote'), session_id: idSchema }),
  z.object({ kind: z.literal('remote_signal'), session_id: idSchema, signal: z.unknown() }),
]);
export type SaidFrame = z.infer<typeof saidFrameSchema>;

/** Frames of a page. */
export const clientFrameSchema = z.discriminatedUnion('kind', [
  helloSchema,
  z.object({ kind: z.literal('pong') }),
  ...saidFrameSchema.options,
]);
export type ClientFrame = z.infer<typeof clientFrameSchema>;

/** The topic of a frame of the server. If omitted, it is the person's own. */
const heardTopicSchema = z.union([
  z.literal('staff'),
  z.object({ conversation_id: idSchema }),
  z.object({ session_id: idSchema }),
]);
export type HeardTopic = z.infer<typeof heardTopicSchema>;

/** Frames of the server. */
export const serverFrameSchema = z.discriminatedUnion('kind', [
  /** `missed`: events after the page's `after` are no longer available, so the page must refetch its data. */
  z.object({ kind: z.literal('welcome'), cursor: idSchema, missed: z.boolean(), heartbeat_ms: z.int() }),
  /** The page replies with `pong`. */
  z.object({ kind: z.literal('ping') }),
  /** `id` is null for transient events. With a `topic` the id belongs to that topic; each topic has its own cursor. */
  z.object({ kind: z.literal('event'), id: idSchema.nullable(), event: liveEventSchema, topic: heardTopicSchema.optional() }),
  /** The reply to `listen`: events of the topic follow. `missed` is as in the welcome, for this topic only. */
  z.object({ kind: z.literal('listening'), topic: heardTopicSchema, cursor: idSchema, missed: z.boolean() }),
  /** The topic is forbidden or does not exist; `taken`: another page of the same person has replaced this one in a remote session. */
  z.object({ kind: z.literal('refused'), topic: heardTopicSchema, why: z.literal('taken').optional() }),
]);
export type ServerFrame = z.infer<typeof serverFrameSchema>;

/** Maximum size of a signal, in bytes: a connection description (SDP) and the JSON escapes of its line ends. Other frames are short. */
const SIGNAL_BYTES_MAXIMUM = SDP_LENGTH_MAXIMUM + 16 * 1024;

export const eventsChannel = channel({
  path: EVENTS_PATH,
  hello: helloSchema,
  said: saidFrameSchema,
  told: serverFrameSchema,
  hello_bytes: 1024,
  frame_bytes: 1024,
  frames_per_heartbeat: 60,
  lively: { kind: 'remote_signal', bytes: SIGNAL_BYTES_MAXIMUM, ...SIGNALS },
});
