import { type Refusal, refusalsFrom } from '#platform/refusals.ts';

/** Refusals about accounts, except those of two-factor sign-in. A landed code never changes its meaning or its parameters. */
export const AUTH_REFUSALS = {
  'account.gone': { problem: 'not_found', english: 'This account no longer exists.' },
  'account.cursor_gone': { problem: 'invalid_field', english: 'This account no longer exists. Reload the list.' },
  'account.email_confirmed': {
    problem: 'conflict',
    english: 'This account’s email is confirmed. Enter your password to delete it.',
  },
  'account.is_own': { problem: 'conflict', english: 'This is your account. Delete it in Profile Settings.' },
  'account.other_email': { problem: 'invalid_field', english: 'This doesn’t match the account’s email.' },
  'account.not_own_email': { problem: 'invalid_field', english: 'This doesn’t match your account’s email.' },
  'account.disabled_contact': {
    problem: 'account_disabled',
    english: 'This account is disabled. Ask support: {contact}.',
    params: { contact: 'text' },
  },
  'account.disabled_contacts': {
    problem: 'account_disabled',
    english: 'This account is disabled. Ask support: {phone} or {email}.',
    params: { phone: 'text', email: 'text' },
  },
  'account.session_ended': { problem: 'not_found', english: 'This session has already ended.' },
  'confirmation.too_many_emails': {
    problem: 'too_many_requests',
    english: 'You’ve requested too many confirmation emails. Earlier codes work for a day. Try again in {wait}.',
    params: { wait: 'wait' },
  },
  'confirmation.wrong_code': {
    problem: 'invalid_field',
    english: 'This code is wrong, expired, or for another account. Get a new one.',
  },
  'invitation.has_account': { problem: 'conflict', english: '{email} has an account already.', params: { email: 'text' } },
  'invitation.used': { problem: 'not_found', english: 'This invitation was used or withdrawn already.' },
  'invitation.expired': {
    problem: 'invalid_field',
    english: 'This invitation has expired or was used already. Ask for a new one.',
  },
  'password.only_names': {
    problem: 'invalid_field',
    english: 'This password is just your name, your email, or our name. Choose one that’s harder to guess.',
  },
  'password.leaked': {
    problem: 'invalid_field',
    english: 'This password appears in leaks, and attackers try it first. Choose another.',
  },
  'password.of_new_admin': {
    problem: 'invalid_field',
    english: 'Attackers try this person’s password first. Ask them to change it, then make them an administrator.',
  },
  'password.wrong': { problem: 'invalid_field', english: 'Wrong password. Try again.' },
  'password.not_current': { problem: 'invalid_field', english: 'This isn’t your current password. Try again.' },
  'recovery.unknown_email': { problem: 'not_found', english: 'No account uses this email. Check it or create an account.' },
  'recovery.wrong_token': {
    problem: 'invalid_field',
    english: 'This reset token is wrong, expired, or already used. Get a new one.',
  },
  'username.empty': { problem: 'invalid_field', english: 'Enter a username.' },
  'username.hidden': {
    problem: 'invalid_field',
    english: 'This username has invisible characters. Type it instead of pasting it.',
  },
  'username.marks': { problem: 'invalid_field', english: 'Remove the extra accents from the username.' },
  'username.mixed': { problem: 'invalid_field', english: 'Use letters from one alphabet.' },
  'username.long': { problem: 'invalid_field', english: 'This username is too long. Use a shorter one.' },
  'username.looks_taken': {
    problem: 'username_taken',
    english: 'This username looks too much like an existing one. Choose another.',
  },
} as const satisfies Record<string, Refusal>;

export const { refuse, refuseField, refuseFor } = refusalsFrom(AUTH_REFUSALS);
