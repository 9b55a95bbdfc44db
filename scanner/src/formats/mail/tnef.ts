import { format, patternOf, withBits } from '#scanner/formats/format.ts';
import type { Content } from '#scanner/reading/content.ts';
import type { Budget } from '#scanner/reading/limits.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';
import { struct } from '#scanner/reading/struct.ts';
import { lzfuText } from './compressed-rtf.ts';

// TNEF, the `winmail.dat` of Outlook (MS-OXTNEF 2.1): a list of attributes, some of which are lists of MAPI properties.

const SIGNATURE = 0x223e9f78;
const HEADER_BYTES = 6;
/** The header of an attribute. Its data and a two-byte checksum follow (2.1.3.3). */
const ATTRIBUTE_HEAD = struct('little', { level: 'u8', id: 'u32', length: 'u32' });
const ATTRIBUTE = {
  shown: 0x00069002,
  title: 0x00018010,
  data: 0x0006800f,
  body: 0x0002800c,
  properties: 0x00069003,
  attached: 0x00069005,
} as const;
const LEVELS: readonly number[] = [1, 2];
const TITLE_BYTES_MAXIMUM = 1024;
const PROPERTIES_BYTES_MAXIMUM = 64 * 1024 ** 2;

function isTnef(head: Buffer): boolean {
  return head.length > HEADER_BYTES && head.readUInt32LE(0) === SIGNATURE && LEVELS.includes(head[HEADER_BYTES] ?? 0);
}

/** Sizes of fixed-size property types (MS-OXCDATA 2.11.1), padded to four bytes. Values of other types store their length. Bytes. */
const FIXED: ReadonlyMap<number, number> = new Map([
  [0x0002, 4],
  [0x0003, 4],
  [0x0004, 4],
  [0x0005, 8],
  [0x0006, 8],
  [0x0007, 8],
  [0x000a, 4],
  [0x000b, 4],
  [0x0014, 8],
  [0x0040, 8],
  [0x0048, 16],
]);
const OBJECT = 0x000d;
const INTERFACE_BYTES = 16;
const COMPRESSED_RTF = 0x1009;
const VALUE_BYTES_LEAST = 32;

/** The values of a property list that have at least `VALUE_BYTES_LEAST` bytes, with their property numbers. @throws Unreadable if the list is invalid. */
function* valuesOf(list: Buffer, budget: Budget): Generator<{ id: number; bytes: Buffer }> {
  let at = 4;
  const word = (bytes = 4): number => {
    if (at + bytes > list.length) throw new Unreadable('damaged');
    at += bytes;
    return bytes === 4 ? list.readUInt32LE(at - 4) : list.readUInt16LE(at - 2);
  };
  for (let count = list.length < 4 ? 0 : list.readUInt32LE(0); count > 0; count -= 1) {
    budget.spend(16);
    const type = word(2);
    const id = word(2);
    if (id >= 0x8000) {
      at += 16;
      // A named property has a string or a number.
      if (word() === 1) at += Math.ceil(word() / 4) * 4;
      else at += 4;
    }
    const is_many = (type & 0x1000) !== 0;
    const size = FIXED.get(type & 0x0fff);
    if (size !== undefined) {
      at += size * (is_many ? word() : 1);
      continue;
    }
    for (let values = word(); values > 0; values -= 1) {
      const length = word();
      const skipped = type === OBJECT ? INTERFACE_BYTES : 0;
      const bytes = list.subarray(at + skipped, at + length);
      if (at + length > list.length) throw new Unreadable('damaged');
      at += Math.ceil(length / 4) * 4;
      if (bytes.length >= VALUE_BYTES_LEAST) yield { id, bytes };
    }
  }
}

function* propertyMembers(list: Buffer, budget: Budget): Generator<Member> {
  for (const { id, bytes } of valuesOf(list, budget)) {
    const unpacked = id === COMPRESSED_RTF ? lzfuText(bytes, budget) : undefined;
    const value = unpacked ?? bytes;
    if (unpacked === undefined) budget.addUnpacked(bytes.length, bytes.length, bytes.length);
    yield { name: `property ${id.toString(16)}`, read: () => ({ content: { size: value.length, bytes: value } }) };
  }
}

function nameOf(reader: Reader, at: number, length: number): string {
  const title = reader.at(at, Math.min(length, TITLE_BYTES_MAXIMUM)).toString('latin1');
  return title.split('\0', 1)[0] || 'attached file';
}

/**
 * The attached files, the body, and the values of MAPI properties. @throws Unreadable `damaged`, at the end, if the file is truncated or a property list is
 * invalid or too large.
 */
async function* tnefMembers(content: Content, { budget, claim }: ReadContext): AsyncGenerator<Member> {
  using reader = openReader(content, budget);
  let at = HEADER_BYTES;
  let is_damaged = false;
  /** The current file. Its data and name come in any order; `shown` begins the next file. */
  let file: { start: number; end: number } | undefined;
  let name: string | undefined;
  function* attached(): Generator<Member> {
    if (file === undefined) return;
    const { start, end } = file;
    async function* pieces(): AsyncGenerator<Buffer> {
      yield* reader.chunks(start, end);
    }
    yield { name: name ?? 'attached file', read: () => ({ stream: pieces(), packed_bytes: end - start }) };
    file = undefined;
    name = undefined;
  }
  for (;;) {
    const head = ATTRIBUTE_HEAD.read(reader.at(at, ATTRIBUTE_HEAD.bytes));
    if (head === undefined || !LEVELS.includes(head.level)) break;
    const { id, length } = head;
    const start = at + ATTRIBUTE_HEAD.bytes;
    const end = Math.min(start + length, reader.size);
    is_damaged ||= start + length > reader.size;
    at = start + length + 2;
    if (id === ATTRIBUTE.shown) {
      yield* attached();
      name = undefined;
    } else if (id === ATTRIBUTE.title) name = nameOf(reader, start, end - start);
    else if (id === ATTRIBUTE.data || id === ATTRIBUTE.body) {
      yield* attached();
      if (id === ATTRIBUTE.body) name = 'body.txt';
      if (end > start) file = { start, end };
    } else if (id === ATTRIBUTE.properties || id === ATTRIBUTE.attached) {
      try {
        if (end - start > PROPERTIES_BYTES_MAXIMUM) is_damaged = true;
        else yield* propertyMembers(reader.at(start, end - start), budget);
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error;
        is_damaged = true;
      }
    }
  }
  yield* attached();
  claim(0, Math.min(at, reader.size));
  if (is_damaged) throw new Unreadable('damaged');
}

const MARK = { at: 0, bytes: Buffer.alloc(4) };
MARK.bytes.writeUInt32LE(SIGNATURE);

export const tnef = format({
  id: 'tnef',
  media_type: 'application/vnd.ms-tnef',
  recognise: withBits(38, isTnef),
  carve: [{ pattern: `${patternOf(MARK)} ?? ?? 01 06 90 08 00` }],
  limits: null,
  open: tnefMembers,
});
