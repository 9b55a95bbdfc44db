import { crc32 } from 'node:zlib';
import { scanPhrase } from '@palisade/contract/scan-phrases';
import { beginsStream, decompress, decompressed, unpackedLzo } from '#scanner/decompression/decompress.ts';
import { byMarks, format, hexMark, innerName, oneOf, patternOf, withBits } from '#scanner/formats/format.ts';
import { areOthers, type ListedMember, noted } from '#scanner/formats/seven-zip/listed-members.ts';
import { sevenZipMembers } from '#scanner/formats/seven-zip/seven-zip.ts';
import { type Content, joined, openSource, standsAt, streamOf } from '#scanner/reading/content.ts';
import type { Budget } from '#scanner/reading/limits.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { endOfZeros, openReader, type Reader } from '#scanner/reading/reader.ts';
import { struct } from '#scanner/reading/struct.ts';
import { isHuffmanPack, unpackedHuffman } from './huffman-pack.ts';
import { block, unpackedBy } from './unpacked-streams.ts';

// Formats that compress one file and that 7-Zip does not know or Node unpacks faster. Like the original programs, these readers treat consecutive streams as
// one file. Bytes after the last stream are not claimed, so they are examined as separate data.

const CHUNK_BYTES = 256 * 1024;
const NUL = Buffer.alloc(1);

/** The one member of a format that Node unpacks. */
async function* nodeMembers(
  content: Content,
  packing: 'zlib' | 'brotli',
  name: string,
  context: ReadContext,
): AsyncGenerator<Member> {
  let read = 0;
  const ended = (bytes: number) => {
    read = bytes;
  };
  const unpacked = decompressed(packing, streamOf(content), context.budget, { chunk_bytes: CHUNK_BYTES, ended });
  yield { name, read: () => ({ stream: unpacked, packed_bytes: content.size }) };
  using reader = openReader(content, context.budget);
  context.claim(0, endOfZeros(reader, read));
}

/** Magic of gzip (RFC 1952, 2.3.1). */
export const GZIP_ID = hexMark('1f8b');
/** Magic and method. Deflate is the only method in use. */
const GZIP = { at: 0, bytes: Buffer.concat([GZIP_ID.bytes, Buffer.from([8])]) };
const GZIP_HEAD_BYTES = 10;
/** Trailer of a gzip stream (RFC 1952, 2.3.1). */
const GZIP_TAIL = struct('little', { crc: 'u32', bytes: 'u32' });
const GZIP_TAIL_BYTES = GZIP_TAIL.bytes;
const GZIP_FLAG = { crc: 2, extra: 4, name: 8, comment: 16 } as const;
const GZIP_TEXT_BYTES = 64 * 1024;
const GZIP_PIECE_BYTES = 16 * 1024;

/** The end of the gzip header at `at` (RFC 1952, 2.3); undefined if no valid header is there. */
function gzipHeaderEnd(reader: Reader, at: number): number | undefined {
  const head = reader.at(at, GZIP_HEAD_BYTES);
  if (head.length < GZIP_HEAD_BYTES || !standsAt(head, GZIP.bytes, GZIP.at)) return undefined;
  const flags = head[3] ?? 0;
  let end = at + GZIP_HEAD_BYTES;
  if ((flags & GZIP_FLAG.extra) !== 0) {
    const length = reader.at(end, 2);
    end += 2 + (length.length < 2 ? 0 : length.readUInt16LE(0));
  }
  for (const flag of [GZIP_FLAG.name, GZIP_FLAG.comment]) {
    if ((flags & flag) === 0) continue;
    const zero = reader.find(NUL, end, end + GZIP_TEXT_BYTES);
    if (zero < 0) return undefined;
    end = zero + 1;
  }
  return (flags & GZIP_FLAG.crc) === 0 ? end : end + 2;
}

function* piecesOf(reader: Reader, from: number): Generator<Buffer> {
  for (let at = from; at < reader.size; at += GZIP_PIECE_BYTES) yield Buffer.from(reader.at(at, GZIP_PIECE_BYTES));
}

