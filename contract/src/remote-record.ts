import { z } from 'zod';
import { idSchema, timeSchema } from './fields.ts';
import { grantSchema, grantsEndedSchema } from './remote-grant.ts';

export const sessionStatusSchema = z.enum(['active', 'pending', 'completed', 'cancelled']);

/**
 * Where a session is, closer than its status says. `waiting`: for a technician. `claimed`: a technician asks, and the customer has to approve. `active`: it runs.
 * `reconnecting`: it runs, and a side has lost its connection for a moment. `ended`: completed or cancelled.
 */
export const phaseSchema = z.enum(['waiting', 'claimed', 'active', 'reconnecting', 'ended']);
export type Phase = z.infer<typeof phaseSchema>;

/**
 * Why a session is over. `cancelled` are: by the customer (`cancelled`), because nobody joined in time (`expired`), because the customer started another one (`replaced`),
 * because the customer refused the technician (`declined`) or said nothing for a minute (`no_answer`). `completed` are all others; an administrator ends both kinds.
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

/** The customer's approval: the picture of a screen, or talk alone (a phone has no way to share its screen). */
export const viewSchema = z.enum(['screen', 'talk']);
export type View = z.infer<typeof viewSchema>;

/** Whether the customer's picture is on its way: not yet, just now, or not any more. */
export const shareSchema = z.enum(['none', 'running', 'stopped']);
export type Share = z.infer<typeof shareSchema>;

/** The two sides of a session. */
export const sideSchema = z.enum(['customer', 'technician']);
export type Side = z.infer<typeof sideSchema>;

/** State of a side's voice: not, without being heard, or heard. They talk while neither is `off`. */
export const voiceSchema = z.enum(['off', 'muted', 'open']);
export type Voice = z.infer<typeof voiceSchema>;

/** The person who asks to look, as shown to the customer before approval. `staff_since` is null where it is unknown. */
export const technicianSchema = z.object({
  /** The username, as it was then. */
  name: z.string(),
  /** For whom they work: the name of this installation's provider. */
  provider: z.string(),
  /** The time since which they are of its staff. */
  staff_since: timeSchema.nullable(),
  /** When they asked. */
  asked_at: timeSchema,
});
export type Technician = z.infer<typeof technicianSchema>;

/** The state of a session. Of two, the one of the greater `version` is newer. */
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
  /** The customer has paused: their picture is black. */
  is_paused: z.boolean(),
  /** Whether a page of each side is there. */
  is_customer_here: z.boolean(),
  is_technician_here: z.boolean(),
  /** Each side turns its own voice on, and nobody another's. */
  voice: z.object({ customer: voiceSchema, technician: voiceSchema }),
  /** The time until which the customer has to say that it may continue; null while it does not run. */
  reaffirm_by: timeSchema.nullable(),
  /** When the clock ends it unless something happens, and as what. */
  due_at: timeSchema.nullable(),
  due_reason: endReasonSchema.nullable(),
  /** Present grants of the technician; none once it is over. `view` with no device is the picture that the customer has approved. */
  grants: z.array(grantSchema),
  /** The grants that ended last, and why; null while none has. */
  grants_ended: grantsEndedSchema.nullable(),
});
export type LiveSession = z.infer<typeof liveSessionSchema>;

/** A message beside the picture. `seq` is its place in the session. */
export const sessionMessageSchema = z.object({
  id: idSchema,
  session_id: idSchema,
  seq: z.int().min(1),
  side: sideSchema,
  /** The username of who wrote it, as it was. */
  author: z.string(),
  message: z.string(),
  sent_at: timeSchema,
  /** The id that the sending page gave it. */
  client_message_id: z.string().nullable(),
});
export type SessionMessage = z.infer<typeof sessionMessageSchema>;
