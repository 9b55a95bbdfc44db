import { z } from 'zod';
import { typedEmail } from './email.ts';
import { endpoint } from './endpoint.ts';
import { NO_PASSWORD_IS_LONGER, TYPED_PASSWORD_MAXIMUM } from './fields.ts';
import { AT_MOST_ONE_PROOF, proofShape } from './two-factor.ts';

const passwordSchema = z
  .string({ error: 'Enter your password.' })
  .min(1, 'Enter your password.')
  .max(TYPED_PASSWORD_MAXIMUM, NO_PASSWORD_IS_LONGER);
const CONFIRMATION_LENGTH_MAXIMUM = 254;

export const exportData = endpoint({
  method: 'POST',
  path: '/auth/export',
  summary:
    'Everything that is kept about oneself as a JSON file, table by table, without secrets and without files. Takes the password and, where two-factor sign-in is on, the second factor.',
  access: 'customer',
  body: z.object({ password: passwordSchema, ...proofShape }).refine(...AT_MOST_ONE_PROOF),
  download: true,
  problems: ['second_factor_refused', 'too_many_requests', 'unavailable'],
});

export const deleteAccount = endpoint({
  method: 'POST',
  path: '/auth/delete-account',
  summary:
    'Delete one’s own account with everything in it. It cannot be undone. Takes the password and, where two-factor sign-in is on, the second factor.',
  access: 'customer',
  body: z
    .object({
      password: passwordSchema,
      ...proofShape,
      confirmation: z
        .string({ error: 'Type the email of the account.' })
        .trim()
        .max(CONFIRMATION_LENGTH_MAXIMUM, 'Type the email of the account.')
        .overwrite((typed) => typedEmail(typed) ?? typed.toLowerCase())
        .describe('The email of the account.'),
    })
    .refine(...AT_MOST_ONE_PROOF),
  changes_installation: 'people',
  reply: z.object({ success: z.literal(true) }),
  problems: ['last_admin', 'second_factor_refused', 'too_many_requests', 'unavailable'],
});
