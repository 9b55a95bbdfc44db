import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { JoinedPieces } from './joined-pieces.ts';

/** Bytes to examine: small content in memory, other content in a file. `from`: its offset in the file of another content, which keeps the file. */
export type Content = { size: number } & ({ bytes: Buffer } | { path: string; from?: number });

/** Error codes of a full or broken disk, and of too many open files: the scanned file is not the cause. */
const DISK_ERRORS = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EMFILE', 'ENFILE']);

/** Whether the machine caused the error, and not the scanned file. */
export function isDiskError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && DISK_ERRORS.has(String(error.code));
}

/** Up to this size a member stays in memory while it is examined. Bytes. */
export const MEMORY_BYTES_MAXIMUM = 16 * 1024 ** 2;

/**
 * Random access to bytes. Positions and lengths may be untrusted numbers of a file: a read outside of the source returns no bytes and allocates no memory for
 * them. Reads are synchronous: an engine process has one file and no other work, and reading a cached file takes less time than a turn of the event loop.
 */
export interface Source {
  size: number;
  /** Fills `target` with the bytes from `position` on; returns their number. */
  fill(target: Uint8Array, position: number): number;
  /** At most `length` bytes from `position` on, fewer at the end. Valid until `close`. */
  read(position: number, length: number): Buffer;
  close(): void;
  /** Closes it at the end of a block (`using`). */
  [Symbol.dispose](): void;
}

/** Whether `magic` is at `at`. The first byte decides most cases, and no memory is allocated. */
export function standsAt(bytes: Buffer, magic: Buffer, at: number): boolean {
  const end = at + magic.length;
  return bytes[at] === magic[0] && end <= bytes.length && bytes.compare(magic, 0, magic.length, at, end) === 0;
}

/** The number of bytes, out of `length` from `position` on, that lie within `size` bytes. */
function countOf(size: number, position: number, length: number): number {
  return position >= 0 && position < size && length > 0 ? Math.min(length, size - position) : 0;
}

export function openSource(content: Content): Source {
  if ('bytes' in content) {
    const bytes = content.bytes.subarray(0, content.size);
    const read = (position: number, length: number): Buffer => {
      const count = countOf(bytes.length, position, length);
      return count === 0 ? bytes.subarray(0, 0) : bytes.subarray(position, position + count);
    };
    return {
      size: content.size,
      fill: (target, position) => read(position, target.length).copy(target),
      read,
      close: () => {},
      [Symbol.dispose]: () => {},
    };
  }
  const { from = 0 } = content;
  const file = openSync(content.path, 'r');
  const fill = (target: Uint8Array, position: number): number => {
    const count = countOf(content.size, position, target.length);
    let filled = 0;
    while (filled < count) {
      const bytes = readSync(file, target, filled, count - filled, from + position + filled);
      if (bytes === 0) break;
      filled += bytes;
    }
    return filled;
  };
  return {
    size: content.size,
    fill,
    read(position, length) {
      const target = Buffer.allocUnsafe(countOf(content.size, position, length));
      return target.subarray(0, fill(target, position));
    },
    close: () => closeSync(file),
    [Symbol.dispose]: () => closeSync(file),
  };
}

/** A part of a source as a source. Closing it does nothing. */
export function rangeOf(source: Source, start: number, size: number): Source {
  return {
    size,
    fill: (target, position) => source.fill(target.subarray(0, countOf(size, position, target.length)), start + position),
    read: (position, length) => source.read(start + position, countOf(size, position, length)),
    close: () => {},
    [Symbol.dispose]: () => {},
  };
}

