import { z } from 'zod';
import { idSchema, timeSchema } from './fields.ts';

/**
 * Grants of a customer to a technician in a running session, one by one. `view`: see a screen, that which the customer's browser shows (`device` is null) or
 * that of a device through its agent. `control`: its mouse and keyboard. `clipboard`: what is copied on either side reaches the other; of the device that is controlled.
 * `files`: send files to and get them from the customer. `recording`: keep a recording of the picture.
 */
export const GRANT_KINDS = ['view', 'control', 'clipboard', 'files', 'recording'] as const;
export const grantKindSchema = z.enum(GRANT_KINDS);
export type GrantKind = z.infer<typeof grantKindSchema>;

/** A grant that holds now. When it was given and ended, by whom and why, is in the session's record (the audit log). */
export const grantSchema = z.object({
  grant: grantKindSchema,
  granted_at: timeSchema,
  /** The username of who granted it: the customer. */
  granted_by: z.string(),
  /** The customer's device; null where the grant concerns none. */
  device: z.object({ id: idSchema, device_name: z.string() }).nullable(),
});
export type Grant = z.infer<typeof grantSchema>;

/**
 * Why the grants that ended last did. `customer` and `technician`: they revoked it, or gave it back. `own_input`: the customer moved their own mouse. `page_gone`: a side's
 * page went, or the session ended. `agent_gone`: the device's agent went. `unavailable`: the device cannot be controlled, for `detail`. `malformed`: what passed was no RFB,
 * for `detail`.
 */
export const GRANT_ENDS = ['customer', 'technician', 'own_input', 'page_gone', 'agent_gone', 'unavailable', 'malformed'] as const;
export const grantsEndedSchema = z.object({
  grants: z.array(grantKindSchema),
  why: z.enum(GRANT_ENDS),
  detail: z.string().nullable(),
  at: timeSchema,
});
export type GrantsEnded = z.infer<typeof grantsEndedSchema>;

/** Grants that a device's agent carries out: they name one. */
const OF_DEVICE: ReadonlySet<GrantKind> = new Set(['view', 'control', 'clipboard']);
export const needsDevice = (grant: GrantKind) => OF_DEVICE.has(grant);
