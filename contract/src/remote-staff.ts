import { z } from 'zod';
import { customerCardSchema } from './desk.ts';
import { endpoint } from './endpoint.ts';
import { idParamsSchema, pageQuerySchema, timeSchema } from './fields.ts';
import { joinedSessionSchema, NOTES_LENGTH_MAXIMUM } from './remote.ts';
import { liveSessionSchema } from './remote-record.ts';

export const writeNotes = endpoint({
  method: 'PUT',
  path: '/remote/joined/{id}/notes',
  summary: 'Keep notes of a session that this technician joined. The staff alone reads them.',
  access: 'support',
  params: idParamsSchema,
  body: z.object({
    notes: z.string().max(NOTES_LENGTH_MAXIMUM, `Notes have at most ${NOTES_LENGTH_MAXIMUM} characters.`),
  }),
  status: 200,
  reply: joinedSessionSchema,
  problems: [],
});

export const readSessionCustomer = endpoint({
  method: 'GET',
  path: '/remote/joined/{id}/customer',
  summary: 'Who the customer of a session that runs is: names and counts. Each opening is in the audit log.',
  access: 'support',
  params: idParamsSchema,
  status: 200,
  reply: customerCardSchema,
  problems: ['conflict'],
});

/** A session that is open, as administrators see it: who looks at whose screen. */
export const openSessionSchema = liveSessionSchema.extend({ customer: z.string(), started_at: timeSchema });
export type OpenSession = z.infer<typeof openSessionSchema>;

export const listOpenSessions = endpoint({
  method: 'GET',
  path: '/admin/remote-sessions',
  summary: 'The sessions of this installation that are asked for or run, newest first.',
  access: 'admin',
  query: pageQuerySchema,
  status: 200,
  reply: z.array(openSessionSchema),
  problems: [],
});

export const endOpenSession = endpoint({
  method: 'POST',
  path: '/admin/remote-sessions/{id}/end',
  summary: 'End a session of somebody else at once.',
  access: 'admin',
  params: idParamsSchema,
  status: 200,
  reply: openSessionSchema,
  problems: ['conflict'],
});
