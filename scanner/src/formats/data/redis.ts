import { unpackedLzf } from '#scanner/decompression/decompress.ts';
import { format, withBits } from '#scanner/formats/format.ts';
import type { Content } from '#scanner/reading/content.ts';
import type { Member, ReadContext } from '#scanner/reading/member.ts';
import type { Reader } from '#scanner/reading/reader.ts';
import { isUtf8Text, membersOfValues, VALUE_LEAST, type Value } from '#scanner/text/values.ts';

// Dumps of Redis (rdb.c, "RDB file format"): strings above 20 bytes are packed with LZF where that makes them shorter. They are searched for in that form; an unpacked string stands in the file as it is.

const MAGIC = /^REDIS\d{4}/;
/** A string that is packed: its mark, and how long it is, packed and unpacked. */
const PACKED = 0xc3;
const RATIO_MAXIMUM = 256;
/** Larger dumps are read in pieces that overlap by the longest packed string that is searched for. Bytes. */
const PIECE_BYTES = 8 * 1024 ** 2;
const OVERLAP_BYTES = 1024 ** 2;
/** Bytes packed by LZF are at least as long. Bytes. */
const PACKED_LEAST = 4;

function isRedis(head: Buffer): boolean {
  return MAGIC.test(head.toString('latin1', 0, 9));
}

/** A length as Redis writes it: 6, 14 or 32 bits. */
function lengthAt(bytes: Buffer, at: number): { value: number; next: number } | undefined {
  const first = bytes[at] ?? 0xff;
  if (first < 0x40) return { value: first, next: at + 1 };
  if (first < 0x80) return at + 2 > bytes.length ? undefined : { value: bytes.readUInt16BE(at) & 0x3fff, next: at + 2 };
  return first === 0x80 && at + 5 <= bytes.length ? { value: bytes.readUInt32BE(at + 1), next: at + 5 } : undefined;
}

/** The packed strings of a dump. */
function* stringsIn(reader: Reader, { budget }: ReadContext): Generator<Value> {
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
      const value = unpackedLzf(bytes.subarray(plain.next, plain.next + packed.value), budget, plain.value);
      if (value === undefined) continue;
      done = from + plain.next + packed.value;
      at = plain.next + packed.value - 1;
      yield { bytes: value, is_text: isUtf8Text(value) };
    }
  }
}

/** The packed strings of a dump, as values. */
function redisMembers(content: Content, context: ReadContext, isFile: (bytes: Buffer) => boolean): AsyncGenerator<Member> {
  return membersOfValues(content, context, isFile, (reader) => stringsIn(reader, context));
}

export const redis = format({
  id: 'redis',
  media_type: 'application/octet-stream',
  recognise: withBits(72, isRedis),
  limits: null,
  open: (content, context) => redisMembers(content, context, context.isFile),
});
