import { crc32, inflateRawSync, inflateSync } from 'node:zlib';
import type { Reader } from './reader.ts';
import { isTarHeader } from './tar.ts';

// Where containers begin inside of a content, whatever stands before them. The engine reads every byte with YARA-X anyway: these patterns are compiled
// into the same rules, report offsets only, and are no threats. `docs/decisions/0082-every-byte-is-explained.md` says how often random data fits.

/** A format that is looked for inside of others. */
export interface Carved {
  /** 7-Zip's name where 7-Zip knows it. */
  format: string;
  /** What YARA-X searches for: a hex string or a regular expression. */
  pattern: string;
  /** How much of the container stands before the pattern. Bytes. */
  back?: number;
  /** What random bytes must agree with. Bits; computed from hex patterns, given for regular expressions. */
  bits?: number;
  /**
   * Whether a container begins there as far as its first bytes tell. What proves to be one and does not open is a container that could not be read; what
   * does not prove is nothing.
   */
  proves?: (reader: Reader, at: number) => boolean;
  /** It proves little: when it does not open, it was none. */
  is_guess?: true;
}

const text = (characters: string) => Buffer.from(characters, 'latin1');
const hex = (digits: string) => Buffer.from(digits.replaceAll(' ', ''), 'hex');
const spelled = (characters: string) => [...text(characters)].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
const oneOf = (from: number, to: number) =>
  `(${Array.from({ length: to - from + 1 }, (_, index) => (from + index).toString(16).padStart(2, '0')).join('|')})`;

/** Bytes from `at` on are hexadecimal or octal digits. */
const digits = (reader: Reader, at: number, length: number, kind: RegExp) => kind.test(reader.at(at, length).toString('latin1'));

/** Enough of a stream to tell whether it is one. Bytes. */
const TRIED_BYTES = 4096;

/** Whether raw deflate or zlib unpacks from `at` on, as far as is tried: what ends too early is none the worse for it. */
function inflates(reader: Reader, at: number, inflate: (bytes: Buffer, options: { maxOutputLength: number }) => Buffer): boolean {
  const packed = reader.at(at, TRIED_BYTES);
  try {
    inflate(packed, { maxOutputLength: 64 * 1024 });
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    return packed.length > 2 && (code === 'Z_BUF_ERROR' || code === 'ERR_BUFFER_TOO_LARGE');
  }
}

const GZIP_FLAG = { crc: 2, extra: 4, name: 8, comment: 16 } as const;
const GZIP_HEAD_BYTES = 10;
/** A name or a comment that is longer is none. Bytes. */
const GZIP_TEXT_BYTES = 1024;

/** RFC 1952: the header with what its flags announce, and deflate behind it. */
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
    const end = reader.at(position, GZIP_TEXT_BYTES).indexOf(0);
    if (end < 0) return false;
    position += end + 1;
  }
  if ((flags & GZIP_FLAG.crc) !== 0) position += 2;
  return inflates(reader, position, inflateRawSync);
}

/** RFC 1950: method and checksum of the header, no dictionary, and deflate behind it. */
function provesZlib(reader: Reader, at: number): boolean {
  const head = reader.at(at, 2);
  if (head.length < 2 || (head[0] ?? 0) % 16 !== 8 || (head[0] ?? 0) > 0x78) return false;
  return head.readUInt16BE(0) % 31 === 0 && ((head[1] ?? 0) & 0x20) === 0 && inflates(reader, at, inflateSync);
}

const ZIP_VERSION_MAXIMUM = 63;
const ZIP_NAME_MAXIMUM = 4096;

/** APPNOTE 4.3.7: a version that there is, and a name without control characters. */
function provesZip(reader: Reader, at: number): boolean {
  const head = reader.at(at, 30);
  if (head.length < 30 || (head[4] ?? 0) > ZIP_VERSION_MAXIMUM) return false;
  const name_bytes = head.readUInt16LE(26);
  if (name_bytes === 0 || name_bytes > ZIP_NAME_MAXIMUM) return false;
  const name = reader.at(at + 30, name_bytes);
  return name.length === name_bytes && !name.some((byte) => byte < 0x20);
}