/**
 * Unpacks consecutive gzip streams. Node's gunzip is not used: it treats any bytes that begin with 1f as another stream, and withholds earlier output if they
 * are not gzip.
 */
async function* gzipStreams(reader: Reader, ended: (at: number) => void): AsyncGenerator<Buffer> {
  let is_whole = true;
  let at = 0;
  for (let start = gzipHeaderEnd(reader, at); start !== undefined; start = gzipHeaderEnd(reader, at)) {
    let crc = 0;
    let size = 0;
    let read = 0;
    const to = (bytes: number) => {
      read = bytes;
    };
    for await (const chunk of decompressed('deflate', piecesOf(reader, start), reader.budget, {
      chunk_bytes: CHUNK_BYTES,
      ended: to,
    })) {
      crc = crc32(chunk, crc);
      size += chunk.length;
      yield chunk;
    }
    at = start + read;
    const tail = reader.at(at, GZIP_TAIL_BYTES);
    const fields = GZIP_TAIL.read(tail);
    is_whole &&= fields?.crc === crc && fields.bytes === size % 2 ** 32;
    at += tail.length;
    ended(at);
  }
  if (at === 0 || !is_whole) throw new Unreadable('damaged');
}

const LOOK_BYTES = 4096;

/** Whether a zlib stream begins here (RFC 1950): a valid header and data that can be unpacked. The header alone would match 1 in 1,000 random files. */
function isZlib(head: Buffer, budget: Budget): boolean {
  if (head.length < 8 || (head[0] ?? 0) % 16 !== 8 || (head[0] ?? 0) >> 4 > 7 || head.readUInt16BE(0) % 31 !== 0) return false;
  if (((head[1] ?? 0) & 0x20) !== 0) return false;
  return beginsStream('zlib', head.subarray(0, LOOK_BYTES), budget);
}

/** Brotli (RFC 7932) has no magic, so only files with the extension `.br` are tried. */
function isBrotli(head: Buffer, name: string, budget: Budget): boolean {
  if (!/\.br$/i.test(name)) return false;
  return beginsStream('brotli', head.subarray(0, LOOK_BYTES), budget);
}

const LZOP = Buffer.from('894c5a4f000d0a1a0a', 'hex');
/** Header flags of lzop 1.04. */
const LZOP_FLAG = { adler: 0x1, adler_packed: 0x2, extra: 0x40, crc: 0x100, crc_packed: 0x200, filter: 0x800 } as const;
const LZOP_BLOCK_BYTES_MAXIMUM = 64 * 1024 ** 2;

/** Unpacks one file (lzop 1.04, lzop.c) whose magic is at `from`. Returns its end. */
function* lzopFile(reader: Reader, from: number): Generator<Buffer, number> {
  let at = from + LZOP.length;
  const take = (bytes: 1 | 2 | 4): number => {
    const value = block(reader, at, bytes).readUIntBE(0, bytes);
    at += bytes;
    return value;
  };
  const is_new = take(2) >= 0x0940;
  take(2);
  if (is_new) take(2);
  const method = take(1);
  if (is_new) take(1);
  const flags = take(4);
  const has = (flag: number) => (flags & flag) !== 0;
  if (has(LZOP_FLAG.filter)) take(4);
  at += is_new ? 12 : 8;
  const name_bytes = take(1);
  at += name_bytes + 4;
  const extra_bytes = has(LZOP_FLAG.extra) ? take(4) + 4 : 0;
  at += extra_bytes;
  // LZO1X-1, LZO1X-1(15) and LZO1X-999 are unpacked in the same way.
  if (method < 1 || method > 3 || has(LZOP_FLAG.filter)) throw new Unreadable('unsupported');
  for (;;) {
    const unpacked_bytes = take(4);
    if (unpacked_bytes === 0) return at;
    const packed_bytes = take(4);
    if (unpacked_bytes > LZOP_BLOCK_BYTES_MAXIMUM || packed_bytes > unpacked_bytes) throw new Unreadable('damaged');
    at += 4 * [LZOP_FLAG.adler, LZOP_FLAG.crc].filter(has).length;
    if (packed_bytes < unpacked_bytes) at += 4 * [LZOP_FLAG.adler_packed, LZOP_FLAG.crc_packed].filter(has).length;
    const packed = block(reader, at, packed_bytes);
    at += packed_bytes;
    if (packed_bytes === unpacked_bytes) {
      yield Buffer.from(packed);
      continue;
    }
    yield unpackedLzo(packed, reader.budget, unpacked_bytes);
  }
}

