import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { idSchema, pageQuerySchema, timeSchema } from './fields.ts';

/** `waiting`: for the mail server, or for a person who reads it here; `failed`: given up; `passed_on`: an administrator told its recipient. */
export const mailStatusSchema = z.enum(['waiting', 'sent', 'failed', 'passed_on']);
export type MailStatus = z.infer<typeof mailStatusSchema>;

/** `proof`: a person waits for its code, name or link; `notice`: an account was changed; `alert`: something happened to one; `digest`: not urgent. */
export const mailKindSchema = z.enum(['proof', 'notice', 'alert', 'digest']);

/** A mail to a person. `text` is null once it was sent: it may hold a token, and is kept no longer than needed. */
export const mailSchema = z.object({
  id: idSchema,
  recipient: z.string(),
  subject: z.string(),
  kind: mailKindSchema,
  /** Unsent, and a person waits for it: its code still works, or it was given up. */
  is_urgent: z.boolean(),
  text: z.string().nullable(),
  status: mailStatusSchema,
  created_at: timeSchema,
  sent_at: timeSchema.nullable(),
  attempts: z.int(),
  last_error: z.string().nullable(),
});
export type Mail = z.infer<typeof mailSchema>;

export const listOutbox = endpoint({
  method: 'GET',
  path: '/admin/outbox',
  summary: 'The mails of this installation: urgent ones first, then others that wait, then those that were sent; newest first.',
  access: 'admin',
  query: pageQuerySchema,
  reply: z.array(mailSchema),
});

export const readMailServer = endpoint({
  method: 'GET',
  path: '/admin/mail-server',
  summary: 'Whether mails go out, and their sender.',
  access: 'admin',
  reply: z.object({ is_connected: z.boolean(), sender: z.string().nullable() }),
});

export const passOnMail = endpoint({
  method: 'POST',
  path: '/admin/pass-on-mail',
  summary: 'Note that its recipient knows what it says. Its text is deleted, as that of a sent one.',
  access: 'admin',
  body: z.object({ mail_id: idSchema }),
  changes_installation: 'waiting',
  reply: mailSchema,
  problems: ['not_found', 'conflict'],
});
