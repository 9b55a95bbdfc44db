import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { unpackedLzma2 } from '#scanner/decompression/decompress.ts';
import { byMarks, format, hexMark, patternOf } from '#scanner/formats/format.ts';
import { listOfXz, Numbers } from '#scanner/formats/seven-zip/listed-members.ts';
import { sevenZipFormat } from '#scanner/formats/seven-zip/seven-zip-format.ts';
import { Unreadable } from '#scanner/reading/member.ts';
import { endOfZeros, openReader, type Reader } from '#scanner/reading/reader.ts';
import { crc64 } from './crc64.ts';
import { unpackedBy } from './unpacked-streams.ts';

// XZ (xz-file-format.txt 1.2; numbers in comments are its sections). Streams of LZMA2 blocks, with or without the delta filter, are read here. Streams with
// filters for executables are left to 7-Zip.

const XZ = hexMark('fd377a585a00');
const HEAD_BYTES = 12;
const FOOTER_BYTES = 12;
const FOOTER_MARK = Buffer.from('YZ');
const FLAGS_BYTES = 2;
/** Size of the check, by its type (2.1.1.2). Bytes. */
const CHECK_BYTES = [0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64] as const;
const CHECK = { crc32: 1, crc64: 4, sha256: 10 } as const;
const FILTER = { lzma2: 0x21, delta: 3 } as const;
/** Flags of a block header (3.1.2). */
const BLOCK_FLAG = { filters: 3, reserved: 0x3c, packed: 0x40, plain: 0x80 } as const;
const DICTIONARY_CODE_MAXIMUM = 40;
const INDEX_PIECE_BYTES = 64 * 1024;

const damaged = () => new Unreadable('damaged');
const padded = (bytes: number) => Math.ceil(bytes / 4) * 4;

function need(reader: Reader, at: number, bytes: number): Buffer {
  const read = reader.at(at, bytes);
  if (read.length < bytes) throw damaged();
  return read;
}

/** A block header (3.1). `deltas` are the distances of the delta filters, in the order in which they are undone. */
interface BlockHeader {
  bytes: number;
  packed: number | undefined;
  plain: number | undefined;
  dictionary_bytes: number;
  deltas: number[];
}

/** Reads a block header; undefined if the block has an unsupported filter. @throws Unreadable */
function blockHeader(reader: Reader, at: number): BlockHeader | undefined {
  const bytes = ((need(reader, at, 1)[0] ?? 0) + 1) * 4;
  const head = Buffer.from(need(reader, at, bytes));
  if (crc32(head.subarray(0, -4)) !== head.readUInt32LE(bytes - 4)) throw damaged();
  const flags = head[1] ?? 0;
  if ((flags & BLOCK_FLAG.reserved) !== 0) throw new Unreadable('unsupported');
  const numbers = new Numbers(head.subarray(0, -4), 2);
  const packed = (flags & BLOCK_FLAG.packed) === 0 ? undefined : numbers.next();
  const plain = (flags & BLOCK_FLAG.plain) === 0 ? undefined : numbers.next();
  const deltas: number[] = [];
  const filters = (flags & BLOCK_FLAG.filters) + 1;
  for (let filter = 1; filter <= filters; filter += 1) {
    const id = numbers.next();
    const property_bytes = numbers.next();
    const property = head[numbers.at] ?? 0;
    if (Number.isNaN(property_bytes)) throw damaged();
    numbers.skip(property_bytes);
    const is_last = filter === filters;
    if (id === FILTER.lzma2 && is_last && property_bytes === 1) {
      if (head.subarray(numbers.at, -4).some((byte) => byte !== 0)) throw new Unreadable('unsupported');
      if (property > DICTIONARY_CODE_MAXIMUM) throw damaged();
      const dictionary_bytes =
        property === DICTIONARY_CODE_MAXIMUM ? 2 ** 32 - 1 : (2 + (property & 1)) * 2 ** (11 + (property >> 1));
      return { bytes, packed, plain, dictionary_bytes, deltas: deltas.reverse() };
    }
    if (id !== FILTER.delta || property_bytes !== 1) return undefined;
    deltas.push(property + 1);
  }
  return undefined;
}

/** Undoes the delta filter (5.3.3) in place, over consecutive pieces. */
function deltaUndoer(distance: number): (piece: Buffer) => void {
  const history = new Uint8Array(distance);
  let at = 0;
  return (piece) => {
    for (let index = 0; index < piece.length; index += 1) {
      const byte = ((piece[index] ?? 0) + (history[at] ?? 0)) & 0xff;
      piece[index] = byte;
      history[at] = byte;
      at = at + 1 === distance ? 0 : at + 1;
    }
  };
}

/** Computes a check over pieces; undefined for types that are not in use. */
function checkOf(kind: number): { add: (piece: Buffer) => void; value: () => Buffer } | undefined {
  const value = Buffer.alloc(CHECK_BYTES[kind] ?? 0);
  if (kind === CHECK.crc32)
    return { add: (piece) => value.writeUInt32LE(crc32(piece, value.readUInt32LE())), value: () => value };
  if (kind === CHECK.crc64) {
    const crc = crc64();
    return { add: crc.add, value: crc.value };
  }
  if (kind !== CHECK.sha256) return undefined;
  const hash = createHash('sha256');
  return { add: (piece) => void hash.update(piece), value: () => hash.digest() };
}

/** Count and checksum of the block sizes, as in the index. The sizes are not stored, because there may be millions. */
class Sizes {
  count = 0;
  private sum = 0;
  private readonly pair = Buffer.alloc(16);

  add(unpadded: number, plain: number): void {
    this.pair.writeDoubleLE(unpadded, 0);
    this.pair.writeDoubleLE(plain, 8);
    this.sum = crc32(this.pair, this.sum);
    this.count += 1;
  }