function* lzopFiles(reader: Reader, ended: (at: number) => void): Generator<Buffer> {
  for (let at = 0; reader.at(at, LZOP.length).equals(LZOP); ended(at)) at = yield* lzopFile(reader, at);
}

const LZIP = Buffer.from('LZIP');
const LZIP_HEADER_BYTES = 6;
const LZIP_TRAILER_BYTES = 20;
const SEARCH_BYTES = 64 * 1024;

/** The end of an lzip member: the first position whose preceding 8 bytes equal the size of the member. Undefined if there is none. */
function lzipEnd(reader: Reader, start: number): number | undefined {
  for (let from = start + LZIP_HEADER_BYTES; from < reader.size; from += SEARCH_BYTES) {
    const bytes = reader.at(from, SEARCH_BYTES + 8);
    for (let at = 0; at + 8 <= bytes.length && at < SEARCH_BYTES; at += 1) {
      const size = from + at + 8 - start;
      if (bytes.readUInt32LE(at) === size % 2 ** 32 && bytes.readUInt32LE(at + 4) === Math.floor(size / 2 ** 32))
        return start + size;
    }
  }
  return undefined;
}

/** The dictionary size for 7-Zip. lzip codes it as a power of two minus some sixteenths; the power of two is sufficient for unpacking. Bytes. */
function lzipDictionary(coded: number): number {
  return Math.min(2 ** 29, Math.max(4096, 2 ** (coded & 0x1f)));
}

/** Members of lzip (manual, "File format") are LZMA streams with another header. 7-Zip unpacks all of them at once as LZMA. */
async function* lzipMembers(content: Content, name: string, context: ReadContext): AsyncGenerator<Member> {
  using reader = openReader(content, context.budget);
  using source = openSource(content);
  const parts: (Buffer | { start: number; size: number })[] = [];
  const sizes: { size: number; crc: number }[] = [];
  let at = 0;
  let is_whole = true;
  while (reader.at(at, 4).equals(LZIP)) {
    const [version, coded = 0] = reader.at(at + 4, 2);
    if (version !== 1) throw new Unreadable('unsupported');
    const end = lzipEnd(reader, at);
    is_whole &&= end !== undefined;
    const header = Buffer.alloc(13, 0xff);
    header[0] = 0x5d;
    header.writeUInt32LE(lzipDictionary(coded), 1);
    const start = at + LZIP_HEADER_BYTES;
    parts.push(header, { start, size: Math.max(0, (end === undefined ? reader.size : end - LZIP_TRAILER_BYTES) - start) });
    at = end ?? reader.size;
    // Trailer (lzip manual, "File format"): the CRC and the size of the unpacked data.
    const trailer = end === undefined ? undefined : reader.at(end - LZIP_TRAILER_BYTES, LZIP_TRAILER_BYTES);
    if (trailer !== undefined) sizes.push({ size: Number(trailer.readBigUInt64LE(4)), crc: trailer.readUInt32LE(0) });
  }
  context.claim(0, endOfZeros(reader, at));
  const given: ListedMember[] = [];
  for await (const member of sevenZipMembers(joined(source, parts), 'lzma', context)) yield noted({ ...member, name }, given);
  if (!is_whole) throw new Unreadable('damaged');
  const size = sizes.reduce((sum, one) => sum + one.size, 0);
  // 7-Zip gives several members as one file.
  const listed = size === 0 ? [] : [{ size, crc: sizes.length === 1 ? sizes[0]?.crc : undefined }];
  if (areOthers(listed, given)) {
    context.note(scanPhrase('archive.other_contents', {}));
    throw new Unreadable('damaged');
  }
}

