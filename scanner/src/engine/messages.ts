import { coverageSchema, statusDetailSchema } from '@palisade/contract/antivirus';
import { threatFactsSchema } from '@palisade/contract/quarantine';
import { scanPhraseSchema } from '@palisade/contract/scan-phrases';
import { z } from 'zod';
import { signatureFilesSchema } from '#scanner/rules/signature-files.ts';
import { engineKindSchema } from '#scanner/yara/rule-engine.ts';

/** Bytes of a file that one process asks another to match. `path`: the name by which rules see them. */
const rangeSchema = z.object({
  from: z.int().nonnegative(),
  length: z.int().nonnegative(),
  is_within: z.boolean(),
  path: z.string().optional(),
});
export type RangeMessage = z.infer<typeof rangeSchema>;

/** A finding of another process in such a range. `carved` is the id of a pattern. */
const findingSchema = z.object({
  matches: z.array(
    z.object({
      ...threatFactsSchema.shape,
      rule: z.string(),
      threat: z.string(),
      verdict: z.enum(['infected', 'suspicious']),
    }),
  ),
  places: z.array(z.object({ carved: z.string(), offsets: z.array(z.int()), is_cut: z.boolean() })),
});
export type FindingMessage = z.infer<typeof findingSchema>;

const fileSchema = z.object({
  job: z.string(),
  path: z.string(),
  /** Of a small file: then there is nothing at `path`. */
  bytes: z.custom<Uint8Array>((value) => value instanceof Uint8Array).optional(),
  size: z.int(),
  name: z.string(),
  sha256: z.string(),
  folder: z.string(),
  /** Opens what is encrypted. Never logged, never stored. */
  password: z.string().optional(),
});
export type FileMessage = z.infer<typeof fileSchema>;

/** Messages from the server to an engine process. */
export const requestSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('start'), signatures: signatureFilesSchema }),
  z.object({
    kind: z.literal('scan'),
    /** Read in this order, one after the other. */
    files: z.array(fileSchema).min(1),
    /** No file after the first is started at or after this time (`systemTime`): the server gives it to another process. */
    until: z.number(),
    /** Idle processes may exist. */
    has_help: z.boolean(),
    limits: z.object({
      depth: z.int(),
      members: z.int(),
      unpacked_bytes: z.number(),
      ratio: z.number(),
      ratio_floor_bytes: z.number(),
      time_ms: z.number(),
    }),
  }),
  /** A process matches the requested ranges. */
  z.object({ kind: z.literal('granted'), call: z.int() }),
  /** Findings; null when no process is idle, or the helping process has ended. */
  z.object({ kind: z.literal('helped'), call: z.int(), findings: z.array(findingSchema).nullable() }),
  /** Sent to an idle process: match for another one. */
  z.object({ kind: z.literal('match'), path: z.string(), ranges: z.array(rangeSchema) }),
]);
export type EngineRequest = z.infer<typeof requestSchema>;

/** Messages from an engine process to the server. The process reads untrusted bytes, so the server validates its messages too. */
export const answerSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('ready'),
    /** The build that compiles rules, and the reason why it is not the native one. */
    engine: z.object({ kind: engineKindSchema, note: z.string().nullable() }),
    version: z.string(),
    signatures_version: z.string(),
    rules: z.int(),
    hashes: z.int(),
    left_out: z.array(z.string()),
    /** Memory use of each feed in this process. */
    memory: z.array(z.object({ id: z.string(), bytes: z.number() })),
    resident_bytes: z.number(),
  }),
  z.object({ kind: z.literal('refused'), reason: z.string() }),
  z.object({
    kind: z.literal('scanned'),
    job: z.string(),
    /** No further file of the message will be started. */
    is_last: z.boolean(),
    duration_ms: z.number(),
    examination: z.object({
      threat: z.string().nullable(),
      threat_member: z.string().nullable(),
      threat_facts: threatFactsSchema.nullable(),
      media_type: z.string().nullable(),
      named_after_upload: z.boolean(),
      notes: z.array(z.object({ member: z.string().nullable(), phrase: scanPhraseSchema })),
      unread: z.array(statusDetailSchema),
      coverage: coverageSchema,
    }),
  }),
  z.object({
    kind: z.literal('progress'),
    job: z.string(),
    share: z.number().min(0).max(1),
    members_read: z.int(),
    members_found: z.int(),
  }),
  /** Asks for help with ranges of its file or of unpacked content. */
  z.object({ kind: z.literal('asks'), call: z.int(), path: z.string(), ranges: z.array(rangeSchema) }),
  /** Results of matching for another process, in the order of the questions. */
  z.object({ kind: z.literal('matched'), findings: z.array(findingSchema).nullable() }),
  /** Garbage of the last file was collected; reports the remaining memory. */
  z.object({ kind: z.literal('rested'), resident_bytes: z.number() }),
  z.object({ kind: z.literal('failed'), job: z.string(), is_last: z.boolean(), reason: z.string() }),
]);
export type EngineMessage = z.infer<typeof answerSchema>;
