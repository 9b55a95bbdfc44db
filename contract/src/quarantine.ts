import { z } from 'zod';
import { scanSchema } from './antivirus.ts';
import { endpoint } from './endpoint.ts';
import { idSchema, pageQuerySchema, timeSchema } from './fields.ts';

/** A public page. Only http and https, because screens link to it. */
export const referenceSchema = z.url({ protocol: /^https?$/ }).nullable();

/** Description of a threat by its signature: one plain sentence, the severity, and a public page about it. */
export const threatFactsSchema = z.object({
  description: z.string(),
  severity: z.enum(['low', 'medium', 'high', 'critical']),
  reference: referenceSchema,
});
export type ThreatFacts = z.infer<typeof threatFactsSchema>;

/** Retention of sealed files, in days: of infected files, and of files that could not be read. */
export const QUARANTINE_DAYS = { infected: 30, pending: 7 } as const;
/** Maximum size of one person's sealed files, in bytes. Further files are not kept, and the record says so. */
export const QUARANTINE_BYTES_MAXIMUM = 4 * 1024 ** 3;

/** `waiting`: an engine must still read the file; `sealed`: encrypted, so that no program can open it. */
export const keptSchema = z.enum(['no', 'waiting', 'sealed']);
export type Kept = z.infer<typeof keptSchema>;

/** The administrators' decision on a reported false alarm. */
export const reportStatusSchema = z.enum(['open', 'confirmed', 'rejected']);
export type ReportStatus = z.infer<typeof reportStatusSchema>;

export const REPORT_REASON_MAXIMUM = 500;
const FILE_PASSWORD_MAXIMUM = 256;

/** One scan with all its details. */
export const scanDetailSchema = scanSchema.extend({
  threat_facts: threatFactsSchema.nullable(),
  /** State of the uploaded copy. `kept_until` is when it is deleted. */
  kept: keptSchema,
  kept_until: timeSchema.nullable(),
  /** If the verdict is that of an earlier upload of the same bytes by the same person: the time when the bytes were read. */
  answered_from: timeSchema.nullable(),
  report: z.object({ status: reportStatusSchema, reported_at: timeSchema, decided_at: timeSchema.nullable() }).nullable(),
});
export type ScanDetail = z.infer<typeof scanDetailSchema>;

export const readScan = endpoint({
  method: 'GET',
  path: '/antivirus/scans/{id}',
  summary: 'One scan with everything that is known of it.',
  access: 'customer',
  reply: scanDetailSchema,
});

export const deleteScan = endpoint({
  method: 'DELETE',
  path: '/antivirus/scans/{id}',
  summary: 'Take a scan out of the history, with whatever is kept of its file.',
  access: 'customer',
  problems: ['conflict', 'unavailable', 'on_another_server'],
});

export const restoreFile = endpoint({
  method: 'GET',
  path: '/antivirus/scans/{id}/file',
  summary: 'The kept bytes of a file, as they were uploaded: what was found in it is still in it.',
  access: 'customer',
  download: true,
  problems: ['unavailable', 'on_another_server'],
});

export const deleteFile = endpoint({
  method: 'DELETE',
  path: '/antivirus/scans/{id}/file',
  summary: 'Remove the kept bytes of a file now. The record stays.',
  access: 'customer',
  changes: 'files',
  problems: ['conflict', 'unavailable', 'on_another_server'],
});

export const unlockFile = endpoint({
  method: 'POST',
  path: '/antivirus/scans/{id}/password',
  summary: 'Scan a kept encrypted archive again with its password, which is stored nowhere.',
  access: 'customer',
  body: z.object({
    password: z
      .string({ error: 'Enter the file’s password.' })
      .min(1, 'Enter the file’s password.')
      .max(FILE_PASSWORD_MAXIMUM, `Use at most ${FILE_PASSWORD_MAXIMUM} characters.`),
  }),
  reply: scanDetailSchema,
  problems: ['conflict', 'unavailable', 'on_another_server'],
});

export const reportFalseAlarm = endpoint({
  method: 'POST',
  path: '/antivirus/scans/{id}/report',
  summary: 'Tell the administrators that a finding is a false alarm.',
  access: 'customer',
  body: z.object({
    reason: z
      .string({ error: 'Tell us why in a few words.' })
      .trim()
      .max(REPORT_REASON_MAXIMUM, `Use at most ${REPORT_REASON_MAXIMUM} characters.`),
  }),
  changes: 'files',
  changes_installation: 'waiting',
  reply: scanDetailSchema,
  problems: ['conflict'],
});

/** A reported finding as administrators see it: the threat, the file's facts and the owner's reason, but not the file. */
export const falseAlarmSchema = z.object({
  id: idSchema,
  user_email: z.string(),
  user_username: z.string(),
  filename: z.string(),
  file_hash: z.string(),
  threat_detected: z.string().nullable(),
  threat_member: z.string().nullable(),
  engines: scanSchema.shape.engines,
  reason: z.string(),
  status: reportStatusSchema,
  reported_at: timeSchema,
  decided_at: timeSchema.nullable(),
});
export type FalseAlarm = z.infer<typeof falseAlarmSchema>;

export const listFalseAlarms = endpoint({
  method: 'GET',
  path: '/admin/quarantine-reports',
  summary: 'The findings that people hold to be false alarms, newest first.',
  access: 'admin',
  query: pageQuerySchema,
  reply: z.array(falseAlarmSchema),
});

export const decideFalseAlarm = endpoint({
  method: 'POST',
  path: '/admin/decide-quarantine-report',
  summary: 'Say of a reported finding whether it is a false alarm. The verdict stays that of the engine.',
  access: 'admin',
  body: z.object({
    report_id: idSchema,
    decision: z.enum(['confirmed', 'rejected'], { error: 'Choose "confirmed" or "rejected".' }),
  }),
  changes_installation: 'waiting',
  reply: z.object({ success: z.literal(true) }),
  problems: ['not_found'],
});

export const reopenFalseAlarm = endpoint({
  method: 'POST',
  path: '/admin/reopen-quarantine-report',
  summary: 'Take back what was decided of a reported finding, so that it is open again.',
  access: 'admin',
  body: z.object({
    report_id: idSchema,
    decided_at: timeSchema.describe('Which decision: that of another administrator, made meanwhile, stays.'),
  }),
  changes_installation: 'waiting',
  reply: z.object({ success: z.literal(true) }),
  problems: ['conflict'],
});
