import { decompress, unsnapped } from '#scanner/decompression/decompress.ts';
import { format } from '#scanner/formats/format.ts';
import type { Content } from '#scanner/reading/content.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';
import { varint } from '#scanner/reading/varint.ts';
import { isUtf8Text, VALUE_LEAST, type Value, valueMembers } from '#scanner/text/values.ts';

// Tables of LevelDB (doc/table_format.md), in which browsers and programs built on them keep the data of web pages: blocks of values, most of them compressed,
// and an index at the end of the file.

const FOOTER_BYTES = 48;
const MAGIC = Buffer.from('57fb808b247547db', 'hex');
/** Size of the trailer of a block: its compression type and a checksum. Bytes. */
const TRAILER_BYTES = 5;
const PACKING = { none: 0, snappy: 1, zstd: 2 } as const;
/**
 * Maximum size of a block, packed or unpacked. LevelDB fills blocks to 4 KiB and exceeds that only for a single value. Unpacking takes twice the memory of a
 * block. Bytes.
 */
const BLOCK_BYTES_MAXIMUM = 16 * 1024 ** 2;
const RESTART_BYTES = 4;
/** Of longer keys, only the part that is not shared with the previous key is read. Bytes. */
const KEY_BYTES_MAXIMUM = 64 * 1024;

/** Whether the file ends with the footer of a table. */
function endsAsTable(reader: Reader): boolean {
  return reader.size > FOOTER_BYTES && reader.at(reader.size - MAGIC.length, MAGIC.length).equals(MAGIC);
}

interface Handle {
  offset: number;
  size: number;
}

function handleAt(bytes: Buffer, at: number): { handle: Handle; next: number } | undefined {
  const offset = varint(bytes, at);
  const size = offset && varint(bytes, offset.next);
  return offset && size && { handle: { offset: offset.value, size: size.value }, next: size.next };
}

/** Reads and unpacks a block. @throws Unreadable */
function blockAt(reader: Reader, { offset, size }: Handle, { budget, claim }: ReadContext): Buffer {
  if (size > BLOCK_BYTES_MAXIMUM || offset + size + TRAILER_BYTES > reader.size - FOOTER_BYTES) throw new Unreadable('damaged');
  const packed = Buffer.from(reader.at(offset, size));
  const packing = reader.at(offset + size, 1)[0];
  let plain: Buffer = packed;
  if (packing === PACKING.snappy) plain = unsnapped(packed, budget, BLOCK_BYTES_MAXIMUM);
  else if (packing === PACKING.zstd) {
    const answer = decompress('zstd', packed, budget, { most: Math.min(BLOCK_BYTES_MAXIMUM, budget.memberMaximum(size)) });
    if (answer.kind !== 'whole') throw new Unreadable('damaged');
    plain = answer.plain;
  } else if (packing !== PACKING.none) throw new Unreadable('unsupported');
  budget.addUnpacked(plain.length, plain.length, Math.max(1, size));
  claim(offset, offset + size + TRAILER_BYTES);
  return plain;
}

/** The keys and values of a block. A key is stored as its difference from the previous key. */
function* entriesOf(block: Buffer, { budget }: ReadContext): Generator<{ key: Buffer; value: Buffer }> {
  if (block.length < RESTART_BYTES) throw new Unreadable('damaged');
  const end = block.length - RESTART_BYTES * (1 + block.readUInt32LE(block.length - RESTART_BYTES));
  if (end < 0) throw new Unreadable('damaged');
  let key: Buffer = Buffer.alloc(0);
  let key_bytes = 0;
  for (let at = 0; at < end; ) {
    const shared = varint(block, at);
    const own = shared && varint(block, shared.next);
    const size = own && varint(block, own.next);
    if (!(shared && own && size) || shared.value > key_bytes || size.next + own.value + size.value > end)
      throw new Unreadable('damaged');
    const value_at = size.next + own.value;
    const rest = block.subarray(size.next, value_at);
    key_bytes = shared.value + own.value;
    const is_known = key_bytes <= KEY_BYTES_MAXIMUM && shared.value <= key.length;
    key = is_known ? Buffer.concat([key.subarray(0, shared.value), rest]) : rest;
    budget.spend(key.length);
    at = value_at + size.value;
    yield { key, value: block.subarray(value_at, at) };
  }
}

/** First byte of a text value in Chromium: two bytes for each character, or one. */
const WIDE = 0;
const NARROW = 1;

/** Possible contents of a value: all its bytes, or the text after the byte for the character width. */
function* valuesOf(bytes: Buffer): Generator<Value> {
  const first = bytes[0];
  if (bytes.length > VALUE_LEAST && (first === WIDE || first === NARROW)) {
    const letters = bytes.subarray(1);
    yield { bytes: letters, is_text: first === NARROW && isUtf8Text(letters) };
  }
  yield { bytes, is_text: isUtf8Text(bytes) };
}

interface Index {
  blocks: Handle[];
  failure: Unreadable | undefined;
}

/** Reads the positions of the blocks from the index. Blocks missing from a damaged index are not searched for. */
function indexOf(reader: Reader, context: ReadContext): Index {
  const footer = reader.at(reader.size - FOOTER_BYTES, FOOTER_BYTES);
  const meta = handleAt(footer, 0);
  const index = meta && handleAt(footer, meta.next);
  if (meta === undefined || index === undefined) throw new Unreadable('damaged');
  const blocks: Handle[] = [meta.handle];
  try {
    for (const { value } of entriesOf(blockAt(reader, index.handle, context), context)) {
      const found = handleAt(value, 0);
      if (found === undefined) throw new Unreadable('damaged');
      blocks.push(found.handle);
    }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { blocks, failure: error };
  }
  return { blocks, failure: undefined };
}

/** The keys and values of a table as members. @throws Unreadable at the end, if a block could not be read */
async function* tableMembers(content: Content, context: ReadContext, isFile: (bytes: Buffer) => boolean): AsyncGenerator<Member> {
  using reader = openReader(content, context.budget);
  const index = indexOf(reader, context);
  let { failure } = index;
  // Blocks do not overlap. A block that an index names twice, or that begins inside another one, is skipped.
  const blocks = index.blocks.toSorted((one, other) => one.offset - other.offset);
  let end = 0;
  function* values(): Generator<Value> {
    for (const handle of blocks) {
      if (handle.offset < end) {
        failure ??= new Unreadable('damaged');
        continue;
      }
      end = handle.offset + handle.size + TRAILER_BYTES;
      try {
        for (const { key, value } of entriesOf(blockAt(reader, handle, context), context)) {
          if (key.length >= VALUE_LEAST) yield { bytes: key, is_text: isUtf8Text(key) };
          yield* valuesOf(value);
        }
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error;
        failure ??= error;
      }
    }
  }
  yield* valueMembers(values(), context, isFile);
  context.claim(reader.size - FOOTER_BYTES, reader.size);
  if (failure !== undefined) throw failure;
}

export const levelTable = format({
  id: 'leveldb',
  media_type: 'application/octet-stream',
  recogniseBeside: ({ reader, first }) => (first === undefined && endsAsTable(reader) ? 64 : 0),
  limits: null,
  open: (content, context) => tableMembers(content, context, context.isFile),
});
