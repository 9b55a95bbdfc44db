import type { StatusDetail } from '@palisade/contract/antivirus';
import { format, spelled, withBits } from '#scanner/formats/format.ts';
import type { Content } from '#scanner/reading/content.ts';
import { decodeName, type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';

// A reader of its own, because common readers wait forever for the input of some 2 KB archives, and because a scanner must continue after damage. The format is
// POSIX.1-2001 (ustar and pax) with the GNU extensions and older variants.

const BLOCK_BYTES = 512;
const CHECKSUM = { start: 148, end: 156 } as const;
const SIZE = { start: 124, end: 136 } as const;
const TYPE_AT = 156;
const USTAR = 'ustar';
const MAGIC = { start: 257, end: 263 } as const;
const PREFIX = { start: 345, end: 500 } as const;
/** Maximum bytes read of an extended header or a long name. */
const EXTENDED_BYTES_MAXIMUM = 1024 ** 2;
/** Members up to this size are read in one piece. Bytes. */
const WHOLE_BYTES = 64 * 1024;
const FILE_TYPES: readonly string[] = ['\0', '0', '7'];
/** Types other than files: links, devices, directories and FIFOs. They need no content. */
const KNOWN_TYPES: readonly string[] = [...FILE_TYPES, '1', '2', '3', '4', '5', '6'];
/** Types of GNU entries that hold a name too long for a header: of the file, and of the target of a link. */
const LONG_NAME = 'L';
const LONG_TARGET = 'K';
const RECORDS = 'x';
const RECORDS_FOR_ALL = 'g';
/** Prefix of the pax records by which GNU tar describes a sparse file. */
const SPARSE = 'GNU.sparse.';

/**
 * Reads an octal number that follows spaces or zero bytes. GNU tar requires a space or zero byte after it; libarchive accepts any byte, as here. NaN if there
 * are no digits.
 */
function octal(field: Buffer): number {
  const digits = /^[\0 ]*([0-7]{1,22})/.exec(field.toString('latin1'))?.[1];
  return digits === undefined ? Number.NaN : Number.parseInt(digits, 8);
}

/** Reads a size in octal, or in base 256 if the first byte is 0x80 (GNU). */
function sizeOf(field: Buffer): number {
  const [first = 0] = field;
  if (first !== 0x80) return first === 0 || first === 0x20 ? octal(field) || 0 : octal(field);
  let size = 0;
  for (const byte of field.subarray(1)) size = size * 256 + byte;
  return size;
}

/** Sum of the checksum field when it is filled with spaces. */
const BLANKS_SUM = 8 * 0x20;

/**
 * Whether the checksum is correct: the sum of the header bytes, with the checksum field as spaces. Some programs sum signed bytes. The signed sum of random
 * bytes is near zero, so a sum below that of the spaces is rejected.
 */
function isTarHeader(block: Buffer): boolean {
  if (block.length < BLOCK_BYTES) return false;
  const sum = octal(block.subarray(CHECKSUM.start, CHECKSUM.end));
  if (Number.isNaN(sum)) return false;
  let unsigned = 0;
  let signed = 0;
  for (let index = 0; index < BLOCK_BYTES; index += 1) {
    const byte = index >= CHECKSUM.start && index < CHECKSUM.end ? 0x20 : (block[index] ?? 0);
    unsigned += byte;
    signed += byte < 128 ? byte : byte - 256;
  }
  return sum >= BLANKS_SUM && (sum === unsigned || sum === signed);
}

const ZEROS = Buffer.alloc(BLOCK_BYTES);

const isZeros = (block: Buffer) => block.equals(ZEROS.subarray(0, block.length));

/**
 * Whether a tar archive begins with these bytes. Zero blocks may precede the header (`tar -i`), and the checksum of a ustar header may be wrong (GNU tar skips
 * to the next header).
 */
function isTar(head: Buffer): boolean {
  let at = 0;
  while (at + BLOCK_BYTES <= head.length && isZeros(head.subarray(at, at + BLOCK_BYTES))) at += BLOCK_BYTES;
  const block = head.subarray(at, at + BLOCK_BYTES);
  return isTarHeader(block) || (block.length === BLOCK_BYTES && block.toString('latin1', MAGIC.start, MAGIC.end - 1) === USTAR);
}

function textOf(field: Buffer): string {
  const end = field.indexOf(0);
  return decodeName(end < 0 ? field : field.subarray(0, end));
}

function nameOf(block: Buffer): string {
  const name = textOf(block.subarray(0, 100));
  const is_ustar = block.toString('latin1', MAGIC.start, MAGIC.end) === `${USTAR}\0`;
  const prefix = is_ustar ? textOf(block.subarray(PREFIX.start, PREFIX.end)) : '';
  return prefix === '' ? name : `${prefix}/${name}`;
}

/** Parses pax records of the form `length key=value`, up to the first invalid record. */
function recordsOf(bytes: Buffer): Map<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const blank = bytes.indexOf(0x20, at);
    const length = blank < 0 || blank - at > 20 ? Number.NaN : Number(bytes.toString('latin1', at, blank));
    if (!(length > blank - at + 1 && at + length <= bytes.length)) break;
    const record = bytes.subarray(blank + 1, at + length - 1);
    const equals = record.indexOf(0x3d);
    if (equals > 0) records.set(record.toString('utf8', 0, equals), record.toString('utf8', equals + 1));
    at += length;
  }
  return records;
}

