import { randomBytes } from 'node:crypto';
import { typedCode } from '@palisade/contract/text';

/** Without 0, 1, I and O, which are easy to confuse. 32 characters divide the 256 values of a byte evenly. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const LENGTH = 12;
const GROUP = 4;

/**
 * A new code that proves an address, short enough to be copied by hand: 60 random bits, as `K7M4-QP9X-D2FA`. It is tried by who is signed in to its account alone, at most 600
 * times a minute (`write` of `limits.ts`): with the 20 that an account has at most, a day of guessing finds one with a chance of 1 in 60 thousand million (docs/decisions/accounts.md).
 */
export function newProofCode(): string {
  const characters = Array.from(randomBytes(LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]);
  return Array.from({ length: LENGTH / GROUP }, (_, at) => characters.slice(at * GROUP, (at + 1) * GROUP).join('')).join('-');
}

/** A code as it was made, however it is typed. Any other text is left as it is: it is invalid, or an earlier token. */
export function readProofCode(typed: string): string {
  const plain = typedCode(typed).replaceAll('-', '').toUpperCase();
  if (plain.length !== LENGTH) return typed;
  return plain.replace(/(.{4})(?=.)/gu, '$1-');
}
