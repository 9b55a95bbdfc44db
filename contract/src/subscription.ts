import { z } from 'zod';
import { emailSchema } from './auth.ts';
import { endpoint } from './endpoint.ts';
import { idSchema, isOneLine, pageQuerySchema, timeSchema } from './fields.ts';
import { formatList, formatNumber } from './intl.ts';
import { specified } from './reader.ts';

/** Numbers of months in the assign form and in the template form, and numbers of devices in both. */
export const ASSIGN_DURATIONS = [1, 3, 6, 12, 24, 36] as const;
export const TEMPLATE_DURATIONS = [1, 12, 24] as const;
export const MAX_DEVICES_OPTIONS = [1, 3, 5, 10, 999] as const;
/** The value for an unlimited number of devices. */
export const UNLIMITED_DEVICES = 999;
export const DURATION_DEFAULT = 12;
export const MAX_DEVICES_DEFAULT = 1;
/** Devices of web protection for a plan without a value, and without a plan. */
export const MAX_WEB_DEVICES_DEFAULT = 10;
/** Household profiles for a plan without a value. Without a plan there are none. */
export const MAX_PROFILES_DEFAULT = 5;

export const CURRENCY = 'USD';
/** Maximum price in dollars (product default), within the range that a double holds exactly in cents. */
export const PRICE_MAXIMUM = 1_000_000;
/** Maximum length of a plan's or template's name and of a feature, and maximum number of features of one plan (product defaults). */
export const PLAN_NAME_LENGTH_MAXIMUM = 100;
export const FEATURE_LENGTH_MAXIMUM = 200;
export const FEATURES_MAXIMUM = 50;

const CENTS = 100;

/** Converts dollars to integer cents. Exact for every price that `priceSchema` accepts. */
export function centsOf(price: number): number {
  // Adding zero turns -0 into 0.
  return Math.round(price * CENTS) + 0;
}

/** Converts integer cents to the nearest number of dollars with at most two decimals. */
export function priceOf(cents: number): number {
  return cents / CENTS;
}

/**
 * The end of a period of whole months from `startIso`: the same day and time of day in UTC, or the last day of a month that
 * lacks this day (31 January + 1 month = 28 or 29 February).
 */
export function expiryOf(startIso: string, months: number): string {
  const start = new Date(startIso);
  const year = start.getUTCFullYear();
  const month = start.getUTCMonth() + months;
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const end = new Date(start);
  end.setUTCFullYear(year, month, Math.min(start.getUTCDate(), lastDay));
  return end.toISOString();
}

/** The form in which names of plans are compared: trimmed, NFKC, lower case. */
export function planKeyOf(name: string): string {
  return name.trim().normalize('NFKC').toLowerCase();
}

/**
 * The end of a plan that is assigned at `now` (ms) to a person with the active plan `present`. Assigning the same plan extends the present end, and a plan without end
 * stays so; another plan, or the same one with `starts_over`, begins now.
 */
export function assignedEnd(
  present: { plan_name: string; expires_at: string | null } | undefined,
  { plan_name, duration_months, starts_over }: { plan_name: string; duration_months: number; starts_over?: boolean | undefined },
  now: number,
): string | null {
  const is_renewal = present !== undefined && starts_over !== true && planKeyOf(present.plan_name) === planKeyOf(plan_name);
  if (is_renewal && present.expires_at === null) return null;
  return expiryOf((is_renewal ? present.expires_at : null) ?? new Date(now).toISOString(), duration_months);
}

export const subscriptionStatusSchema = z.enum(['active', 'expired', 'replaced', 'cancelled']);
export type SubscriptionStatus = z.infer<typeof subscriptionStatusSchema>;

/** The fields that decide a subscription's status. `ended_as` and `ended_at` are set if it was ended early. */
export interface SubscriptionEnd {
  expires_at: string | null;
  ended_as: 'replaced' | 'cancelled' | null;
  ended_at: string | null;
}

/** The status at `now` (ms). It is expired from the millisecond of `expires_at` on; ending it later has no effect. */
export function statusOf({ expires_at, ended_as, ended_at }: SubscriptionEnd, now: number): SubscriptionStatus {
  const expiry = expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at);
  if (ended_as !== null && ended_at !== null && Date.parse(ended_at) < expiry) return ended_as;
  return now >= expiry ? 'expired' : 'active';
}

/** One line of free text, stored and shown as typed, but trimmed. */
function lineSchema(what: string, maximum: number) {
  return z
    .string({ error: `Enter ${what}.` })
    .trim()
    .min(1, `Enter ${what}.`)
    .max(maximum, `Use at most ${maximum} characters.`)
    .refine(isOneLine, 'Use one line of plain text.');
}

