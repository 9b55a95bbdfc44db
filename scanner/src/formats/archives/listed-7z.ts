import { crc32 } from 'node:zlib';
import { decompress, unpackedLzma, unpackedLzma2 } from '#scanner/decompression/decompress.ts';
import { bzip2Streams } from '#scanner/formats/compression/bzip2.ts';
import { LISTED_MAXIMUM, type ListedMember, type ReadList } from '#scanner/formats/seven-zip/listed-members.ts';
import { Unreadable } from '#scanner/reading/member.ts';
import type { Reader } from '#scanner/reading/reader.ts';

// Lists the members of a 7z archive from its header (7zFormat.txt of the LZMA SDK), to compare them with the members that 7-Zip extracts. The header itself is
// often compressed with LZMA.

/** Property types, with names that follow 7zFormat.txt. */
const KIND = {
  end: 0,
  header: 1,
  main_streams: 4,
  files: 5,
  pack: 6,
  unpack: 7,
  substreams: 8,
  size: 9,
  crc: 10,
  folder: 11,
  unpack_size: 12,
  unpack_streams: 13,
  empty_stream: 14,
  attributes: 21,
  packed_header: 23,
} as const;

const START_BYTES = 32;
/** Maximum size of a header, packed or unpacked. Bytes. */
const HEADER_MAXIMUM = 4 * 1024 ** 2;
/** Maximum nesting: a packed header may contain a packed header. */
const DEEPEST = 4;
const CODERS_MAXIMUM = 32;
const CODER_FLAG = { id_bytes: 15, has_streams: 16, has_properties: 32 } as const;
const METHOD = { none: '00', deflate: '040108', bzip2: '040202', lzma: '030101', lzma2: '21' } as const;
/** File attributes of Windows. If `has_mode` is set, the upper 16 bits are the Unix mode. */
const ATTRIBUTE = { reparse_point: 0x400, has_mode: 0x8000, kind: 0xf000, link: 0xa000 } as const;
const LZMA2_DICTIONARY_MAXIMUM = 40;

const damaged = () => new Unreadable('damaged');

/**
 * Reads the fields of a header in order. @throws Unreadable `damaged` if the bytes end or a number exceeds the safe integers, `too_large` if a count exceeds
 * its maximum
 */
class Fields {
  private at = 0;
  private readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  byte(): number {
    const byte = this.bytes[this.at];
    if (byte === undefined) throw damaged();
    this.at += 1;
    return byte;
  }

  take(count: number): Buffer {
    if (this.at + count > this.bytes.length) throw damaged();
    this.at += count;
    return this.bytes.subarray(this.at - count, this.at);
  }

  u32(): number {
    return this.take(4).readUInt32LE();
  }

  /** A number of one to nine bytes. The count of leading 1 bits in the first byte is the number of bytes that follow it. */
  number(): number {
    const first = this.byte();
    let value = 0;
    for (let place = 0, mask = 0x80; ; place += 1, mask >>= 1) {
      if (mask === 0) break;
      if ((first & mask) === 0) {
        value += (first & (mask - 1)) * 2 ** (8 * place);
        break;
      }
      value += this.byte() * 2 ** (8 * place);
    }
    if (!Number.isSafeInteger(value)) throw damaged();
    return value;
  }

  /** A count of items. @throws Unreadable `too_large` if it exceeds `most` */
  count(most: number = LISTED_MAXIMUM): number {
    const value = this.number();
    if (value > most) throw new Unreadable('too_large');
    return value;
  }

  /** One bit for each of `count` items, highest bit first. */
  bits(count: number): boolean[] {
    const bytes = this.take(Math.ceil(count / 8));
    return Array.from({ length: count }, (_, index) => ((bytes[index >> 3] ?? 0) & (0x80 >> (index & 7))) !== 0);
  }

  /** Like `bits`, after a byte that is not 0 if all bits are set and omitted. */
  defined(count: number): boolean[] {
    return this.byte() === 0 ? this.bits(count) : Array.from({ length: count }, () => true);
  }

  /** CRCs of `count` items; undefined for items without one. */
  digests(count: number): (number | undefined)[] {
    return this.defined(count).map((is_defined) => (is_defined ? this.u32() : undefined));
  }

  /** Only lists that are stored in place are read. @throws Unreadable `unsupported` for a list in another stream */
  expectInline(): void {
    if (this.byte() !== 0) throw new Unreadable('unsupported');
  }
}

interface Coder {
  method: string;
  properties: Buffer;
}

/** A group of streams that are compressed together. It unpacks to one or several contents in sequence. */
interface Folder {
  coders: Coder[];
  packed_streams: number;
  unpack_sizes: number[];
  /** Index in `unpack_sizes` of the size of the final output. */
  main: number;
  crc: number | undefined;
  /** The contents of the folder, each with a size and a CRC. */
  contents: ListedMember[];
}

interface Streams {
  pack_at: number;
  pack_sizes: number[];
  folders: Folder[];
}

