import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { idSchema } from './fields.ts';
import { timeZoneQuerySchema } from './time-zone.ts';

/** Days in which an account is new, and in which its last use makes it active. */
export const LATELY_DAYS = 30;

/** Days of the trend on the home of an administrator. */
export const HOME_DAYS = 90;

/** People in danger whom the home names. */
export const IN_DANGER_NAMED = 3;

export const homeSchema = z.object({
  /** Accounts. Each number is that of the people whom `listUsers` has with the same `state`. */
  people: z.object({ all: z.int(), new: z.int(), active: z.int(), at_risk: z.int(), unchecked: z.int(), serious_alert: z.int() }),
  /** The most urgent of those `at_risk`. */
  in_danger: z.array(z.object({ id: idSchema, username: z.string() })).max(IN_DANGER_NAMED),
  /** Active plans of customers and what they bring in a month: each price divided by its months. Most income first. */
  income: z.array(z.object({ currency: z.string(), monthly: z.number(), plans: z.int() })),
  /** Computers that are confirmed and not revoked, and other devices with web protection; `silent` computers were not heard for a week. */
  devices: z.object({ all: z.int(), silent: z.int() }),
  /** Days of the time zone asked for, oldest first. `infected` are files without the industry's test files; drills are not among `alerts`. */
  trend: z.array(z.object({ day: z.iso.date(), people: z.int(), infected: z.int(), alerts: z.int() })).length(HOME_DAYS),
});
export type Home = z.infer<typeof homeSchema>;

export const readHome = endpoint({
  method: 'GET',
  path: '/admin/home',
  summary: 'The installation at a glance: people, income, devices, and the last 90 days.',
  access: 'admin',
  query: timeZoneQuerySchema,
  reply: homeSchema,
});
