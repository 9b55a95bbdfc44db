import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { timeSchema } from './fields.ts';

/** Time without a confirmed update after which signatures count as old, in ms. */
export const SIGNATURES_OLD_MS = 48 * 3_600_000;

/** One scanning engine. `version` and `signatures_version` are null until it has been ready once. */
export const engineSchema = z.object({
  name: z.string(),
  /** The build of the embedded engine that is in use; null until it has been ready once, and for clamd. */
  kind: z.enum(['native', 'wasm']).nullable(),
  /** The reason why the native build is not used, in sentences; null if it is, or if `PALISADE_ENGINE` selects the other one. */
  note: z.string().nullable(),
  version: z.string().nullable(),
  signatures_version: z.string().nullable(),
  state: z.enum(['starting', 'ready', 'down']),
  processes: z.object({ ready: z.int(), wanted: z.int() }),
});

/** A part of a source that is not used: the name of a file, rule or entry, and the reason. `detail` is one sentence, or a compiler message. */
export const leftOutSchema = z.object({
  name: z.string(),
  why: z.enum(['does_not_compile', 'twice', 'slow', 'would_alarm', 'needs_another', 'no_entry']),
  detail: z.string(),
});

/** Maximum number of a source's unused rules that are listed; the others are only counted. */
export const LEFT_OUT_NAMED = 200;

/** A source of signatures, for administrators. `sentence` describes the result of the last update. */
export const signatureFeedSchema = z.object({
  address: z.string(),
  kind: z.enum(['yara', 'sha256', 'domains']),
  /** Findings of a `note` source are notes on the record and never mark a file as infected. */
  severity: z.enum(['alarm', 'note']),
  ok: z.boolean(),
  sentence: z.string(),
  /** Number of rules and hashes in use. */
  rules: z.int(),
  hashes: z.int(),
  left_out: z.array(leftOutSchema).max(LEFT_OUT_NAMED),
  left_out_total: z.int(),
  /** Time when the content in use arrived, and when the source last confirmed that it is current; null before. */
  changed_at: timeSchema.nullable(),
  confirmed_at: timeSchema.nullable(),
  /** Additional memory that it takes in each engine process, in bytes; null while no process has loaded it. */
  memory_bytes: z.int().nullable(),
});
export type SignatureFeedStatus = z.infer<typeof signatureFeedSchema>;

/** The present state of the scanner: engines, signatures, and limits (bytes and ms). */
export const engineStatusSchema = z.object({
  engines: z.array(engineSchema),
  signatures: z.object({
    rules: z.int(),
    hashes: z.int(),
    /** Time when the newest signatures arrived; for the pack that ships with the product, the day of its last change, if known. */
    built_at: timeSchema.nullable(),
    /** Time at which the signatures were last known to be current, and its age in hours; null without a source that can tell. */
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
  /** A clamd that is not configured but was found at a usual address, for administrators; `reason` says why it is not used. Null if there is none. */
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
