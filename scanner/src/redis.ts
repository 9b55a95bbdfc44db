import type { Content } from './content.ts';
import type { Member, Workshop } from './member.ts';
import type { Reader } from './reader.ts';
import { isUtf8Text, membersOfValues, VALUE_LEAST, type Value } from './values.ts';

// Dumps of Redis (rdb.c, "RDB file format"): strings above 20 bytes are packed with LZF where that makes them shorter. They are looked for as such; what is not packed stands in the file as it is.

const MAGIC = /^REDIS\d{4}/;
/** A string that is packed: its mark, and how long it is, packed and unpacked. */
const PACKED = 0xc3;
const RATIO_MAXIMUM = 256;
/** Larger dumps are read in pieces that overlap by as much as the longest packed string that is looked for. Bytes. */
const PIECE_BYTES = 8 * 1024 ** 2;
const OVERLAP_BYTES = 1024 ** 2;
/** What LZF leaves is at least as long. Bytes. */
const PACKED_LEAST = 4;

export function isRedis(head: Buffer): boolean {
  return MAGIC.test(head.toString('latin1', 0, 9));
}

/** A length as Redis writes it: 6, 14 or 32 bits. */
function lengthAt(bytes: Buffer, at: number): { value: number; next: number } | undefined {
  const first = bytes[at] ?? 0xff;
  if (first < 0x40) return { value: first, next: at + 1 };
  if (first < 0x80) return at + 2 > bytes.length ? undefined : { value: bytes.readUInt16BE(at) & 0x3fff, next: at + 2 };
  return first === 0x80 && at + 5 <= bytes.length ? { value: bytes.readUInt32BE(at + 1), next: at + 5 } : undefined;
}

/** LZF (liblzf, lzf_d.c), just `size` bytes; undefined where it is none. Nothing is set aside before it is known to fit. */
function unpackedLzf(packed: Buffer, size: number): Buffer | undefined {
  if (lzf(packed, size, undefined) !== size) return undefined;
  const target = Buffer.alloc(size);
  lzf(packed, size, target);
  return target;
}

function lzf(packed: Buffer, size: number, target: Buffer | undefined): number | undefined {
  let at = 0;
  let end = 0;
  while (at < packed.length) {
    const control = packed[at++] ?? 0;
    if (control < 32) {
      const length = control + 1;
      if (at + length > packed.length || end + length > size) return undefined;
      if (target !== undefined) packed.copy(target, end, at, at + length);
      at += length;
      end += length;
      continue;
    }
    const length = (control >> 5 === 7 ? 7 + (packed[at++] ?? 0) : control >> 5) + 2;
    if (at >= packed.length) return undefined;
    const distance = ((control & 31) << 8) + (packed[at++] ?? 0) + 1;
    if (distance > end || end + length > size) return undefined;
    if (target !== undefined)
      for (let index = end; index < end + length; index += 1) target[index] = target[index - distance] ?? 0;
    end += length;
  }
  return end;
}

/** The packed strings of a dump. */
function* stringsIn(reader: Reader, { budget }: Workshop): Generator<Value> {
  for (let from = 0, done = 0; from < reader.size; from += PIECE_BYTES) {
    const bytes = reader.at(from, PIECE_BYTES + OVERLAP_BYTES);
    for (
      let at = bytes.indexOf(PACKED, Math.max(0, done - from));
      at >= 0 && at < PIECE_BYTES;
      at = bytes.indexOf(PACKED, at + 1)
    ) {
      const packed = lengthAt(bytes, at + 1);
      const plain = packed && lengthAt(bytes, packed.next);
      if (packed === undefined || plain === undefined || packed.value < PACKED_LEAST || plain.next + packed.value > bytes.length)
        continue;
      if (plain.value < VALUE_LEAST || plain.value <= packed.value || plain.value > RATIO_MAXIMUM * packed.value) continue;
      budget.spend(packed.value);
      const value = unpackedLzf(bytes.subarray(plain.next, plain.next + packed.value), plain.value);
      if (value === undefined) continue;
      done = from + plain.next + packed.value;
      at = plain.next + packed.value - 1;
      yield { bytes: value, is_text: isUtf8Text(value) };
    }
  }
}

/** The packed strings of a dump, as values. */
export function redisMembers(content: Content, workshop: Workshop, isFile: (bytes: Buffer) => boolean): AsyncGenerator<Member> {
  return membersOfValues(content, workshop, isFile, (reader) => stringsIn(reader, workshop));
}
