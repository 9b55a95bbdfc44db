import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { timeSchema } from './fields.ts';

/** Signatures that nobody could confirm for longer than this are old (DESIGN section 5). ms. */
export const SIGNATURES_OLD_MS = 48 * 3_600_000;

/** One scanning engine. Version and signatures are null until it has been ready once. */
export const engineSchema = z.object({
  name: z.string(),
  version: z.string().nullable(),
  signatures_version: z.string().nullable(),
  state: z.enum(['starting', 'ready', 'down']),
  processes: z.object({ ready: z.int(), wanted: z.int() }),
});

/** A source of signatures, for administrators. `sentence` says what the last update did with it. */
export const signatureFeedSchema = z.object({
  address: z.string(),
  kind: z.enum(['yara', 'sha256']),
  ok: z.boolean(),
  sentence: z.string(),
});

/** The scanner at a moment: what reads files, with which signatures, within which limits (bytes and ms). */
export const engineStatusSchema = z.object({
  engines: z.array(engineSchema),
  signatures: z.object({
    rules: z.int(),
    hashes: z.int(),
    /** When the newest signatures came; of the pack that ships with the product the day of its last change, where it says. */
    built_at: timeSchema.nullable(),
    /** Until when they are known to be the newest, and how long that is ago; null without a source that could say. */
    as_of: timeSchema.nullable(),
    age_hours: z.number().nullable(),
    last_update_at: timeSchema.nullable(),
    last_outcome: z.string().nullable(),
    failed_sources: z.int(),
  }),
  limits: z.object({
    upload_bytes: z.int(),
    unpacked_bytes: z.int(),
    members: z.int(),
    depth: z.int(),
    time_ms: z.int(),
  }),
  /** Null for everyone but administrators. */
  feeds: z.array(signatureFeedSchema).nullable(),
});
export type EngineStatus = z.infer<typeof engineStatusSchema>;

export const readEngine = endpoint({
  method: 'GET',
  path: '/antivirus/engine',
  summary: 'The scanning engines, their signatures and their limits.',
  access: 'customer',
  status: 200,
  reply: engineStatusSchema,
  problems: [],
});
