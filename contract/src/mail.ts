import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { idSchema, pageQuerySchema, timeSchema } from './fields.ts';

/** `waiting`: not delivered to the mail server yet, or to be passed on by an administrator; `failed`: given up; `passed_on`: an administrator gave it to its recipient. */
export const mailStatusSchema = z.enum(['waiting', 'sent', 'failed', 'passed_on']);
export type MailStatus = z.infer<typeof mailStatusSchema>;

/** `proof`: has a code, name or link that a person waits for; `notice`: an account was changed; `alert`: a security event; `digest`: not urgent. */
export const mailKindSchema = z.enum(['proof', 'notice', 'alert', 'digest']);

/** An email to a person. `text` is null after it was sent, because it may contain a token. */
export const mailSchema = z.object({
  id: idSchema,
  recipient: z.string(),
  subject: z.string(),
  kind: mailKindSchema,
  /** Unsent while a person waits for it: its code is still valid, or sending was given up. */
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
