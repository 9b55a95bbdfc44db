import { z } from 'zod';
import { idSchema, timeSchema } from './fields.ts';
import { phraseSchema } from './phrase.ts';
import { specified } from './reader.ts';

/**
 * The scan state of an attachment. Only a `clean` one can be sent or opened. `infected`: it contains a threat. `unread`: our engines could not read all of it.
 * `failed`: the scan failed (the server or an engine stopped).
 */
export const attachmentStatusSchema = z.enum(['scanning', 'clean', 'infected', 'unread', 'failed']);
export type AttachmentStatus = z.infer<typeof attachmentStatusSchema>;

/** An attachment. `is_image`: a picture that a page may show inline (PNG, JPEG, GIF or WebP by content); all other files are downloaded, including SVG and HTML. */
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

/** Kinds of records that a customer can share from their screens. Staff can then open only that record. */
export const sharedKindSchema = z.enum(['alert', 'scan', 'rule', 'device', 'scam_check']);
export type SharedKind = z.infer<typeof sharedKindSchema>;

/** Why an email is shown to staff separately: it is not accepted as the customer's own, or some characters could not be decoded. */
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

/** Content of a message besides its text. `shared` refers to one record of the customer; `remote_session` has the code with which a technician joins. */
export const cardSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('shared'), thing: sharedKindSchema, subject_id: idSchema, title: z.string() }),
  z.object({ kind: z.literal('remote_session'), session_id: idSchema, session_code: z.string(), expires_at: timeSchema }),
  /** Only in notes: a stored email. `is_taken`: its text was copied into the conversation. */
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

/** The position of a message without a `seq` from the server: its time in seconds. */
export const placeOf = ({ timestamp }: Readonly<Record<string, unknown>>) => ({
  seq: Math.max(1, Math.floor(Date.parse(String(timestamp)) / 1_000) || 1),
});

/**
 * One message between a person and support. `user_id` is the customer's, whoever wrote it. `seq` is its position in the conversation: the server assigns it independently
 * of clocks, and pages sort by it.
 */
export const chatMessageSchema = specified(
  ['id', 'message', 'sender', 'timestamp'],
  z.object({
    id: idSchema,
    user_id: idSchema,
    conversation_id: idSchema,
    seq: z.int().min(1),
    /** Empty if the message has only files or a card. */
    message: z.string(),
    /**
     * The server's sentences in `message` as phrases, in order, joined by spaces. Null for text of a person, and for messages that were stored before
     * phrases.
     */
    phrases: z.array(phraseSchema).nullable(),
    sender: z.enum(['user', 'support']),
    /** The author's username when it was written; null for the customer's messages and automatic ones. */
    author: z.string().nullable(),
    /** True for automatic messages, which have no author. */
    is_automatic: z.boolean(),
    timestamp: timeSchema,
    /** Whether the other side has read it. */
    is_read: z.boolean(),
    /** The id that the sending page assigned; null for messages that were stored before such ids. */
    client_message_id: z.string().nullable(),
    attachments: z.array(attachmentSchema),
    card: cardSchema.nullable(),
  }),
  placeOf,
);
export type ChatMessage = z.infer<typeof chatMessageSchema>;
