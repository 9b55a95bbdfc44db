import { BLOCK_UNIT_BYTES } from '#scanner/decompression/bzip2-block.ts';
import { unpackedBzip2 } from '#scanner/decompression/decompress.ts';
import { HighBits, type ReadAt } from '#scanner/decompression/high-bits.ts';
import { format, oneOf, spelled } from '#scanner/formats/format.ts';
import type { Budget } from '#scanner/reading/limits.ts';
import { Unreadable } from '#scanner/reading/member.ts';
import type { Reader } from '#scanner/reading/reader.ts';
import { unpackedBy } from './unpacked-streams.ts';

// bzip2 (bzip2 1.0.8, bzip2.c and decompress.c): streams of bit-aligned blocks. Each block has a checksum, and each stream a combined checksum of its blocks.

/** Stream header, followed by a block magic or, for an empty stream, the end magic. */
const BZIP2 = /^425a683[1-9](314159265359|177245385090)/;
const STREAM_MARK = Buffer.from('BZh');
const STREAM_HEAD_BYTES = STREAM_MARK.length + 1;
const BLOCK_MARK = 0x314159265359;
const END_MARK = 0x177245385090;
/** Size of the headers of a stream and its first block: magics, checksum, one bit, and the 24-bit origin pointer. Bytes. */
const BLOCK_HEAD_BYTES = 18;

const damaged = () => new Unreadable('damaged');

/** The block size of a stream that begins with these bytes, before run-length decoding; undefined if no stream begins there. Bytes. */
function blockBytesOf(head: Uint8Array): number | undefined {
  const level = (head[STREAM_MARK.length] ?? 0) - 0x30;
  return STREAM_MARK.equals(head.subarray(0, STREAM_MARK.length)) && level >= 1 && level <= 9
    ? level * BLOCK_UNIT_BYTES
    : undefined;
}

/** Unpacks a stream after its header. Returns whether all checksums match; blocks with a wrong checksum are given as well. */
function* stream(bits: HighBits, budget: Budget, block_bytes: number): Generator<Buffer, boolean> {
  let is_right = true;
  let crc = 0;
  for (;;) {
    const mark = bits.take(24) * 2 ** 24 + bits.take(24);
    const expected = bits.take(16) * 2 ** 16 + bits.take(16);
    if (mark === END_MARK) return is_right && crc >>> 0 === expected;
    if (mark !== BLOCK_MARK) throw damaged();
    const block_crc = yield* unpackedBzip2(bits, budget, block_bytes);
    is_right &&= block_crc === expected;
    crc = ((crc << 1) | (crc >>> 31)) ^ block_crc;
  }
}

/**
 * Unpacks consecutive streams from the first byte. Like bunzip2 and 7-Zip, it ignores streams after zeros. `ended` receives the end of each stream. @throws
 * Unreadable at the end, if a checksum is wrong or a stream is damaged
 */
export function* bzip2Streams(read: ReadAt, budget: Budget, ended: (at: number) => void): Generator<Buffer> {
  const bits = new HighBits(read);
  let is_right = true;
  let at = 0;
  for (;;) {
    const block_bytes = blockBytesOf(read(at, STREAM_HEAD_BYTES));
    if (block_bytes === undefined) break;
    bits.take(8 * STREAM_MARK.length);
    bits.take(8);
    const is_stream_right = yield* stream(bits, budget, block_bytes);
    is_right &&= is_stream_right;
    bits.align();
    at = bits.place;
    ended(at);
  }
  if (at === 0 || !is_right) throw damaged();
}

/** Whether the origin pointer of the first block lies in the block. Text after a magic quoted by a program fails this check. */
function provesBzip2(reader: Reader, at: number): boolean {
  const head = reader.at(at, BLOCK_HEAD_BYTES);
  if (head.length < BLOCK_HEAD_BYTES) return false;
  const place = Math.floor((head.readUInt32BE(14) & 0x7fffffff) / 2 ** 7);
  return place <= (blockBytesOf(head) ?? 0) + 10;
}

export const bzip2 = format({
  id: 'bzip2',
  media_type: 'application/x-bzip2',
  recognise: (head) => (head[0] === 0x42 && BZIP2.test(head.toString('hex', 0, 10)) ? 76 : 0),
  carve: [{ pattern: `${spelled('BZh')} ${oneOf(0x31, 0x39)} ${spelled('1AY&SY')}`, proves: provesBzip2 }],
  traits: { is_named_after_file: true },
  limits: null,
  open: unpackedBy((reader, ended) => bzip2Streams((at, bytes) => reader.at(at, bytes), reader.budget, ended), {
    is_tried: true,
  }),
});
