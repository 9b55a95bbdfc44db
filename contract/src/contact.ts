import { canonicalEmail } from './email.ts';

const PHONE = /^\+?[\d\s().\-/]+$/u;
const PHONE_DIGITS_LEAST = 3;

/** True if a link can call it: digits, and what people write between them. */
export function isCallable(phone: string): boolean {
  return PHONE.test(phone) && phone.replace(/\D/gu, '').length >= PHONE_DIGITS_LEAST;
}

/** True if a link can write to it. */
export function isMailable(email: string): boolean {
  return canonicalEmail(email) !== undefined;
}
