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
 * The events socket, `WS /api/events`: one for each signed-in page (channel.ts has the mechanism). The page says its token; the server answers `welcome`, then `event`s
 * as they happen. Each side says something at least every `heartbeat_ms`.
 */
export const EVENTS_PATH = '/events';

export const EVENTS_CLOSED = {
  ...CLOSED,
  /** The session is held until its person has set up the second factor that they must have. */
  two_factor_setup_required: 4403,
  /** Like `unauthenticated`: the account was deleted, and its sessions with it. */
  account_deleted: 4411,
} as const;

/** The stage of a file that has no verdict yet. */
export const scanProgressSchema = z.discriminatedUnion('stage', [
  /** `place` is 1 for the file that is next. */
  z.object({ stage: z.literal('queued'), place: z.int().min(1) }),
  /** `share` is how much of the file itself has been read, from 0 to 1; the members are those of all archives in it, as far as they are known. */
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
 * What happened. Each goes into one topic, or several: that of a person (their own pages), that of the staff, that of one conversation (staff who have it open), that of one
 * remote session (the page of each side). The comment of each kind says where it goes.
 */
export const liveEventSchema = z.discriminatedUnion('kind', [
  /** `upload_key` is what the page that sent the file named its upload; null when it named none. */
  z.object({
    kind: z.literal('scan_progress'),
    scan_id: idSchema,
    upload_key: z.string().nullable(),
    progress: scanProgressSchema,
  }),
  z.object({ kind: z.literal('scan_changed'), scan: scanSchema }),
  z.object({ kind: z.literal('scan_removed'), scan_id: idSchema }),
  z.object({ kind: z.literal('alerts_changed') }),
  /** Something of the account, or of the installation, is not as it was: what shows it is to be read again. */
  z.object({ kind: z.literal('changed'), topic: z.enum([...TOPICS, ...INSTALLATION_TOPICS]) }),
  /** Person: a message of their conversation, whoever wrote it; never a note. One's own ones too, for the other tabs. */
  z.object({ kind: z.literal('chat_message'), message: chatMessageSchema }),
  /** Person and conversation: one side has read up to here. */
  z.object({
    kind: z.literal('chat_read'),
    conversation_id: idSchema,
    reader: z.enum(['user', 'support']),
    seq: z.int(),
  }),
  /** Person (of who uploaded it): how the scan of a file ended. */
  z.object({ kind: z.literal('chat_attachment'), attachment: attachmentSchema }),
  /**
   * Of the moment; it holds for `TYPING_HOLDS`. Person: somebody of support types. Conversation: the customer, or a colleague, does (`user_id` and `username` say who; both
   * null for customers to see no names of people who have not answered).
   */
  z.object({
    kind: z.literal('chat_typing'),
    conversation_id: idSchema,
    side: z.enum(['user', 'support']),
    user_id: idSchema.nullable(),
    username: z.string().nullable(),
  }),
  /** Everybody, of the moment: whether somebody of support is here. */
  z.object({ kind: z.literal('support_here'), is_here: z.boolean() }),
  /** Conversation: a message or note, as staff see it. */
  z.object({ kind: z.literal('desk_message'), message: deskMessageSchema }),
  /** Staff: a conversation is not as it was, or is new. Of an older `version` than the page has, it says nothing. */
  z.object({ kind: z.literal('conversation_changed'), conversation: conversationSchema }),
  /** Staff: a conversation is gone with its customer's account. */
  z.object({ kind: z.literal('conversation_removed'), conversation_id: idSchema }),
  /** Staff, of the moment: who is here. */
  z.object({ kind: z.literal('presence_changed'), user_id: idSchema, username: z.string(), presence: presenceSchema }),
  /** Conversation, of the moment: who of the staff has it open just now, besides oneself too. */
  z.object({
    kind: z.literal('conversation_viewers'),
    conversation_id: idSchema,
    viewers: z.array(z.object({ id: idSchema, username: z.string() })),
  }),
  /** Session: it is not as it was. Of an older `version` than the page has, it says nothing. */
  z.object({ kind: z.literal('remote_changed'), session: liveSessionSchema }),
  /** Session: a message, whoever wrote it. */
  z.object({ kind: z.literal('remote_message'), message: sessionMessageSchema }),
  /** Session, of the moment: what the page of the other side says. One's own are not told. */
  z.object({ kind: z.literal('remote_signal'), session_id: idSchema, from: sideSchema, signal: signalSchema }),
  /** Session, of the moment: a page has taken the place of this side, so that one of an older `version` hears no more. For servers; no page is told. */
  z.object({ kind: z.literal('remote_seat'), session_id: idSchema, side: sideSchema, seat: idSchema, version: z.int() }),
  /** Control of a session, of the moment: what servers say to each other of its two ends. For servers; no page is told. */
  z.object({ kind: z.literal('remote_pipe'), session_id: idSchema, said: pipeSchema }),
]);
export type LiveEvent = z.infer<typeof liveEventSchema>;

/** Events of the moment: they are never told again after a gap. */
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

/** `after` is the last event id or cursor that the page has seen: what came since is told first. */
const helloSchema = z.object({ kind: z.literal('hello'), access_token: z.string().max(128), after: idSchema.optional() });

/** Conversations that one page may have open at a time. */
export const OPEN_CONVERSATIONS_MAXIMUM = 5;

/**
 * Frames of a page after the welcome. `listen`: hear a topic beside one's own, from the event or cursor `after` on: `staff` (may.useDesk), or the one of a
 * conversation (may.serve), which also says that one has it open; listening again to one that is open starts again. A forbidden topic is answered with `refused`, and
 * the socket stays. `typing`: in the named conversation; null is one's own.
 *
 * `listen_remote`: this page is the one of its side in a remote session that is not over, and hears it; a page of the same side that was it before is told `refused` with
 * `why: taken`. One page is it for one session at a time. `leave_remote`: it is not any more, and the side counts as gone, as when the socket ends. `remote_signal`: to
 * the page of the other side. `signal` is read by the schema of the page's own side; what does not fit, or is not for this side to say, is dropped.
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

/** The topic of a frame of the server. Left out: the page's own person. */
const heardTopicSchema = z.union([
  z.literal('staff'),
  z.object({ conversation_id: idSchema }),
  z.object({ session_id: idSchema }),
]);
export type HeardTopic = z.infer<typeof heardTopicSchema>;

/** Frames of the server. */
export const serverFrameSchema = z.discriminatedUnion('kind', [
  /** `missed`: what came after the page's `after` is no longer known here, so it has to read again what it shows. */
  z.object({ kind: z.literal('welcome'), cursor: idSchema, missed: z.boolean(), heartbeat_ms: z.int() }),
  /** To be answered with `pong`. */
  z.object({ kind: z.literal('ping') }),
  /** `id` is null for an event of the moment. With a `topic` the id is that topic's: each has its own cursor. */
  z.object({ kind: z.literal('event'), id: idSchema.nullable(), event: liveEventSchema, topic: heardTopicSchema.optional() }),
  /** The answer to `listen`: from here on the topic is told. `missed` as in the welcome, of this topic alone. */
  z.object({ kind: z.literal('listening'), topic: heardTopicSchema, cursor: idSchema, missed: z.boolean() }),
  /** One may not hear it, or there is none; `taken`: another page of the same person has the place in a remote session now. */
  z.object({ kind: z.literal('refused'), topic: heardTopicSchema, why: z.literal('taken').optional() }),
]);
export type ServerFrame = z.infer<typeof serverFrameSchema>;

/** Frames of a page are short, except descriptions of a connection: these bytes and what JSON adds to their line ends. */
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
