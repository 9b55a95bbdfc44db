import { HEAD_BYTES as FORMAT_HEAD_BYTES, format, withBits } from '#scanner/formats/format.ts';
import type { Content } from '#scanner/reading/content.ts';
import { SEPARATOR } from '#scanner/reading/joined-pieces.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';
import { VALUE_LEAST } from '#scanner/text/values.ts';

// Values of SQLite databases (sqlite.org/fileformat2.html). They may contain files, for example in sqlar archives, which may be compressed or split over
// several pages in any order.

const MARK = Buffer.from('SQLite format 3\0', 'latin1');
const HEAD_BYTES = 100;
const PAGE_BYTES = { least: 512, most: 65_536 } as const;
const INDEX_INTERIOR = 0x02;
const INDEX_LEAF = 0x0a;
const TABLE_LEAF = 0x0d;
/** Minimum size of a value; shorter ones are skipped. Bytes. */
const LEAST = 33;
/** Maximum number of blobs of unknown type that are separate members. Blobs of known types are always members. */
const OTHERS_MAXIMUM = 4000;
/** Maximum size of a record, which is read into memory. Bytes. */
const VALUE_BYTES_MAXIMUM = 64 * 1024 ** 2;
/** Matches text that may contain encoded data, such as base64. */
const CODED = /[A-Za-z0-9+/_-]{44}/;
const ENCODINGS = ['utf-8', 'utf-8', 'utf-16le', 'utf-16be'] as const;

function isSqlite(head: Buffer): boolean {
  if (head.length < HEAD_BYTES || !head.subarray(0, MARK.length).equals(MARK)) return false;
  const page = pageBytes(head);
  return page >= PAGE_BYTES.least && page <= PAGE_BYTES.most && (page & (page - 1)) === 0;
}

function pageBytes(head: Buffer): number {
  const size = head.readUInt16BE(16);
  return size === 1 ? PAGE_BYTES.most : size;
}

/**
 * The end of the database that begins with `head`: after the number of pages in its header, if that number is valid for the current version of the file (file
 * format, 1.3.7); otherwise the end of the file.
 */
function sqliteEnd(head: Buffer, size: number): number {
  const pages = head.readUInt32BE(28);
  return pages > 0 && head.readUInt32BE(24) === head.readUInt32BE(92) ? pageBytes(head) * pages : size;
}

/** The end of the last complete page. */
function endOfPages(reader: Reader): number {
  const head = reader.at(0, HEAD_BYTES);
  const page = pageBytes(head);
  return Math.min(Math.floor(reader.size / page) * page, sqliteEnd(head, reader.size));
}

/** Reads a SQLite varint: seven bits in each byte, eight in the ninth. */
function varint(bytes: Buffer, at: number): { value: number; next: number } {
  let value = 0;
  for (let count = 0; count < 9; count += 1) {
    const byte = bytes[at + count] ?? 0;
    if (count === 8) return { value: value * 256 + byte, next: at + 9 };
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return { value, next: at + count + 1 };
  }
  return { value, next: at + 9 };
}

interface Value {
  is_text: boolean;
  bytes: Buffer;
  /** The record is split over several pages, so the value is not contiguous in the file. */
  is_spread: boolean;
}

/** The texts and blobs of a record. */
function* valuesOf(record: Buffer, is_spread: boolean): Generator<Value> {
  const head = varint(record, 0);
  const end = Math.min(head.value, record.length);
  let data = head.value;
  for (let at = head.next; at < end; ) {
    const { value: kind, next } = varint(record, at);
    at = next;
    const size = kind >= 12 ? Math.floor((kind - 12) / 2) : ([0, 1, 2, 3, 4, 6, 8, 8][kind] ?? 0);
    if (kind >= 12 && size >= LEAST && data < record.length)
      yield { is_text: kind % 2 === 1, bytes: record.subarray(data, data + size), is_spread };
    data += size;
  }
}

/** The records of a page, including their overflow pages. `room` limits the total size of all records. Bytes. */
function* recordsOf(reader: Reader, page: Buffer, number: number, usable: number, room: { left: number }) {
  const start = number === 1 ? HEAD_BYTES : 0;
  const kind = page[start];
  if (kind !== TABLE_LEAF && kind !== INDEX_LEAF && kind !== INDEX_INTERIOR) return;
  const most = kind === TABLE_LEAF ? usable - 35 : Math.floor(((usable - 12) * 64) / 255) - 23;
  const least = Math.floor(((usable - 12) * 32) / 255) - 23;
  const cells = page.readUInt16BE(start + 3);
  const list = start + (kind === INDEX_INTERIOR ? 12 : 8);
  for (let cell = 0; cell < cells && list + cell * 2 + 2 <= page.length; cell += 1) {
    const at = page.readUInt16BE(list + cell * 2);
    const size = varint(page, at + (kind === INDEX_INTERIOR ? 4 : 0));
    const from = kind === TABLE_LEAF ? varint(page, size.next).next : size.next;
    if (size.value <= most) {
      const bytes = page.subarray(from, from + size.value);
      room.left -= bytes.length;
      if (room.left < 0) throw new Unreadable('damaged');
      yield { bytes, is_spread: false };
      continue;
    }
    if (size.value > VALUE_BYTES_MAXIMUM) throw new Unreadable('too_large');
    const some = least + ((size.value - least) % (usable - 4));
    const local = some <= most ? some : least;
    if (from + local + 4 > page.length || size.value > reader.size) continue;
    room.left -= size.value;
    if (room.left < 0) throw new Unreadable('damaged');
    const pieces = [page.subarray(from, from + local)];
    let next = page.readUInt32BE(from + local);
    for (let missing = size.value - local; missing > 0 && next > 0; missing -= usable - 4) {
      const piece = Buffer.from(reader.at((next - 1) * page.length, 4 + Math.min(missing, usable - 4)));
      if (piece.length < 4) break;
      pieces.push(piece.subarray(4));
      next = piece.readUInt32BE(0);
    }
    yield { bytes: Buffer.concat(pieces), is_spread: true };
  }
}

