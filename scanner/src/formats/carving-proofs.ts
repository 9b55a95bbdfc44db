import { crc32 } from 'node:zlib';
import { decompress } from '#scanner/formats/compression/decompress.ts';
import type { Reader } from '#scanner/walk/reader.ts';

// Whether a container begins where a pattern matched, as far as its first bytes tell.

/** Enough of a stream to tell whether it is one. Bytes. */
const TRIED_BYTES = 4096;

/** Whether raw deflate or zlib unpacks from `at` on, as far as is tried: what ends too early is none the worse for it. */
function inflates(reader: Reader, at: number, packing: 'zlib' | 'deflate'): boolean {
  const packed = reader.at(at, TRIED_BYTES);
  const { kind } = decompress(packing, packed, reader.budget, { most: 64 * 1024 });
  return kind === 'whole' || (packed.length > 2 && kind !== 'none');
}

const GZIP_FLAG = { crc: 2, extra: 4, name: 8, comment: 16 } as const;

const GZIP_HEAD_BYTES = 10;

/** A name or a comment that is longer is none. Bytes. */
const GZIP_TEXT_BYTES = 1024;

/** RFC 1952: the header with what its flags announce, and deflate behind it. */
export function provesGzip(reader: Reader, at: number): boolean {
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
    const end = reader.at(position, GZIP_TEXT_BYTES).indexOf(0);
    if (end < 0) return false;
    position += end + 1;
  }
  if ((flags & GZIP_FLAG.crc) !== 0) position += 2;
  return inflates(reader, position, 'deflate');
}

/** RFC 1950: method and checksum of the header, no dictionary, and deflate behind it. */
export function provesZlib(reader: Reader, at: number): boolean {
  const head = reader.at(at, 2);
  if (head.length < 2 || (head[0] ?? 0) % 16 !== 8 || (head[0] ?? 0) > 0x78) return false;
  return head.readUInt16BE(0) % 31 === 0 && ((head[1] ?? 0) & 0x20) === 0 && inflates(reader, at, 'zlib');
}

/** What a block of bzip2 begins with: its mark, a checksum, a bit, and 24 bits for where its text begins. Bytes. */
const BZIP2_HEAD_BYTES = 18;

/** bzip2 (decompress.c): the place in the first block is one of the block. The letters behind a magic that a program or a text quotes are no such number. */
export function provesBzip2(reader: Reader, at: number): boolean {
  const head = reader.at(at, BZIP2_HEAD_BYTES);
  if (head.length < BZIP2_HEAD_BYTES) return false;
  const block_bytes = ((head[3] ?? 0) - 0x30) * 100_000;
  const place = Math.floor((head.readUInt32BE(14) & 0x7fffffff) / 2 ** 7);
  return place <= block_bytes + 10;
}

/** lzop 1.04 (lzop.c): a version behind the magic, and one of its three methods where that version has it. Programs that tell files apart hold the magic alone. */
export function provesLzop(reader: Reader, at: number): boolean {
  const head = reader.at(at, 16);
  if (head.length < 16) return false;
  const version = head.readUInt16BE(9);
  const method = head[version >= 0x0940 ? 15 : 13] ?? 0;
  return version >= 0x0010 && version < 0x8000 && method >= 1 && method <= 3;
}

const ZIP_VERSION_MAXIMUM = 63;

const ZIP_NAME_MAXIMUM = 4096;

/** APPNOTE 4.3.7: a version that there is, and a name without control characters. */
export function provesZip(reader: Reader, at: number): boolean {
  const head = reader.at(at, 30);
  if (head.length < 30 || (head[4] ?? 0) > ZIP_VERSION_MAXIMUM) return false;
  const name_bytes = head.readUInt16LE(26);
  if (name_bytes === 0 || name_bytes > ZIP_NAME_MAXIMUM) return false;
  const name = reader.at(at + 30, name_bytes);
  return name.length === name_bytes && !name.some((byte) => byte < 0x20);
}

