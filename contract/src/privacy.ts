import { z } from 'zod';
import { endpoint } from './endpoint.ts';

const passwordSchema = z.string({ error: 'Give your password.' }).min(1, 'Give your password.');
const SECOND_FACTOR_LENGTH_MAXIMUM = 64;
const CONFIRMATION_LENGTH_MAXIMUM = 254;

export const exportData = endpoint({
  method: 'POST',
  path: '/auth/export',
  summary: 'Everything that is kept about oneself as a JSON file, table by table, without secrets and without files.',
  access: 'customer',
  body: z.object({ password: passwordSchema }),
  status: 200,
  download: true,
  problems: [],
});

export const deleteAccount = endpoint({
  method: 'POST',
  path: '/auth/delete-account',
  summary: 'Delete one’s own account with everything in it. It cannot be undone.',
  access: 'customer',
  body: z.object({
    password: passwordSchema,
    second_factor: z
      .string()
      .trim()
      .max(SECOND_FACTOR_LENGTH_MAXIMUM, 'This is neither a code nor a recovery code.')
      .optional()
      .describe('A code of the authenticator app, or a recovery code, where two-factor sign-in is on.'),
    confirmation: z
      .string({ error: 'Type the email of the account.' })
      .trim()
      .max(CONFIRMATION_LENGTH_MAXIMUM, 'Type the email of the account.')
      .toLowerCase()
      .describe('The email of the account.'),
  }),
  status: 200,
  reply: z.object({ success: z.literal(true) }),
  problems: ['last_admin', 'second_factor_refused', 'too_many_requests'],
});
