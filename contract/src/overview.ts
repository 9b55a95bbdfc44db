import { z } from 'zod';
import { endpoint } from './endpoint.ts';

/** Plans that end within this number of days are counted. */
export const PLANS_END_WITHIN_DAYS = 30;

export const overviewSchema = z.object({
  /**
   * Counts of records that wait for an administrator. `mails` were not sent: they wait for the mail server or an administrator, or were given up. `jobs` are background jobs that failed too often and are no longer retried.
   */
  waiting: z.object({
    /** Conversations whose last message is an unanswered one of the customer; without the reader's own. */
    conversations: z.int(),
    /** Remote sessions whose customer waits for a technician. */
    remote_requests: z.int(),
    plan_requests: z.int(),
    /** Number of plans that end within `PLANS_END_WITHIN_DAYS` and are not followed by another plan of the person. */
    plans_ending: z.int(),
    jobs: z.int(),
    false_alarms: z.int(),
    mails: z.int(),
    /** People who have not confirmed their email, where confirmation is required. */
    unproven: z.int(),
  }),
  /** True if emails are sent. */
  is_mail_connected: z.boolean(),
  /** First steps of a new installation for this administrator, and whether each one is done. */
  first_steps: z.object({
    provider: z.boolean(),
    second_factor: z.boolean(),
    first_scan: z.boolean(),
    /** Another person has an account. */
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