/** Fields from extended headers that apply to the next member. */
interface Extended {
  name?: string | undefined;
  size?: number | undefined;
  is_sparse: boolean;
}

function extendedBy(records: ReadonlyMap<string, string>, before: Extended): Extended {
  const size = records.get('size');
  return {
    name: records.get('path') ?? before.name,
    size: size !== undefined && /^\d{1,15}$/.test(size) ? Number(size) : before.size,
    is_sparse: before.is_sparse || [...records.keys()].some((key) => key.startsWith(SPARSE)),
  };
}

function afterBody(body: number, size: number): number {
  return body + Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;
}

function bodyOf(reader: Reader, from: number, size: number, { budget }: ReadContext): ReturnType<Member['read']> {
  if (size > WHOLE_BYTES) {
    async function* pieces(): AsyncGenerator<Buffer> {
      yield* reader.chunks(from, from + size);
    }
    return { stream: pieces(), packed_bytes: size };
  }
  const bytes = reader.at(from, size);
  budget.addUnpacked(bytes.length, bytes.length, size);
  return { content: { size: bytes.length, bytes } };
}

/**
 * Reads every entry that has content, whatever its type: a link may have content (POSIX.1-2001, pax), and programs extract unknown types as files. Of a sparse
 * file, only the stored data is given, so it may differ from the extracted file. @throws Unreadable at the end, if part of the archive is damaged or an entry
 * is sparse or of an unknown type.
 */
async function* tarMembers(content: Content, context: ReadContext): AsyncGenerator<Member> {
  using reader = openReader(content, context.budget);
  const unread = new Set<StatusDetail>();
  const NOTHING: Extended = { is_sparse: false };
  let for_all = NOTHING;
  let next = NOTHING;
  /** A zero block ends the archive. The bytes after it are left to other readers, except for valid headers. */
  let is_over = false;
  const skipZeros = (from: number, to: number) => {
    if (isZeros(reader.at(from, to - from))) context.claim(from, to);
  };
  for (let at = 0; at < reader.size; ) {
    const block = reader.at(at, BLOCK_BYTES);
    const body = at + BLOCK_BYTES;
    if (!isTarHeader(block)) {
      // Another header may follow zero blocks or a broken header.
      const is_end = isZeros(block);
      if (is_end) context.claim(at, body);
      else if (!is_over) unread.add('damaged');
      is_over ||= is_end;
      at = body;
      continue;
    }
    is_over = false;
    context.claim(at, body);
    const type = block.toString('latin1', TYPE_AT, TYPE_AT + 1);
    const written = sizeOf(block.subarray(SIZE.start, SIZE.end));
    const claimed = next.size ?? for_all.size ?? written;
    const size = claimed >= 0 ? Math.min(claimed, reader.size - body) : 0;
    if (size !== claimed) unread.add('damaged');
    const after = afterBody(body, size);
    if (type === LONG_NAME || type === LONG_TARGET || type === RECORDS || type === RECORDS_FOR_ALL) {
      const bytes = reader.at(body, Math.min(size, EXTENDED_BYTES_MAXIMUM));
      if (bytes.length < size) unread.add('damaged');
      if (type === LONG_NAME) next = { ...next, name: textOf(bytes) };
      if (type === RECORDS) next = extendedBy(recordsOf(bytes), next);
      if (type === RECORDS_FOR_ALL) for_all = extendedBy(recordsOf(bytes), for_all);
      context.claim(body, after);
      at = after;
      continue;
    }
    const name = next.name ?? for_all.name ?? nameOf(block);
    const is_file = FILE_TYPES.includes(type) && !(type === '\0' && name.endsWith('/'));
    const is_sparse = next.is_sparse || for_all.is_sparse;
    next = NOTHING;
    if (size > 0 && (is_sparse || !KNOWN_TYPES.includes(type))) unread.add('unsupported');
    if (size > 0 || is_file) yield { name, read: () => bodyOf(reader, body, size, context) };
    context.claim(body, body + size);
    skipZeros(body + size, Math.min(after, reader.size));
    // Some programs ignore the size in pax records, and some ignore the content of directories, links and devices. They read the next header from those bytes,
    // so it is searched there too.
    const other = written >= 0 && written < size ? afterBody(body, written) : after;
    if (written > size) yield { name, read: () => bodyOf(reader, body, Math.min(written, reader.size - body), context) };
    const nexts = [...(is_file ? [] : [body]), other];
    at = nexts.find((start) => start < after && isTarHeader(reader.at(start, BLOCK_BYTES))) ?? after;
  }
  for (const detail of unread) throw new Unreadable(detail);
}

export const tar = format({
  id: 'tar',
  media_type: 'application/x-tar',
  recognise: withBits(40, isTar),
  carve: [
    {
      pattern: `${spelled(USTAR)} (00|20) (30|20) (30|00)`,
      back: MAGIC.start,
      proves: (reader, at) => isTarHeader(reader.at(at, BLOCK_BYTES)),
    },
  ],
  traits: { reads_ahead: true, holds_whole_files: true },
  limits: 'Files with holes are not filled in.',
  open: tarMembers,
});
