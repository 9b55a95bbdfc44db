import { z } from 'zod';
import { idSchema, timeSchema } from './fields.ts';
import { grantSchema, grantsEndedSchema } from './remote-grant.ts';

export const sessionStatusSchema = z.enum(['active', 'pending', 'completed', 'cancelled']);

/**
 * The state of a session in more detail than its status. `waiting`: for a technician. `claimed`: a technician asks, and the customer must approve. `active`: running.
 * `reconnecting`: running, but a side is temporarily disconnected. `ended`: completed or cancelled.
 */
export const phaseSchema = z.enum(['waiting', 'claimed', 'active', 'reconnecting', 'ended']);
export type Phase = z.infer<typeof phaseSchema>;

/**
 * The reason why a session ended. Status `cancelled`: by the customer (`cancelled`), nobody joined in time (`expired`), the customer started another one (`replaced`),
 * the customer refused the technician (`declined`) or did not answer for a minute (`no_answer`). All others are `completed`; an administrator can end both kinds.
 */
export const endReasonSchema = z.enum([
  'cancelled',
  'expired',
  'replaced',
  'declined',
  'no_answer',
  'ended_by_customer',
  'ended_by_technician',
  'ended_by_admin',
  'reported',
  'share_stopped',
  'customer_gone',
  'technician_gone',
  'not_reaffirmed',
  'time_limit',
  'server_restart',
  'access_lost',
]);

/** The customer's approval: to show a screen, or only to talk (phones cannot share their screen). */
export const viewSchema = z.enum(['screen', 'talk']);
export type View = z.infer<typeof viewSchema>;

/** Whether the customer's picture is being sent: not yet, now, or not any more. */
export const shareSchema = z.enum(['none', 'running', 'stopped']);
export type Share = z.infer<typeof shareSchema>;

/** The two sides of a session. */
export const sideSchema = z.enum(['customer', 'technician']);
export type Side = z.infer<typeof sideSchema>;

/** State of a side's voice: off, on but muted, or on. The sides talk while neither is `off`. */
export const voiceSchema = z.enum(['off', 'muted', 'open']);
export type Voice = z.infer<typeof voiceSchema>;

/** The technician who asks to see the screen, as shown to the customer before approval. `staff_since` is null if unknown. */
export const technicianSchema = z.object({
  /** The username at that time. */
  name: z.string(),
  /** The name of this installation's provider. */
  provider: z.string(),
  /** Time since which the technician is a member of its staff. */
  staff_since: timeSchema.nullable(),
  /** Time of the request. */
  asked_at: timeSchema,
});
export type Technician = z.infer<typeof technicianSchema>;

/** The state of a session. A higher `version` is newer. */
export const liveSessionSchema = z.object({
  id: idSchema,
  version: z.int(),
  status: sessionStatusSchema,
  phase: phaseSchema,
  end_reason: endReasonSchema.nullable(),
  ended_at: timeSchema.nullable(),
  support_agent: z.string().nullable(),
  technician: technicianSchema.nullable(),
  approved_at: timeSchema.nullable(),
  view: viewSchema.nullable(),
  share: shareSchema,
  /** The customer has paused, and their picture is black. */
  is_paused: z.boolean(),
  /** Whether a page of each side is connected. */
  is_customer_here: z.boolean(),
  is_technician_here: z.boolean(),
  /** Each side controls only its own voice. */
  voice: z.object({ customer: voiceSchema, technician: voiceSchema }),
  /** Time until which the customer must confirm that the session may continue; null unless it is running. */
  reaffirm_by: timeSchema.nullable(),
  /** Time at which the session ends unless something happens, and the reason that it will then have. */
  due_at: timeSchema.nullable(),
  due_reason: endReasonSchema.nullable(),
  /** Active grants of the technician; none after the session. `view` without a device is the picture that the customer approved. */
  grants: z.array(grantSchema),
  /** The grants that ended last, and the reason; null if none has ended. */
  grants_ended: grantsEndedSchema.nullable(),
});
export type LiveSession = z.infer<typeof liveSessionSchema>;

/** A chat message beside the picture. `seq` is its position in the session. */
export const sessionMessageSchema = z.object({
  id: idSchema,
  session_id: idSchema,
  seq: z.int().min(1),
  side: sideSchema,
  /** The author's username when it was written. */
  author: z.string(),
  message: z.string(),
  sent_at: timeSchema,
  /** The id that the sending page assigned. */
  client_message_id: z.string().nullable(),
});
export type SessionMessage = z.infer<typeof sessionMessageSchema>;
