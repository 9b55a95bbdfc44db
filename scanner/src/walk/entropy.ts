import type { Reader } from '#scanner/reading/reader.ts';

/** Size of a block and least size to measure, in bytes; the limit of entropy, in bits per byte. */
const ENTROPY = { block: 4096, least: 512, bound: 7 } as const;

/** Shannon entropy, in bits per byte. */
function entropyOf(bytes: Buffer): number {
  const counts = new Uint32Array(256);
  for (const byte of bytes) counts[byte] = (counts[byte] ?? 0) + 1;
  let bits = 0;
  for (const count of counts) if (count > 0) bits -= (count / bytes.length) * Math.log2(count / bytes.length);
  return bits;
}

/**
 * Whether bytes look packed or encrypted: they are more than 512, and some block of 4 KiB (or a last one of more than 512 bytes) has more than 7 bits of entropy per
 * byte. Texts and tables have 4 to 6, programs up to 6.5.
 */
export function looksLikeNothing(reader: Reader, start: number, end: number): boolean {
  if (end - start <= ENTROPY.least) return false;
  for (let at = start; at < end; at += ENTROPY.block) {
    const block = reader.at(at, Math.min(ENTROPY.block, end - at));
    if (block.length > ENTROPY.least && entropyOf(block) > ENTROPY.bound) return true;
  }
  return false;
}
