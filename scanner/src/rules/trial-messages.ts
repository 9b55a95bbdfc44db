import { leftOutSchema } from '@palisade/contract/engine';
import { z } from 'zod';
import { feedFileSchema } from './signature-files.ts';

/** `domains`: dangerous hosts and addresses, for the scam check; no engine reads them. */
const feedKindSchema = z.enum(['yara', 'sha256', 'domains']);

const rawFeedSchema = z.object({
  id: z.string(),
  kind: feedKindSchema,
  pin: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('sha256'), hex: z.string() }),
    z.object({ kind: z.literal('ed25519'), key: z.string() }),
    z.object({ kind: z.literal('tls') }),
  ]),
  /** All of it, or nothing. */
  strict: z.boolean(),
  /** The download. */
  path: z.string(),
  /** As it was sent, in base64. */
  signature: z.base64().optional(),
  /** Where the prepared file goes. */
  target: z.string(),
});
/** A feed as it was downloaded. */
export type RawFeed = z.infer<typeof rawFeedSchema>;

const preparedFeedSchema = feedFileSchema
  .omit({ severity: true })
  .extend({ kind: feedKindSchema, rules: z.int(), hashes: z.int(), left_out: z.array(leftOutSchema) });
/** A feed as an engine uses it, and how much it holds. */
export type PreparedFeed = z.infer<typeof preparedFeedSchema>;

/** A trial: a feed on top of the pack, and on harmless files of the installation in a folder. */
export const trialSchema = z.object({
  rules_folder: z.string(),
  samples_folder: z.string(),
  installation_folder: z.string(),
  feed: rawFeedSchema,
});
export type Trial = z.infer<typeof trialSchema>;

export const trialAnswerSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('passed'), feed: preparedFeedSchema }),
  /** `sentence` is for an administrator. */
  z.object({ kind: z.literal('refused'), sentence: z.string() }),
]);
export type TrialAnswer = z.infer<typeof trialAnswerSchema>;
