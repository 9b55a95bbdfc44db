import { createHash } from 'node:crypto';
import { canonicalRules, defaultsSchema } from '@palisade/contract/agent';
import { deviceRuleSchema } from '@palisade/contract/device-rule';
import { z } from 'zod';

/** A revision of the firewall rules, as stored on disk. */
const revisionSchema = z.object({
  rev: z.int().min(1),
  hash: z.string(),
  defaults: defaultsSchema,
  rules: z.array(deviceRuleSchema),
  block_list: z.array(z.string()),
});
export type Revision = z.infer<typeof revisionSchema>;

/** The persistent state of the firewall. */
export const firewallStateSchema = z.object({
  /** The last revision that passed its trial; null if there is none. */
  confirmed: revisionSchema.nullable(),
  /** The revision on trial. If it is set when the agent starts, the previous agent ended during the trial. */
  trial: z.object({ rev: z.int(), hash: z.string() }).nullable(),
  /** The last revision that was rejected or rolled back, so that it is not tried again. */
  refused: z
    .object({
      rev: z.int(),
      hash: z.string(),
      state: z.enum(['rolled_back', 'rejected']),
      errors: z.array(z.object({ rule_id: z.string().nullable(), message: z.string() })),
    })
    .nullable(),
  /** Time at which the counters started at 0. */
  epoch: z.string(),
  /** Identifies the table with these counters: the kernel's start, and the table's handle. Null in files of earlier agent versions. */
  life: z.string().nullable().default(null),
});
export type FirewallState = z.infer<typeof firewallStateSchema>;

export function hashOf(revision: Pick<Revision, 'defaults' | 'rules' | 'block_list'>): string {
  return createHash('sha256').update(canonicalRules(revision)).digest('hex');
}