function readFolder(fields: Fields): Folder {
  const coders: Coder[] = [];
  let inputs = 0;
  let outputs = 0;
  for (let left = fields.count(CODERS_MAXIMUM); left > 0; left -= 1) {
    const flags = fields.byte();
    const method = fields.take(flags & CODER_FLAG.id_bytes).toString('hex');
    const has_streams = (flags & CODER_FLAG.has_streams) !== 0;
    inputs += has_streams ? fields.count(CODERS_MAXIMUM) : 1;
    outputs += has_streams ? fields.count(CODERS_MAXIMUM) : 1;
    const properties = (flags & CODER_FLAG.has_properties) === 0 ? Buffer.alloc(0) : fields.take(fields.count(HEADER_MAXIMUM));
    coders.push({ method, properties });
  }
  const bound = new Set<number>();
  for (let left = outputs - 1; left > 0; left -= 1) {
    fields.number();
    bound.add(fields.number());
  }
  const packed_streams = inputs - (outputs - 1);
  if (packed_streams > 1) for (let left = packed_streams; left > 0; left -= 1) fields.number();
  const main = Array.from({ length: outputs }, (_, index) => index).find((index) => !bound.has(index));
  if (main === undefined || packed_streams < 1) throw damaged();
  return { coders, packed_streams, unpack_sizes: Array.from({ length: outputs }, () => 0), main, crc: undefined, contents: [] };
}

const sizeOf = ({ unpack_sizes, main }: Folder) => unpack_sizes[main] ?? 0;

function readPackInfo(fields: Fields, streams: Streams): void {
  streams.pack_at = START_BYTES + fields.number();
  const count = fields.count();
  for (let kind = fields.byte(); kind !== KIND.end; kind = fields.byte()) {
    if (kind === KIND.size) streams.pack_sizes = Array.from({ length: count }, () => fields.number());
    else if (kind === KIND.crc) fields.digests(count);
    else throw damaged();
  }
}

function readUnpackInfo(fields: Fields, streams: Streams): void {
  if (fields.byte() !== KIND.folder) throw damaged();
  const count = fields.count();
  fields.expectInline();
  for (let index = 0; index < count; index += 1) streams.folders.push(readFolder(fields));
  if (fields.byte() !== KIND.unpack_size) throw damaged();
  for (const folder of streams.folders) folder.unpack_sizes = folder.unpack_sizes.map(() => fields.number());
  for (let kind = fields.byte(); kind !== KIND.end; kind = fields.byte()) {
    if (kind !== KIND.crc) throw damaged();
    for (const [index, crc] of fields.digests(count).entries()) Object.assign(streams.folders[index] ?? {}, { crc });
  }
}

function readSubstreams(fields: Fields, { folders }: Streams): void {
  let kind = fields.byte();
  const counts = folders.map(() => (kind === KIND.unpack_streams ? fields.count() : 1));
  if (counts.reduce((sum, count) => sum + count, 0) > LISTED_MAXIMUM) throw new Unreadable('too_large');
  if (kind === KIND.unpack_streams) kind = fields.byte();
  for (const [index, folder] of folders.entries()) {
    const count = counts[index] ?? 0;
    let left = sizeOf(folder);
    for (let content = 1; content <= count; content += 1) {
      const size = content === count ? left : kind === KIND.size ? fields.number() : 0;
      left -= size;
      if (left < 0) throw damaged();
      folder.contents.push({ size, crc: count === 1 ? folder.crc : undefined });
    }
  }
  if (kind === KIND.size) kind = fields.byte();
  for (; kind !== KIND.end; kind = fields.byte()) {
    if (kind !== KIND.crc) throw damaged();
    const unknown = folders.flatMap(({ contents, crc }) => (contents.length === 1 && crc !== undefined ? [] : contents));
    for (const [index, crc] of fields.digests(unknown.length).entries()) Object.assign(unknown[index] ?? {}, { crc });
  }
}

function readStreams(fields: Fields): Streams {
  const streams: Streams = { pack_at: START_BYTES, pack_sizes: [], folders: [] };
  let has_substreams = false;
  for (let kind = fields.byte(); kind !== KIND.end; kind = fields.byte()) {
    if (kind === KIND.pack) readPackInfo(fields, streams);
    else if (kind === KIND.unpack) readUnpackInfo(fields, streams);
    else if (kind === KIND.substreams) {
      readSubstreams(fields, streams);
      has_substreams = true;
    } else throw damaged();
  }
  if (!has_substreams) for (const folder of streams.folders) folder.contents.push({ size: sizeOf(folder), crc: folder.crc });
  return streams;
}

/** Whether each file that has content is a link. */
function readFiles(fields: Fields): boolean[] {
  const count = fields.count();
  let is_empty: boolean[] = [];
  let is_link: boolean[] = [];
  for (let kind = fields.number(); kind !== KIND.end; kind = fields.number()) {
    const property = new Fields(fields.take(fields.count(HEADER_MAXIMUM)));
    if (kind === KIND.empty_stream) is_empty = property.bits(count);
    if (kind === KIND.attributes) {
      const defined = property.defined(count);
      property.expectInline();
      is_link = defined.map((is_defined) => is_defined && isLink(property.u32()));
    }
  }
  return Array.from({ length: count }, (_, index) => is_link[index] ?? false).filter((_, index) => is_empty[index] !== true);
}