/** zisofs, files that Linux unpacks on reading from a disc (Linux, fs/isofs, compress.c): a header, a table of block offsets, and zlib blocks. */
const ZISOFS = Buffer.from('37e45396c9dbd607', 'hex');
const ZISOFS_HEAD = struct('little', { magic: ZISOFS.length, bytes: 'u32', head_words: 'u8', shift: 'u8', reserved: 2 });
const ZISOFS_HEAD_BYTES = ZISOFS_HEAD.bytes;
/** Two consecutive table entries: the start of a block and of the next one. */
const ZISOFS_PLACES = struct('little', { start: 'u32', end: 'u32' });
const ZISOFS_SHIFT = { least: 15, most: 17 } as const;

function* zisofsBlocks(reader: Reader, ended: (at: number) => void): Generator<Buffer> {
  const head = ZISOFS_HEAD.read(block(reader, 0, ZISOFS_HEAD_BYTES));
  if (head === undefined) throw new Unreadable('damaged');
  const { bytes: size, shift } = head;
  const table_at = head.head_words * 4;
  if (shift < ZISOFS_SHIFT.least || shift > ZISOFS_SHIFT.most) throw new Unreadable('unsupported');
  const block_bytes = 2 ** shift;
  const count = Math.ceil(size / block_bytes);
  let end = 0;
  for (let index = 0; index < count; index += 1) {
    const places = ZISOFS_PLACES.read(block(reader, table_at + index * 4, ZISOFS_PLACES.bytes));
    if (places === undefined) throw new Unreadable('damaged');
    const { start } = places;
    ({ end } = places);
    if (end < start || end - start > 2 * block_bytes) throw new Unreadable('damaged');
    const most = Math.min(block_bytes, size - index * block_bytes);
    // A block of zeros is stored as no bytes.
    if (end === start) yield Buffer.alloc(most);
    else yield inflatedBlock(reader, start, end, most);
  }
  ended(end);
}

function inflatedBlock(reader: Reader, start: number, end: number, most: number): Buffer {
  const answer = decompress('zlib', block(reader, start, end - start), reader.budget, { most });
  if (answer.kind !== 'whole') throw new Unreadable('damaged');
  return answer.plain;
}

/** Packed bytes that are tried to decide whether a stream begins. Bytes. */
const TRIED_BYTES = 4096;

/** Whether deflate or zlib data at `at` can be unpacked, as far as tried. A stream that ends early is accepted. */
function inflates(reader: Reader, at: number, packing: 'zlib' | 'deflate'): boolean {
  const packed = reader.at(at, TRIED_BYTES);
  const { kind } = decompress(packing, packed, reader.budget, { most: 64 * 1024 });
  return kind === 'whole' || (packed.length > 2 && kind !== 'none');
}

/** Maximum length of the name and comment of a gzip stream inside other data. Bytes. */
const CARVED_TEXT_BYTES = 1024;

/** Whether a valid gzip header with its optional fields is followed by deflate data (RFC 1952). */
function provesGzip(reader: Reader, at: number): boolean {
  const head = reader.at(at, GZIP_HEAD_BYTES);
  if (head.length < GZIP_HEAD_BYTES || head[2] !== 8 || (head[3] ?? 0) > 0x1f) return false;
  const flags = head[3] ?? 0;
  let position = at + GZIP_HEAD_BYTES;
  if ((flags & GZIP_FLAG.extra) !== 0) {
    const length = reader.at(position, 2);
    if (length.length < 2) return false;
    position += 2 + length.readUInt16LE(0);
  }
  for (const flag of [GZIP_FLAG.name, GZIP_FLAG.comment]) {
    if ((flags & flag) === 0) continue;
    const end = reader.at(position, CARVED_TEXT_BYTES).indexOf(0);
    if (end < 0) return false;
    position += end + 1;
  }
  if ((flags & GZIP_FLAG.crc) !== 0) position += 2;
  return inflates(reader, position, 'deflate');
}

