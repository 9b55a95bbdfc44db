import { z } from 'zod';
import { reportQuerySchema, unknownZoneSchema } from './desk.ts';
import { endpoint } from './endpoint.ts';

const reportSpanSchema = z.object({
  /** Its first day. */
  day: z.iso.date(),
  /** New accounts, and deleted ones. */
  people: z.object({ joined: z.int(), deleted: z.int() }),
  /** Files that were read; infected ones among them without the industry's test files; and alerts without drills. */
  security: z.object({ files: z.int(), infected: z.int(), alerts: z.int() }),
  /** Plans that were assigned and those that expired or were cancelled; `sold` are the prices of the assigned ones. */
  income: z.object({
    assigned: z.int(),
    ended: z.int(),
    sold: z.array(z.object({ currency: z.string(), price: z.number() })),
  }),
});
export type ReportSpan = z.infer<typeof reportSpanSchema>;

export const installationReportSchema = z.object({
  from: z.string(),
  to: z.string(),
  /** The time zone of these days: the desk's. */
  time_zone: z.string(),
  unknown_time_zone: unknownZoneSchema,
  /** Up to 31 days have a span each; otherwise a span is a week, the first from `from` on. */
  unit: z.enum(['day', 'week']),
  /** Oldest first; empty ones too. */
  spans: z.array(reportSpanSchema),
});
export type InstallationReport = z.infer<typeof installationReportSchema>;

export const readInstallationReport = endpoint({
  method: 'GET',
  path: '/admin/report',
  summary: 'People, security and income of the installation, by day or week.',
  access: 'admin',
  query: reportQuerySchema,
  expensive: true,
  reply: installationReportSchema,
});
