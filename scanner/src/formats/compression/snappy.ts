import { unsnapped } from '#scanner/decompression/decompress.ts';
import { format, innerName, withBits } from '#scanner/formats/format.ts';
import type { Content } from '#scanner/reading/content.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';

// Snappy (github.com/google/snappy: format_description.txt, framing_format.txt): streams of framed chunks.

const STREAM = Buffer.from('ff060000734e61507059', 'hex');
const CHUNK = { packed: 0x00, plain: 0x01, first_skipped: 0x80, stream: 0xff } as const;
const CHECKSUM_BYTES = 4;
/** Maximum unpacked size of a chunk. Bytes. */
const CHUNK_BYTES_MAXIMUM = 65_536;

function isSnappyStream(head: Buffer): boolean {
  return head.subarray(0, STREAM.length).equals(STREAM);
}

async function* plainChunks(reader: Reader, claim: ReadContext['claim']): AsyncGenerator<Buffer> {
  for (let at = 0; at < reader.size; ) {
    const head = reader.at(at, 4);
    const kind = head[0] ?? 0;
    // Other data may follow the chunks.
    if (head.length < 4 || (kind > CHUNK.plain && kind < CHUNK.first_skipped)) return;
    const size = head.readUIntLE(1, 3);
    const end = at + 4 + size;
    if (end > reader.size) throw new Unreadable('damaged');
    if (kind === CHUNK.stream && !reader.at(at, STREAM.length).equals(STREAM)) return;
    if (kind === CHUNK.packed || kind === CHUNK.plain) {
      const bytes = reader.at(at + 4 + CHECKSUM_BYTES, size - CHECKSUM_BYTES);
      const plain = kind === CHUNK.packed ? unsnapped(bytes, reader.budget, CHUNK_BYTES_MAXIMUM) : Buffer.from(bytes);
      yield plain;
    }
    claim(at, end);
    at = end;
  }
}

/** The one member of a framed stream. Padding and skippable chunks are claimed with it. */
async function* snappyMembers(content: Content, name: string, context: ReadContext): AsyncGenerator<Member> {
  using reader = openReader(content, context.budget);
  yield { name, read: () => ({ stream: plainChunks(reader, context.claim), packed_bytes: content.size }) };
}

export const snappy = format({
  id: 'snappy',
  media_type: 'application/x-snappy-framed',
  recognise: withBits(80, isSnappyStream),
  traits: { is_named_after_file: true },
  limits: null,
  open: (content, context) => snappyMembers(content, innerName(context.name), context),
});
