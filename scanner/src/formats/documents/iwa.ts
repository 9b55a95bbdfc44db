import { unsnapped } from '#scanner/decompression/decompress.ts';
import { format, innerName } from '#scanner/formats/format.ts';
import type { Content } from '#scanner/reading/content.ts';
import { JoinedPieces } from '#scanner/reading/joined-pieces.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';
import { varint } from '#scanner/reading/varint.ts';

// Parts of Pages, Numbers and Keynote documents since 2013: Snappy blocks without checksums, each after a zero and its length in three bytes. The blocks
// contain Protocol Buffers messages, which hold text between binary data.

const HEAD_BYTES = 4;
/** Maximum unpacked size of a block. Bytes. */
const BLOCK_BYTES_MAXIMUM = 65_536;
/** Maximum total unpacked size, which is kept in memory. Bytes. */
const WHOLE_BYTES_MAXIMUM = 64 * 1024 ** 2;
/** Maximum number of blocks that are checked to recognise the format. */
const LOOK_BLOCKS = 64;
/** Minimum length of an extracted text; shorter ones are mostly names. Bytes. */
const TEXT_LEAST = 33;
const NEWLINE = 0x0a;

interface Block {
  start: number;
  end: number;
}

function blockAt(reader: Reader, at: number): Block | undefined {
  const head = reader.at(at, HEAD_BYTES);
  if (head.length < HEAD_BYTES || head[0] !== 0) return undefined;
  const start = at + HEAD_BYTES;
  const end = start + head.readUIntLE(1, 3);
  return end > start && end <= reader.size ? { start, end } : undefined;
}

/** Whether the file consists of consecutive blocks, as far as checked, and the first block can be unpacked. */
function isIwa(reader: Reader, head: Buffer): boolean {
  if (head[0] !== 0 || head.length <= HEAD_BYTES) return false;
  const first = blockAt(reader, 0);
  if (first === undefined) return false;
  let block: Block | undefined = first;
  for (let count = 0; count < LOOK_BLOCKS && block.end < reader.size; count += 1) {
    block = blockAt(reader, block.end);
    if (block === undefined) return false;
  }
  const packed = reader.at(first.start, first.end - first.start);
  const size = varint(packed, 0)?.value ?? 0;
  if (size === 0 || size > BLOCK_BYTES_MAXIMUM) return false;
  try {
    return unsnapped(packed, reader.budget, BLOCK_BYTES_MAXIMUM).length > 0;
  } catch (error) {
    if (error instanceof Unreadable) return false;
    throw error;
  }
}

/**
 * Number of positions at the start of a run of printable bytes where the length byte of the text may be. It may itself be printable, and follow a printable
 * field tag.
 */
const LENGTH_WITHIN = 3;

/**
 * Extracts runs of at least `TEXT_LEAST` printable bytes, one on each line. If a printable length byte precedes the text, the text is added again without it.
 */
function textsIn(bytes: Buffer): Buffer {
  const texts = new JoinedPieces(Buffer.from('\n'));
  for (let at = 0, start = 0; at <= bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte >= 0x20 || byte === 0x09 || byte === NEWLINE || byte === 0x0d) continue;
    if (at - start >= TEXT_LEAST) {
      texts.add(bytes.subarray(start, at));
      for (let length_at = start; length_at < start + LENGTH_WITHIN; length_at += 1) {
        const from = length_at + 1;
        const length = bytes[length_at] ?? 0;
        if (length >= TEXT_LEAST && length < 0x80 && from + length <= at) texts.add(bytes.subarray(from, from + length));
      }
    }
    start = at + 1;
  }
  return texts.take();
}

/**
 * The unpacked blocks, and the texts in them. @throws Unreadable at the end, `damaged` if a block cannot be unpacked, `too_large` if the total exceeds the
 * maximum
 */
async function* iwaMembers(content: Content, name: string, context: ReadContext): AsyncGenerator<Member> {
  using reader = openReader(content, context.budget);
  const pieces: Buffer[] = [];
  let whole_bytes = 0;
  let failure: 'damaged' | 'too_large' | undefined;
  for (let at = 0; at < reader.size; ) {
    const block = blockAt(reader, at);
    if (block === undefined || whole_bytes > WHOLE_BYTES_MAXIMUM) {
      failure = block === undefined ? 'damaged' : 'too_large';
      break;
    }
    const packed = reader.at(block.start, block.end - block.start);
    try {
      const plain = unsnapped(packed, context.budget, BLOCK_BYTES_MAXIMUM);
      context.budget.addUnpacked(plain.length, plain.length, packed.length);
      pieces.push(plain);
      whole_bytes += plain.length;
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      failure = 'damaged';
    }
    context.claim(at, block.end);
    at = block.end;
  }
  const bytes = Buffer.concat(pieces);
  yield { name, read: () => ({ content: { size: bytes.length, bytes } }) };
  const texts = textsIn(bytes);
  if (texts.length > 0) {
    context.budget.addUnpacked(texts.length, texts.length, texts.length);
    yield { name: `${name} (texts)`, read: () => ({ content: { size: texts.length, bytes: texts } }) };
  }
  if (failure !== undefined) throw new Unreadable(failure);
}

export const iwa = format({
  id: 'iwa',
  media_type: 'application/x-packed',
  recogniseBeside: ({ reader, head, first }) => (first === undefined && isIwa(reader, head) ? 32 : 0),
  limits: 'Documents of Pages, Numbers and Keynote behind a password are not read.',
  open: (content, context) => iwaMembers(content, innerName(context.name), context),
});
