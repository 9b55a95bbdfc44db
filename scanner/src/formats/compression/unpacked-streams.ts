import { type Format, innerName } from '#scanner/formats/format.ts';
import type { Content } from '#scanner/reading/content.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { endOfZeros, openReader, type Reader } from '#scanner/reading/reader.ts';

// Consecutive streams of one content, unpacked as one member.

/** Reads a packed block of `length` bytes. @throws Unreadable `damaged` if it is truncated. */
export function block(reader: Reader, at: number, length: number): Buffer {
  const bytes = reader.at(at, length);
  if (bytes.length < length) throw new Unreadable('damaged');
  return bytes;
}

/** Receives ranges within the streams that are not part of the data; they are examined as separate data. */
export type Leaves = (start: number, end: number) => void;

/** Unpacks the streams of a content. `ended` receives the end of each stream, `leaves` the ranges before it that are not part of the data. */
export type Streams = (reader: Reader, ended: (at: number) => void, leaves: Leaves) => Generator<Buffer> | AsyncGenerator<Buffer>;

/** Shorter pieces are concatenated. Bytes. */
const SHORT_PIECE_BYTES = 16 * 1024;
const SHORT_PIECES_MAXIMUM = 512;

/** Concatenates short pieces: a million pieces of one byte would be a million buffers. If the source throws, the pieces before the error are given first. */
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

/** A piece, followed by others. */
export async function* behind(first: Buffer, others: Iterable<Buffer> | AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* others;
}

/**
 * The one member, unpacked from the streams. With `is_tried`, there is no member if the streams fail before any output, so that a magic inside other data does
 * not make a member.
 */
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

/** The one file of a format, named after the file that contains it. */
export const unpackedBy =
  (streams: Streams, options?: { is_tried: boolean }): NonNullable<Format['open']> =>
  (content, context) =>
    ownMembers(content, innerName(context.name), context, streams, options);
