import { unpackedLz4, unsnapped } from '#scanner/decompression/decompress.ts';
import { LZ4_RATIO_MAXIMUM as LZ4_RATIO } from '#scanner/decompression/lz.ts';
import { format, innerName, oneOf, patternOf, withBits } from '#scanner/formats/format.ts';
import type { Content } from '#scanner/reading/content.ts';
import type { Budget } from '#scanner/reading/limits.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';
import { struct } from '#scanner/reading/struct.ts';

// Blocks of LZ4 and Snappy in the frames of libraries, which differ from the published framing: lz4-java's LZ4BlockOutputStream, snappy-java's
// SnappyOutputStream (used by Kafka and Spark), Hadoop's BlockCompressorStream, and python-lz4's blocks after their size.

const JAVA_LZ4 = Buffer.from('LZ4Block');
const JAVA_HEAD = struct('little', { magic: JAVA_LZ4.length, token: 'u8', packed_bytes: 'u32', bytes: 'u32', checksum: 'u32' });
const JAVA_HEAD_BYTES = JAVA_HEAD.bytes;
const JAVA_METHOD = { raw: 0x10, lz4: 0x20 } as const;
/** The block size is at most 2 to the power of this number plus the low four bits of the token. Bytes. */
const JAVA_SHIFT = 10;

const JAVA_SNAPPY = Buffer.from('82534e4150505900', 'hex');
const JAVA_SNAPPY_HEAD_BYTES = 16;

/** Maximum size of a block. Bytes. */
const BLOCK_BYTES_MAXIMUM = 64 * 1024 ** 2;
/** Maximum size of a file that is recognised by its block sizes alone. Bytes. */
const TOLD_BYTES_MAXIMUM = 16 * 1024 ** 2;
/** Minimum unpacked size of a block that is recognised by its sizes alone. Bytes. */
const TOLD_LEAST = 33;
/** Maximum growth of LZ4 data: 1 byte in 255, plus 16 bytes. */
const EXPANSION = { one_of: 255, bytes: 16 } as const;

function isJavaLz4(head: Buffer): boolean {
  const method = (head[JAVA_LZ4.length] ?? 0) & 0xf0;
  return head.subarray(0, JAVA_LZ4.length).equals(JAVA_LZ4) && (method === JAVA_METHOD.raw || method === JAVA_METHOD.lz4);
}

function isJavaSnappy(head: Buffer): boolean {
  return head.subarray(0, JAVA_SNAPPY.length).equals(JAVA_SNAPPY);
}

function isBlockStream(head: Buffer): boolean {
  return isJavaLz4(head) || isJavaSnappy(head);
}

/** Reads exactly `length` bytes. @throws Unreadable before allocating, if they exceed the file or the maximum size of a block */
export function need(reader: Reader, at: number, length: number): Buffer {
  if (length > BLOCK_BYTES_MAXIMUM) throw new Unreadable(length > reader.size - at ? 'damaged' : 'too_large');
  const bytes = reader.at(at, length);
  if (bytes.length < length) throw new Unreadable('damaged');
  return bytes;
}

/** Unpacks an LZ4 block that must have exactly `size` bytes. @throws Unreadable */
function unpackedBlock(packed: Buffer, size: number, budget: Budget): Buffer {
  if (size > LZ4_RATIO * packed.length) throw new Unreadable('damaged');
  if (size > BLOCK_BYTES_MAXIMUM) throw new Unreadable('too_large');
  return unpackedLz4(packed, budget, size);
}

function* javaLz4(reader: Reader, ended: (at: number) => void): Generator<Buffer> {
  for (let at = 0; isJavaLz4(reader.at(at, JAVA_HEAD_BYTES)); ended(at)) {
    const head = JAVA_HEAD.read(need(reader, at, JAVA_HEAD_BYTES));
    if (head === undefined) throw new Unreadable('damaged');
    const { token, packed_bytes, bytes: size } = head;
    at += JAVA_HEAD_BYTES;
    // An empty block ends a stream; another stream may follow.
    if (size === 0 && packed_bytes === 0) continue;
    if (size > 2 ** (JAVA_SHIFT + (token & 15))) throw new Unreadable('damaged');
    const packed = need(reader, at, packed_bytes);
    at += packed_bytes;
    yield (token & 0xf0) === JAVA_METHOD.raw ? Buffer.from(packed) : unpackedBlock(packed, size, reader.budget);
  }
}

function* javaSnappy(reader: Reader, ended: (at: number) => void): Generator<Buffer> {
  for (let at = 0; at < reader.size; ended(at)) {
    if (isJavaSnappy(reader.at(at, JAVA_SNAPPY.length))) {
      at += JAVA_SNAPPY_HEAD_BYTES;
      continue;
    }
    const head = reader.at(at, 4);
    const packed_bytes = head.length < 4 ? 0 : head.readUInt32BE(0);
    // Other data may follow the blocks.
    if (packed_bytes === 0 || packed_bytes > reader.size - at - 4) return;
    yield unsnapped(need(reader, at + 4, packed_bytes), reader.budget, BLOCK_BYTES_MAXIMUM);
    at += 4 + packed_bytes;
  }
}

/**
 * Computes the unpacked size of an LZ4 block, at most `most` bytes, from its tokens without unpacking it, and the position of its end. Undefined for invalid
 * blocks. Zeros after a block of exactly `most` bytes count as padding, which Z85 and predictor rows add.
 */
