import { CODE_ALPHABET } from '@palisade/contract/remote';

/** Characters of the code, 5 bits each: two groups of four, unlike the session's code. */
const LENGTH = 8;
/**
 * Number of hash rounds of the fingerprints. An attacker between the two sides would have to find a certificate with the same code while both wait:
 * 2^40 tries, each of this cost (docs/decisions/remote.md).
 */
const ITERATIONS = 100_000;
const SALT = 'palisade remote fingerprint 1';
const FINGERPRINT = /^a=fingerprint:sha-256 ((?:[0-9a-f]{2}:){31}[0-9a-f]{2})\s*$/gimu;

/** The certificate fingerprint of a session description (RFC 8122), in capitals; undefined if it has none or several. */
export function fingerprintOf(sdp: string): string | undefined {
  const named = new Set([...sdp.matchAll(FINGERPRINT)].map(([, fingerprint]) => fingerprint?.toUpperCase()));
  return named.size === 1 ? [...named][0] : undefined;
}

/** Encodes the bits of `bytes` in characters that cannot be confused with each other. */
function spell(bytes: Uint8Array): string {
  let bits = 0n;
  for (const byte of bytes) bits = bits * 256n + BigInt(byte);
  let characters = '';
  for (let index = 0; index < LENGTH; index += 1) {
    characters = (CODE_ALPHABET[Number(bits % 32n)] ?? '') + characters;
    bits /= 32n;
  }
  return `${characters.slice(0, LENGTH / 2)} ${characters.slice(LENGTH / 2)}`;
}

/**
 * A short code derived from the certificates of both sides, to be read aloud. It is the same on both sides unless an attacker is between them.
 * Undefined if a description has no certificate, and on an insecure page, where the browser has no cryptography.
 */
export async function readFingerprintCode(local_sdp: string, remote_sdp: string): Promise<string | undefined> {
  const [local, remote] = [fingerprintOf(local_sdp), fingerprintOf(remote_sdp)];
  const { subtle } = globalThis.crypto;
  if (local === undefined || remote === undefined || subtle === undefined) return undefined;
  const both = new TextEncoder().encode([local, remote].toSorted().join(' '));
  const key = await subtle.importKey('raw', both, 'PBKDF2', false, ['deriveBits']);
  const salt = new TextEncoder().encode(SALT);
  const bits = await subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-256', salt, iterations: ITERATIONS }, key, LENGTH * 5);
  return spell(new Uint8Array(bits));
}
