import { z } from 'zod';
import { chatMessageSchema } from './chat-record.ts';
import { endpoint } from './endpoint.ts';
import { idSchema, pageQuerySchema, searchSchema, timeSchema } from './fields.ts';

/** Newest first. `cursor` pages to older messages; `after` returns those that directly follow a message; `search` returns those with these words. */
export const messagesQuerySchema = pageQuerySchema
  .extend({ after: idSchema.optional(), search: searchSchema })
  .refine(({ cursor, after }) => cursor === undefined || after === undefined, {
    path: ['after'],
    message: 'Choose messages before or after one message, not both.',
  });
export type MessagesQuery = z.output<typeof messagesQuerySchema>;

export const listMessages = endpoint({
  method: 'GET',
  path: '/chat/messages',
  summary: 'The conversation of the signed-in person with support, newest first.',
  access: 'customer',
  query: messagesQuerySchema,
  reply: z.array(chatMessageSchema),
});

/**
 * State of the conversation without its messages. `staff`: whether support is present and open, and when it opens again. `read_seq` is the last message that
 * support has read, `unread` the number of support's messages that the customer has not. `rating` is of the last closed matter; null if none can be rated.
 */
export const chatStateSchema = z.object({
  conversation_id: idSchema.nullable(),
  status: z.enum(['none', 'open', 'closed']),
  /** The username of the assigned staff member; null if the conversation is unassigned. */
  agent: z.string().nullable(),
  wants_person: z.boolean(),
  staff: z.object({ is_here: z.boolean(), is_open: z.boolean(), opens_at: timeSchema.nullable() }),
  /** The median time to a first answer in the last 7 days, in seconds; null if there were too few. */
  response_s: z.int().nullable(),
  unread: z.int(),
  read_seq: z.int(),
  last_seq: z.int(),
  rating: z.object({ given: z.int().min(1).max(5).nullable() }).nullable(),
});
export type ChatState = z.infer<typeof chatStateSchema>;

export const readChat = endpoint({
  method: 'GET',
  path: '/chat',
  summary: 'How it stands with the conversation of the signed-in person, and whether somebody of support is here.',
  access: 'customer',
  reply: chatStateSchema,
});