/** Joins buffers and ranges of a source into one source. Closing it does nothing. */
export function joined(source: Pick<Source, 'fill'>, pieces: readonly (Buffer | { start: number; size: number })[]): Source {
  let size = 0;
  const parts = pieces.map((piece) => {
    const start = size;
    size += Buffer.isBuffer(piece) ? piece.length : piece.size;
    return { start, end: size, piece };
  });
  /** The last part that begins at `position` or before. */
  const partAt = (position: number): number => {
    let low = 0;
    let high = parts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((parts[middle]?.start ?? 0) <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  const fill = (target: Uint8Array, position: number): number => {
    let filled = 0;
    for (let index = partAt(position); index < parts.length && filled < target.length; index += 1) {
      const part = parts[index];
      const within = position + filled - (part?.start ?? 0);
      if (part === undefined || within < 0 || position + filled >= part.end) continue;
      const room = target.subarray(filled, filled + part.end - position - filled);
      const { piece } = part;
      const taken = Buffer.isBuffer(piece) ? piece.subarray(within).copy(room) : source.fill(room, piece.start + within);
      filled += taken;
      // The part claims more bytes than the source has.
      if (taken < room.length) break;
    }
    return filled;
  };
  return {
    size,
    fill,
    read(position, length) {
      const target = Buffer.alloc(countOf(size, position, length));
      return target.subarray(0, fill(target, position));
    },
    close: () => {},
    [Symbol.dispose]: () => {},
  };
}

/** Bytes `start` to `end` (exclusive) as a stream. */
export async function* streamOf(content: Content, start = 0, end = content.size): AsyncGenerator<Buffer> {
  if ('bytes' in content) {
    yield content.bytes.subarray(start, end);
    return;
  }
  const { path, from = 0 } = content;
  if (end > start) yield* createReadStream(path, { start: from + start, end: from + end - 1, highWaterMark: 256 * 1024 });
}

/** Bytes `start` to `end` (exclusive) of a content as a content, which is valid as long as that one. */
export function partOf(content: Content, start: number, end: number): Content {
  const size = Math.max(0, Math.min(end, content.size) - start);
  if ('bytes' in content) return { size, bytes: content.bytes.subarray(start, start + size) };
  return { size, path: content.path, from: (content.from ?? 0) + start };
}

/**
 * Positions of the windows of a content, and their common length, which is at least `window`. Windows of a fixed length would either read much of the content again
 * at the end, or leave a short tail, which a rule for small files could match.
 */
export function windowPlaces(
  size: number,
  { whole, window, overlap }: { whole: number; window: number; overlap: number },
): { length: number; positions: number[] } {
  const count = size <= whole ? 1 : Math.max(1, Math.floor(size / window));
  const length = Math.ceil((size + (count - 1) * overlap) / count);
  const positions = [0];
  for (let position = 0; position + length < size; ) {
    position = Math.min(position + length - overlap, size - length);
    positions.push(position);
  }
  return { length, positions };
}

/**
 * Reads a content in windows of at least `window` bytes, each overlapping the previous one by at least `overlap` bytes, in one reused buffer: a window is
 * valid until the next one is read. Content in memory, or of at most `whole` bytes, is one window. `position`: offset of the window.
 */
export function* windowsOf(
  content: Content,
  sizes: { whole: number; window: number; overlap: number },
): Generator<{ bytes: Buffer; position: number }> {
  if ('bytes' in content) {
    yield { bytes: content.bytes.subarray(0, content.size), position: 0 };
    return;
  }
  using source = openSource(content);
  const { length, positions } = windowPlaces(content.size, sizes);
  const buffer = Buffer.allocUnsafe(length);
  for (const position of positions) {
    if (source.fill(buffer, position) < length) throw new Error('The file became shorter while it was read.');
    yield { bytes: buffer, position };
  }
}

/**
 * Reads a stream into memory, or into a file at `path` if it is large. `onBytes` is called with each chunk's length and may throw to
 * stop. Bytes read before an error are in `content`, and the error in `failure`.
 * @throws the error of a full or broken disk.
 */
export async function takeContent(
  stream: AsyncIterable<unknown>,
  path: () => string,
  onBytes: (bytes: number) => void,
): Promise<{ content: Content; failure: unknown }> {
  const held = new JoinedPieces(Buffer.alloc(0));
  let file: { path: string; handle: FileHandle } | undefined;
  let size = 0;
  let failure: unknown;
  try {
    for await (const chunk of stream) {
      if (!Buffer.isBuffer(chunk)) throw new TypeError('A member stream must give buffers.');
      onBytes(chunk.length);
      size += chunk.length;
      if (file === undefined && size > MEMORY_BYTES_MAXIMUM) {
        const target = path();
        file = { path: target, handle: await open(target, 'wx', 0o600) };
        await file.handle.writeFile(held.take());
      }
      if (file === undefined) held.add(chunk);
      else await file.handle.writeFile(chunk);
    }
  } catch (error) {
    if (isDiskError(error)) throw error;
    failure = error;
  } finally {
    await file?.handle.close();
  }
  return { content: file === undefined ? { size, bytes: held.take() } : { size, path: file.path }, failure };
}

/** Removes the file of a content, unless the file is another content's. */
export async function disposeContent(content: Content): Promise<void> {
  if ('path' in content && content.from === undefined) await rm(content.path, { force: true });
}