function isLink(attributes: number): boolean {
  const is_unix_link = (attributes & ATTRIBUTE.has_mode) !== 0 && ((attributes >>> 16) & ATTRIBUTE.kind) === ATTRIBUTE.link;
  return is_unix_link || (attributes & ATTRIBUTE.reparse_point) !== 0;
}

/** Unpacks a packed header, which must be a folder with one coder. @throws Unreadable, for example `unsupported` for an encrypted header */
function unpackedHeader(reader: Reader, { pack_at, pack_sizes: [packed], folders: [folder] }: Streams): Buffer {
  const coder = folder?.coders[0];
  if (folder === undefined || coder === undefined || packed === undefined || folder.coders.length > 1)
    throw new Unreadable('unsupported');
  const plain = sizeOf(folder);
  if (packed > HEADER_MAXIMUM || plain > HEADER_MAXIMUM) throw new Unreadable('too_large');
  const bytes = unpackedBy(reader, pack_at, packed, coder, plain);
  if (bytes.length !== plain || folder.crc !== crc32(bytes)) throw damaged();
  return bytes;
}

function unpackedBy(reader: Reader, at: number, packed: number, { method, properties }: Coder, plain: number): Buffer {
  if (method === METHOD.none) return Buffer.from(reader.at(at, plain));
  if (method === METHOD.lzma && properties.length === 5) {
    const order = { properties: properties.readUInt8(0), dictionary_bytes: properties.readUInt32LE(1), plain };
    return unpackedLzma(Buffer.from(reader.at(at, packed)), order, reader.budget, HEADER_MAXIMUM);
  }
  if (method === METHOD.deflate) {
    const answer = decompress('deflate', Buffer.from(reader.at(at, packed)), reader.budget, { most: plain });
    return answer.kind === 'whole' ? answer.plain : Buffer.alloc(0);
  }
  if (method === METHOD.bzip2) {
    const read = (from: number, bytes: number) => reader.at(at + from, Math.max(0, Math.min(bytes, packed - from)));
    return joinedUpTo(
      plain,
      bzip2Streams(read, reader.budget, () => {}),
    );
  }
  const [code = LZMA2_DICTIONARY_MAXIMUM] = properties;
  if (method !== METHOD.lzma2 || code >= LZMA2_DICTIONARY_MAXIMUM) throw new Unreadable('unsupported');
  return joinedUpTo(plain, unpackedLzma2(reader, at, (2 + (code & 1)) * 2 ** (11 + (code >> 1))));
}

/** Concatenates the pieces. @throws Unreadable `damaged` if they have more than `most` bytes */
function joinedUpTo(most: number, pieces: Iterable<Buffer>): Buffer {
  const joined: Buffer[] = [];
  let size = 0;
  for (const piece of pieces) {
    size += piece.length;
    if (size > most) throw damaged();
    joined.push(piece);
  }
  return Buffer.concat(joined);
}

/** The fields of the unpacked header, after its type byte; undefined for an empty archive. @throws Unreadable */
function plainHeader(reader: Reader): Fields | undefined {
  const start = reader.at(0, START_BYTES);
  if (start.length < START_BYTES || crc32(start.subarray(12)) !== start.readUInt32LE(8)) throw damaged();
  const [at, size, crc] = [Number(start.readBigUInt64LE(12)), Number(start.readBigUInt64LE(20)), start.readUInt32LE(28)];
  if (size === 0) return undefined;
  if (size > HEADER_MAXIMUM) throw new Unreadable('too_large');
  let bytes: Buffer = Buffer.from(reader.at(START_BYTES + at, size));
  if (bytes.length < size || crc32(bytes) !== crc) throw damaged();
  for (let depth = 0; depth < DEEPEST; depth += 1) {
    const fields = new Fields(bytes);
    const kind = fields.byte();
    if (kind === KIND.header) return fields;
    if (kind !== KIND.packed_header) throw damaged();
    bytes = unpackedHeader(reader, readStreams(fields));
  }
  throw damaged();
}

function membersOf(reader: Reader): ListedMember[] {
  const fields = plainHeader(reader);
  const contents: ListedMember[] = [];
  let is_link: boolean[] = [];
  for (let kind = fields?.byte() ?? KIND.end; fields !== undefined && kind !== KIND.end; kind = fields.byte()) {
    if (kind === KIND.main_streams) contents.push(...readStreams(fields).folders.flatMap((folder) => folder.contents));
    else if (kind === KIND.files) is_link = readFiles(fields);
    // 7zFormat.txt defines two other types, which programs do not write.
    else throw new Unreadable('unsupported');
  }
  if (is_link.length !== contents.length) throw damaged();
  return contents
    .map((content, index) => ({ ...content, may_be_absent: is_link[index] === true }))
    .filter(({ size }) => size > 0);
}

/** Lists the members; undefined if the header is damaged, unsupported or encrypted. */
export const listOf7z: ReadList = (reader) => {
  try {
    return membersOf(reader);
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
};