/** Whether a zlib header with a valid method and checksum, without a dictionary, is followed by deflate data (RFC 1950). */
export function provesZlib(reader: Reader, at: number): boolean {
  const head = reader.at(at, 2);
  if (head.length < 2 || (head[0] ?? 0) % 16 !== 8 || (head[0] ?? 0) > 0x78) return false;
  return head.readUInt16BE(0) % 31 === 0 && ((head[1] ?? 0) & 0x20) === 0 && inflates(reader, at, 'zlib');
}

/**
 * Whether the magic of lzop 1.04 (lzop.c) is followed by a plausible version and one of its three methods. Programs that detect file types contain the magic
 * alone.
 */
function provesLzop(reader: Reader, at: number): boolean {
  const head = reader.at(at, 16);
  if (head.length < 16) return false;
  const version = head.readUInt16BE(9);
  const method = head[version >= 0x0940 ? 15 : 13] ?? 0;
  return version >= 0x0010 && version < 0x8000 && method >= 1 && method <= 3;
}

export const gzip = format({
  id: 'gzip',
  media_type: 'application/gzip',
  recognise: byMarks([GZIP]),
  carve: [
    {
      pattern: `${patternOf(GZIP)} ${oneOf(0, 31)} ?? ?? ?? ?? (00|02|04) (00|01|02|03|04|05|06|07|08|09|0a|0b|0c|0d|ff)`,
      proves: provesGzip,
    },
  ],
  traits: { is_named_after_file: true },
  limits: null,
  open: unpackedBy(gzipStreams),
});

export const lzop = format({
  id: 'lzop',
  media_type: 'application/x-lzop',
  recognise: byMarks([{ at: 0, bytes: LZOP }]),
  carve: [{ pattern: patternOf({ at: 0, bytes: LZOP }), proves: provesLzop }],
  traits: { is_named_after_file: true },
  limits: null,
  open: unpackedBy(lzopFiles),
});

const LZIP_VERSION_1 = { at: 0, bytes: Buffer.concat([LZIP, Buffer.from([1])]) };

export const lzip = format({
  id: 'lzip',
  media_type: 'application/x-lzip',
  recognise: byMarks([LZIP_VERSION_1]),
  carve: [{ pattern: `${patternOf(LZIP_VERSION_1)} ${oneOf(0x0c, 0x1d)}` }],
  traits: { is_named_after_file: true },
  limits: 'Version 0 is not read.',
  open: (content, context) => lzipMembers(content, innerName(context.name), context),
});

export const systemVPack = format({
  id: 'pack',
  media_type: 'application/x-packed',
  recognise: withBits(24, isHuffmanPack),
  traits: { is_named_after_file: true },
  limits: null,
  open: unpackedBy(unpackedHuffman),
});

export const zisofs = format({
  id: 'zisofs',
  media_type: 'application/x-packed',
  recognise: byMarks([{ at: 0, bytes: ZISOFS }]),
  traits: { is_named_after_file: true },
  limits: 'Version 2, with files above 4 GiB, is not read.',
  open: unpackedBy(zisofsBlocks),
});

export const zlib = format({
  id: 'zlib',
  media_type: 'application/zlib',
  recognise: withBits(24, isZlib),
  traits: { is_named_after_file: true, is_weak: true },
  limits: 'Streams that need a dictionary are not read.',
  open: (content, context) => nodeMembers(content, 'zlib', innerName(context.name), context),
});

export const brotli = format({
  id: 'brotli',
  media_type: 'application/x-packed',
  recogniseBeside: ({ first, head, name, reader }) => (first === undefined && isBrotli(head, name, reader.budget) ? 24 : 0),
  traits: { is_named_after_file: true },
  limits: 'It has no mark: only files that are named so are tried.',
  open: (content, context) => nodeMembers(content, 'brotli', innerName(context.name), context),
});