/** RFC 8878, 3.1.1: a first block of a type that there is and of at most 128 KiB. */
function provesZstd(reader: Reader, at: number): boolean {
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
function provesLzma(reader: Reader, at: number): boolean {
  const head = reader.at(at, LZMA.looked);
  if (head.length <= LZMA.header + 5) return false;
  const dictionary = head.readUInt32LE(1);
  const lowest = (dictionary & -dictionary) >>> 0;
  if (dictionary < 4096 || (lowest !== dictionary && lowest * 3 !== dictionary) || head.readBigUInt64LE(5) === 0n) return false;
  return head.subarray(LZMA.header + 1).filter((byte) => byte === 0).length <= LZMA.zeros;
}

/** ARJ: the CRC of the main header, which follows it. */
function provesArj(reader: Reader, at: number): boolean {
  const size = reader.at(at + 2, 2);
  if (size.length < 2) return false;
  const bytes = size.readUInt16LE(0);
  const header = reader.at(at + 4, bytes + 4);
  return bytes >= 30 && header.length === bytes + 4 && crc32(header.subarray(0, bytes)) === header.readUInt32LE(bytes);
}

/** LHA, levels 0 and 1: the sum of the header. The others have a CRC in an extended header, and a size that says where it ends. */
function provesLzh(reader: Reader, at: number): boolean {
  const head = reader.at(at, 257);
  const level = head[20] ?? 9;
  if (level > 1) return level <= 3 && head.readUInt16LE(0) >= 24;
  const size = head[0] ?? 0;
  const header = head.subarray(2, 2 + size);
  return size >= 20 && header.length === size && header.reduce((sum, byte) => (sum + byte) & 0xff, 0) === head[1];
}

/** MS-CFB 2.2: byte order and sizes of sectors. */
function provesOle(reader: Reader, at: number): boolean {
  const head = reader.at(at, 512);
  return head.length === 512 && head.readUInt16LE(28) === 0xfffe && [9, 12].includes(head.readUInt16LE(30));
}

/** The manifest of a phar (PHP manual, "Phar file format"): its length, how many files, and a version of which the first digit is 1. */
function provesPhar(reader: Reader, at: number): boolean {
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
function provesPdf(reader: Reader, at: number): boolean {
  const head = reader.at(at, PDF_OBJECT_WITHIN).toString('latin1');
  return /^%PDF-\d\.\d/.test(head) && PDF_OBJECT.test(head);
}

/** Every carved format. */
export const CARVED: readonly Carved[] = [
  {
    format: 'zip',
    pattern: `50 4b 03 04 ${oneOf(10, 63)} ?? ?? ?? (00|01|02|03|04|05|06|08|09|0c|0e|5d|5f|61|62|63) 00`,
    proves: provesZip,
  },
  {
    format: 'gzip',
    pattern: `1f 8b 08 ${oneOf(0, 31)} ?? ?? ?? ?? (00|02|04) (00|01|02|03|04|05|06|07|08|09|0a|0b|0c|0d|ff)`,
    proves: provesGzip,
  },
  {
    format: '7z',
    pattern: '37 7a bc af 27 1c 00 (00|01|02|03|04)',
    proves(reader, at) {
      // 7zFormat.txt: the CRC of the 20 bytes that follow it.
      const head = reader.at(at, 32);
      return head.length === 32 && crc32(head.subarray(12)) === head.readUInt32LE(8);
    },
  },
  {
    format: 'rar5',
    pattern: '52 61 72 21 1a 07 01 00',
    // RAR 5.0 technote: CRC, size and type 1 (main) or 4 (encryption) of the first header.
    proves: (reader, at) => [1, 4].includes(reader.at(at + 13, 1)[0] ?? 0),
  },
  {
    format: 'rar',
    pattern: '52 61 72 21 1a 07 00',
    proves: (reader, at) => reader.at(at + 9, 1)[0] === 0x73,
  },
  {
    format: 'cab',
    pattern: `${spelled('MSCF')} 00 00 00 00`,
    proves(reader, at) {
      const head = reader.at(at, 36);
      return head.length === 36 && head.readUInt32LE(8) <= reader.size - at && head.readUInt16LE(24) === 0x0103;
    },
  },
  {
    format: 'bzip2',
    pattern: `${spelled('BZh')} ${oneOf(0x31, 0x39)} ${spelled('1AY&SY')}`,
  },
  { format: 'xz', pattern: 'fd 37 7a 58 5a 00 00 (00|01|04|0a)' },
  {
    format: 'zstd',
    pattern: '28 b5 2f fd (00|04|20|24|40|44|60|64|80|84|a0|a4|c0|c4|e0|e4)',
    proves: provesZstd,
  },
  {
    format: 'lz4',
    // Version 1 without a dictionary, and a block size that there is (LZ4 frame format 1.6.4).
    pattern: '04 22 4d 18 (40|44|48|4c|50|54|58|5c|60|64|68|6c|70|74|78|7c) (40|50|60|70)',
  },
  { format: 'lz4', pattern: '02 21 4c 18 ?? ?? (00|01|02|03|04|05|06|07) 00', is_guess: true },
  {
    format: 'lzma',
    pattern: '5d 00 00 ?? ?? ff ff ff ff ff ff ff ff 00',
    proves: provesLzma,
    is_guess: true,
  },
  {
    format: 'lzma',
    pattern: '5d 00 00 (00|01|02|04|08|10|20|40|80) ?? ?? ?? ?? ?? 00 00 00 00 00',
    proves: provesLzma,
    is_guess: true,
  },
  { format: 'lzip', pattern: `${spelled('LZIP')} 01 ${oneOf(0x0c, 0x1d)}` },
  { format: 'lzop', pattern: '89 4c 5a 4f 00 0d 0a 1a 0a' },
  {
    format: 'tar',
    pattern: `${spelled('ustar')} (00|20) (30|20) (30|00)`,
    back: 257,
    proves: (reader, at) => isTarHeader(reader.at(at, 512)),
  },
  { format: 'ar', pattern: spelled('!<arch>\n'), proves: (reader, at) => reader.at(at + 66, 2).equals(text('`\n')) },
  {
    format: 'cpio',
    pattern: `/07070[12][0-9A-Fa-f]{16}/`,
    bits: 46 + 16 * 3.54,
    proves: (reader, at) => digits(reader, at + 6, 104, /^[0-9a-f]{104}$/i),
  },
  {
    format: 'cpio',
    pattern: `/070707[0-7]{16}/`,
    bits: 48 + 16 * 5,
    proves: (reader, at) => digits(reader, at + 6, 70, /^[0-7]{70}$/),
  },
  {
    format: 'lzh',
    pattern: `2d 6c (68|7a) (30|31|32|33|34|35|36|37|64|73|78) 2d [13] (00|01|02|03)`,
    back: 2,
    proves: provesLzh,
  },
  {
    format: 'arj',
    pattern: `60 ea ?? ${oneOf(0, 10)} ${oneOf(0x1e, 0x2e)} ?? ?? ${oneOf(0, 11)} ?? ?? 02`,
    proves: provesArj,
  },
  { format: 'chm', pattern: `${spelled('ITSF')} 03 00 00 00` },
  { format: 'rpm', pattern: 'ed ab ee db 03 (00|01) 00 (00|01)' },
  { format: 'mslz', pattern: `${spelled('SZDD')} 88 f0 27 33 41` },
  { format: 'wim', pattern: `${spelled('MSWIM')} 00 00 00` },
  { format: 'xar', pattern: `${spelled('xar!')} 00 ?? 00 01` },
  { format: 'squashfs', pattern: `${spelled('hsqs')} [24] 04 00 00 00` },
  {
    format: 'cramfs',
    pattern: spelled('Compressed ROMFS'),
    back: 16,
    proves: (reader, at) => reader.at(at, 4).equals(hex('453dcd28')),
  },
  { format: 'iso', pattern: '01 43 44 30 30 31 01 00', back: 32_768 },
  { format: 'qcow', pattern: '51 46 49 fb 00 00 00 (02|03)' },
  { format: 'vmdk', pattern: `${spelled('KDMV')} (01|02|03) 00 00 00` },
  { format: 'vhdx', pattern: spelled('vhdxfile'), proves: (reader, at) => reader.at(at + 0x30000, 4).equals(text('regi')) },
  { format: 'vdi', pattern: '7f 10 da be (00|01) 00 01 00', back: 64 },
  {
    format: 'ntfs',
    pattern: `eb 52 90 ${spelled('NTFS    ')}`,
    proves: (reader, at) => reader.at(at + 510, 2).equals(hex('55aa')),
  },
  {
    format: 'gpt',
    pattern: `${spelled('EFI PART')} 00 00 01 00 5c 00 00 00`,
    back: 512,
    proves: (reader, at) => reader.at(at + 510, 2).equals(hex('55aa')),
  },
  { format: 'nsis', pattern: `ef be ad de ${spelled('NullsoftInst')}`, back: 4 },
  { format: 'installshield', pattern: `${spelled('ISc(')} ?? ?? ?? (00|01|02|04) ?? ?? ?? ?? 00 02 00 00` },
  {
    format: 'ace',
    pattern: `${spelled('**ACE**')} ?? ?? (00|01|02|03|04|05|06|07|08|09|0a|0b)`,
    back: 7,
    proves: (reader, at) => reader.at(at + 4, 1)[0] === 0,
  },
  {
    format: 'ole',
    pattern: 'd0 cf 11 e0 a1 b1 1a e1',
    proves: provesOle,
  },
  {
    format: 'pdf',
    pattern: spelled('%PDF-'),
    proves: provesPdf,
  },
  {
    format: 'vba',
    // MS-OVBA 2.4.1: a compressed container, and `Attribute VB_` as its first chunk's literals.
    pattern: `01 ?? (b0|b1|b2|b3|b4|b5|b6|b7|b8|b9|ba|bb|bc|bd|be|bf) 00 ${spelled('Attribut')} 00 65 20`,
  },
  { format: 'tnef', pattern: '78 9f 3e 22 ?? ?? 01 06 90 08 00' },
  {
    format: 'swf',
    pattern: `43 57 53 ${oneOf(6, 60)} ?? ?? ?? ?? 78 (01|5e|9c|da)`,
    proves: (reader, at) => provesZlib(reader, at + 8),
  },
  { format: 'asar', pattern: `04 00 00 00 ?? ?? ?? 00 ?? ?? ?? 00 ?? ?? ?? 00 ${spelled('{"files":{')}` },
  { format: 'phar', pattern: spelled('__HALT_COMPILER();'), proves: provesPhar },
  {
    format: 'binhex',
    pattern: spelled('(This file must be converted with BinHex'),
    proves: (reader, at) => /^.{38,80}\s{1,8}:[!-z]{20}/s.test(reader.at(at, 120).toString('latin1')),
  },
  {
    format: 'yenc',
    pattern: spelled('=ybegin '),
    proves: (reader, at) => /^=ybegin (\w+=\d+ ){2,5}name=/.test(reader.at(at, 120).toString('latin1')),
  },
  {
    format: 'mime',
    pattern: '/[\\x00\\r\\n](Content-Transfer-Encoding: {0,4}(base64|quoted-p|x-uue)|MIME-Version: {0,4}1)/i',
    // Of the shorter one.
    bits: 14 * 7 + 6,
    is_guess: true,
  },
  { format: 'uuencode', pattern: '/\\nbegin(-base64)? [0-7]{3,4} [!-~]/', bits: 56 + 20, is_guess: true },
];

/** Rules that are named so report places, not threats. */
const PREFIX = 'Palisade_Carving_';

/** The patterns as rules for YARA-X: one each, so that every one reports its own places. */
export function carvingSource(): string {
  return CARVED.map(({ pattern }, index) => {
    const body = pattern.startsWith('/') ? pattern : `{ ${pattern} }`;
    return `rule ${PREFIX}${index} { strings: $at = ${body} condition: $at }`;
  }).join('\n');
}

/** Which format a rule of `carvingSource` looks for; undefined for every other rule. */
export function carvedBy(rule: string): Carved | undefined {
  return rule.startsWith(PREFIX) ? CARVED[Number(rule.slice(PREFIX.length))] : undefined;
}

/** What random bytes must agree with to fit a pattern. Bits. */
export function bitsOf({ pattern, bits }: Carved): number {
  if (bits !== undefined) return bits;
  return tokensOf(pattern).reduce((sum, token) => {
    if (token.startsWith('(')) return sum + 8 - Math.log2(token.split('|').length);
    return /^[0-9a-f]{2}$/.test(token) ? sum + 8 : sum;
  }, 0);
}

function tokensOf(pattern: string): string[] {
  return pattern.match(/\([^)]*\)|\[\d+\]|\S+/g) ?? [];
}

/** A pattern for text in Latin-1, for a search beyond the matches that YARA-X reports. */
export function regExpOf({ pattern }: Carved): RegExp {
  const regex = /^\/(.*)\/(\w*)$/.exec(pattern);
  if (regex !== null) return new RegExp(regex[1] ?? '', `g${regex[2] ?? ''}`);
  const parts = tokensOf(pattern).map((token) => {
    if (token === '??') return '[^]';
    if (token.startsWith('[')) return `[^]{${token.slice(1, -1)}}`;
    const bytes = token.replaceAll(/[()]/g, '').split('|');
    return `[${bytes.map((byte) => `\\x${byte}`).join('')}]`;
  });
  return new RegExp(parts.join(''), 'g');
}

/** Places that matched, by format. `is_cut`: there are more than were reported. */
export type Places = Map<Carved, { offsets: Set<number>; is_cut: boolean }>;

/** A place where a container seems to begin. */
export interface Hit {
  carved: Carved;
  /** Of the container's first byte. */
  offset: number;
}

/** No pattern is longer. Bytes. */
const PATTERN_BYTES_MAXIMUM = 128;
const SEARCHED_BYTES = 1024 ** 2;

/** Every place of a format. Bytes that many of its places fill are searched once more, for as many as there are. */
function* everyPlace(reader: Reader, carved: Carved): Generator<number> {
  const pattern = regExpOf(carved);
  for (let start = 0; start < reader.size; start += SEARCHED_BYTES) {
    const piece = reader.at(start, SEARCHED_BYTES + PATTERN_BYTES_MAXIMUM).toString('latin1');
    pattern.lastIndex = 0;
    for (let found = pattern.exec(piece); found !== null && found.index < SEARCHED_BYTES; found = pattern.exec(piece)) {
      yield start + found.index;
      pattern.lastIndex = found.index + 1;
    }
  }
}

/** Where containers seem to begin, in order. */
export function hitsOf(reader: Reader, places: Places): Hit[] {
  const hits: Hit[] = [];
  for (const [carved, { offsets, is_cut }] of places) {
    for (const place of is_cut ? everyPlace(reader, carved) : offsets) {
      const offset = place - (carved.back ?? 0);
      if (offset >= 0) hits.push({ carved, offset });
    }
  }
  return hits.sort((one, other) => one.offset - other.offset);
}

const ZIP_END = text('PK\x05\x06');
const ZIP_END_BYTES = 22;

/**
 * Where zips end that stand within something else, by where they begin: behind the record that ends one, which says how far before itself the archive
 * began (APPNOTE 4.3.16).
 */
function zipEnds(reader: Reader): Map<number, number> {
  const ends = new Map<number, number>();
  for (let found = reader.find(ZIP_END, 0); found >= 0; found = reader.find(ZIP_END, found + 1)) {
    const end = reader.at(found, ZIP_END_BYTES);
    if (end.length < ZIP_END_BYTES) break;
    ends.set(found - end.readUInt32LE(12) - end.readUInt32LE(16), found + ZIP_END_BYTES + end.readUInt16LE(20));
  }
  return ends;
}

const DELIMITER = text('\n--');
const MIME_HEADER_BYTES = 16 * 1024;

/**
 * Where a mail ends that stands within something else: behind the delimiter that closes it (RFC 2046, 5.1.1), where its header names one; a part of a mail
 * before the next line that begins as delimiters do. Undefined where nothing says it.
 */
function mimeEndsOf(reader: Reader): (at: number) => number | undefined {
  // Hits come in their order, so that the same bytes are not searched again for each.
  let known = { from: 0, at: -1 };
  const nextDelimiter = (from: number): number => {
    if (from < known.from || from > known.at) known = { from, at: reader.find(DELIMITER, from) };
    if (known.at < 0) known.at = reader.size;
    return known.at;
  };
  return (at) => {
    const start = headerStart(reader, at);
    const head = reader.at(start, MIME_HEADER_BYTES).toString('latin1');
    const blank = /\r?\n\r?\n/.exec(head);
    if (blank === null) return undefined;
    const boundary = /boundary[ \t]*=[ \t]*"?([^";\r\n]{1,200})/i.exec(head.slice(0, blank.index))?.[1]?.trimEnd();
    if (boundary !== undefined) {
      const closing = `--${boundary}--`;
      const found = reader.find(text(closing), start + blank.index);
      return found < 0 ? undefined : found + closing.length;
    }
    const end = nextDelimiter(start + blank.index + blank[0].length - 1);
    return end === reader.size ? undefined : end + 1;
  };
}

