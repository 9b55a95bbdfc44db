import { canonicalEmail } from './email.ts';

const PHONE = /^\+?[\d\s().\-/]+$/u;
const PHONE_DIGITS_LEAST = 3;

/** True if a `tel:` link can hold it: digits and the usual separators. */
export function isCallable(phone: string): boolean {
  return PHONE.test(phone) && phone.replace(/\D/gu, '').length >= PHONE_DIGITS_LEAST;
}

/** True if a `mailto:` link can hold it. */
export function isMailable(email: string): boolean {
  return canonicalEmail(email) !== undefined;
}
