import { z } from 'zod';
import { activitySchema } from './audit.ts';
import { clientMessageIdSchema, messageSchema } from './chat.ts';
import { endpoint, HEADER_FIELDS } from './endpoint.ts';
import { idSchema, NUMBER_MAXIMUM, timeSchema } from './fields.ts';
import { COMMENT_LENGTH_MAXIMUM, remoteSessionSchema } from './remote.ts';
import { grantKindSchema, needsDevice } from './remote-grant.ts';
import { sessionMessageSchema, sideSchema, viewSchema } from './remote-record.ts';
import { deviceChangesSchema } from './session-changes.ts';

/** A session as one of its sides sees it. `customer` is the customer's username. */
export const sideOfSessionSchema = remoteSessionSchema.extend({ side: sideSchema, customer: z.string() });
export type SideOfSession = z.infer<typeof sideOfSessionSchema>;

export const readSession = endpoint({
  method: 'GET',
  path: '/remote/sessions/{id}',
  summary: 'A session, for its customer and for the technician who joined it.',
  access: 'customer',
  reply: sideOfSessionSchema,
});

export const approveSession = endpoint({
  method: 'POST',
  path: '/remote/sessions/{id}/approve',
  summary: 'Let the technician who asks look. The customer alone can; of a screen once they have chosen what to show.',
  access: 'customer',
  body: z.object({ view: viewSchema }),
  reply: remoteSessionSchema,
  problems: ['conflict'],
});

export const declineSession = endpoint({
  method: 'POST',
  path: '/remote/sessions/{id}/decline',
  summary: 'Refuse the technician who asks. The session is over.',
  access: 'customer',
  reply: remoteSessionSchema,
  problems: ['conflict'],
});

export const reaffirmSession = endpoint({
  method: 'POST',
  path: '/remote/sessions/{id}/reaffirm',
  summary: 'Say that an own session may go on for another half hour, within its four hours.',
  access: 'customer',
  reply: remoteSessionSchema,
  problems: ['conflict'],
});

/** Reasons of a customer's report about a session. */
export const reportKindSchema = z.enum([
  'asked_for_money',
  'asked_for_password',
  'did_what_i_did_not_want',
  'not_who_they_said',
  'else',
]);
export type ReportKind = z.infer<typeof reportKindSchema>;

export const reportSession = endpoint({
  method: 'POST',
  path: '/remote/sessions/{id}/report',
  summary: 'Report an own session that somebody joined: administrators get an alert. One that is open is ended at once.',
  access: 'customer',
  body: z.object({
    reason: reportKindSchema,
    comment: z.string().trim().max(COMMENT_LENGTH_MAXIMUM, `Use at most ${COMMENT_LENGTH_MAXIMUM} characters.`).default(''),
  }),
  reply: remoteSessionSchema,
  problems: ['conflict'],
});

export const rateSession = endpoint({
  method: 'POST',
  path: '/remote/sessions/{id}/rating',
  summary: 'Rate an own session that is over and in which somebody helped. Another rating replaces it.',
  access: 'customer',
  body: z.object({
    rating: z.int({ error: 'Choose 1 to 5.' }).min(1, 'Choose 1 to 5.').max(5, 'Choose 1 to 5.'),
    comment: z
      .string()
      .trim()
      .max(COMMENT_LENGTH_MAXIMUM, `Use at most ${COMMENT_LENGTH_MAXIMUM} characters for the comment.`)
      .default(''),
  }),
  reply: remoteSessionSchema,
  problems: ['conflict'],
});

export const grantInSession = endpoint({
  method: 'POST',
  path: '/remote/sessions/{id}/grants',
  summary:
    'Let the technician do something more in an own session that runs, until it ends, it is revoked or a page of either side is gone. Of a device: one of one’s own that is connected.',
  access: 'customer',
  body: z
    .object({ grant: grantKindSchema, device_id: idSchema.nullable().default(null) })
    .refine(({ grant, device_id }) => needsDevice(grant) === (device_id !== null), {
      path: ['device_id'],
      message: 'Choose a device only for view, control, or clipboard.',
    }),
  reply: remoteSessionSchema,
  problems: ['conflict'],
});

export const revokeInSession = endpoint({
  method: 'POST',
  path: '/remote/sessions/{id}/revoke',
  summary: 'End a grant of a session, or all of them: its customer revokes it, its technician gives it back.',
  access: 'customer',
  body: z.object({ grant: z.union([grantKindSchema, z.literal('all')]) }),
  reply: remoteSessionSchema,
  problems: ['conflict'],
});

export const readIce = endpoint({
  method: 'GET',
  path: '/remote/sessions/{id}/ice',
  summary:
    'By which servers the two pages of a session that runs find each other; its customer reads it from the question on. Credentials count for a while, and for this session.',
  access: 'customer',
  reply: z.object({
    /** In the format of `RTCPeerConnection`. */
    ice_servers: z.array(
      z.object({ urls: z.array(z.string()), username: z.string().optional(), credential: z.string().optional() }),
    ),
    /** Whether a relay (TURN) is available for sides that cannot connect directly. */
    has_relay: z.boolean(),
    /** Time until which the credentials are valid; null without credentials. */
    expires_at: timeSchema.nullable(),
  }),
  problems: ['conflict'],
});

export const listSessionMessages = endpoint({
  method: 'GET',
  path: '/remote/sessions/{id}/messages',
  summary: 'What was written in a session, oldest first, for both sides; at most 200 after `after`.',
  access: 'customer',
  query: z.object({
    after: z.coerce
      .number({ error: 'Enter a whole number.' })
      .int('Enter a whole number.')
      .min(0, 'Enter a message’s position.')
      .max(NUMBER_MAXIMUM, 'Enter a message’s position.')
      .default(0),
  }),
  reply: z.array(sessionMessageSchema),
});

export const writeSessionMessage = endpoint({
  method: 'POST',
  path: '/remote/sessions/{id}/messages',
  summary: 'Write to the other side of a session that is asked for or runs.',
  access: 'customer',
  body: z.object({ message: messageSchema, client_message_id: clientMessageIdSchema.optional() }),
  header_fields: { client_message_id: HEADER_FIELDS.message },
  status: 201,
  reply: sessionMessageSchema,
  problems: ['conflict'],
});

export const listSessionAudit = endpoint({
  method: 'GET',
  path: '/remote/sessions/{id}/audit',
  summary: 'What happened in an own session, oldest first, as the audit log has it.',
  access: 'customer',
  reply: z.array(activitySchema),
});

export const exportSessionAudit = endpoint({
  method: 'GET',
  path: '/remote/sessions/{id}/audit/export',
  summary: 'What happened in an own session as a file.',
  access: 'customer',
  query: z.object({ format: z.enum(['csv', 'json'], { error: 'Choose "csv" or "json".' }) }),
  download: true,
});

export const readSessionChanges = endpoint({
  method: 'GET',
  path: '/remote/sessions/{id}/changes',
  summary:
    'What changed on the customer’s devices between consent and end of an own session, as their agents measured it; none for who had no device online.',
  access: 'customer',
  reply: z.array(deviceChangesSchema),
});
