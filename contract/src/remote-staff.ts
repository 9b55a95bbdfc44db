import { z } from 'zod';
import { activitySchema } from './audit.ts';
import { customerCardSchema } from './desk.ts';
import { endpoint } from './endpoint.ts';
import { pageQuerySchema, searchSchema, timeSchema } from './fields.ts';
import { joinedSessionSchema, NOTES_LENGTH_MAXIMUM } from './remote.ts';
import { endReasonSchema, liveSessionSchema, sessionStatusSchema } from './remote-record.ts';
import { reportKindSchema } from './remote-session.ts';

export const writeNotes = endpoint({
  method: 'PUT',
  path: '/remote/joined/{id}/notes',
  summary: 'Keep notes of a session that this technician joined. The staff alone reads them.',
  access: 'support',
  body: z.object({
    notes: z.string().max(NOTES_LENGTH_MAXIMUM, `Use at most ${NOTES_LENGTH_MAXIMUM} characters for the notes.`),
  }),
  reply: joinedSessionSchema,
});

export const readSessionCustomer = endpoint({
  method: 'GET',
  path: '/remote/joined/{id}/customer',
  summary: 'Who the customer of a session that runs is: names and counts. Each opening is in the audit log.',
  access: 'support',
  reply: customerCardSchema,
  problems: ['conflict'],
});

/**
 * A session that a technician asked to join, as administrators see it: both people, and the customer's rating and report. It excludes the session's code and
 * the technician's notes.
 */
export const overseenSessionSchema = liveSessionSchema.extend({
  customer: z.string(),
  started_at: timeSchema,
  /** Time when a technician asked to join. */
  joined_at: timeSchema.nullable(),
  rating: z.int().nullable(),
  report: z.object({ at: timeSchema, reason: reportKindSchema, comment: z.string() }).nullable(),
});
export type OverseenSession = z.infer<typeof overseenSessionSchema>;

/** `search` is matched against the names of both sides. `reported` selects sessions that the customer reported. */
const overseenQuerySchema = pageQuerySchema.extend({
  status: sessionStatusSchema.optional(),
  end_reason: endReasonSchema.optional(),
  reported: z.enum(['true', 'false'], { error: 'Choose "true" or "false".' }).optional(),
  search: searchSchema,
});
export type OverseenQuery = z.infer<typeof overseenQuerySchema>;

export const listOverseenSessions = endpoint({
  method: 'GET',
  path: '/admin/remote-sessions',
  summary: 'The sessions of this installation that somebody asked to join: reported ones first, then newest first.',
  access: 'admin',
  query: overseenQuerySchema,
  reply: z.array(overseenSessionSchema),
});

export const listOverseenAudit = endpoint({
  method: 'GET',
  path: '/admin/remote-sessions/{id}/audit',
  summary: 'What happened in a session of somebody else, oldest first, as the audit log has it.',
  access: 'admin',
  reply: z.array(activitySchema),
});

export const endOverseenSession = endpoint({
  method: 'POST',
  path: '/admin/remote-sessions/{id}/end',
  summary: 'End a session of somebody else at once.',
  access: 'admin',
  reply: overseenSessionSchema,
  problems: ['conflict'],
});