  equals(other: Sizes): boolean {
    return this.count === other.count && this.sum === other.sum;
  }
}

/** Unpacks one block (3). Returns its end. */
function* block(reader: Reader, at: number, check_kind: number, sizes: Sizes): Generator<Buffer, number> {
  const header = blockHeader(reader, at);
  if (header === undefined) throw new Unreadable('unsupported');
  const data_at = at + header.bytes;
  const check = checkOf(check_kind);
  const undoers = header.deltas.map(deltaUndoer);
  let plain = 0;
  const chunks = unpackedLzma2(reader, data_at, header.dictionary_bytes);
  let end = data_at;
  for (;;) {
    const next = chunks.next();
    if (next.done === true) {
      end = next.value;
      break;
    }
    const piece = next.value;
    for (const undo of undoers) undo(piece);
    check?.add(piece);
    plain += piece.length;
    yield piece;
  }
  const packed = end - data_at;
  if ((header.packed ?? packed) !== packed || (header.plain ?? plain) !== plain) throw damaged();
  const check_at = at + padded(end - at);
  const check_bytes = CHECK_BYTES[check_kind] ?? 0;
  const padding = need(reader, end, check_at - end);
  if (padding.some((byte) => byte !== 0)) throw damaged();
  const expected = need(reader, check_at, check_bytes);
  if (check !== undefined && !check.value().equals(expected)) throw damaged();
  sizes.add(header.bytes + packed + check_bytes, plain);
  return check_at + check_bytes;
}

/** Checks that the index (4) at `start` lists the blocks that were read. Returns its end. */
function indexEnd(reader: Reader, start: number, sizes: Sizes): number {
  const listed = new Sizes();
  let at = start + 1;
  let crc = crc32(Buffer.alloc(1));
  let numbers = new Numbers(Buffer.alloc(0), 0);
  let piece: Buffer = Buffer.alloc(0);
  const take = (bytes: number): void => {
    crc = crc32(piece.subarray(0, bytes), crc);
    at += bytes;
  };
  /** Reads a piece that contains the next two numbers, unless the file ends. */
  const refill = (): void => {
    take(numbers.at);
    piece = reader.at(at, INDEX_PIECE_BYTES);
    numbers = new Numbers(piece, 0);
  };
  refill();
  const count = numbers.next();
  if (count !== sizes.count) throw damaged();
  for (let record = 0; record < count; record += 1) {
    if (numbers.at + 18 > piece.length) refill();
    const unpadded = numbers.next();
    listed.add(unpadded, numbers.next());
  }
  take(numbers.at);
  const padding = need(reader, at, padded(at - start) - (at - start));
  if (padding.some((byte) => byte !== 0)) throw damaged();
  crc = crc32(padding, crc);
  at += padding.length;
  if (need(reader, at, 4).readUInt32LE() !== crc || !listed.equals(sizes)) throw damaged();
  return at + 4;
}

/** Unpacks one stream (2.1). Returns its end. */
function* stream(reader: Reader, from: number): Generator<Buffer, number> {
  const head = Buffer.from(need(reader, from, HEAD_BYTES));
  const flags = head.subarray(XZ.bytes.length, XZ.bytes.length + FLAGS_BYTES);
  const [reserved, check_kind = 0] = flags;
  if (crc32(flags) !== head.readUInt32LE(HEAD_BYTES - 4)) throw damaged();
  if (reserved !== 0 || check_kind > 15) throw new Unreadable('unsupported');
  const sizes = new Sizes();
  let at = from + HEAD_BYTES;
  while (need(reader, at, 1)[0] !== 0) at = yield* block(reader, at, check_kind, sizes);
  const end = indexEnd(reader, at, sizes);
  const footer = need(reader, end, FOOTER_BYTES);
  const is_footer =
    crc32(footer.subarray(4, 10)) === footer.readUInt32LE(0) &&
    (footer.readUInt32LE(4) + 1) * 4 === end - at &&
    footer.subarray(8, 10).equals(flags) &&
    footer.subarray(10).equals(FOOTER_MARK);
  if (!is_footer) throw damaged();
  return end + FOOTER_BYTES;
}

/** Unpacks consecutive streams with zero padding between them. */
function* streams(reader: Reader, ended: (at: number) => void): Generator<Buffer> {
  let at = 0;
  do {
    at = yield* stream(reader, at);
    ended(at);
    const next = endOfZeros(reader, at);
    if ((next - at) % 4 !== 0) return;
    at = next;
  } while (reader.at(at, XZ.bytes.length).equals(XZ.bytes));
}

/** Whether the first block has filters that only 7-Zip supports. */
function hasForeignFilter(reader: Reader): boolean {
  try {
    return reader.at(HEAD_BYTES, 1)[0] !== 0 && blockHeader(reader, HEAD_BYTES) === undefined;
  } catch (error) {
    if (error instanceof Unreadable) return false;
    throw error;
  }
}

const byOwn = unpackedBy(streams, { is_tried: true });
const definition = {
  id: 'xz',
  media_type: 'application/x-xz',
  recognise: byMarks([XZ]),
  carve: [{ pattern: `${patternOf(XZ)} 00 (00|01|04|0a)` }],
  traits: { is_named_after_file: true },
} as const;
const bySevenZip = sevenZipFormat({ ...definition, type: 'xz', list: listOfXz }).open;

export const xz = format({
  ...definition,
  limits: null,
  async *open(content, context) {
    const reader = openReader(content, context.budget);
    const is_foreign = hasForeignFilter(reader);
    reader.close();
    const members = is_foreign ? bySevenZip?.(content, context) : byOwn(content, context);
    if (members !== undefined) yield* members;
  },
});
