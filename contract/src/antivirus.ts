import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { idSchema, pageQuerySchema, searchSchema, timeSchema } from './fields.ts';
import { phraseSchema } from './phrase.ts';
import { specified } from './reader.ts';

/** Largest upload in bytes: 2 GiB. */
export const UPLOAD_MAXIMUM = 2 * 1024 ** 3;

/** Header with which a page identifies its upload, to follow and cancel it: 128 random bits in hex, new for each upload. */
export const UPLOAD_KEY_HEADER = 'x-upload-key';
export const uploadKeySchema = z.string().regex(/^[0-9a-f]{32}$/, 'Enter 32 hexadecimal digits.');

/** `clean` means that an engine read the whole file and found nothing; a file that was not read completely is `pending`. */
export const scanStatusSchema = z.enum(['clean', 'infected', 'pending']);
export type ScanStatus = z.infer<typeof scanStatusSchema>;

/** Why a record is `pending`, or another remark about how the file was read. */
export const statusDetailSchema = z.enum([
  'queued',
  'engine_down',
  'engine_failed',
  'time_limit',
  'encrypted',
  'too_large',
  'depth',
  'too_many_members',
  'bomb',
  'damaged',
  'unsupported',
  'unexplained',
  'expired',
]);
export type StatusDetail = z.infer<typeof statusDetailSchema>;

/** The result of one engine. `duration_ms` excludes the time in the queue. */
export const engineAnswerSchema = z.object({
  name: z.string(),
  version: z.string(),
  signatures_version: z.string(),
  verdict: scanStatusSchema,
  threat: z.string().nullable(),
  duration_ms: z.number(),
});
export type EngineAnswer = z.infer<typeof engineAnswerSchema>;

/**
 * The part of the file that was read: members of archives that were found and scanned, bytes given to the engine after unpacking, encrypted members. `bytes_raw` are
 * bytes of no known format, read without unpacking; 0 in records that were stored before they were counted.
 */
export const coverageSchema = z.object({
  members_total: z.int(),
  members_scanned: z.int(),
  bytes_scanned: z.int(),
  encrypted: z.int(),
  bytes_raw: z.int().default(0),
  /** False if the file was read in windows, so that conditions on the whole file were not tested. */
  whole_file_conditions: z.boolean(),
});
export type Coverage = z.infer<typeof coverageSchema>;

/** A note as a phrase. `member` is the part of the file that it is about; null for the file itself. */
export const notePhraseSchema = phraseSchema.extend({ member: z.string().nullable() });
export type NotePhrase = z.infer<typeof notePhraseSchema>;

/**
 * The state of an infection: `open` until the person deletes the original, or the agent deletes or quarantines it. `upgrade`: found before this was recorded.
 */
export const infectionSchema = z.union([
  z.object({ state: z.literal('open') }),
  z.object({ state: z.literal('closed'), at: timeSchema, by: z.enum(['person', 'agent', 'upgrade']) }),
]);
export type Infection = z.infer<typeof infectionSchema>;

/**
 * One scanned file. `file_hash` is the SHA-256 of the uploaded bytes in hex; `size` is in bytes. `media_type` is detected from the content, not the name;
 * null while nothing has read it. `first_seen_at` is when this person first uploaded the same bytes.
 */
export const scanSchema = specified(
  ['id', 'filename', 'scan_status', 'scanned_at', 'file_hash'],
  z.object({
    id: idSchema,
    filename: z.string(),
    scan_status: scanStatusSchema,
    status_detail: statusDetailSchema.nullable(),
    scanned_at: timeSchema,
    threat_detected: z.string().nullable(),
    threat_member: z.string().nullable(),
    /** True if the finding is one of the industry's harmless test files. */
    is_test_file: z.boolean(),
    file_hash: z.string(),
    size: z.int(),
    media_type: z.string().nullable(),
    first_seen_at: timeSchema,
    notes: z.array(z.string()),
    /** Each note as a phrase, with the part of the file that it is about; null for notes that were stored before phrases. */
    note_phrases: z.array(notePhraseSchema.nullable()),
    engines: z.array(engineAnswerSchema),
    coverage: coverageSchema.nullable(),
    /** The device that scanned the file in place, and the path there. The file was never uploaded. */
    device: z.object({ id: idSchema, device_name: z.string(), path: z.string() }).optional(),
    /** Only for infected files that are not harmless test files. */
    infection: infectionSchema.optional(),
  }),
);
export type Scan = z.infer<typeof scanSchema>;

