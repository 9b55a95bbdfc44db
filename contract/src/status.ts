import { z } from 'zod';
import { timeSchema } from './fields.ts';
import { phraseSchema } from './phrase.ts';
import { severitySchema } from './severity.ts';

/** `danger`: a dangerous finding is unresolved. `attention`: a step is open. `unknown`: nothing was checked yet. */
export const statusStateSchema = z.enum(['good', 'attention', 'danger', 'unknown']);
export type StatusState = z.infer<typeof statusStateSchema>;

/** One open step: the problem, its evidence, and the screen that fixes it. Each sentence has its phrase next to it. */
export const statusStepSchema = z.object({
  /** The id of the security check that found it. */
  id: z.string(),
  severity: severitySchema,
  is_danger: z.boolean(),
  title: z.string(),
  title_phrase: phraseSchema,
  evidence: z.string(),
  evidence_phrase: phraseSchema,
  /** The label of its button. */
  action: z.string(),
  action_phrase: phraseSchema,
  fix_route: z.string(),
  /** Points that it takes off the score now, and points that the score would gain without it. */
  deduction: z.int(),
  gain: z.int(),
});
export type StatusStep = z.infer<typeof statusStepSchema>;

/**
 * Protection of a person now: a device whose agent reported within a day, a device of web protection with a DNS query
 * within a day, or files scanned within 30 days.
 */
export const protectorSchema = z.enum(['device', 'web_protection', 'scans']);
export type Protector = z.infer<typeof protectorSchema>;

/**
 * The status of a person, computed in one place. Every screen, email and push that shows a state uses it. `next` is null exactly if no
 * step is open.
 */
export const statusSchema = z.object({
  state: statusStateSchema,
  sentence: z.string(),
  sentence_phrase: phraseSchema,
  detail: z.string(),
  detail_phrase: phraseSchema,
  next: statusStepSchema.nullable(),
  /** The other open steps, the most serious first. */
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
  /** False if the score is not meaningful: nothing lowers it, and either a step is open or nothing was checked. */
  is_scored: z.boolean(),
});
export type Status = z.infer<typeof statusSchema>;

/** The status if the server sends none. */
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
