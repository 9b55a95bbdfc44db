import { type Refusal, refusalsFrom } from '#platform/refusals.ts';

/** Refusals about two-factor sign-in and passkeys. A landed code never changes its meaning or its parameters. */
export const TWO_FACTOR_REFUSALS = {
  'code.wrong': {
    problem: 'second_factor_refused',
    english: 'This code is wrong or already used. Wait for the next code and try again.',
  },
  'code.one_try_left': {
    problem: 'second_factor_refused',
    english: 'That didn’t match. One try is left. After that, you have to wait at least 10 minutes.',
  },
  'password.one_try_left': {
    problem: 'invalid_credentials',
    english: 'The email or password is wrong. One try is left. After that, you have to wait at least 10 minutes.',
  },
  'code.too_many': {
    problem: 'too_many_requests',
    english: 'Too many wrong codes. Use a recovery code or passkey, or wait {wait}.',
    params: { wait: 'wait' },
  },
  'code.not_checked': {
    problem: 'unavailable',
    english: 'We can’t check codes right now. Use a recovery code or passkey, and tell support.',
  },
  'code.needed': { problem: 'invalid_field', english: 'Enter a code from your app, or use a recovery code or passkey.' },
  'code.did_not_work': {
    problem: 'invalid_field',
    english: 'That code didn’t work. Check your phone’s clock and try a new code.',
  },
  'recovery_code.wrong': {
    problem: 'second_factor_refused',
    english: 'This recovery code is wrong or already used. Try another one.',
  },
  'passkey.wrong_address': { problem: 'second_factor_refused', english: 'Passkeys don’t work at this address.' },
  'passkey.needs_https': {
    problem: 'conflict',
    english: 'Passkeys don’t work at this address. Use https and a host name instead of an IP address.',
  },
  'passkey.copied': {
    problem: 'second_factor_refused',
    english: 'This passkey may have been copied. Sign in another way, then remove it.',
  },
  /** Said of a passkey that is not kept here, and of another person's. */
  'passkey.unknown': { problem: 'second_factor_refused', english: 'We don’t recognize this passkey. It may have been removed.' },
  'passkey.not_checked': { problem: 'second_factor_refused', english: 'We couldn’t check this passkey. Try again.' },
  'passkey.not_added': { problem: 'conflict', english: 'We couldn’t check this passkey. Try again.' },
  'passkey.taken': { problem: 'conflict', english: 'This passkey already belongs to an account.' },
  'passkey.too_many': {
    problem: 'conflict',
    english: 'You have {maximum} passkeys. Remove one before you add another.',
    params: { maximum: 'number' },
  },
  'two_factor.setup_too_long': { problem: 'conflict', english: 'Setup took too long. Start again.' },
  'two_factor.last_required': {
    problem: 'conflict',
    english: 'Two-factor is required, so you can’t remove your last method. Add another one first.',
  },
  'two_factor.last': {
    problem: 'conflict',
    english: 'This is your only two-factor method. Turn off two-factor sign-in instead.',
  },
  'two_factor.off': { problem: 'conflict', english: 'Two-factor sign-in is off.' },
  'two_factor.stays_on': { problem: 'conflict', english: 'Two-factor is required, so you can’t turn it off.' },
} as const satisfies Record<string, Refusal>;

export const { refuse, refuseField } = refusalsFrom(TWO_FACTOR_REFUSALS);
