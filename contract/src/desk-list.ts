import { z } from 'zod';
import { conversationSchema, prioritySchema } from './desk-record.ts';
import { endpoint } from './endpoint.ts';
import { idSchema, pageQuerySchema, searchSchema } from './fields.ts';

// The inbox of the support desk. Separate from desk.ts, because a technician's first screen loads it.

export const TAG_LENGTH_MAXIMUM = 32;

export const tagSchema = z
  .string({ error: 'Enter a tag.' })
  .trim()
  .toLowerCase()
  .min(1, 'Enter a tag.')
  .max(TAG_LENGTH_MAXIMUM, `Use at most ${TAG_LENGTH_MAXIMUM} characters for a tag.`)
  .regex(/^[\p{L}\p{N}][\p{L}\p{N} _-]*$/u, 'Use letters, digits, spaces, and dashes.');

export const VIEWS = ['mine', 'unassigned', 'all', 'snoozed', 'closed'] as const;
export type View = (typeof VIEWS)[number];

const conversationsQuerySchema = pageQuerySchema.extend({
  /** `mine`, `unassigned` and `all` are open conversations. `waiting`: those of `mine` and `unassigned` whose customer waits for an answer. */
  view: z.enum([...VIEWS, 'waiting'], { error: 'This part of the inbox doesn’t exist.' }).default('all'),
  /** `latest`: most recent activity first. `waiting`: longest wait first, then the rest. `urgent`: customers in danger first, then by priority, then as `waiting`. */
  sort: z.enum(['latest', 'waiting', 'urgent'], { error: 'Sort by "latest", "waiting" or "urgent".' }).default('latest'),
  /** Matched against the customer's name and all messages and notes. */
  search: searchSchema,
  tag: tagSchema.optional(),
  priority: prioritySchema.optional(),
  assignee_id: idSchema.optional(),
});
export type ConversationsQuery = z.output<typeof conversationsQuerySchema>;

export const listConversations = endpoint({
  method: 'GET',
  path: '/support/conversations',
  summary: 'The inbox of the support desk.',
  access: 'support',
  query: conversationsQuerySchema,
  reply: z.array(conversationSchema),
});
