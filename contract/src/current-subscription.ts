import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { timeSchema } from './fields.ts';
import { specified } from './reader.ts';

/** A person's current plan; without an active subscription `is_premium` is false and the other fields are empty. */
export const currentSubscriptionSchema = specified(
  ['is_premium'],
  z.object({
    has_subscription: z.boolean(),
    plan_name: z.string().nullable(),
    is_premium: z.boolean(),
    expires_at: timeSchema.nullable(),
    price: z.number().nullable(),
    currency: z.string().nullable(),
    features: z.array(z.string()),
    max_devices: z.int().nullable(),
    max_web_devices: z.int().nullable(),
    max_profiles: z.int().nullable(),
    duration_months: z.int().nullable(),
    /** Time of the latest plan request, while it is open and the person has no premium plan. */
    requested_at: timeSchema.optional(),
  }),
  ({ is_premium }) => ({ has_subscription: is_premium === true }),
);
export type CurrentSubscription = z.infer<typeof currentSubscriptionSchema>;

export const currentSubscription = endpoint({
  method: 'GET',
  path: '/subscription/current',
  summary: 'The subscription of the signed-in person at this moment.',
  access: 'customer',
  reply: currentSubscriptionSchema,
});
