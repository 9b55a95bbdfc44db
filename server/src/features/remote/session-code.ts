import { randomBytes } from 'node:crypto';
import { CODE_ALPHABET, CODE_LENGTH, formatCode } from '@palisade/contract/remote';

/** A new code of 45 random bits. The alphabet has 32 characters, which divide the 256 values of a byte evenly. */
export function newSessionCode(): string {
  return formatCode(Array.from(randomBytes(CODE_LENGTH), (byte) => CODE_ALPHABET[byte % CODE_ALPHABET.length]).join(''));
}
