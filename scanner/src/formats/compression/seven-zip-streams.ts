import { byMarks, mark, oneOf, patternOf, withBits } from '#scanner/formats/format.ts';
import { listOfOne } from '#scanner/formats/seven-zip/listed-members.ts';
import { sevenZipFormat } from '#scanner/formats/seven-zip/seven-zip-format.ts';
import type { Reader } from '#scanner/reading/reader.ts';
import { provesZlib } from './compressed.ts';

// Compressed streams that 7-Zip opens.

const SWF_BY_ZLIB = mark('CWS');
export const swf = sevenZipFormat({
  id: 'swf',
  type: 'swfc',
  // The size of the unpacked file.
  list: listOfOne(4, 4),
  recognise: byMarks([SWF_BY_ZLIB, mark('ZWS')]),
  carve: [
    {
      pattern: `${patternOf(SWF_BY_ZLIB)} ${oneOf(6, 60)} ?? ?? ?? ?? 78 (01|5e|9c|da)`,
      proves: (reader, at) => provesZlib(reader, at + 8),
    },
  ],
});

const COMPRESS = { magic: 0x1f9d, first_bits: 9, most_bits: 16, clear: 256, codes_least: 16 } as const;

/**
 * Whether LZW data of compress(1) begins here. The third byte holds the maximum code size (9 to 16 bits) and two bits that are always zero. The magic has only
 * two bytes, so the first 9-bit codes must also be known to the decoder; 1 in 30,000 random files passes.
 */
function isCompress(head: Buffer): boolean {
  const flags = head[2] ?? 0;
  const most_bits = flags & 0x1f;
  if (head.length < 5 || head.readUInt16BE(0) !== COMPRESS.magic || (flags & 0x60) !== 0) return false;
  if (most_bits < COMPRESS.first_bits || most_bits > COMPRESS.most_bits) return false;
  const has_clear = (flags & 0x80) !== 0;
  const first = has_clear ? COMPRESS.clear + 1 : COMPRESS.clear;
  let next = first;
  let is_first = true;
  for (let count = 0, bit = 0; count < COMPRESS.codes_least; count += 1) {
    const at = 3 + (bit >> 3);
    if (at + 2 > head.length) return true;
    const code = (head.readUInt16LE(at) >> (bit & 7)) & 0x1ff;
    bit += COMPRESS.first_bits;
    if (has_clear && code === COMPRESS.clear && !is_first) {
      // A clear code resets the table, and the next codes begin at a multiple of eight codes.
      bit = Math.ceil(bit / (8 * COMPRESS.first_bits)) * 8 * COMPRESS.first_bits;
      next = first;
      is_first = true;
      continue;
    }
    // The first code is a literal byte. Later codes are known, or are the next code to be added.
    if (is_first ? code > 255 : code > next) return false;
    if (!is_first) next += 1;
    is_first = false;
  }
  return true;
}

const CARVED_COMPRESS = { header: 3, code_bits: 9, least: 32, looked: 64, first_free: 257 } as const;
/** Bytes needed to check for compress(1). */
const COMPRESS_BYTES = CARVED_COMPRESS.header + (CARVED_COMPRESS.looked * CARVED_COMPRESS.code_bits) / 8;
const COMPRESS_MAGIC = Buffer.from(COMPRESS.magic.toString(16), 'hex');
/** Maximum size of a file that is searched for compress(1). Bytes. */
const COMPRESS_WITHIN = 64 * 1024 ** 2;
const SEARCHED_BYTES = 1024 ** 2;
const DENSE = 256;

/**
 * Whether compress(1) data (ncompress, compress42.c) with its magic at `at` is valid: maximum code sizes of 12 to 16 bits, and first codes of 9 bits that are
 * literal bytes or earlier entries. Random bytes after the magic pass once in 2^30.
 */
function provesCompress(bytes: Buffer, at: number): boolean {
  const flags = bytes[at + 2] ?? 0;
  if (flags < 0x8c || flags > 0x90) return false;
  const start = at + CARVED_COMPRESS.header;
  const count = Math.min(CARVED_COMPRESS.looked, Math.floor(((bytes.length - start) * 8) / CARVED_COMPRESS.code_bits));
  if (count < CARVED_COMPRESS.least) return false;
  for (let index = 0; index < count; index += 1) {
    const bit = index * CARVED_COMPRESS.code_bits;
    const place = start + (bit >> 3);
    const code = (((bytes[place] ?? 0) | ((bytes[place + 1] ?? 0) << 8)) >> (bit & 7)) & 0x1ff;
    const made = index === 0 ? 255 : CARVED_COMPRESS.first_free + index - 1;
    if (code === COMPRESS.clear || code > made) return false;
  }
  return true;
}

