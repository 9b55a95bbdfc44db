import { z } from 'zod';
import { endpoint } from './endpoint.ts';

/** A month's notice. */
export const PLANS_END_WITHIN_DAYS = 30;

export const overviewSchema = z.object({
  /**
   * Counts of records that wait for an administrator. `mails` are those that were not sent: for the mail server, for a reader, or given up. `jobs` is work in the background that failed too often, and is not tried any more.
   */
  waiting: z.object({
    /** Conversations of customers whose last message has no answer, the reader's own left out. */
    conversations: z.int(),
    /** Sessions whose customer waits for a technician. */
    remote_requests: z.int(),
    plan_requests: z.int(),
    /** Plans that end within `PLANS_END_WITHIN_DAYS`, and no other plan of the person follows. */
    plans_ending: z.int(),
    jobs: z.int(),
    false_alarms: z.int(),
    mails: z.int(),
    /** People who have not confirmed their email, where confirmation is required. */
    unproven: z.int(),
  }),
  /** Emails go out. */
  is_mail_connected: z.boolean(),
  /** First steps of a new installation for this administrator, and whether each is done. */
  first_steps: z.object({
    provider: z.boolean(),
    second_factor: z.boolean(),
    first_scan: z.boolean(),
    /** Somebody else has an account. */
    others: z.boolean(),
  }),
});
export type Overview = z.infer<typeof overviewSchema>;

export const readOverview = endpoint({
  method: 'GET',
  path: '/admin/overview',
  summary: 'What waits for administrators, and what a new installation still needs of the one who asks.',
  access: 'admin',
  reply: overviewSchema,
});
