import { randomBytes } from 'node:crypto';
import { typedCode } from '@palisade/contract/text';

/** Without 0, 1, I and O, which are easy to confuse. 32 characters divide the 256 values of a byte evenly. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const LENGTH = 12;
const GROUP = 4;

/**
 * Creates a code that proves an address, short enough to be copied by hand: 60 random bits, as `K7M4-QP9X-D2FA`. Only the signed-in person can try it, at most 600 times a
 * minute (`write` of `limits.ts`): with at most 20 codes per account, a day of guessing finds one with a chance of 1 in 60 thousand million (docs/decisions/accounts.md).
 */
export function newProofCode(): string {
  const characters = Array.from(randomBytes(LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]);
  return Array.from({ length: LENGTH / GROUP }, (_, at) => characters.slice(at * GROUP, (at + 1) * GROUP).join('')).join('-');
}

/** Normalizes a typed code. Any other text is left unchanged: it is invalid, or an earlier token. */
export function readProofCode(typed: string): string {
  const plain = typedCode(typed).replaceAll('-', '').toUpperCase();
  if (plain.length !== LENGTH) return typed;
  return plain.replace(/(.{4})(?=.)/gu, '$1-');
}
