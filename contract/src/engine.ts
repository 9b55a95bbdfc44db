import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { timeSchema } from './fields.ts';

/** Signatures count as old when no update has confirmed them for this time. ms. */
export const SIGNATURES_OLD_MS = 48 * 3_600_000;

/** One scanning engine. Version and signatures are null until it has been ready once. */
export const engineSchema = z.object({
  name: z.string(),
  /** The build of the embedded engine that reads files; null until it has been ready once, and for clamd. */
  kind: z.enum(['native', 'wasm']).nullable(),
  /** Why the native build does not read them, in sentences; null where it does, or where `PALISADE_ENGINE` asks for the other. */
  note: z.string().nullable(),
  version: z.string().nullable(),
  signatures_version: z.string().nullable(),
  state: z.enum(['starting', 'ready', 'down']),
  processes: z.object({ ready: z.int(), wanted: z.int() }),
});

/** A part of a source that is not used: a file, a rule or an entry by its name, and why. `detail` is one sentence, or what a compiler said. */
export const leftOutSchema = z.object({
  name: z.string(),
  why: z.enum(['does_not_compile', 'twice', 'slow', 'would_alarm', 'needs_another', 'no_entry']),
  detail: z.string(),
});

/** Rules of one source that are named as left out; the others are counted. */
export const LEFT_OUT_NAMED = 200;

/** A source of signatures, for administrators. `sentence` says what the last update did with it. */
export const signatureFeedSchema = z.object({
  address: z.string(),
  kind: z.enum(['yara', 'sha256', 'domains']),
  /** A finding of a `note` source is a note on the record, and never makes a file infected. */
  severity: z.enum(['alarm', 'note']),
  ok: z.boolean(),
  sentence: z.string(),
  /** The parts in use. */
  rules: z.int(),
  hashes: z.int(),
  left_out: z.array(leftOutSchema).max(LEFT_OUT_NAMED),
  left_out_total: z.int(),
  /** When what is in use came, and when its server last said that it is the newest; null before. */
  changed_at: timeSchema.nullable(),
  confirmed_at: timeSchema.nullable(),
  /** Additional memory of each engine process for it, in bytes; null while none has it. */
  memory_bytes: z.int().nullable(),
});
export type SignatureFeedStatus = z.infer<typeof signatureFeedSchema>;

/** The scanner at a moment: what reads files, with which signatures, within which limits (bytes and ms). */
export const engineStatusSchema = z.object({
  engines: z.array(engineSchema),
  signatures: z.object({
    rules: z.int(),
    hashes: z.int(),
    /** When the newest signatures came; of the pack that ships with the product the day of its last change, where it says. */
    built_at: timeSchema.nullable(),
    /** The time until which they are known to be the newest, and how long that is ago; null without a source that could say. */
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
  /** A clamd that nobody named and that was found at a usual place, for administrators; `reason` says why it is not used. Null where there is none. */
  found_scanner: z.object({ address: z.string(), used: z.boolean(), reason: z.string().nullable() }).nullable(),
  /** Null for everyone but administrators. */
  feeds: z.array(signatureFeedSchema).nullable(),
});
export type EngineStatus = z.infer<typeof engineStatusSchema>;

export const readEngine = endpoint({
  method: 'GET',
  path: '/antivirus/engine',
  summary: 'The scanning engines, their signatures and their limits.',
  access: 'customer',
  reply: engineStatusSchema,
});