/** The next position of the magic. If the magic is frequent, bytes are compared one by one, because a call of `indexOf` for each is slower. */
function nextCompress(piece: Buffer, from: number, is_dense: boolean): number {
  if (!is_dense) return piece.indexOf(COMPRESS_MAGIC, from);
  for (let at = from; at + 1 < piece.length; at += 1)
    if (piece[at] === COMPRESS_MAGIC[0] && piece[at + 1] === COMPRESS_MAGIC[1]) return at;
  return -1;
}

/** Searches for compress(1) in code: its magic and flags are too short for a pattern, and its first codes prove it. */
function* compressIn(reader: Reader): Generator<number> {
  if (reader.size > COMPRESS_WITHIN) return;
  for (let start = 0; start < reader.size; start += SEARCHED_BYTES) {
    const piece = reader.at(start, SEARCHED_BYTES + COMPRESS_BYTES);
    let places = 0;
    for (
      let at = nextCompress(piece, 0, false);
      at >= 0 && at < SEARCHED_BYTES;
      at = nextCompress(piece, at + 1, places > DENSE)
    ) {
      places += 1;
      if (provesCompress(piece, at)) yield start + at;
    }
  }
}

export const unixCompress = sevenZipFormat({
  id: 'Z',
  type: 'Z',
  media_type: 'application/x-compress',
  recognise: withBits(31, isCompress),
  search: compressIn,
  traits: { is_weak: true, is_named_after_file: true },
});

const LZMA = { usual: 0x5d, properties: 9 * 5 * 5, header: 13, looked: 48, zeros: 4 } as const;
const UNKNOWN_SIZE = 2n ** 64n - 1n;
/** Bits for the usual properties, a usual dictionary size and a size, a combination that no other format has. */
const SURELY_LZMA_BITS = 40;
/**
 * Bits for other properties or an unknown size, which also occurs in uninitialised memory: only the first byte of the range coder and some bits of the size
 * count.
 */
const PERHAPS_LZMA_BITS = 12;

/** Whether the dictionary size is one that programs choose: 2^n or 2^n + 2^(n-1) bytes. Decoders accept others as well. */
function hasUsualDictionary(head: Buffer): boolean {
  const dictionary = head.readUInt32LE(1);
  const lowest = (dictionary & -dictionary) >>> 0;
  return dictionary >= 4096 && (lowest === dictionary || lowest * 3 === dictionary);
}

/**
 * Confidence that LZMA before xz, which has no magic, begins here (LZMA SDK, lzma-specification.txt). The properties are the usual ones, or the size is
 * unknown, or the dictionary size is a usual one; a known size is below 1 TiB, and the first byte of the range coder is 0.
 */
function bitsOfLzma(head: Buffer): number {
  const [properties = 0] = head;
  if (head.length < 18 || properties >= LZMA.properties || head[LZMA.header] !== 0) return 0;
  const size = head.readBigUInt64LE(5);
  const is_usual = properties === LZMA.usual;
  const is_sure = is_usual && hasUsualDictionary(head);
  const is_one = size === UNKNOWN_SIZE || (size < 2n ** 40n && (is_usual || (size > 0n && hasUsualDictionary(head))));
  if (!is_one) return 0;
  return is_sure ? SURELY_LZMA_BITS : PERHAPS_LZMA_BITS;
}

/** Whether the dictionary size is a usual one and compressed data seems to follow the header. Tables that match the pattern consist mostly of zeros. */
function provesLzma(reader: Reader, at: number): boolean {
  const head = reader.at(at, LZMA.looked);
  if (head.length <= LZMA.header + 5 || !hasUsualDictionary(head) || head.readBigUInt64LE(5) === 0n) return false;
  return head.subarray(LZMA.header + 1).filter((byte) => byte === 0).length <= LZMA.zeros;
}

export const lzma = sevenZipFormat({
  id: 'lzma',
  type: 'lzma',
  list: listOfOne(5, 8),
  has_no_mark: true,
  recognise: bitsOfLzma,
  carve: [
    { id: 'lzma', pattern: '5d 00 00 ?? ?? ff ff ff ff ff ff ff ff 00', proves: provesLzma, is_guess: true },
    {
      id: 'lzma-sized',
      title: 'lzma',
      pattern: '5d 00 00 (00|01|02|04|08|10|20|40|80) ?? ?? ?? ?? ?? 00 00 00 00 00',
      proves: provesLzma,
      is_guess: true,
    },
  ],
  traits: { is_weak: true, is_named_after_file: true },
});
