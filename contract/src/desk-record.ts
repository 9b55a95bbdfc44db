import { z } from 'zod';
import { chatMessageSchema } from './chat-record.ts';
import { idSchema, timeSchema } from './fields.ts';
import { phraseSchema } from './phrase.ts';

export const conversationStatusSchema = z.enum(['open', 'snoozed', 'closed']);
export type ConversationStatus = z.infer<typeof conversationStatusSchema>;

export const prioritySchema = z.enum(['low', 'normal', 'high', 'urgent']);
export type Priority = z.infer<typeof prioritySchema>;

/** A member of staff. */
export const colleagueSchema = z.object({ id: idSchema, username: z.string() });

/**
 * A conversation as staff see it. Each customer has one, in which matters are opened and closed. `version` increases with each change; a page keeps the higher one.
 * `waiting_since` is when the customer began to wait for an answer from a person; null if they do not wait.
 */
export const conversationSchema = z.object({
  id: idSchema,
  version: z.int(),
  user_id: idSchema,
  /** The customer's username. */
  customer: z.string(),
  /** True if the customer's status is `danger` or they have a serious alert. */
  is_in_danger: z.boolean(),
  status: conversationStatusSchema,
  assignee: colleagueSchema.nullable(),
  tags: z.array(z.string()),
  priority: prioritySchema,
  wants_person: z.boolean(),
  /** Times when the current matter was opened and closed. */
  opened_at: timeSchema,
  closed_at: timeSchema.nullable(),
  snoozed_until: timeSchema.nullable(),
  last_customer_message_at: timeSchema.nullable(),
  waiting_since: timeSchema.nullable(),
  /** The last message that a person wrote; an automatic one only if there is no other. */
  last_message: z
    .object({
      seq: z.int(),
      /** The beginning of its text; without text, a description of its card or the number of its files. */
      text: z.string(),
      /** The phrases of the whole message, or of the text that describes a card or files. */
      phrases: z.array(phraseSchema).nullable(),
      sender: z.enum(['user', 'support']),
      is_automatic: z.boolean(),
      at: timeSchema,
    })
    .nullable(),
  last_seq: z.int(),
  /** The `seq` of the last message that each side has read. */
  customer_read_seq: z.int(),
  support_read_seq: z.int(),
  /** Number of the customer's messages that no member of staff has read. */
  unread: z.int(),
  rating: z.int().nullable(),
  /** The newest message that matches the search, with its text. */
  found: z.object({ message_id: idSchema, seq: z.int(), text: z.string() }).nullable(),
});
export type Conversation = z.infer<typeof conversationSchema>;

/** A message as staff see it. Only staff see notes. */
export const deskMessageSchema = chatMessageSchema.extend({
  is_note: z.boolean(),
  /** The staff member who wrote it; null for the customer's messages and automatic ones. */
  author_id: idSchema.nullable(),
});
export type DeskMessage = z.infer<typeof deskMessageSchema>;

/** `away`: set by hand, or after a period without activity. `offline`: the person has no open page. */
export const presenceSchema = z.enum(['here', 'away', 'offline']);
export type Presence = z.infer<typeof presenceSchema>;
