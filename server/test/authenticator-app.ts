import { codeOfStep, stepOf } from '#features/auth/totp.ts';

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

export function fromBase32(text: string): Buffer {
  const bits = [...text].map((character) => BASE32.indexOf(character).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/** The code of an authenticator app with this secret at a time in ms, or `drift` steps from then. */
export function codeAt(secret: string, at: number, drift = 0): string {
  return codeOfStep(fromBase32(secret), stepOf(at) + drift);
}
