import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { timeSchema } from './fields.ts';

/** Maximum number of waiting customers that the counts list by name. */
export const REMOTE_NAMED = 10;

export const countsSchema = z.object({
  mine: z.int(),
  unassigned: z.int(),
  all: z.int(),
  snoozed: z.int(),
  closed: z.int(),
  /** Number of the reader's conversations with unread messages, and of unassigned ones in which a customer waits. */
  mine_unread: z.int(),
  unassigned_waiting: z.int(),
  /** Number of other people whose remote session waits for a technician; `remote_customers` are those who have waited longest. */
  remote_waiting: z.int(),
  remote_customers: z.array(z.object({ customer: z.string(), since: timeSchema })).max(REMOTE_NAMED),
  tags: z.array(z.object({ tag: z.string(), count: z.int() })),
});
export type Counts = z.infer<typeof countsSchema>;

export const readCounts = endpoint({
  method: 'GET',
  path: '/support/counts',
  summary: 'How many conversations stand in each part of the inbox.',
  access: 'support',
  reply: countsSchema,
});
