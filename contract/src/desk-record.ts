import { z } from 'zod';
import { chatMessageSchema } from './chat-record.ts';
import { idSchema, timeSchema } from './fields.ts';
import { phraseSchema } from './phrase.ts';

export const conversationStatusSchema = z.enum(['open', 'snoozed', 'closed']);
export type ConversationStatus = z.infer<typeof conversationStatusSchema>;

export const prioritySchema = z.enum(['low', 'normal', 'high', 'urgent']);
export type Priority = z.infer<typeof prioritySchema>;

/** Somebody of the staff. */
export const colleagueSchema = z.object({ id: idSchema, username: z.string() });

/**
 * A conversation as staff see it; there is one for each customer, and matters in it are opened and closed. `version` grows with each change: a page keeps the greater one.
 * `waiting_since` is when the customer began to wait for an answer of a person; null while they do not.
 */
export const conversationSchema = z.object({
  id: idSchema,
  version: z.int(),
  user_id: idSchema,
  /** The customer's username. */
  customer: z.string(),
  /** The customer’s one status is danger, or they have a serious alert. */
  is_in_danger: z.boolean(),
  status: conversationStatusSchema,
  assignee: colleagueSchema.nullable(),
  tags: z.array(z.string()),
  priority: prioritySchema,
  wants_person: z.boolean(),
  /** When the matter was opened, and closed. */
  opened_at: timeSchema,
  closed_at: timeSchema.nullable(),
  snoozed_until: timeSchema.nullable(),
  last_customer_message_at: timeSchema.nullable(),
  waiting_since: timeSchema.nullable(),
  /** The last message of a person; an automatic one only where there is no other. */
  last_message: z
    .object({
      seq: z.int(),
      /** The beginning of its words; without words, its card or the number of its files. */
      text: z.string(),
      /** The same as those of a message: whole, and also for a text that stands for a card or files. */
      phrases: z.array(phraseSchema).nullable(),
      sender: z.enum(['user', 'support']),
      is_automatic: z.boolean(),
      at: timeSchema,
    })
    .nullable(),
  last_seq: z.int(),
  /** The position up to which each side has read. */
  customer_read_seq: z.int(),
  support_read_seq: z.int(),
  /** Messages of the customer that nobody of the staff has read. */
  unread: z.int(),
  rating: z.int().nullable(),
  /** The match of a search in its messages: the newest message, and its words. */
  found: z.object({ message_id: idSchema, seq: z.int(), text: z.string() }).nullable(),
});
export type Conversation = z.infer<typeof conversationSchema>;

/** A message as staff see it. A note is theirs alone. */
export const deskMessageSchema = chatMessageSchema.extend({
  is_note: z.boolean(),
  /** The staff member who wrote it; null for the customer's messages and automatic ones. */
  author_id: idSchema.nullable(),
});
export type DeskMessage = z.infer<typeof deskMessageSchema>;

/** `away`: by hand, or because nothing was done for a while. `offline`: none of their pages is open. */
export const presenceSchema = z.enum(['here', 'away', 'offline']);
export type Presence = z.infer<typeof presenceSchema>;
