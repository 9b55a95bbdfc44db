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
  /** The feed is refused if any part of it cannot be used. */
  strict: z.boolean(),
  /** Path of the downloaded file. */
  path: z.string(),
  /** The signature file as downloaded, in base64. */
  signature: z.base64().optional(),
  /** Path of the prepared file. */
  target: z.string(),
});
/** A feed as it was downloaded. */
export type RawFeed = z.infer<typeof rawFeedSchema>;

const preparedFeedSchema = feedFileSchema
  .omit({ severity: true })
  .extend({ kind: feedKindSchema, rules: z.int(), hashes: z.int(), left_out: z.array(leftOutSchema) });
/** A feed as an engine uses it, with its numbers of rules and hashes. */
export type PreparedFeed = z.infer<typeof preparedFeedSchema>;

/** A trial: a feed is tested together with the rule pack, on samples and on harmless files of the installation. */
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