/** Formats whose readers go on to the end of what they are given. */
const ENDLESS: readonly string[] = ['pdf', 'uuencode'];

/** Answers where the part ends that a carved container is read from: its own end where it tells one, else `limit` at most. */
export function extentsOf(reader: Reader, hits: readonly Hit[]): (hit: Hit, limit: number) => number {
  const places = new Map<string, number[]>();
  for (const { carved, offset } of hits) {
    if (!ENDLESS.includes(carved.format)) continue;
    const known = places.get(carved.format);
    if (known === undefined) places.set(carved.format, [offset]);
    else known.push(offset);
  }
  let zips: Map<number, number> | undefined;
  const mimeEnd = mimeEndsOf(reader);
  return ({ carved: { format }, offset }, limit) => {
    if (format === 'zip') {
      zips ??= zipEnds(reader);
      return Math.min(limit, zips.get(offset) ?? limit);
    }
    if (format === 'mime') return Math.min(limit, mimeEnd(offset) ?? limit);
    const list = places.get(format) ?? [];
    let low = 0;
    for (let high = list.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((list[middle] ?? 0) > offset) high = middle;
      else low = middle + 1;
    }
    return Math.min(limit, list[low] ?? limit);
  };
}

const HEADER_LINES_BYTES = 4096;

/** Where the lines begin that describe a part of a mail, of which one was found: behind the last line before it that is no header. */
export function headerStart(reader: Reader, at: number): number {
  // Behind a zero, or a line that ends as old Macs end them, nothing is known to belong to it.
  if (reader.at(at, 1)[0] !== 0x0a) return at + 1;
  const from = Math.max(0, at - HEADER_LINES_BYTES);
  const lines = reader
    .at(from, at - from + 1)
    .toString('latin1')
    .split('\n');
  let start = at + 1;
  // The last one is empty: the place is that of the line's end before the header.
  for (const line of lines.slice(0, -1).reverse()) {
    if (!/^([!-9;-~]{1,76}[ \t]*:|[ \t]+\S)/.test(line)) break;
    start -= line.length + 1;
  }
  return Math.max(0, start);
}
