import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { idSchema } from './fields.ts';
import { timeZoneQuerySchema } from './time-zone.ts';

/** Days for which an account counts as new, and after its last use as active. */
export const LATELY_DAYS = 30;

/** Number of days in the trend on the administrator's home. */
export const HOME_DAYS = 90;

/** Maximum number of people in danger that the home lists by name. */
export const IN_DANGER_NAMED = 3;

export const homeSchema = z.object({
  /** Numbers of accounts; each equals the number of people in `listUsers` with the same `state`. */
  people: z.object({ all: z.int(), new: z.int(), active: z.int(), at_risk: z.int(), unchecked: z.int(), serious_alert: z.int() }),
  /** The most urgent of the people `at_risk`. */
  in_danger: z.array(z.object({ id: idSchema, username: z.string() })).max(IN_DANGER_NAMED),
  /** Active plans of customers and their monthly income by currency: each price divided by its months. Highest income first. */
  income: z.array(z.object({ currency: z.string(), monthly: z.number(), plans: z.int() })),
  /** Number of confirmed, unrevoked computers plus other devices with web protection; `silent` computers have had no contact for a week. */
  devices: z.object({ all: z.int(), silent: z.int() }),
  /** Days in the requested time zone, oldest first. `infected` excludes the industry's test files; `alerts` excludes drills. */
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
