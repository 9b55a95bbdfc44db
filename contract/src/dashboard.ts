import { z } from 'zod';
import { scanSchema } from './antivirus.ts';
import { currentSubscriptionSchema } from './current-subscription.ts';
import { endpoint } from './endpoint.ts';
import { timeSchema } from './fields.ts';
import { specified } from './reader.ts';
import { statusSchema, UNKNOWN_STATUS } from './status.ts';

/** Interval at which the dashboard's clock updates, in ms. */
export const CLOCK_TICK_MS = 1_000;

/** The specification's simulated counters: initial values and increments while real-time updates are on. Times in ms. */
export const SIMULATED_COUNTERS = {
  threats_start: 67,
  rules_start: 8,
  interval_ms: 120_000,
  bump_after_ms: 10_000,
  threats_step: { least: 1, most: 5 },
  rules_step: { least: 0, most: 2 },
} as const;

/** The specification's static health bars, in percent. They are not measured, and the screen says so. */
export const SAMPLE_HEALTH = [
  { label: 'CPU', percent: 34 },
  { label: 'Memory', percent: 61 },
  { label: 'Network', percent: 22 },
] as const;

/** Number of a plan's features that the licence panel shows before '+N more'. */
export const PLAN_FEATURES_SHOWN = 4;

/** The maximum score, which is also that of a new account. */
export const SECURITY_SCORE_MAXIMUM = 100;

/** Maximum number of scans in the dashboard's reply. */
export const RECENT_SCANS_MAXIMUM = 6;

/** The value of `last_scan` before the first scan. */
export const NEVER = 'Never';

/**
 * A finding of the posture scan: the deduction from the score, the gain if only this were fixed, and the screen to fix it. `deduction` is 0 if it does not count yet or the
 * maximum of its group is reached.
 */
export const scoreReasonSchema = z.object({
  id: z.string(),
  title: z.string(),
  deduction: z.int(),
  gain: z.int(),
  fix_route: z.string(),
});
export type ScoreReason = z.infer<typeof scoreReasonSchema>;

/** Measured figures of this account, next to the simulated ones. */
export const measuredSchema = z.object({
  threats_neutralized: z.int(),
  /** Number of harmless test files among them. */
  test_files_neutralized: z.int(),
  firewall_rules: z.int(),
  files_scanned: z.int(),
  files_infected: z.int(),
  /** Number of harmless test files among them. */
  test_files_found: z.int(),
  files_pending: z.int(),
  /** Time when a file was last read completely. */
  last_finished_at: timeSchema.nullable(),
});
export type Measured = z.infer<typeof measuredSchema>;

const percentSchema = z.number().min(0).max(100);

/** Measurements of a person's devices, shown in place of the samples. `health` is that of the device that reported last. */
export const dashboardDevicesSchema = z.object({
  count: z.int(),
  online: z.int(),
  health: z
    .object({
      device_name: z.string(),
      at: timeSchema,
      cpu_percent: percentSchema,
      memory_percent: percentSchema,
      /** Null if the capacity of the interfaces is unknown. */
      network_percent: percentSchema.nullable(),
    })
    .nullable(),
  last_deep_scan: z.object({ device_name: z.string(), at: timeSchema }).nullable(),
  /** Packets dropped by rules, in the last hour and in total. */
  blocked_last_hour: z.int(),
  blocked_total: z.int(),
});
export type DashboardDevices = z.infer<typeof dashboardDevicesSchema>;

export const readDashboard = endpoint({
  method: 'GET',
  path: '/dashboard/status',
  summary: 'The state of the account in one answer: score and why, plan, counts, latest scans.',
  access: 'customer',
  reply: specified(
    ['subscription', 'recent_scans'],
    z.object({
      security_score: z.int().min(0).max(SECURITY_SCORE_MAXIMUM),
      score_breakdown: z.array(scoreReasonSchema),
      /** Number of checks behind the score that ran, and that could not run. */
      score_checks: z.object({ ran: z.int(), unknown: z.int() }),
      status: statusSchema,
      /** The time of the latest scan, or 'Never'. */
      last_scan: z.union([timeSchema, z.literal(NEVER)]),
      subscription: currentSubscriptionSchema,
      recent_scans: z.array(scanSchema).max(RECENT_SCANS_MAXIMUM),
      measured: measuredSchema,
      /** Null for an account without devices. */
      devices: dashboardDevicesSchema.nullable(),
    }),
    () => ({ security_score: SECURITY_SCORE_MAXIMUM, last_scan: NEVER, status: UNKNOWN_STATUS }),
  ),
});
export type DashboardStatus = z.infer<NonNullable<(typeof readDashboard)['reply']>>;
