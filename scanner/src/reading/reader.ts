import { type Content, MEMORY_BYTES_MAXIMUM, openSource } from './content.ts';
import type { Budget } from './limits.ts';

/** Fixed cost of each read, added to its bytes. */
const READ_COST = 16;
const WINDOW_BYTES = 1024 ** 2;
const CHUNK_BYTES = 64 * 1024;

/**
 * Byte access for the reader of a format. Positions and lengths from a file are untrusted: a read past the end returns fewer bytes and allocates no memory for the
 * missing ones, and each read is charged to the budget, which stops a reader that follows crafted loops.
 */
export interface Reader {
  size: number;
  /** Each read is charged to it. */
  budget: Budget;
  /** At most `length` bytes from `position` on, fewer at the end. */
  at(position: number, length: number): Buffer;
  /** Position of the first `needle` that lies wholly between `from` and `to`; -1 if there is none. */
  find(needle: Buffer, from: number, to?: number): number;
  /** The bytes from `from` to `to`, in chunks that are not overwritten later. */
  chunks(from: number, to: number): Generator<Buffer>;
  close(): void;
  /** Closes it at the end of a block (`using`). */
  [Symbol.dispose](): void;
}

/** Small content is loaded into memory after this many reads. */
const PLACES_MAXIMUM = 16;

/** Opens a content for reading. Small content is loaded into memory once it is searched or read often; of large content, one window is. */
export function openReader(content: Content, budget: Budget): Reader {
  const source = openSource(content);
  const is_small = 'bytes' in content || source.size <= MEMORY_BYTES_MAXIMUM;
  let places = 0;
  let window: { start: number; bytes: Buffer } = { start: 0, bytes: Buffer.alloc(0) };
  const isIn = (position: number, length: number) =>
    position >= window.start && position + length <= window.start + window.bytes.length;
  /** A buffer with at least `least` bytes from `position` on, or all that are left. */
  const windowAt = (position: number, least: number): Buffer => {
    if (!isIn(position, least)) {
      const start = is_small ? 0 : position;
      window = { start, bytes: source.read(start, is_small ? source.size : WINDOW_BYTES) };
    }
    return window.bytes.subarray(Math.max(0, position - window.start));
  };
  const at = (position: number, length: number): Buffer => {
    places += 1;
    if (is_small && places > PLACES_MAXIMUM) windowAt(0, source.size);
    const bytes =
      length > 0 && isIn(position, length)
        ? window.bytes.subarray(position - window.start, position - window.start + length)
        : source.read(position, length);
    budget.spend(bytes.length + READ_COST);
    return bytes;
  };

  return {
    size: source.size,
    budget,
    at,
    find(needle, from, to = source.size) {
      const end = Math.min(to, source.size);
      for (let position = Math.max(0, from); position + needle.length <= end; ) {
        const bytes = windowAt(position, needle.length);
        const piece = bytes.subarray(0, end - position);
        const found = piece.indexOf(needle);
        budget.spend((found < 0 ? piece.length : found) + READ_COST);
        if (found >= 0) return position + found;
        if (piece.length < needle.length) return -1;
        position += piece.length - needle.length + 1;
      }
      return -1;
    },
    *chunks(from, to) {
      for (let position = from; position < to; ) {
        const chunk = at(position, Math.min(CHUNK_BYTES, to - position));
        if (chunk.length === 0) return;
        yield chunk;
        position += chunk.length;
      }
    },
    close: () => source.close(),
    [Symbol.dispose]: () => source.close(),
  };
}

const ZEROS = Buffer.alloc(64 * 1024);

/** End of the zeros that begin at `from`; at most `to`. */
export function endOfZeros(reader: Reader, from: number, to = reader.size): number {
  // Usually there are no zeros.
  if (from < to && reader.at(from, 1)[0] !== 0) return from;
  for (let at = from; at < to; at += ZEROS.length) {
    const piece = reader.at(at, Math.min(ZEROS.length, to - at));
    if (!piece.equals(ZEROS.subarray(0, piece.length))) return at + piece.findIndex((byte) => byte !== 0);
  }
  return to;
}
