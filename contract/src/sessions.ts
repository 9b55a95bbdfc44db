import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { idSchema, NO_PASSWORD_IS_LONGER, pageQuerySchema, TYPED_PASSWORD_MAXIMUM, timeSchema } from './fields.ts';

/** A signed-in session: the browser's description of itself in a few words, and its network address. `current` is true for the calling session. */
export const sessionSchema = z.object({
  id: idSchema,
  client: z.string(),
  source: z.string().nullable(),
  created_at: timeSchema,
  last_used_at: timeSchema,
  current: z.boolean(),
});
export type SignedInSession = z.infer<typeof sessionSchema>;

export const listSessions = endpoint({
  method: 'GET',
  path: '/auth/sessions',
  summary: 'Where the signed-in person is signed in, newest first.',
  access: 'customer',
  query: pageQuerySchema,
  reply: z.array(sessionSchema),
});

/** Ending sessions requires the password (OWASP ASVS 5, 7.5.2), so that a stranger at a signed-in page cannot lock its owner out. */
const endSessionBodySchema = z.object({
  password: z
    .string({ error: 'Enter your password.' })
    .min(1, 'Enter your password.')
    .max(TYPED_PASSWORD_MAXIMUM, NO_PASSWORD_IS_LONGER),
});

export const endSession = endpoint({
  method: 'POST',
  path: '/auth/sessions/{id}/end',
  summary: 'End one of one’s own sessions.',
  access: 'customer',
  body: endSessionBodySchema,
  changes: 'account',
});

export const endOtherSessions = endpoint({
  method: 'POST',
  path: '/auth/end-other-sessions',
  summary: 'End every session of one’s own but this one.',
  access: 'customer',
  body: endSessionBodySchema,
  changes: 'account',
});
