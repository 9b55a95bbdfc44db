import { z } from 'zod';
import { emailFault, typedEmail } from './email.ts';
import { endpoint, HEADER_FIELDS } from './endpoint.ts';
import { hasNoControls, idSchema, NO_PASSWORD_IS_LONGER, TYPED_PASSWORD_MAXIMUM, timeSchema } from './fields.ts';
import { specified } from './reader.ts';
import { normalPassword, typedCode } from './text.ts';

/** Password length in characters (OWASP ASVS 5, 6.2.1 and 6.2.9). */
export const PASSWORD_LENGTH = { minimum: 8, maximum: 128 } as const;
const TYPED_EMAIL_MAXIMUM = 508;
const USERNAME_LENGTH_MAXIMUM = 64;
/** Lifetime of a reset token, in seconds (15 minutes). */
export const RESET_TOKEN_LIFETIME_S = 900;
/** Lifetime of the code of a confirmation mail, in seconds: 24 hours. */
export const PROOF_TOKEN_LIFETIME_S = 86_400;
const TOKEN_LENGTH_MAXIMUM = 200;

export const roleSchema = z.enum(['customer', 'support', 'admin']);
export type Role = z.infer<typeof roleSchema>;

/** An email address, stored and compared in its canonical form (`canonicalEmail`). */
export const emailSchema = z
  .string({ error: 'Enter an email address.' })
  // Allows for a name and punctuation around a pasted address.
  .max(TYPED_EMAIL_MAXIMUM, { error: 'Enter the email address alone.', abort: true })
  .transform((typed, context): string => {
    const email = typedEmail(typed);
    if (email !== undefined) return email;
    context.addIssue({ code: 'custom', message: emailFault(typed) ?? '', input: typed });
    return z.NEVER;
  });

export const usernameSchema = z
  .string({ error: 'Enter a username.' })
  .trim()
  .min(1, 'Enter a username.')
  .max(USERNAME_LENGTH_MAXIMUM, `Use at most ${USERNAME_LENGTH_MAXIMUM} characters for the username.`)
  .refine(hasNoControls, 'Remove the control characters from the username.');

/** Counts code points, so that an emoji counts as one character. */
function characterCount(text: string): number {
  return [...text].length;
}

const LONGEST_PASSWORD = `Use at most ${PASSWORD_LENGTH.maximum} characters.`;

export const newPasswordSchema = z
  .string({ error: 'Enter a password.' })
  .max(TYPED_PASSWORD_MAXIMUM, { error: LONGEST_PASSWORD, abort: true })
  .refine(
    (text) => characterCount(normalPassword(text)) >= PASSWORD_LENGTH.minimum,
    `Use at least ${PASSWORD_LENGTH.minimum} characters.`,
  )
  .refine((text) => characterCount(normalPassword(text)) <= PASSWORD_LENGTH.maximum, LONGEST_PASSWORD);

/** The signed-in person as login returns it and the browser stores it. */
export const userInfoSchema = specified(
  ['username', 'email'],
  z.object({
    id: idSchema,
    username: z.string(),
    email: z.string(),
    role: roleSchema,
  }),
);
export type UserInfo = z.infer<typeof userInfoSchema>;

/** Present if the password has leaked or consists of names. Local exposure accepts it, except for administrators. */
export const commonPasswordSchema = z.literal(true).optional();
/** Advice about a common password that was accepted. */
export const COMMON_PASSWORD_ADVICE = 'Choose another password soon: attackers try this one first.';

export const register = endpoint({
  method: 'POST',
  path: '/auth/register',
  summary:
    'Create an account. It does not sign in. In public exposure the answer is the same for an email that has an account already: its owner is told by mail.',
  access: 'anyone',
  body: z.object({ email: emailSchema, username: usernameSchema, password: newPasswordSchema }),
  changes_installation: 'people',
  status: 201,
  reply: userInfoSchema.extend({ common_password: commonPasswordSchema }),
  reply_unspecified: true,
  problems: ['email_taken', 'username_taken', 'forbidden'],
});

/** The id by which a browser is recognised. It does not authenticate. */
export const browserIdSchema = z.uuid('This isn’t a browser ID.');

/** Present while the session is held: it can only be used to set up the required second factor. */
const heldSchema = z.literal(true).optional();
/** Present until the person confirms their email address; some actions are refused until then (`email_unproven`). */
const unprovenSchema = z.literal(true).optional();

/** The result of a successful sign-in. */
export const signedInSchema = specified(
  ['access_token', 'user_info'],
  z.object({
    access_token: z.string(),
    user_info: userInfoSchema,
    two_factor_setup_required: heldSchema,
    email_unproven: unprovenSchema,
  }),
);

