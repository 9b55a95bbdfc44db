import { z } from 'zod';
import { timeSchema } from './fields.ts';
import { phraseSchema } from './phrase.ts';
import { severitySchema } from './severity.ts';

/** `danger`: something dangerous is not dealt with. `attention`: a step is open. `unknown`: nothing was looked at yet. */
export const statusStateSchema = z.enum(['good', 'attention', 'danger', 'unknown']);
export type StatusState = z.infer<typeof statusStateSchema>;

/** One open step: what is wrong, what shows it, and where it is put right. Each sentence has its phrase beside it. */
export const statusStepSchema = z.object({
  /** The id of the security check that found it. */
  id: z.string(),
  severity: severitySchema,
  is_danger: z.boolean(),
  title: z.string(),
  title_phrase: phraseSchema,
  evidence: z.string(),
  evidence_phrase: phraseSchema,
  /** The text of its button. */
  action: z.string(),
  action_phrase: phraseSchema,
  fix_route: z.string(),
  /** Points that it takes off the score, and that the score would rise by without it. */
  deduction: z.int(),
  gain: z.int(),
});
export type StatusStep = z.infer<typeof statusStepSchema>;

/**
 * The protection of a person now: a device with the agent that reported within a day, a device of web protection that asked
 * within a day, or files scanned within 30 days.
 */
export const protectorSchema = z.enum(['device', 'web_protection', 'scans']);
export type Protector = z.infer<typeof protectorSchema>;

/**
 * The state of a person, computed in one place from all parts. Every screen, mail and push that shows a state reads it. `next` is null exactly when no
 * step is open.
 */
export const statusSchema = z.object({
  state: statusStateSchema,
  sentence: z.string(),
  sentence_phrase: phraseSchema,
  detail: z.string(),
  detail_phrase: phraseSchema,
  next: statusStepSchema.nullable(),
  /** The other open steps, the gravest first. */
  others: z.array(statusStepSchema),
  looked_at: z.object({
    checks_run: z.int(),
    checks_unknown: z.int(),
    files_read: z.int(),
    files_unread: z.int(),
    rules: z.int(),
    devices: z.int(),
    last_file_at: timeSchema.nullable(),
  }),
  protected_by: z.array(protectorSchema),
  /** False while the score says nothing about this account: nothing takes points off, and either a step is open or nothing was looked at. */
  is_scored: z.boolean(),
});
export type Status = z.infer<typeof statusSchema>;

/** The status of a person of whom the server tells none. */
export const UNKNOWN_STATUS: Status = {
  state: 'unknown',
  sentence: 'Nothing checked yet',
  sentence_phrase: { code: 'status.unknown', params: {} },
  detail: 'Scan a file or add a device, and your status appears here.',
  detail_phrase: { code: 'status.unknown.detail', params: {} },
  next: null,
  others: [],
  looked_at: { checks_run: 0, checks_unknown: 0, files_read: 0, files_unread: 0, rules: 0, devices: 0, last_file_at: null },
  protected_by: [],
  is_scored: false,
};
