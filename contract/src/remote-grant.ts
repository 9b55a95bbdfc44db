import { z } from 'zod';
import { idSchema, timeSchema } from './fields.ts';

/**
 * Separate grants of a customer to a technician in a running session. `view`: see the screen that the customer's browser shares (`device` is null) or
 * the screen of a device through its agent. `control`: use its mouse and keyboard. `clipboard`: text that is copied on one side reaches the other, for the controlled device.
 * `files`: exchange files with the customer. `recording`: record the picture.
 */
export const GRANT_KINDS = ['view', 'control', 'clipboard', 'files', 'recording'] as const;
export const grantKindSchema = z.enum(GRANT_KINDS);
export type GrantKind = z.infer<typeof grantKindSchema>;

/** An active grant. The session's record (the audit log) has the start, end, actor and reason of each grant. */
export const grantSchema = z.object({
  grant: grantKindSchema,
  granted_at: timeSchema,
  /** The username of the customer. */
  granted_by: z.string(),
  /** The customer's device; null if the grant needs none. */
  device: z.object({ id: idSchema, device_name: z.string() }).nullable(),
});
export type Grant = z.infer<typeof grantSchema>;

/**
 * The reason why grants ended. `customer` and `technician`: revoked, or given back. `own_input`: the customer moved their own mouse. `page_gone`: the page of a side closed,
 * or the session ended. `agent_gone`: the device's agent disconnected. `unavailable`: the device cannot be controlled, for `detail`. `malformed`: the data was not valid RFB,
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

/** Grants that a device's agent carries out, so that they must name a device. */
const OF_DEVICE: ReadonlySet<GrantKind> = new Set(['view', 'control', 'clipboard']);
export const needsDevice = (grant: GrantKind) => OF_DEVICE.has(grant);
