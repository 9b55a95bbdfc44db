import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { pageQuerySchema, searchSchema, timeSchema } from './fields.ts';
import { specified } from './reader.ts';
import { type endReasonSchema, liveSessionSchema, sessionStatusSchema } from './remote-record.ts';
import { typedCode } from './text.ts';

/** Characters of a code, without those that are confused when read aloud or copied by hand (0, O, 1, I). 5 bits each. */
export const CODE_ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
/** 9 characters (45 bits), shown in groups of three. */
export const CODE_LENGTH = 9;
const CODE_GROUP = /.{3}(?=.)/gu;
const CODE = new RegExp(`^[${CODE_ALPHABET}]{${CODE_LENGTH}}$`, 'u');

/** Maximum time for which a session waits for a technician, in ms. */
export const PENDING_LIFETIME = 30 * 60_000;

/** Maximum number of unknown codes of one technician in `window` ms; further codes are refused. */
export const WRONG_CODES = { most: 10, window: 10 * 60_000 } as const;

/** Deadlines of a session, in ms. */
export const SESSION_LIMITS = {
  /** Time for the customer to answer a technician; no answer counts as a refusal. */
  consent: 60_000,
  /** The same, measured from the technician's request, if the screen picker is open or was dismissed. */
  consent_longest: 5 * 60_000,
  share_stopped: 60_000,
  customer_gone: 60_000,
  technician_gone: 2 * 60_000,
  /** A side's server has stopped, and the side does not reconnect. */
  reconnecting: 60_000,
  /** Time until the customer must confirm again that the session may continue. */
  reaffirm: 30 * 60_000,
  longest: 4 * 3_600_000,
} as const;

/** Maximum length of a technician's notes, and of a customer's comment, in characters. */
export const NOTES_LENGTH_MAXIMUM = 4_000;
export const COMMENT_LENGTH_MAXIMUM = 1_000;

/** Interval at which screens poll a waiting or running session, in ms. */
export const SESSION_POLL_INTERVAL = 5_000;

/** Formats nine characters as a code, the stored and shown form: `K7M-4QP-9XD`. */
export function formatCode(characters: string): string {
  return characters.replaceAll(CODE_GROUP, '$&-');
}

/** A typed code, in any case, with or without dashes and spaces. */
export const sessionCodeSchema = z
  .string({ error: 'Enter the session code.' })
  .max(64, 'A session code has 9 letters and digits.')
  .transform((typed) => typedCode(typed).toUpperCase().replaceAll('-', ''))
  .refine((characters) => CODE.test(characters), 'A session code has 9 letters and digits, like K7M-4QP-9XD.')
  .transform(formatCode);

export type SessionStatus = z.infer<typeof sessionStatusSchema>;
export type EndReason = z.infer<typeof endReasonSchema>;

const PHASES: Readonly<Record<string, string>> = { pending: 'waiting', active: 'active' };
/** Defaults that follow from the status, for a server that sends no more: a code is valid for half an hour. */
const asStatusSays = ({ started_at, status }: Readonly<Record<string, unknown>>) => {
  const ms = Date.parse(String(started_at));
  const phase = PHASES[String(status)] ?? 'ended';
  return { phase, ...(Number.isNaN(ms) ? {} : { expires_at: new Date(ms + PENDING_LIFETIME).toISOString() }) };
};

/** A remote-support session. `support_agent` is the username of the technician when they joined. */
export const remoteSessionSchema = specified(
  ['id', 'session_code', 'status', 'started_at'],
  liveSessionSchema.extend({
    session_code: z.string(),
    started_at: timeSchema,
    /** Time until which a technician can join. */
    expires_at: timeSchema,
    joined_at: timeSchema.nullable(),
    /** The customer's feedback; null if there is none. */
    rating: z.int().nullable(),
    /** Time of the customer's report. */
    reported_at: timeSchema.nullable(),
  }),
  asStatusSays,
);
export type RemoteSession = z.infer<typeof remoteSessionSchema>;

/**
 * A session as the technician who joined it sees it. `customer` is the customer's username when the session was created; only staff see `notes`.
 */
export const joinedSessionSchema = remoteSessionSchema.extend({ customer: z.string(), notes: z.string() });
export type JoinedSession = z.infer<typeof joinedSessionSchema>;

/** `search` is matched against the code and the technician's name; for a technician, the customer's name. */
const sessionsQuerySchema = pageQuerySchema.extend({ status: sessionStatusSchema.optional(), search: searchSchema });
export type SessionsQuery = z.infer<typeof sessionsQuerySchema>;

export const listRemoteSessions = endpoint({
  method: 'GET',
  path: '/remote/sessions',
  summary: 'The remote-support sessions of the signed-in person, newest first.',
  access: 'customer',
  query: sessionsQuerySchema,
  reply: z.array(remoteSessionSchema),
});

export const createSession = endpoint({
  method: 'POST',
  path: '/remote/session',
  summary: 'Create a session with a code. An older one that still waits is cancelled, so that one code is valid at a time.',
  access: 'customer',
  needs_proven_email: true,
  status: 201,
  reply: remoteSessionSchema,
});

export const cancelSession = endpoint({
  method: 'POST',
  path: '/remote/sessions/{id}/cancel',
  summary: 'Cancel an own session that waits, is asked for or runs.',
  access: 'customer',
  reply: remoteSessionSchema,
  problems: ['conflict'],
});

export const completeSession = endpoint({
  method: 'POST',
  path: '/remote/sessions/{id}/complete',
  summary: 'End an own session that runs, as done.',
  access: 'customer',
  reply: remoteSessionSchema,
  problems: ['conflict'],
});

export const joinSession = endpoint({
  method: 'POST',
  path: '/remote/join',
  summary:
    'Ask, as a technician, to join the waiting session of a code. The code is used up; the customer approves or declines. Whatever is wrong with a code, the answer is the same 404.',
  access: 'support',
  needs_proven_email: true,
  /** Pages validate with `sessionCodeSchema`; here an invalid code is treated like an unknown one. */
  body: z.object({
    session_code: z.string({ error: 'Enter the session code.' }).max(4_000, 'This is too long for a session code.'),
  }),
  reply: joinedSessionSchema,
  problems: ['not_found', 'too_many_requests'],
});

export const listJoined = endpoint({
  method: 'GET',
  path: '/remote/joined',
  summary: 'The sessions that this technician joined, newest first.',
  access: 'support',
  query: sessionsQuerySchema,
  reply: z.array(joinedSessionSchema),
});

export const completeJoined = endpoint({
  method: 'POST',
  path: '/remote/joined/{id}/complete',
  summary: 'End a session that this technician joined and that runs, as done.',
  access: 'support',
  reply: joinedSessionSchema,
  problems: ['conflict'],
});
