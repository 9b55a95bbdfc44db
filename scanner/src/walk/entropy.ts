import type { Reader } from '#scanner/reading/reader.ts';

/** The parts of a rest whose entropy is taken. Bytes. */
const ENTROPY = { block: 4096, least: 512, bound: 7 } as const;

/** Bits that a byte of a piece tells, by how often each stands in it (Shannon). */
function entropyOf(bytes: Buffer): number {
  const counts = new Uint32Array(256);
  for (const byte of bytes) counts[byte] = (counts[byte] ?? 0) + 1;
  let bits = 0;
  for (const count of counts) if (count > 0) bits -= (count / bytes.length) * Math.log2(count / bytes.length);
  return bits;
}

/**
 * Whether bytes look like noise: more than 512 of them, of which some 4 KiB (or all, where they are fewer) have more than 7 bits of entropy to the
 * byte, as packed or encrypted data has. Texts and tables have 4 to 6, programs up to 6.5.
 */
export function looksLikeNothing(reader: Reader, start: number, end: number): boolean {
  if (end - start <= ENTROPY.least) return false;
  for (let at = start; at < end; at += ENTROPY.block) {
    const block = reader.at(at, Math.min(ENTROPY.block, end - at));
    if (block.length > ENTROPY.least && entropyOf(block) > ENTROPY.bound) return true;
  }
  return false;
}
