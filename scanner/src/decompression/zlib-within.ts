import type { Budget } from '#scanner/reading/limits.ts';
import { guess } from './decompress.ts';

// zlib streams embedded in other data, as in programs, databases and saved objects. Their header has only two bytes, so a stream counts only if it unpacks to its end with
// the right checksum.

const FIRST = 0x78;
const HEAD_BYTES = 2;
/** The second header byte for each of the four levels. */
const SECOND: ReadonlySet<number> = new Set([0x01, 0x5e, 0x9c, 0xda]);
/** Shorter results are too short for any rule. Bytes. */
const LEAST = 33;
const UNPACKED_MAXIMUM = 16 * 1024 ** 2;

/** `end`: its end position in the bytes. */
interface Stream {
  start: number;
  end: number;
  plain: Buffer;
  /** It is longer than the bytes in memory, so its content is missing. */
  is_large: boolean;
}

/** Maximum number of literal/length codes. */
const LITERALS_MAXIMUM = 286;
const DISTANCES_MAXIMUM = 30;

/** Whether a deflate block with dynamic tables may begin here (RFC 1951, 3.2.7): its code-length code must be complete. This leaves one of a hundred wrong positions. */
export function beginsTables(bytes: Buffer, at: number): boolean {
  // Three bits are the block's own; up to 19 lengths of three bits follow 14 bits.
  if (at + 10 > bytes.length) return true;
  const first = bytes.readUInt32LE(at);
  const literals = ((first >>> 3) & 31) + 257;
  const distances = ((first >>> 8) & 31) + 1;
  if (literals > LITERALS_MAXIMUM || distances > DISTANCES_MAXIMUM) return false;
  const lengths = ((first >>> 13) & 15) + 4;
  let filled = 0;
  for (let index = 0, bit = 17; index < lengths; index += 1, bit += 3) {
    const byte = at + (bit >>> 3);
    const length = (((bytes[byte] ?? 0) | ((bytes[byte + 1] ?? 0) << 8)) >>> (bit & 7)) & 7;
    if (length > 0) filled += 128 >>> length;
  }
  return filled === 128;
}

/** The streams in order; the packed bytes of a stream are not searched again. */
export function* zlibIn(bytes: Buffer, budget: Budget): Generator<Stream> {
  for (let at = bytes.indexOf(FIRST); at >= 0 && at + 8 <= bytes.length; at = bytes.indexOf(FIRST, at + 1)) {
    if (!SECOND.has(bytes[at + 1] ?? 0)) continue;
    // Block type 3 is invalid, and a stored block repeats its length inverted.
    const kind = ((bytes[at + 2] ?? 0) >> 1) & 3;
    const is_stored = kind === 0 && (bytes.readUInt16LE(at + 3) ^ bytes.readUInt16LE(at + 5)) === 0xffff;
    if (kind === 3 || (kind === 0 && !is_stored) || (kind === 2 && !beginsTables(bytes, at + 2))) continue;
    const most = Math.min(UNPACKED_MAXIMUM, budget.memberMaximum(bytes.length));
    const answer = guess('zlib', bytes.subarray(at), budget, { most });
    const is_large = answer.kind === 'large';
    // If the stream is too large for memory, only its position is reported.
    const { plain, read } = answer.kind === 'whole' ? answer : { plain: Buffer.alloc(0), read: HEAD_BYTES };
    if (!is_large && plain.length < LEAST) continue;
    budget.addUnpacked(plain.length, plain.length, read);
    yield { start: at, end: at + read, plain, is_large };
    at += read - 1;
  }
}
