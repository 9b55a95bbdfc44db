import { z } from 'zod';
import { idSchema, isOneLine, timeSchema } from './fields.ts';

/** Changes that a technician could leave on a computer, the most serious first. */
export const CHANGED_THINGS = [
  'account',
  'privilege',
  'ssh_key',
  'autostart',
  'service',
  'scheduled',
  'listening',
  'firewall',
  'program',
] as const;
export const changedThingSchema = z.enum(CHANGED_THINGS);
export type ChangedThing = z.infer<typeof changedThingSchema>;

export const CHANGES_MAXIMUM = 100;
export const CHANGE_NAME_MAXIMUM = 200;

/** One change. Its name is untrusted text: the name of a package, a file or an account on the computer. */
export const sessionChangeSchema = z.object({
  thing: changedThingSchema,
  how: z.enum(['added', 'changed', 'removed']),
  name: z.string().min(1).max(CHANGE_NAME_MAXIMUM).refine(isOneLine, 'Use one line of plain text.'),
});
export type SessionChange = z.infer<typeof sessionChangeSchema>;

const countSchema = z.int().min(0);

/** Changes that an agent found between the start and the end of a session. `from` is null if the state at the start was not recorded, so changes are unknown. */
export const measuredChangesSchema = z.object({
  from: timeSchema.nullable(),
  to: timeSchema,
  changes: z.array(sessionChangeSchema).max(CHANGES_MAXIMUM),
  /** Number of further changes. */
  more: countSchema,
  /** Kinds that could not be read at the start or at the end. */
  unread: z.array(changedThingSchema).max(CHANGED_THINGS.length),
});
export type MeasuredChanges = z.infer<typeof measuredChangesSchema>;

/** `measuring`: the session is running. `awaited`: it has ended, and the device has not reported yet. `not_measured`: the start was not recorded, or no report came for a day. */
export const deviceChangesSchema = measuredChangesSchema.extend({
  device_id: idSchema,
  device_name: z.string(),
  state: z.enum(['measuring', 'awaited', 'measured', 'not_measured']),
  to: timeSchema.nullable(),
});
export type DeviceChanges = z.infer<typeof deviceChangesSchema>;