export const SCAN_SORTS = ['newest', 'oldest', 'name', 'largest'] as const;

/** `search` is matched against the names of the file and the threat, ignoring case. */
export const scansQuerySchema = pageQuerySchema.extend({
  status: scanStatusSchema.optional(),
  /** Only open infections. */
  infection: z.literal('open', { error: 'Only “open” can be asked for.' }).optional(),
  search: searchSchema,
  sort: z.enum(SCAN_SORTS, { error: 'Sort by newest, oldest, name, or largest.' }).default('newest'),
});
export type ScansQuery = z.infer<typeof scansQuerySchema>;

export const listScans = endpoint({
  method: 'GET',
  path: '/antivirus/scans',
  summary: 'The scans of the signed-in person, newest first where nothing else is asked for.',
  access: 'customer',
  query: scansQuerySchema,
  reply: z.array(scanSchema),
});

/** Number of scans of each status, on all pages. */
/** `test_files`: how many of the infected ones are harmless test files. */
export const scanTotalsSchema = z.object({ clean: z.int(), infected: z.int(), pending: z.int(), test_files: z.int() });
export type ScanTotals = z.infer<typeof scanTotalsSchema>;

export const countScans = endpoint({
  method: 'GET',
  path: '/antivirus/scan-counts',
  summary: 'How many scans of the signed-in person there are of each status, in all or among those that a search finds.',
  access: 'customer',
  query: z.object({ search: searchSchema }),
  reply: scanTotalsSchema,
});

export const scanFile = endpoint({
  method: 'POST',
  path: '/antivirus/scan',
  summary:
    'Upload one file in the multipart field "file" and have it scanned. A header `X-Upload-Key` with 32 random hexadecimal digits names the upload, to follow and to cancel it.',
  access: 'customer',
  upload: 'file',
  status: 201,
  reply: scanSchema,
  problems: [
    'unsupported_media_type',
    'too_large',
    'upload_stalled',
    'upload_cancelled',
    'conflict',
    'too_many_requests',
    'storage_full',
    'unavailable',
  ],
});

export const cancelUpload = endpoint({
  method: 'DELETE',
  path: '/antivirus/uploads/{key}',
  summary:
    'Cancel an upload, or the scan that follows it. Answered once nothing of the file is left; 404 when its verdict came first; 503 while it is on its way to another server that does not answer.',
  access: 'customer',
  params: z.object({ key: uploadKeySchema }),
  problems: ['on_another_server'],
});

/** Maximum number of infected files that one request can close. */
export const SETTLED_MAXIMUM = 100;

export const settleInfections = endpoint({
  method: 'PUT',
  path: '/antivirus/infections',
  summary:
    'Say that the originals of infected files are deleted, or that they are not. It counts for every upload of the same bytes, and for the one copy on a device that a record names.',
  access: 'customer',
  body: z.object({
    scan_ids: z
      .array(idSchema)
      .min(1, 'Choose at least one file.')
      .max(SETTLED_MAXIMUM, `Choose at most ${SETTLED_MAXIMUM} files at once.`),
    deleted: z.boolean('Say whether the originals are deleted.'),
  }),
  changes: 'files',
  /** Number of changed records. */
  reply: z.object({ settled: z.int() }),
});

/** One plain sentence that explains a `status_detail`. */
export const STATUS_DETAIL_SENTENCES: Record<StatusDetail, string> = {
  queued: 'Waiting to be scanned.',
  engine_down: 'The scanner didn’t finish. We’ll scan the file when the scanner is back.',
  engine_failed: 'The scanner failed twice on this file. We’ll try again after the next scanner update.',
  time_limit: 'Scanning took too long, so we couldn’t check the whole file.',
  encrypted: 'This file has a password, so we couldn’t check its contents.',
  too_large: 'This file unpacks to more than we scan, so we couldn’t check all of it.',
  depth: 'This file has too many archives inside each other, so we couldn’t check all of it.',
  too_many_members: 'This file contains too many files, so we couldn’t check all of them.',
  bomb: 'This file unpacks to far more than its size, so we stopped. It may be a decompression bomb.',
  unsupported: 'This archive type isn’t supported, so we couldn’t check its contents.',
  damaged: 'This file is damaged or incomplete, so we couldn’t check all of it.',
  unexplained: 'This file has hidden data that we couldn’t identify, so we couldn’t check all of it.',
  expired: 'We couldn’t scan this file in time and deleted our copy.',
};
