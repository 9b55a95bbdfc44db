import { z } from 'zod';
import { customerCardSchema } from './desk.ts';
import { conversationStatusSchema } from './desk-record.ts';
import { endpoint } from './endpoint.ts';
import { idSchema, timeSchema } from './fields.ts';
import { severitySchema } from './severity.ts';

/** A person's record: names and counts that staff may see, and for administrators the plan's end and the most severe open alert. */
export const personRecordSchema = z.object({
  card: customerCardSchema,
  /** The person's conversation with support; null before their first message. */
  conversation: z.object({ id: idSchema, status: conversationStatusSchema }).nullable(),
  /** Null for support. */
  administration: z
    .object({
      /** Null without a plan. */
      plan: z.object({ expires_at: timeSchema.nullable(), max_devices: z.int() }).nullable(),
      /** `unstopped` alerts were not blocked; `gravest` is the most severe of them. */
      alerts: z.object({
        active: z.int(),
        unstopped: z.int(),
        gravest: z.object({ threat_type: z.string(), severity: severitySchema }).nullable(),
      }),
    })
    .nullable(),
});
export type PersonRecord = z.infer<typeof personRecordSchema>;

export const readPersonRecord = endpoint({
  method: 'GET',
  path: '/support/person-record',
  summary:
    'The record of a person: plan, devices, alerts, conversation and remote sessions, as names and counts. Support reads it of people with a conversation, administrators of everybody. Each opening is in the audit log.',
  access: 'support',
  query: z.object({ user_id: idSchema }),
  reply: personRecordSchema,
  problems: ['not_found'],
});
