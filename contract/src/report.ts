import { z } from 'zod';
import { reportQuerySchema, unknownZoneSchema } from './desk.ts';
import { endpoint } from './endpoint.ts';

const reportSpanSchema = z.object({
  /** The first day of the span. */
  day: z.iso.date(),
  /** Number of new accounts, and of deleted ones. */
  people: z.object({ joined: z.int(), deleted: z.int() }),
  /** Number of scanned files, of infected ones (without the industry's test files), and of alerts (without drills). */
  security: z.object({ files: z.int(), infected: z.int(), alerts: z.int() }),
  /** Number of plans that were assigned, and that expired or were cancelled; `sold` has the prices of the assigned ones by currency. */
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
  /** The time zone of the days: the desk's. */
  time_zone: z.string(),
  unknown_time_zone: unknownZoneSchema,
  /** Up to 31 days are reported by day; longer periods by week, the first of which starts on `from`. */
  unit: z.enum(['day', 'week']),
  /** Oldest first, including empty ones. */
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
