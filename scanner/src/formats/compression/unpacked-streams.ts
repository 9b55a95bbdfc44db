import { type Format, innerName } from '#scanner/formats/format.ts';
import type { Content } from '#scanner/reading/content.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { endOfZeros, openReader, type Reader } from '#scanner/reading/reader.ts';

// Streams that lie in a content one behind the other, unpacked as one member.

/** A packed block that must be there as a whole. */
export function block(reader: Reader, at: number, length: number): Buffer {
  const bytes = reader.at(at, length);
  if (bytes.length < length) throw new Unreadable('damaged');
  return bytes;
}

/** Gets ranges within the streams that are not of them: they are examined as what they are. */
export type Leaves = (start: number, end: number) => void;

/** Unpacks the streams of a content. They say where each of them ends, and which ranges before are not of them. */
export type Streams = (reader: Reader, ended: (at: number) => void, leaves: Leaves) => Generator<Buffer> | AsyncGenerator<Buffer>;

/** Shorter pieces are put together. Bytes. */
const SHORT_PIECE_BYTES = 16 * 1024;
const SHORT_PIECES_MAXIMUM = 512;

/** The same bytes in pieces that are not short: a million of one byte each would be a million buffers. Pieces before a failure are given before it throws. */
export async function* gathered(pieces: Iterable<Buffer> | AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let short: Buffer[] = [];
  let bytes = 0;
  let failure: { error: unknown } | undefined;
  const together = () => {
    const piece = Buffer.concat(short);
    short = [];
    bytes = 0;
    return piece;
  };
  try {
    for await (const piece of pieces) {
      if (piece.length >= SHORT_PIECE_BYTES && short.length === 0) {
        yield piece;
        continue;
      }
      short.push(piece);
      bytes += piece.length;
      if (bytes >= SHORT_PIECE_BYTES || short.length >= SHORT_PIECES_MAXIMUM) yield together();
    }
  } catch (error) {
    failure = { error };
  }
  if (short.length > 0) yield together();
  if (failure !== undefined) throw failure.error;
}

/** A piece, and the others behind it. */
export async function* behind(first: Buffer, others: Iterable<Buffer> | AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* others;
}

/** The one member whose streams are unpacked here. `is_tried`: there is none where they give nothing before they fail, so that a mark among other bytes makes no member. */
async function* ownMembers(
  content: Content,
  name: string,
  context: ReadContext,
  streams: Streams,
  { is_tried = false } = {},
): AsyncGenerator<Member> {
  using reader = openReader(content, context.budget);
  const left: { start: number; end: number }[] = [];
  let end = 0;
  async function* unpacked(): AsyncGenerator<Buffer> {
    const chunks = streams(
      reader,
      (at) => (end = at),
      (start, to) => left.push({ start, end: to }),
    );
    for await (const chunk of gathered(chunks)) {
      context.budget.spend(chunk.length);
      yield chunk;
    }
  }
  const chunks = unpacked();
  const first = is_tried ? await chunks.next() : undefined;
  const stream = first === undefined || first.done === true ? chunks : behind(first.value, chunks);
  yield { name, read: () => ({ stream, packed_bytes: content.size }) };
  let from = 0;
  for (const { start, end: to } of left) {
    context.claim(from, start);
    from = to;
  }
  context.claim(from, endOfZeros(reader, Math.max(from, end)));
}

/** The one file of a format, named after the file that it came in. */
export const unpackedBy =
  (streams: Streams, options?: { is_tried: boolean }): NonNullable<Format['open']> =>
  (content, context) =>
    ownMembers(content, innerName(context.name), context, streams, options);