/** RFC 8878, 3.1.1: a first block of a type that there is and of at most 128 KiB. */
export function provesZstd(reader: Reader, at: number): boolean {
  const head = reader.at(at, 18);
  const descriptor = head[4] ?? 0;
  const is_single = (descriptor & 0x20) !== 0;
  const size_bytes = [is_single ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  const block = 5 + (is_single ? 0 : 1) + ([0, 1, 2, 4][descriptor & 3] ?? 0) + size_bytes;
  if (head.length < block + 3) return false;
  const header = head.readUIntLE(block, 3);
  return ((header >> 1) & 3) !== 3 && header >> 3 <= 128 * 1024;
}

const LZMA = { header: 13, looked: 48, zeros: 4 } as const;

/** LZMA alone (lzma-specification.txt): a dictionary that programs choose, and behind the header bytes as a compressor makes them. Tables have mostly zeros. */
export function provesLzma(reader: Reader, at: number): boolean {
  const head = reader.at(at, LZMA.looked);
  if (head.length <= LZMA.header + 5) return false;
  const dictionary = head.readUInt32LE(1);
  const lowest = (dictionary & -dictionary) >>> 0;
  if (dictionary < 4096 || (lowest !== dictionary && lowest * 3 !== dictionary) || head.readBigUInt64LE(5) === 0n) return false;
  return head.subarray(LZMA.header + 1).filter((byte) => byte === 0).length <= LZMA.zeros;
}

const COMPRESS = { header: 3, code_bits: 9, least: 32, looked: 64, first_free: 257 } as const;

/** So many bytes tell whether compress(1) begins. */
export const COMPRESS_BYTES = COMPRESS.header + (COMPRESS.looked * COMPRESS.code_bits) / 8;

/**
 * compress(1) (ncompress, compress42.c), whose magic stands at `at`: codes of 12 to 16 bits at most, the first ones of nine bits, each a byte or one that the codes before it have made. Random bytes pass once in 2^30 times
 * behind the magic.
 */
export function provesCompress(bytes: Buffer, at: number): boolean {
  const flags = bytes[at + 2] ?? 0;
  if (flags < 0x8c || flags > 0x90) return false;
  const start = at + COMPRESS.header;
  const count = Math.min(COMPRESS.looked, Math.floor(((bytes.length - start) * 8) / COMPRESS.code_bits));
  if (count < COMPRESS.least) return false;
  for (let index = 0; index < count; index += 1) {
    const bit = index * COMPRESS.code_bits;
    const place = start + (bit >> 3);
    const code = (((bytes[place] ?? 0) | ((bytes[place + 1] ?? 0) << 8)) >> (bit & 7)) & 0x1ff;
    const made = index === 0 ? 255 : COMPRESS.first_free + index - 1;
    if (code === 256 || code > made) return false;
  }
  return true;
}

/** ARJ: the CRC of the main header, which follows it. */
export function provesArj(reader: Reader, at: number): boolean {
  const size = reader.at(at + 2, 2);
  if (size.length < 2) return false;
  const bytes = size.readUInt16LE(0);
  const header = reader.at(at + 4, bytes + 4);
  return bytes >= 30 && header.length === bytes + 4 && crc32(header.subarray(0, bytes)) === header.readUInt32LE(bytes);
}

/** LHA, levels 0 and 1: the sum of the header. The others have a CRC in an extended header, and a size that says where it ends. */
export function provesLzh(reader: Reader, at: number): boolean {
  const head = reader.at(at, 257);
  const level = head[20] ?? 9;
  if (level > 1) return level <= 3 && head.readUInt16LE(0) >= 24;
  const size = head[0] ?? 0;
  const header = head.subarray(2, 2 + size);
  return size >= 20 && header.length === size && header.reduce((sum, byte) => (sum + byte) & 0xff, 0) === head[1];
}

/** MS-CFB 2.2: byte order and sizes of sectors. */
export function provesOle(reader: Reader, at: number): boolean {
  const head = reader.at(at, 512);
  return head.length === 512 && head.readUInt16LE(28) === 0xfffe && [9, 12].includes(head.readUInt16LE(30));
}

/** The manifest of a phar (PHP manual, "Phar file format"): its length, how many files, and a version of which the first digit is 1. */
export function provesPhar(reader: Reader, at: number): boolean {
  const head = reader.at(at, 40);
  const manifest = /^__HALT_COMPILER\(\);( ?\?>)?\r?\n?/.exec(head.toString('latin1'))?.[0].length ?? 0;
  if (head.length < manifest + 10) return false;
  const length = head.readUInt32LE(manifest);
  return length > 14 && length < reader.size && head.readUInt32LE(manifest + 4) < length && head[manifest + 8] === 0x11;
}

/** The first object of a PDF stands near its header (ISO 32000-1, 7.5.3). Bytes. */
const PDF_OBJECT_WITHIN = 16 * 1024;

const PDF_OBJECT = /[\s\0]\d{1,10}[\s\0]{1,20}\d{1,5}[\s\0]{1,20}obj/;

/** A header with a version, and an object behind it: programs that read and write PDF have the header alone among their texts. */
export function provesPdf(reader: Reader, at: number): boolean {
  const head = reader.at(at, PDF_OBJECT_WITHIN).toString('latin1');
  return /^%PDF-\d\.\d/.test(head) && PDF_OBJECT.test(head);
}
