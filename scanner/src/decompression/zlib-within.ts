import type { Budget } from '#scanner/reading/limits.ts';
import { guess } from './decompress.ts';

// Streams of zlib between other bytes, as in programs, databases and saved objects. Their head is two bytes, so that one counts only where it unpacks to its end and its checksum is right.

const FIRST = 0x78;
const HEAD_BYTES = 2;
/** The second byte at each of the four levels. */
const SECOND: ReadonlySet<number> = new Set([0x01, 0x5e, 0x9c, 0xda]);
/** A shorter result holds nothing that a rule looks for. Bytes. */
const LEAST = 33;
const UNPACKED_MAXIMUM = 16 * 1024 ** 2;

/** `end`: where it ends among the bytes. */
interface Stream {
  start: number;
  end: number;
  plain: Buffer;
  /** It continues past the bytes in memory: its content is not here. */
  is_large: boolean;
}

/** As many letters and distances may have codes. */
const LITERALS_MAXIMUM = 286;
const DISTANCES_MAXIMUM = 30;

/** Whether a block with tables of its own may begin here (RFC 1951, 3.2.7): the codes of the lengths of its codes fill all that can be written. Of a hundred wrong places this leaves one. */
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

/** The streams in order; the packed bytes of one are not searched for others. */
export function* zlibIn(bytes: Buffer, budget: Budget): Generator<Stream> {
  for (let at = bytes.indexOf(FIRST); at >= 0 && at + 8 <= bytes.length; at = bytes.indexOf(FIRST, at + 1)) {
    if (!SECOND.has(bytes[at + 1] ?? 0)) continue;
    // Blocks of the kind 3 do not exist, and a stored one has its length twice.
    const kind = ((bytes[at + 2] ?? 0) >> 1) & 3;
    const is_stored = kind === 0 && (bytes.readUInt16LE(at + 3) ^ bytes.readUInt16LE(at + 5)) === 0xffff;
    if (kind === 3 || (kind === 0 && !is_stored) || (kind === 2 && !beginsTables(bytes, at + 2))) continue;
    const most = Math.min(UNPACKED_MAXIMUM, budget.memberMaximum(bytes.length));
    const answer = guess('zlib', bytes.subarray(at), budget, { most });
    const is_large = answer.kind === 'large';
    // Of a stream that is not kept in memory, its head is reported.
    const { plain, read } = answer.kind === 'whole' ? answer : { plain: Buffer.alloc(0), read: HEAD_BYTES };
    if (!is_large && plain.length < LEAST) continue;
    budget.addUnpacked(plain.length, plain.length, read);
    yield { start: at, end: at + read, plain, is_large };
    at += read - 1;
  }
}