export const login = endpoint({
  method: 'POST',
  path: '/auth/login',
  summary:
    'Sign in with email and password. Where two-factor sign-in is on, the refusal carries the challenge of the second step.',
  access: 'anyone',
  body: z.object({
    email: emailSchema,
    // A password that could never be set is answered as a wrong password, not as an invalid field.
    password: z
      .string({ error: 'Enter a password.' })
      .min(1, 'Enter a password.')
      .max(TYPED_PASSWORD_MAXIMUM, NO_PASSWORD_IS_LONGER),
    browser_id: browserIdSchema.optional(),
  }),
  header_fields: { browser_id: HEADER_FIELDS.browser },
  reply: signedInSchema,
  problems: ['invalid_credentials', 'two_factor_required', 'account_disabled'],
});

export const logout = endpoint({
  method: 'POST',
  path: '/auth/logout',
  summary: 'End this session on the server.',
  access: 'customer',
  while_held: true,
  changes: 'account',
});

/** The signed-in person, with fields that only they see. */
export const accountSchema = userInfoSchema.extend({
  created_at: timeSchema,
  two_factor_setup_required: heldSchema,
  email_unproven: unprovenSchema,
});
export type Account = z.infer<typeof accountSchema>;

export const currentUser = endpoint({
  method: 'GET',
  path: '/auth/me',
  summary: 'The signed-in person, read anew from the server when a page loads.',
  access: 'customer',
  while_held: true,
  reply: accountSchema,
});

export const changeUsername = endpoint({
  method: 'PATCH',
  path: '/auth/me',
  summary: 'Change one’s own username.',
  access: 'customer',
  body: z.object({ username: usernameSchema }),
  changes: 'account',
  reply: accountSchema,
  problems: ['username_taken'],
});

export const changePassword = endpoint({
  method: 'POST',
  path: '/auth/change-password',
  summary: 'Change one’s own password. Ends every other session.',
  access: 'customer',
  body: z.object({
    current_password: z
      .string({ error: 'Enter your current password.' })
      .min(1, 'Enter your current password.')
      .max(TYPED_PASSWORD_MAXIMUM, NO_PASSWORD_IS_LONGER),
    new_password: newPasswordSchema,
  }),
  changes: 'account',
  reply: z.object({ success: z.literal(true), common_password: commonPasswordSchema }),
  problems: ['conflict'],
});

export const sendEmailProof = endpoint({
  method: 'POST',
  path: '/auth/send-email-proof',
  summary: 'Have another confirmation mail sent to one’s own address. Nothing is sent where none is needed.',
  access: 'customer',
  while_held: true,
  reply: z.object({ success: z.literal(true) }),
});

export const proveEmail = endpoint({
  method: 'POST',
  path: '/auth/prove-email',
  summary: 'Confirm one’s own address with the code that was mailed to it. Ends every other session.',
  access: 'customer',
  while_held: true,
  body: z.object({
    token: z
      .string({ error: 'Enter the code from the email.' })
      .max(TOKEN_LENGTH_MAXIMUM, 'This code doesn’t match the one in the email.')
      .overwrite(typedCode)
      .min(1, 'Enter the code from the email.'),
  }),
  changes: 'account',
  changes_installation: 'people',
  reply: z.object({ success: z.literal(true) }),
});

export const forgotPassword = endpoint({
  method: 'POST',
  path: '/auth/forgot-password',
  summary:
    'Ask for a reset token. It is answered to the machine itself alone; anybody else gets the same answer for every email, and the token by mail.',
  access: 'anyone',
  body: z.object({ email: emailSchema }),
  reply: z.object({
    reset_token: z.string().nullable(),
    expires_in: z.int().describe('Seconds.'),
    detail: z.string().optional().describe('Why the machine itself was not answered the token, and what to do.'),
  }),
  problems: ['not_found'],
});

export const resetPassword = endpoint({
  method: 'POST',
  path: '/auth/reset-password',
  summary: 'Set a new password with a reset token. Ends every session of the account.',
  access: 'anyone',
  body: z.object({
    reset_token: z
      .string({ error: 'Enter the reset token.' })
      .max(TOKEN_LENGTH_MAXIMUM, 'This isn’t a reset token. Copy the whole token.')
      .overwrite(typedCode)
      .min(1, 'Enter the reset token.'),
    new_password: newPasswordSchema,
  }),
  reply: z.object({ success: z.literal(true), common_password: commonPasswordSchema }),
  reply_unspecified: true,
});

export const recoverUsername = endpoint({
  method: 'POST',
  path: '/auth/recover-username',
  summary: 'Ask for the username of an email. Answered, or mailed, as reset tokens are.',
  access: 'anyone',
  body: z.object({ email: emailSchema }),
  reply: z.object({
    username: z.string().nullable(),
    detail: z.string().optional().describe('Why the machine itself was not answered the username, and what to do.'),
  }),
  problems: ['not_found'],
});
