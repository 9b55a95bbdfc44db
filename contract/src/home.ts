import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { timeZoneQuerySchema } from './time-zone.ts';

/** Days in which an account is new, and in which its last use makes it active. */
export const LATELY_DAYS = 30;

/** Days of the trend on the home of an administrator. */
export const HOME_DAYS = 90;

export const homeSchema = z.object({
  /** Accounts. Each number is that of the people whom `listUsers` has with the same `state`. */
  people: z.object({ all: z.int(), new: z.int(), active: z.int(), at_risk: z.int(), unchecked: z.int(), serious_alert: z.int() }),
  /** Active plans and what they bring in a month: each price divided by its months. Most income first. */
  income: z.array(z.object({ currency: z.string(), monthly: z.number(), plans: z.int() })),
  /** Confirmed devices that are not revoked, and those not heard for a week among them. */
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
  status: 200,
  reply: homeSchema,
  problems: [],
});
