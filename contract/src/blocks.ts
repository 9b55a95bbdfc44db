import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { idSchema, pageQuerySchema, timeSchema } from './fields.ts';

/** The scope of a temporary refusal of sign-ins: one account from one source (`pair`), or all accounts from it (`source`). */
const blockKindSchema = z.enum(['pair', 'source']);
export type BlockKind = z.infer<typeof blockKindSchema>;

/** Reason: too many wrong passwords for one account, or wrong passwords for too many accounts. */
const blockRuleSchema = z.enum(['wrong_passwords', 'many_accounts']);
export type BlockRule = z.infer<typeof blockRuleSchema>;

/** Prefix of a source that is a browser which signed in to the account before. The hash of the browser's id follows. */
export const BROWSER_SOURCE = 'browser:';

/** An active refusal of sign-ins. `level` starts at 1; each higher level lasts longer. */
export const blockSchema = z.object({
  id: idSchema,
  kind: blockKindSchema,
  source: z
    .string()
    .describe('An IPv4 address, the /64 network of an IPv6 address, or `browser:` and the hash of the id of a browser.'),
  rule: blockRuleSchema,
  since: timeSchema,
  until: timeSchema,
  level: z.int(),
});
export type Block = z.infer<typeof blockSchema>;

export const listBlocks = endpoint({
  method: 'GET',
  path: '/premium/anti-hacking/blocks',
  summary: 'From where sign-ins to one’s own account are refused just now, newest first.',
  access: 'customer',
  query: pageQuerySchema,
  reply: z.array(blockSchema),
});

export const liftBlock = endpoint({
  method: 'DELETE',
  path: '/premium/anti-hacking/blocks/{id}',
  summary: 'Let sign-ins to one’s own account through again.',
  access: 'customer',
  changes: 'alerts',
});

export const listAllBlocks = endpoint({
  method: 'GET',
  path: '/admin/blocks',
  summary: 'Every refusal of sign-ins that is in force, newest first.',
  access: 'admin',
  query: pageQuerySchema,
  reply: z.array(blockSchema.extend({ email: z.string().nullable().describe('Of the account, where there is one.') })),
});

export const liftAnyBlock = endpoint({
  method: 'POST',
  path: '/admin/lift-block',
  summary: 'Let sign-ins through again.',
  access: 'admin',
  body: z.object({ block_id: idSchema }),
  problems: ['not_found'],
});