function* allValues(reader: Reader): Generator<Value> {
  const head = reader.at(0, HEAD_BYTES);
  const page_bytes = pageBytes(head);
  const usable = page_bytes - (head[20] ?? 0);
  // Hostile cells may refer to the same bytes again and again, so the total size of all records is limited.
  const room = { left: 2 * reader.size };
  for (let number = 1; number * page_bytes <= reader.size; number += 1) {
    const page = Buffer.from(reader.at((number - 1) * page_bytes, page_bytes));
    for (const { bytes, is_spread } of recordsOf(reader, page, number, usable, room)) yield* valuesOf(bytes, is_spread);
  }
}

/** Maximum number of texts that are also matched separately, since a text may be a complete test file. */
const ALONE_MAXIMUM = 500;

/** The values that `isTaken` does not exclude, joined with separators: blobs, and texts that are split over several pages or may contain encoded data. */
async function* others(reader: Reader, encoding: (typeof ENCODINGS)[number], isTaken: (value: Value) => boolean) {
  const decoder = new TextDecoder(encoding);
  for (const value of allValues(reader)) {
    if (isTaken(value)) continue;
    if (!value.is_text) {
      yield Buffer.concat([value.bytes, SEPARATOR]);
      continue;
    }
    const text = encoding === 'utf-8' ? value.bytes : Buffer.from(decoder.decode(value.bytes), 'utf8');
    if (value.is_spread || CODED.test(text.toString('latin1'))) yield Buffer.concat([text, SEPARATOR.subarray(0, 1)]);
  }
}

/** The values as members: blobs separately, texts joined. `isFile` recognises a file by its first bytes. */
async function* sqliteMembers(
  content: Content,
  { budget, claim }: ReadContext,
  { head_bytes, isFile }: { head_bytes: number; isFile: (head: Buffer) => boolean },
): AsyncGenerator<Member> {
  using reader = openReader(content, budget);
  const encoding = ENCODINGS[reader.at(56, 4).readUInt32BE(0)] ?? 'utf-8';
  let number = 0;
  let unknown = 0;
  let alone = 0;
  for (const { is_text, bytes } of allValues(reader)) {
    if (is_text) {
      if (bytes.length < VALUE_LEAST || alone === ALONE_MAXIMUM) continue;
      alone += 1;
      budget.addUnpacked(bytes.length, bytes.length, bytes.length);
      const text = encoding === 'utf-8' ? bytes : Buffer.from(new TextDecoder(encoding).decode(bytes), 'utf8');
      yield { name: 'text', kind: 'alone', read: () => ({ content: { size: text.length, bytes: text } }) };
      continue;
    }
    number += 1;
    if (!isFile(bytes.subarray(0, head_bytes))) {
      unknown += 1;
      if (unknown > OTHERS_MAXIMUM) continue;
    }
    budget.addUnpacked(bytes.length, bytes.length, bytes.length);
    yield { name: `value ${number}`, read: () => ({ content: { size: bytes.length, bytes } }) };
  }
  for (const is_text of [true, false]) {
    const isTaken = (value: Value) => value.is_text !== is_text;
    const first = await others(reader, encoding, isTaken).next();
    if (first.done === true || (!is_text && unknown <= OTHERS_MAXIMUM)) continue;
    const name = is_text ? 'texts' : 'other values';
    yield { name, read: () => ({ stream: others(reader, encoding, isTaken), packed_bytes: reader.size }) };
  }
  // All pages are claimed, so that a file in a value is opened from the value and not from its position in the pages.
  claim(0, endOfPages(reader));
}

export const sqlite = format({
  id: 'sqlite',
  media_type: 'application/vnd.sqlite3',
  recognise: withBits(128, isSqlite),
  traits: { owns_end: (reader) => endOfPages(reader) === reader.size },
  leaf: {
    marks: [{ at: 0, bytes: MARK }],
    walk: (reader, head) => (head.length < HEAD_BYTES ? undefined : sqliteEnd(head, reader.size)),
  },
  limits: null,
  open: (content, context) => sqliteMembers(content, context, { head_bytes: FORMAT_HEAD_BYTES, isFile: context.isFileHead }),
});
