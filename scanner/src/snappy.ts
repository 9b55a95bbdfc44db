import type { Content } from './content.ts';
import { type Member, Unreadable, type Workshop } from './member.ts';
import { openReader, type Reader } from './reader.ts';

// Snappy (github.com/google/snappy: format_description.txt, framing_format.txt): blocks by themselves, as tables have them, and streams of framed blocks.

/** A copy takes three bytes, or two, and is 64 long at most: nothing unpacks to more than this many times its size. */
const RATIO_MAXIMUM = 32;
const LITERAL = 0;
/** Lengths of literals from here on stand in bytes of their own. */
const LONG_LITERAL = 60;

/** A number as protocol buffers write it, seven bits to the byte; undefined where it does not end in ten bytes or is beyond what JavaScript counts exactly. */
export function varint(bytes: Buffer, at: number): { value: number; next: number } | undefined {
  let value = 0;
  let scale = 1;
  for (let count = 0; count < 10; count += 1) {
    const byte = bytes[at + count];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return value <= Number.MAX_SAFE_INTEGER ? { value, next: at + count + 1 } : undefined;
    scale *= 128;
  }
  return undefined;
}

/** How long a copy is, how far before it stands what it copies, and where the next tag is. */
function copyAt(packed: Buffer, at: number, tag: number): { length: number; offset: number; next: number } {
  const kind = tag & 3;
  if (kind === 1) return { length: ((tag >> 2) & 7) + 4, offset: ((tag >> 5) << 8) | (packed[at] ?? 0), next: at + 1 };
  const bytes = kind === 2 ? 2 : 4;
  if (at + bytes > packed.length) throw new Unreadable('damaged');
  return { length: (tag >> 2) + 1, offset: packed.readUIntLE(at, bytes), next: at + bytes };
}

/**
 * Unpacks one block.
 *
 * @param most as many bytes as a block may have, whatever it claims
 * @throws Unreadable `damaged`, and `too_large` for more than that
 */
export function unsnapped(packed: Buffer, most: number): Buffer {
  const head = varint(packed, 0);
  if (head === undefined || head.value > RATIO_MAXIMUM * packed.length) throw new Unreadable('damaged');
  if (head.value > most) throw new Unreadable('too_large');
  const plain = Buffer.alloc(head.value);
  let end = 0;
  for (let at = head.next; at < packed.length; ) {
    const tag = packed[at] ?? 0;
    at += 1;
    if ((tag & 3) === LITERAL) {
      let length = (tag >> 2) + 1;
      if (length > LONG_LITERAL) {
        const bytes = length - LONG_LITERAL;
        if (at + bytes > packed.length) throw new Unreadable('damaged');
        length = packed.readUIntLE(at, bytes) + 1;
        at += bytes;
      }
      if (at + length > packed.length || end + length > plain.length) throw new Unreadable('damaged');
      packed.copy(plain, end, at, at + length);
      at += length;
      end += length;
      continue;
    }
    const { length, offset, next } = copyAt(packed, at, tag);
    if (offset === 0 || offset > end || end + length > plain.length) throw new Unreadable('damaged');
    // What is copied may reach into the copy itself, which repeats it.
    if (offset >= length) plain.copy(plain, end, end - offset, end - offset + length);
    else for (let index = 0; index < length; index += 1) plain[end + index] = plain[end + index - offset] ?? 0;
    end += length;
    at = next;
  }
  if (end !== plain.length) throw new Unreadable('damaged');
  return plain;
}

const STREAM = Buffer.from('ff060000734e61507059', 'hex');
const CHUNK = { packed: 0x00, plain: 0x01, first_skipped: 0x80, stream: 0xff } as const;
const CHECKSUM_BYTES = 4;
/** A chunk holds no more than this, unpacked. Bytes. */
const CHUNK_BYTES_MAXIMUM = 65_536;

export function isSnappyStream(head: Buffer): boolean {
  return head.subarray(0, STREAM.length).equals(STREAM);
}

async function* plainChunks(reader: Reader, explain: Workshop['explain']): AsyncGenerator<Buffer> {
  for (let at = 0; at < reader.size; ) {
    const head = reader.at(at, 4);
    const kind = head[0] ?? 0;
    // Whatever follows that is no chunk is a rest.
    if (head.length < 4 || (kind > CHUNK.plain && kind < CHUNK.first_skipped)) return;
    const size = head.readUIntLE(1, 3);
    const end = at + 4 + size;
    if (end > reader.size) throw new Unreadable('damaged');
    if (kind === CHUNK.stream && !reader.at(at, STREAM.length).equals(STREAM)) return;
    if (kind === CHUNK.packed || kind === CHUNK.plain) {
      const bytes = reader.at(at + 4 + CHECKSUM_BYTES, size - CHECKSUM_BYTES);
      const plain = kind === CHUNK.packed ? unsnapped(bytes, CHUNK_BYTES_MAXIMUM) : Buffer.from(bytes);
      yield plain;
    }
    explain(at, end);
    at = end;
  }
}

/** The one member of a stream of framed blocks. Padding and what a reader may skip belong to it. */
export async function* snappyMembers(content: Content, name: string, workshop: Workshop): AsyncGenerator<Member> {
  const reader = openReader(content, workshop.budget);
  try {
    yield { name, read: () => ({ stream: plainChunks(reader, workshop.explain), packed_bytes: content.size }) };
  } finally {
    reader.close();
  }
}
