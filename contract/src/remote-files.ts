import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { idSchema, timeSchema } from './fields.ts';
import { sideSchema } from './remote-record.ts';

/** Largest file that one side sends to the other, in bytes. */
export const SESSION_FILE_BYTES_MAXIMUM = 25 * 1024 * 1024;
/** Largest recording, in bytes. The page that records ends one before it is longer. */
export const RECORDING_BYTES_MAXIMUM = 200 * 1024 * 1024;
/** Files and recordings of one session, and how many of one side may be on their way at a time. */
export const SESSION_FILES_MAXIMUM = 50;
export const SESSION_FILES_AT_ONCE = 5;
/** Recordings of one session. */
export const RECORDINGS_MAXIMUM = 10;
/** Files are deleted this time after the session has ended, in ms. */
export const SESSION_FILE_LIFETIME = 24 * 3_600_000;
/** A recording that has not come so long after the session has ended is lost, in ms. */
export const RECORDING_PATIENCE = 10 * 60_000;

/**
 * The state of a file. `recording`: it is being made in the technician's browser, or is on its way here. `clean`: the other side can download it, and of a recording both.
 * `infected`, `unread` (the engines could not read all of it) and `failed` (it could not be scanned, or was lost): it arrives at nobody, and nothing of it is kept.
 * `refused`: the customer does not want it, and nothing of it is kept.
 */
export const sessionFileStatusSchema = z.enum(['recording', 'scanning', 'clean', 'infected', 'unread', 'failed', 'refused']);
export type SessionFileStatus = z.infer<typeof sessionFileStatusSchema>;

/** A file of a session. `side` and `author` sent it. */
export const sessionFileSchema = z.object({
  id: idSchema,
  session_id: idSchema,
  kind: z.enum(['file', 'recording']),
  side: sideSchema,
  /** The username, as it was. */
  author: z.string(),
  filename: z.string(),
  /** Bytes; 0 until it is here. */
  size: z.int(),
  status: sessionFileStatusSchema,
  threat: z.string().nullable(),
  sent_at: timeSchema,
  /** When it is deleted; null while the session runs. */
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