const PRICE_SENTENCE = `Enter a price from 0 to ${formatNumber(PRICE_MAXIMUM)} dollars, with at most two decimals.`;
export const priceSchema = z
  .number({ error: PRICE_SENTENCE })
  .min(0, PRICE_SENTENCE)
  .max(PRICE_MAXIMUM, PRICE_SENTENCE)
  .refine((price) => priceOf(centsOf(price)) === price, PRICE_SENTENCE);

const featuresSchema = z
  .array(lineSchema('a feature', FEATURE_LENGTH_MAXIMUM), { error: 'Enter a list of features.' })
  .max(FEATURES_MAXIMUM, `Enter at most ${FEATURES_MAXIMUM} features.`);
const maxDevicesSchema = z.literal(MAX_DEVICES_OPTIONS, {
  error: `Choose ${formatList(MAX_DEVICES_OPTIONS.map(String), 'plain')} (999 is unlimited).`,
});
const premiumSchema = z.boolean({ error: 'Choose true or false.' });

/** An assignment by an administrator. `request_id` names the request that it grants. */
export const assignmentSchema = z.object({
  user_email: emailSchema,
  plan_name: lineSchema('a plan name', PLAN_NAME_LENGTH_MAXIMUM),
  price: priceSchema,
  duration_months: z.literal(ASSIGN_DURATIONS, { error: `Choose ${formatList(ASSIGN_DURATIONS.map(String), 'plain')} months.` }),
  max_devices: maxDevicesSchema,
  max_web_devices: maxDevicesSchema.optional(),
  max_profiles: maxDevicesSchema.optional(),
  is_premium: premiumSchema,
  features: featuresSchema,
  request_id: idSchema.optional(),
  /** True: the plan ends `duration_months` from now, even if the person already has it. Otherwise the present end is extended. */
  starts_over: z.boolean({ error: 'Choose true or false.' }).optional(),
});
export type Assignment = z.infer<typeof assignmentSchema>;

export const newTemplateSchema = z.object({
  template_name: lineSchema('a template name', PLAN_NAME_LENGTH_MAXIMUM),
  base_price: priceSchema,
  duration_months: z.literal(TEMPLATE_DURATIONS, {
    error: `Choose ${formatList(TEMPLATE_DURATIONS.map(String), 'plain')} months.`,
  }),
  max_devices: maxDevicesSchema,
  max_web_devices: maxDevicesSchema.optional(),
  max_profiles: maxDevicesSchema.optional(),
  is_premium: premiumSchema,
  features: featuresSchema,
});
export type NewTemplate = z.infer<typeof newTemplateSchema>;

/** A plan on offer. */
export const templateSchema = specified(
  ['id', 'template_name', 'base_price', 'duration_months', 'max_devices', 'is_premium', 'features'],
  z.object({
    id: idSchema,
    template_name: z.string(),
    base_price: z.number(),
    currency: z.string(),
    duration_months: z.int(),
    max_devices: z.int(),
    /** Maximum number of devices of web protection. */
    max_web_devices: z.int(),
    /** Maximum number of household profiles. */
    max_profiles: z.int(),
    is_premium: z.boolean(),
    features: z.array(z.string()),
  }),
  () => ({ max_web_devices: MAX_WEB_DEVICES_DEFAULT, max_profiles: MAX_PROFILES_DEFAULT }),
);
export type Template = z.infer<typeof templateSchema>;

/** A subscription as administrators see it; `expires_at` is null if it has no end. */
export const subscriptionSchema = specified(
  ['id', 'user_email', 'user_username', 'plan_name', 'price', 'duration_months', 'is_premium', 'status'],
  z.object({
    id: idSchema,
    user_email: z.string(),
    user_username: z.string(),
    plan_name: z.string(),
    price: z.number(),
    currency: z.string(),
    duration_months: z.int(),
    max_devices: z.int(),
    /** Maximum number of devices of web protection. */
    max_web_devices: z.int(),
    /** Maximum number of household profiles. */
    max_profiles: z.int(),
    is_premium: z.boolean(),
    features: z.array(z.string()),
    status: subscriptionStatusSchema,
    starts_at: timeSchema,
    expires_at: timeSchema.nullable(),
  }),
);
export type Subscription = z.infer<typeof subscriptionSchema>;

/** `open` until an administrator grants or declines it, or the person withdraws it. */
export const planRequestStatusSchema = z.enum(['open', 'granted', 'declined', 'withdrawn']);
export type PlanRequestStatus = z.infer<typeof planRequestStatusSchema>;

export const planRequestSchema = z.object({
  id: idSchema,
  template: templateSchema,
  status: planRequestStatusSchema,
  requested_at: timeSchema,
  decided_at: timeSchema.nullable(),
});
export type PlanRequest = z.infer<typeof planRequestSchema>;

export const userPlanRequestSchema = planRequestSchema.extend({ user_email: z.string(), user_username: z.string() });
export type UserPlanRequest = z.infer<typeof userPlanRequestSchema>;

