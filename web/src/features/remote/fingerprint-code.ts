import { CODE_ALPHABET } from '@palisade/contract/remote';

/** Characters of the code, 5 bits each: two groups of four, so that nobody takes it for the session's code. */
const LENGTH = 8;
/**
 * Number of hash rounds of the fingerprints. An attacker between the two sides would have to find, while both wait, a certificate of their own that leads to the same code: 2^40
 * tries, each as long as this (docs/decisions/remote.md).
 */
const ITERATIONS = 100_000;
const SALT = 'palisade remote fingerprint 1';
const FINGERPRINT = /^a=fingerprint:sha-256 ((?:[0-9a-f]{2}:){31}[0-9a-f]{2})\s*$/gimu;

/** The fingerprint of the certificate that a description names (RFC 8122), in capitals; undefined where it names none, or several. */
export function fingerprintOf(sdp: string): string | undefined {
  const named = new Set([...sdp.matchAll(FINGERPRINT)].map(([, fingerprint]) => fingerprint?.toUpperCase()));
  return named.size === 1 ? [...named][0] : undefined;
}

/** The bits of `bytes` as characters that nobody mistakes for another. */
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
 * A short code made of the certificates of both sides, to be read aloud: it is the same on both, whichever of them computes it, unless somebody sits between them. Undefined
 * where a description names no certificate, and in a page that may not use cryptography (one that was not served securely).
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
