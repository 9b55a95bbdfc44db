import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { idSchema, timeSchema } from './fields.ts';
import { sideSchema } from './remote-record.ts';

/** Maximum size of a file that one side sends, in bytes. */
export const SESSION_FILE_BYTES_MAXIMUM = 25 * 1024 * 1024;
/** Maximum size of a recording, in bytes. The recording page stops before it is reached. */
export const RECORDING_BYTES_MAXIMUM = 200 * 1024 * 1024;
/** Maximum number of files and recordings of one session, and of concurrent transfers of one side. */
export const SESSION_FILES_MAXIMUM = 50;
export const SESSION_FILES_AT_ONCE = 5;
/** Maximum number of recordings of one session. */
export const RECORDINGS_MAXIMUM = 10;
/** Time after the end of the session until its files are deleted, in ms. */
export const SESSION_FILE_LIFETIME = 24 * 3_600_000;
/** Time after the end of the session until a recording that has not arrived counts as lost, in ms. */
export const RECORDING_PATIENCE = 10 * 60_000;

/**
 * The state of a file. `recording`: the technician's browser records or uploads it. `clean`: the other side can download it; a recording, both sides.
 * `infected`, `unread` (the engines could not read all of it) and `failed` (the scan failed, or the file was lost): it is not delivered, and nothing of it is kept.
 * `refused`: the customer refused it, and nothing of it is kept.
 */
export const sessionFileStatusSchema = z.enum(['recording', 'scanning', 'clean', 'infected', 'unread', 'failed', 'refused']);
export type SessionFileStatus = z.infer<typeof sessionFileStatusSchema>;

/** A file of a session, sent by `side` and `author`. */
export const sessionFileSchema = z.object({
  id: idSchema,
  session_id: idSchema,
  kind: z.enum(['file', 'recording']),
  side: sideSchema,
  /** The username when it was sent. */
  author: z.string(),
  filename: z.string(),
  /** In bytes; 0 until it arrives. */
  size: z.int(),
  status: sessionFileStatusSchema,
  threat: z.string().nullable(),
  sent_at: timeSchema,
  /** Time of its deletion; null while the session runs. */
  deleted_at: timeSchema.nullable(),
});
export type SessionFile = z.infer<typeof sessionFileSchema>;

export const listSessionFiles = endpoint({
  method: 'GET',
  path: '/remote/sessions/{id}/files',
  summary: 'What the sides of a session have sent to each other, oldest first, for both.',
  access: 'customer',
  reply: z.array(sessionFileSchema),
});

export const sendSessionFile = endpoint({
  method: 'POST',
  path: '/remote/sessions/{id}/files',
  summary:
    'Send a file to the other side of a session that runs, while its customer allows files. It is scanned first: what is not clean arrives at nobody.',
  access: 'customer',
  upload: 'file',
  status: 201,
  reply: sessionFileSchema,
  problems: ['too_large', 'malformed', 'upload_stalled', 'unsupported_media_type', 'conflict'],
});

export const beginRecording = endpoint({
  method: 'POST',
  path: '/remote/sessions/{id}/recordings',
  summary: 'Begin, as the technician, to record the picture in the browser, while the customer allows it. Both sides are told.',
  access: 'customer',
  status: 201,
  reply: sessionFileSchema,
  problems: ['conflict'],
});

export const sendRecording = endpoint({
  method: 'POST',
  path: '/remote/files/{id}/recording',
  summary:
    'Hand in a recording that one has begun, once, up to ten minutes after the end of its session. It is scanned; both sides can download it then.',
  access: 'customer',
  upload: 'file',
  status: 201,
  reply: sessionFileSchema,
  problems: ['too_large', 'malformed', 'upload_stalled', 'unsupported_media_type', 'conflict'],
});

export const refuseSessionFile = endpoint({
  method: 'POST',
  path: '/remote/files/{id}/refuse',
  summary: 'Refuse, as the customer, a file or a recording of an own session, or take back one’s own. Nothing of it is kept.',
  access: 'customer',
  reply: sessionFileSchema,
  problems: ['conflict'],
});

export const downloadSessionFile = endpoint({
  method: 'GET',
  path: '/remote/files/{id}/file',
  summary: 'A file of a session that was found clean, for its two sides, until a day after the session has ended.',
  access: 'customer',
  download: true,
  problems: ['conflict'],
});
