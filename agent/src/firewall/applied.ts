import { createHash } from 'node:crypto';
import { canonicalRules, defaultsSchema } from '@palisade/contract/agent';
import { deviceRuleSchema } from '@palisade/contract/device-rule';
import { z } from 'zod';

/** A revision of the rules that this device had, or tries, as it is kept on disk. */
const revisionSchema = z.object({
  rev: z.int().min(1),
  hash: z.string(),
  defaults: defaultsSchema,
  rules: z.array(deviceRuleSchema),
  block_list: z.array(z.string()),
});
export type Revision = z.infer<typeof revisionSchema>;

/** The firewall's state over restarts. */
export const firewallStateSchema = z.object({
  /** The last revision that proved itself; null for none. */
  confirmed: revisionSchema.nullable(),
  /** The revision that is being tried. One that is found at a start was being tried when the agent ended. */
  trial: z.object({ rev: z.int(), hash: z.string() }).nullable(),
  /** The last revision that was undone, so that it is not tried again. */
  refused: z
    .object({
      rev: z.int(),
      hash: z.string(),
      state: z.enum(['rolled_back', 'rejected']),
      errors: z.array(z.object({ rule_id: z.string().nullable(), message: z.string() })),
    })
    .nullable(),
  /** When the counters began at 0. */
  epoch: z.string(),
  /** The table that they are in: the start of the kernel, and the number that it gave the table. Null where an agent of an earlier version wrote this. */
  life: z.string().nullable().default(null),
});
export type FirewallState = z.infer<typeof firewallStateSchema>;

export function hashOf(revision: Pick<Revision, 'defaults' | 'rules' | 'block_list'>): string {
  return createHash('sha256').update(canonicalRules(revision)).digest('hex');
}
