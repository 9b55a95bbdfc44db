import { z } from 'zod';
import { commonPasswordSchema, emailSchema, newPasswordSchema, roleSchema, usernameSchema } from './auth.ts';
import { endpoint } from './endpoint.ts';
import { idSchema, pageQuerySchema, timeSchema } from './fields.ts';

/** Days for which the link of an invitation is valid (product default). */
export const INVITATION_DAYS = 7;

/** An invitation that is neither accepted nor expired. Only the email contains the link. */
export const invitationSchema = z.object({
  id: idSchema,
  email: z.string(),
  role: roleSchema,
  created_at: timeSchema,
  expires_at: timeSchema,
});
export type Invitation = z.infer<typeof invitationSchema>;

export const invitePerson = endpoint({
  method: 'POST',
  path: '/admin/invitations',
  summary: 'Mail an invitation with a link that works once and expires. It replaces an earlier one to the same address.',
  access: 'admin',
  body: z.object({ email: emailSchema, role: roleSchema.extract(['customer', 'support']).default('customer') }),
  changes_installation: 'people',
  status: 201,
  reply: invitationSchema,
  problems: ['conflict'],
});

export const listInvitations = endpoint({
  method: 'GET',
  path: '/admin/invitations',
  summary: 'The invitations that still work, newest first.',
  access: 'admin',
  query: pageQuerySchema,
  reply: z.array(invitationSchema),
});

export const withdrawInvitation = endpoint({
  method: 'POST',
  path: '/admin/withdraw-invitation',
  summary: 'End an invitation. Its link no longer works.',
  access: 'admin',
  body: z.object({ invitation_id: idSchema }),
  changes_installation: 'people',
  reply: z.object({ success: z.literal(true) }),
  problems: ['not_found'],
});

export const acceptInvitation = endpoint({
  method: 'POST',
  path: '/auth/accept-invitation',
  summary:
    'Create the account of an invitation with the token of its link. The address counts as confirmed. It does not sign in.',
  access: 'anyone',
  body: z.object({
    token: z.string({ error: 'Open the link of your invitation.' }).min(1, 'Open the link of your invitation.').max(128),
    username: usernameSchema,
    password: newPasswordSchema,
  }),
  changes_installation: 'people',
  status: 201,
  reply: z.object({ email: z.string(), common_password: commonPasswordSchema }),
  problems: ['email_taken', 'username_taken'],
});