export const listSubscriptions = endpoint({
  method: 'GET',
  path: '/admin/subscriptions',
  summary: 'Every subscription that was ever assigned, newest first.',
  access: 'admin',
  query: pageQuerySchema,
  reply: z.array(subscriptionSchema),
});

export const assignSubscription = endpoint({
  method: 'POST',
  path: '/admin/assign-subscription',
  summary:
    'Give a person a subscription from now on. It replaces the one they have; the same plan extends its end, unless it starts over.',
  access: 'admin',
  body: assignmentSchema,
  changes: 'subscription',
  changes_installation: 'waiting',
  reply: z.object({ success: z.literal(true), subscription: subscriptionSchema }),
  problems: ['not_found', 'conflict'],
});

export const cancelSubscription = endpoint({
  method: 'POST',
  path: '/admin/cancel-subscription',
  summary: 'End an active subscription at once.',
  access: 'admin',
  body: z.object({ subscription_id: idSchema }),
  changes: 'subscription',
  changes_installation: 'waiting',
  reply: z.object({ success: z.literal(true) }),
  problems: ['not_found'],
});

export const listTemplates = endpoint({
  method: 'GET',
  path: '/admin/subscription-templates',
  summary: 'The plan templates, newest first.',
  access: 'admin',
  query: pageQuerySchema,
  reply: z.array(templateSchema),
});

export const createTemplate = endpoint({
  method: 'POST',
  path: '/admin/subscription-templates',
  summary: 'Add a plan template. From then on the plan is on offer to everybody.',
  access: 'admin',
  body: newTemplateSchema,
  changes: 'subscription',
  changes_installation: 'plans',
  reply: z.object({ success: z.literal(true), template: templateSchema }),
  problems: ['conflict'],
});

export const changeTemplate = endpoint({
  method: 'POST',
  path: '/admin/change-subscription-template',
  summary: 'Change a plan template. People who have the plan keep it as they got it; open requests ask for it as it is now.',
  access: 'admin',
  body: newTemplateSchema.extend({ template_id: idSchema }),
  changes: 'subscription',
  changes_installation: 'plans',
  reply: z.object({ success: z.literal(true), template: templateSchema }),
  problems: ['not_found', 'conflict'],
});

export const deleteTemplate = endpoint({
  method: 'POST',
  path: '/admin/delete-subscription-template',
  summary: 'Take a plan off the offer. Whoever has it keeps it. While somebody asks for it, it stays: `conflict`.',
  access: 'admin',
  body: z.object({ template_id: idSchema }),
  changes: 'subscription',
  changes_installation: 'plans',
  reply: z.object({ success: z.literal(true) }),
  problems: ['not_found', 'conflict'],
});

export const listAllPlanRequests = endpoint({
  method: 'GET',
  path: '/admin/subscription-requests',
  summary: 'What people asked for and no admin has answered, newest first.',
  access: 'admin',
  query: pageQuerySchema,
  reply: z.array(userPlanRequestSchema),
});

export const declinePlanRequest = endpoint({
  method: 'POST',
  path: '/admin/decline-subscription-request',
  summary: 'Decline an open request.',
  access: 'admin',
  body: z.object({ request_id: idSchema }),
  changes: 'subscription',
  changes_installation: 'waiting',
  reply: z.object({ success: z.literal(true) }),
  problems: ['not_found'],
});

export const listPlans = endpoint({
  method: 'GET',
  path: '/subscription/plans',
  summary: 'The plans on offer, newest first.',
  access: 'customer',
  query: pageQuerySchema,
  reply: z.array(templateSchema),
});

export const listPlanRequests = endpoint({
  method: 'GET',
  path: '/subscription/requests',
  summary: 'What the signed-in person asked for, newest first.',
  access: 'customer',
  query: pageQuerySchema,
  reply: z.array(planRequestSchema),
});

/** Number of latest answers that `readAnswerTime` evaluates, and the minimum for a result. */
export const ANSWERS_LOOKED_AT = 20;
export const ANSWERS_MINIMUM = 3;

export const readAnswerTime = endpoint({
  method: 'GET',
  path: '/subscription/answer-time',
  summary: 'How long administrators took to answer the last requests: the median in seconds, null without enough answers.',
  access: 'customer',
  reply: z.object({ answered: z.int(), median_s: z.int().nullable() }),
});

export const requestPlan = endpoint({
  method: 'POST',
  path: '/subscription/requests',
  summary: 'Ask the admins for a plan. One request for each plan may be open.',
  access: 'customer',
  needs_proven_email: true,
  body: z.object({ template_id: idSchema }),
  changes: 'subscription',
  changes_installation: 'waiting',
  status: 201,
  reply: planRequestSchema,
  problems: ['not_found', 'conflict'],
});

export const withdrawPlanRequest = endpoint({
  method: 'DELETE',
  path: '/subscription/requests/{id}',
  summary: 'Take an open request of one’s own back.',
  access: 'customer',
  changes: 'subscription',
  changes_installation: 'waiting',
  problems: ['not_found'],
});
