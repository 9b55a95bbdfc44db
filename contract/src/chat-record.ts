import { z } from 'zod';
import { idSchema, timeSchema } from './fields.ts';
import { phraseSchema } from './phrase.ts';
import { specified } from './reader.ts';

/**
 * Where a file of the chat is on its way. Only a `clean` one can be sent, opened by the other side, or opened at all: `infected` has a threat in it, `unread` could not be
 * read as a whole by our engines, `failed` was not scanned (the server stopped, or an engine did).
 */
export const attachmentStatusSchema = z.enum(['scanning', 'clean', 'infected', 'unread', 'failed']);
export type AttachmentStatus = z.infer<typeof attachmentStatusSchema>;

/** A file of the chat. `is_image`: a picture that a page may show in place (PNG, JPEG, GIF, WebP by its bytes); everything else is downloaded, SVG and HTML too. */
export const attachmentSchema = z.object({
  id: idSchema,
  filename: z.string(),
  /** Bytes. */
  size: z.int(),
  status: attachmentStatusSchema,
  threat: z.string().nullable(),
  is_image: z.boolean(),
});
export type Attachment = z.infer<typeof attachmentSchema>;

/** Records that can be shared from their own screens: staff may then open that one thing. */
export const sharedKindSchema = z.enum(['alert', 'scan', 'rule', 'device', 'scam_check']);
export type SharedKind = z.infer<typeof sharedKindSchema>;

/** Why a mail is shown to the staff separately: it is not accepted as the customer's words, or characters of it could not be decoded. */
export const mailReasonSchema = z.enum([
  'other_address',
  'no_author',
  'several_authors',
  'other_sender',
  'not_aligned',
  'unsure',
  'lost_letters',
]);
export type MailReason = z.infer<typeof mailReasonSchema>;

/** Content of a message beside its words. `shared` names one thing of the customer; `remote_session` has the code that a technician joins with. */
export const cardSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('shared'), thing: sharedKindSchema, subject_id: idSchema, title: z.string() }),
  z.object({ kind: z.literal('remote_session'), session_id: idSchema, session_code: z.string(), expires_at: timeSchema }),
  /** In notes alone: a mail that is kept. `is_taken`: its words are in the conversation. */
  z.object({
    kind: z.literal('mail'),
    mail_id: idSchema,
    from: z.string(),
    reason: mailReasonSchema,
    is_taken: z.boolean(),
  }),
  z.object({ kind: z.literal('article'), slug: z.string(), title: z.string() }),
]);
export type Card = z.infer<typeof cardSchema>;

/** The order of messages that no server has counted: their time in seconds. */
export const placeOf = ({ timestamp }: Readonly<Record<string, unknown>>) => ({
  seq: Math.max(1, Math.floor(Date.parse(String(timestamp)) / 1_000) || 1),
});

/**
 * One message of a person's conversation with support. `user_id` is whose conversation it is, whoever wrote it. `seq` is its place in the conversation: the server counts
 * them, whatever clocks say, and a page sorts by it.
 */
export const chatMessageSchema = specified(
  ['id', 'message', 'sender', 'timestamp'],
  z.object({
    id: idSchema,
    user_id: idSchema,
    conversation_id: idSchema,
    seq: z.int().min(1),
    /** Empty where files or a card stand for themselves. */
    message: z.string(),
    /**
     * The server's own sentences in `message` as phrases, in their order; a blank stands between two of them. Null for the words of a person, and for a message from before
     * phrases were kept.
     */
    phrases: z.array(phraseSchema).nullable(),
    sender: z.enum(['user', 'support']),
    /** The author's username at the time; null for the customer's own messages and automatic ones. */
    author: z.string().nullable(),
    /** An automatic message without an author. */
    is_automatic: z.boolean(),
    timestamp: timeSchema,
    /** Whether the other side has read it. */
    is_read: z.boolean(),
    /** The id that the sending page gave it; null for messages from before such ids. */
    client_message_id: z.string().nullable(),
    attachments: z.array(attachmentSchema),
    card: cardSchema.nullable(),
  }),
  placeOf,
);
export type ChatMessage = z.infer<typeof chatMessageSchema>;
