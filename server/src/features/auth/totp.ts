import { createHmac, timingSafeEqual } from 'node:crypto';
import { TOTP } from '@palisade/contract/two-factor';

/** RFC 4226 section 4, R6: 160 bits are recommended. */
export const TOTP_SECRET_BYTES = 20;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const BITS_OF_CHARACTER = 5;

/** Bytes as base32 without padding (RFC 4648 section 6). */
export function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const groups = bits.match(new RegExp(`.{1,${BITS_OF_CHARACTER}}`, 'g')) ?? [];
  return groups.map((group) => ALPHABET.charAt(Number.parseInt(group.padEnd(BITS_OF_CHARACTER, '0'), 2))).join('');
}

/** The code of a step: HOTP with SHA-1 (RFC 4226 section 5.3). */
export function codeOfStep(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = mac.readUInt8(mac.length - 1) & 0x0f;
  const number = mac.readUInt32BE(offset) & 0x7f_ff_ff_ff;
  return String(number % 10 ** TOTP.digits).padStart(TOTP.digits, '0');
}

/** The step of a moment in ms (RFC 6238 section 4.2). */
export function stepOf(now: number): number {
  return Math.floor(now / 1_000 / TOTP.period_s);
}

/**
 * The step for which a code is right, within `drift_steps` steps of `now` (ms): clocks differ, and typing takes time (RFC 6238 section 5.2). Undefined for a wrong code.
 * Takes constant time.
 */
export function matchingStep(
  secret: Buffer,
  code: string,
  { now, drift_steps }: { now: number; drift_steps: number },
): number | undefined {
  const given = Buffer.from(code);
  const current = stepOf(now);
  let match: number | undefined;
  for (let step = Math.max(0, current - drift_steps); step <= current + drift_steps; step += 1) {
    const expected = Buffer.from(codeOfStep(secret, step));
    if (given.length === expected.length && timingSafeEqual(given, expected)) match = step;
  }
  return match;
}

/** The content of the QR code for authenticator apps (the key URI format of Google Authenticator, which all read). */
export function keyUri({ secret, issuer, account }: { secret: string; issuer: string; account: string }): string {
  // A colon separates issuer and account.
  const label = `${encodeURIComponent(issuer.replaceAll(':', ' '))}:${encodeURIComponent(account)}`;
  const parameters = { secret, issuer, algorithm: 'SHA1', digits: String(TOTP.digits), period: String(TOTP.period_s) };
  const query = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return `otpauth://totp/${label}?${query.join('&')}`;
}