export function extentOfLz4(block: Buffer, most: number): { size: number; end: number } | undefined {
  let from = 0;
  let size = 0;
  const longer = (): number => {
    let total = 0;
    for (let byte = 255; byte === 255 && from < block.length; total += byte) byte = block[from++] ?? 0;
    return total;
  };
  while (from < block.length) {
    const token = block[from++] ?? 0;
    const literals = token >> 4 === 15 ? 15 + longer() : token >> 4;
    from += literals;
    size += literals;
    if (from > block.length || size > most) return undefined;
    if (from === block.length) return { size, end: from };
    const distance = (block[from] ?? 0) | ((block[from + 1] ?? 0) << 8);
    from += 2;
    if (distance === 0 && size === most && block.subarray(from - 2).every((byte) => byte === 0)) return { size, end: from - 2 };
    if (distance === 0 || distance > size || from >= block.length) return undefined;
    size += 4 + ((token & 15) === 15 ? 15 + longer() : token & 15);
  }
  // A valid block ends with literals.
  return undefined;
}

type Bytes = Pick<Reader, 'size' | 'at'>;

/** Blocks that follow their sizes. */
interface Sized {
  blocks: { start: number; end: number; size: number }[];
}

function isSizeOf(size: number, packed_bytes: number): boolean {
  const least = packed_bytes - Math.ceil(packed_bytes / EXPANSION.one_of) - EXPANSION.bytes;
  return size >= TOLD_LEAST && size >= least && size <= LZ4_RATIO * packed_bytes && size <= BLOCK_BYTES_MAXIMUM;
}

/** A single block after its unpacked size that extends to the end of the file (python-lz4, `store_size`). */
function oneBlock(reader: Bytes): Sized | undefined {
  const head = reader.at(0, 4);
  const packed_bytes = reader.size - 4;
  if (head.length < 4 || !isSizeOf(head.readUInt32LE(0), packed_bytes)) return undefined;
  const size = head.readUInt32LE(0);
  const extent = extentOfLz4(reader.at(4, packed_bytes), size);
  return extent?.size === size ? { blocks: [{ start: 4, end: 4 + extent.end, size }] } : undefined;
}

/** Blocks up to the end of the file, each after its unpacked and packed size (Hadoop). */
function hadoopBlocks(reader: Bytes): Sized | undefined {
  const blocks: Sized['blocks'] = [];
  for (let at = 0; at < reader.size; ) {
    const head = reader.at(at, 8);
    if (head.length < 8) return undefined;
    const size = head.readUInt32BE(0);
    const packed_bytes = head.readUInt32BE(4);
    const start = at + 8;
    if (!isSizeOf(size, packed_bytes) || packed_bytes > reader.size - start) return undefined;
    if (extentOfLz4(reader.at(start, packed_bytes), size)?.size !== size) return undefined;
    at = start + packed_bytes;
    blocks.push({ start, end: at, size });
  }
  return blocks.length === 0 ? undefined : { blocks };
}

function sizedBlocks(reader: Bytes): Sized | undefined {
  if (reader.size < TOLD_LEAST / 2 || reader.size > TOLD_BYTES_MAXIMUM) return undefined;
  return oneBlock(reader) ?? hadoopBlocks(reader);
}

/** Whether the file consists only of LZ4 blocks after their sizes, and all packed and unpacked sizes are exact. */
export function isSizedBlocks(content: Bytes): boolean {
  return sizedBlocks(content) !== undefined;
}

/** Like `isSizedBlocks`, for bytes in memory. */
export function areSizedBlocks(bytes: Buffer): boolean {
  return isSizedBlocks({ size: bytes.length, at: (position, length) => bytes.subarray(position, position + length) });
}

function* sized(reader: Reader, ended: (at: number) => void): Generator<Buffer> {
  for (const { start, end, size } of sizedBlocks(reader)?.blocks ?? [])
    yield unpackedBlock(need(reader, start, end - start), size, reader.budget);
  ended(reader.size);
}

/** The one unpacked file. @throws Unreadable */
async function* blockStreamMembers(content: Content, name: string, { budget, claim }: ReadContext): AsyncGenerator<Member> {
  using reader = openReader(content, budget);
  const unpack = isJavaLz4(reader.at(0, JAVA_HEAD_BYTES))
    ? javaLz4
    : isJavaSnappy(reader.at(0, JAVA_SNAPPY.length))
      ? javaSnappy
      : sized;
  async function* unpacked(): AsyncGenerator<Buffer> {
    for (const piece of unpack(reader, (at) => claim(0, at))) {
      budget.spend(piece.length);
      yield piece;
    }
  }
  yield { name, read: () => ({ stream: unpacked(), packed_bytes: content.size }) };
}

/** The frames of lz4-java and snappy-java. */
export const blockStream = format({
  id: 'block-stream',
  media_type: 'application/x-packed',
  recognise: withBits(64, isBlockStream),
  carve: [
    { id: 'lz4-java', title: 'lz4 of Java', pattern: `${patternOf({ at: 0, bytes: JAVA_LZ4 })} ${oneOf(0x10, 0x2f)}` },
    { id: 'snappy-java', title: 'snappy of Java', pattern: `${patternOf({ at: 0, bytes: JAVA_SNAPPY })} 00 00 00 (01|02)` },
  ],
  traits: { is_named_after_file: true },
  limits: null,
  open: (content, context) => blockStreamMembers(content, innerName(context.name), context),
});

/**
 * Blocks that are recognised by their sizes alone. They are tried in addition to other formats, because compressed bytes may look like a format that can begin
 * anywhere, such as PDF.
 */
export const bareBlocks = format({
  id: 'sized-blocks',
  media_type: 'application/x-packed',
  recogniseBeside: ({ reader, first }) => (first?.format.traits.owns_end?.(reader) !== true && isSizedBlocks(reader) ? 64 : 0),
  traits: { is_named_after_file: true },
  limits: 'Files above 16 MiB are not tried.',
  open: blockStream.open,
});
