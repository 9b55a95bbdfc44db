import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { idParamsSchema, idSchema, pageQuerySchema, searchSchema, timeSchema } from './fields.ts';

/** Characters of a code: what nobody mistakes for another when it is read aloud or copied by hand (no 0, O, 1, I). 5 bits each. */
export const CODE_ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
/** 9 characters of 5 bits: 45 bits, shown in groups of three. */
export const CODE_LENGTH = 9;
const CODE_GROUP = /.{3}(?=.)/gu;
const CODE = new RegExp(`^[${CODE_ALPHABET}]{${CODE_LENGTH}}$`, 'u');

/** How long a session waits for a technician, in ms. */
export const PENDING_LIFETIME = 30 * 60_000;

/** Codes that are unknown, for one technician: so many in so long (ms), then none is tried. */
export const WRONG_CODES = { most: 10, window: 10 * 60_000 } as const;

/** How often the screens look at a session that waits or runs, in ms. */
export const SESSION_POLL_INTERVAL = 5_000;

/** The nine characters of a code as they are stored and shown: `K7M-4QP-9XD`. */
export function formatCode(characters: string): string {
  return characters.replaceAll(CODE_GROUP, '$&-');
}

/** A code as a person types it: in any case, with or without dashes and blanks. */
export const sessionCodeSchema = z
  .string({ error: 'Give the session code.' })
  .max(64, 'A session code has 9 letters and digits.')
  .transform((typed) => typed.toUpperCase().replaceAll(/[\s\-–—]/gu, ''))
  .refine((characters) => CODE.test(characters), 'A session code has 9 letters and digits, such as K7M-4QP-9XD.')
  .transform(formatCode);

export const sessionStatusSchema = z.enum(['active', 'pending', 'completed', 'cancelled']);
export type SessionStatus = z.infer<typeof sessionStatusSchema>;

/** Why a session is `cancelled`: by the customer, because nobody joined in time, or because the customer started another one. */
export const endReasonSchema = z.enum(['cancelled', 'expired', 'replaced']);
export type EndReason = z.infer<typeof endReasonSchema>;

/** A remote-support session. `support_agent` is the username of the technician who joined, as it was then. */
export const remoteSessionSchema = z.object({
  id: idSchema,
  session_code: z.string(),
  status: sessionStatusSchema,
  started_at: timeSchema,
  /** Until when a technician can join. */
  expires_at: timeSchema,
  joined_at: timeSchema.nullable(),
  ended_at: timeSchema.nullable(),
  end_reason: endReasonSchema.nullable(),
  support_agent: z.string().nullable(),
});
export type RemoteSession = z.infer<typeof remoteSessionSchema>;

/** A session as the technician who joined it sees it. `customer` is the customer's username, as it was when the session was created. */
export const joinedSessionSchema = remoteSessionSchema.extend({ customer: z.string() });
export type JoinedSession = z.infer<typeof joinedSessionSchema>;

/** `search` is looked for in the code and in the technician's name, or the customer's for a technician. */
const sessionsQuerySchema = pageQuerySchema.extend({ status: sessionStatusSchema.optional(), search: searchSchema });
export type SessionsQuery = z.infer<typeof sessionsQuerySchema>;

export const listSessions = endpoint({
  method: 'GET',
  path: '/remote/sessions',
  summary: 'The remote-support sessions of the signed-in person, newest first.',
  access: 'customer',
  query: sessionsQuerySchema,
  status: 200,
  reply: z.array(remoteSessionSchema),
  problems: [],
});

export const createSession = endpoint({
  method: 'POST',
  path: '/remote/session',
  summary: 'Create a session with a code. An older one that still waits is cancelled, so that one code is valid at a time.',
  access: 'customer',
  needs_proven_email: true,
  status: 201,
  reply: remoteSessionSchema,
  problems: [],
});

export const cancelSession = endpoint({
  method: 'POST',
  path: '/remote/sessions/{id}/cancel',
  summary: 'Cancel an own session that waits or runs.',
  access: 'customer',
  params: idParamsSchema,
  status: 200,
  reply: remoteSessionSchema,
  problems: ['conflict'],
});

export const completeSession = endpoint({
  method: 'POST',
  path: '/remote/sessions/{id}/complete',
  summary: 'End an own session that runs, as done.',
  access: 'customer',
  params: idParamsSchema,
  status: 200,
  reply: remoteSessionSchema,
  problems: ['conflict'],
});

export const joinSession = endpoint({
  method: 'POST',
  path: '/remote/join',
  summary: 'Join a waiting session by its code, as a technician.',
  access: 'support',
  needs_proven_email: true,
  body: z.object({ session_code: sessionCodeSchema }),
  status: 200,
  reply: joinedSessionSchema,
  problems: ['not_found', 'conflict', 'too_many_requests'],
});

export const listJoined = endpoint({
  method: 'GET',
  path: '/remote/joined',
  summary: 'The sessions that this technician joined, newest first.',
  access: 'support',
  query: sessionsQuerySchema,
  status: 200,
  reply: z.array(joinedSessionSchema),
  problems: [],
});

export const completeJoined = endpoint({
  method: 'POST',
  path: '/remote/joined/{id}/complete',
  summary: 'End a session that this technician joined and that runs, as done.',
  access: 'support',
  params: idParamsSchema,
  status: 200,
  reply: joinedSessionSchema,
  problems: ['conflict'],
});
