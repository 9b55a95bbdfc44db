import { pipeline, type Transform } from 'node:stream';
import {
  type BrotliOptions,
  brotliDecompressSync,
  constants,
  createBrotliDecompress,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
  inflateRawSync,
  inflateSync,
  type ZlibOptions,
  type ZstdOptions,
  zstdDecompressSync,
} from 'node:zlib';
import { z } from 'zod';
import type { Budget } from '#scanner/reading/limits.ts';
import { Unreadable } from '#scanner/reading/member.ts';
import type { Reader } from '#scanner/reading/reader.ts';
import { Bzip2Block } from './bzip2-block.ts';
import type { HighBits } from './high-bits.ts';
import { LZ4_RATIO_MAXIMUM, plainSize, SNAPPY_RATIO_MAXIMUM, unpackLz4, unpackLzo, unpackSnappy } from './lz.ts';
import { Lzma2 } from './lzma2.ts';

// The only module that decompresses. Every attempt is charged to the budget, including guesses and failures, so that a file cannot cause unlimited work. Biome forbids the
// decoders of node:zlib and lz.ts in all other files. Work by 7-Zip is charged where it reads and writes (seven-zip.ts).

/** Fixed cost of an attempt: a decoder is created and released. */
const ATTEMPT_COST = 2048;
/** Maximum expansion of deflate (zlib.net, "Technical Details"). */
export const DEFLATE_RATIO_MAXIMUM = 1032;
/** Output limits of a guess in bytes, each 16 times the previous: most wrong guesses fail in the first. */
const GUESS_STEPS = { first: 4096, factor: 16 } as const;
/** Allows windows of more than 16 MiB, which the brotli program also accepts. */
const BROTLI_PARAMETERS = { [constants.BROTLI_DECODER_PARAM_LARGE_WINDOW]: 1 };

/** The largest zstd window, in bytes, that the zstd program accepts by default (zstd 1.5, `--memory`). */
export const ZSTD_WINDOW_MAXIMUM = 2 ** 27;
const ZSTD_PARAMETERS = { [constants.ZSTD_d_windowLogMax]: Math.log2(ZSTD_WINDOW_MAXIMUM) };

/** zlib with its header, raw deflate, brotli, zstd. */
export type Packing = 'zlib' | 'deflate' | 'brotli' | 'zstd';

const parametersOf = (packing: Packing) =>
  packing === 'brotli' ? { params: BROTLI_PARAMETERS } : packing === 'zstd' ? { params: ZSTD_PARAMETERS } : {};

type Options = ZlibOptions & BrotliOptions & ZstdOptions;
const DECODERS: Readonly<Record<Packing, (bytes: Buffer, options: Options) => unknown>> = {
  zlib: inflateSync,
  deflate: inflateRawSync,
  brotli: brotliDecompressSync,
  zstd: zstdDecompressSync,
};
const STREAMS = {
  zlib: createInflate,
  deflate: createInflateRaw,
  brotli: createBrotliDecompress,
  zstd: createZstdDecompress,
} as const;

/** Whether a synchronous decoder is running. */
let is_calling = false;

/**
 * Node keeps each failed decoder until the next turn of the event loop (`destroy` schedules its close event), and a synchronous reader does not yield: 60,000 failures took
 * 245 MB. Decoders of synchronous calls are therefore closed at once; streams are unchanged.
 */
for (const decoder of [createInflate(), createInflateRaw(), createBrotliDecompress(), createZstdDecompress()]) {
  const destroy = decoder.destroy;
  Reflect.set(Object.getPrototypeOf(decoder), 'destroy', function destroyOrClose(this: Transform, error?: Error) {
    if (!is_calling) return destroy.call(this, error);
    this._destroy(error ?? null, () => {});
    return this;
  });
}

function callDecoder(packing: Packing, packed: Buffer, options: Options): unknown {
  const { stackTraceLimit } = Error;
  is_calling = true;
  // Most guesses fail, and their stack traces are not used.
  Error.stackTraceLimit = 0;
  try {
    return DECODERS[packing](packed, options);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    is_calling = false;
  }
}

/** Default allocation size of node:zlib, in bytes. */
const CHUNK_BYTES = 16 * 1024;

/** `most`: unpacked bytes; `is_open`: a truncated stream returns its available part; `chunk_bytes`: allocation size. */
interface Order {
  most: number;
  is_open?: boolean | undefined;
  chunk_bytes?: number | undefined;
}

/** `whole`: decoded to its end, using `read` packed bytes. `large`: the output exceeds the limit. `cut`: the end is missing. `none`: not such a stream. */
export type Unpacked = { kind: 'whole'; plain: Buffer; read: number } | { kind: 'large' | 'cut' | 'none' };

/** The result of node:zlib with the number of bytes read. */
const answerSchema = z.object({ buffer: z.instanceof(Buffer), engine: z.object({ bytesWritten: z.number() }) });

function kindOf(error: unknown): 'large' | 'cut' | 'none' {
  if (error instanceof RangeError) return 'large';
  return error instanceof Error && 'code' in error && error.code === 'Z_BUF_ERROR' ? 'cut' : 'none';
}

/** Decompresses the stream at the start of `packed`. @throws LimitReached only: invalid bytes are a result. */
export function decompress(packing: Packing, packed: Buffer, budget: Budget, { most, is_open, chunk_bytes }: Order): Unpacked {
  budget.spend(ATTEMPT_COST);
  const room = Math.max(1, most);
  const options = {
    maxOutputLength: room,
    info: true,
    // A small result in a large buffer would keep the whole buffer.
    chunkSize: Math.max(64, chunk_bytes ?? Math.min(CHUNK_BYTES, room + 1)),
    ...parametersOf(packing),
    ...(is_open === true
      ? { finishFlush: packing === 'brotli' ? constants.BROTLI_OPERATION_FLUSH : constants.Z_SYNC_FLUSH }
      : {}),
  };
  let answer: unknown;
  try {
    answer = callDecoder(packing, packed, options);
  } catch (error) {
    // Its progress is unknown.
    budget.spend(packing === 'brotli' || packing === 'zstd' ? room : Math.min(room, DEFLATE_RATIO_MAXIMUM * packed.length));
    return { kind: kindOf(error) };
  }
  const { buffer, engine } = answerSchema.parse(answer);
  budget.spend(buffer.length + engine.bytesWritten);
  return { kind: 'whole', plain: buffer, read: engine.bytesWritten };
}

/** Like `decompress`, for arbitrary bytes: fails early and cheaply. The first attempts decode only a part, so a long stream is started several times. */
export function guess(
  packing: Packing,
  packed: Buffer,
  budget: Budget,
  { most, chunk_bytes = GUESS_STEPS.first }: Order,
): Unpacked {
  for (let step: number = GUESS_STEPS.first; step < most; step *= GUESS_STEPS.factor) {
    const answer = decompress(packing, packed, budget, { most: step, chunk_bytes });
    if (answer.kind !== 'large') return answer;
  }
  return decompress(packing, packed, budget, { most, chunk_bytes });
}

/** Whether a stream begins here, judged by its first bytes; a truncated one counts. */
export function beginsStream(packing: Packing, packed: Buffer, budget: Budget): boolean {
  for (const most of [GUESS_STEPS.first, GUESS_STEPS.first * GUESS_STEPS.factor]) {
    const answer = decompress(packing, packed, budget, { most, chunk_bytes: GUESS_STEPS.first, is_open: true });
    if (answer.kind !== 'large') return answer.kind === 'whole' && answer.plain.length > 0;
  }
  return true;
}

/** `decompress` for a stream of pieces. The valid part of a damaged stream is returned before it throws. `ended` is called with the number of packed bytes used. */
export async function* decompressed(
  packing: keyof typeof STREAMS,
  pieces: Iterable<Buffer> | AsyncIterable<Buffer>,
  budget: Budget,
  options: { chunk_bytes?: number; is_open?: boolean; ended?: (read: number) => void } = {},
): AsyncGenerator<Buffer> {
  budget.spend(ATTEMPT_COST);
  const decoder: Transform & { bytesWritten: number } = STREAMS[packing]({
    chunkSize: options.chunk_bytes ?? 256 * 1024,
    ...parametersOf(packing),
    ...(options.is_open === true ? { finishFlush: constants.Z_SYNC_FLUSH } : {}),
  });
  // The pipeline's error is also thrown when reading its last stream.
  const unpacked: AsyncIterable<Buffer> = pipeline(pieces, decoder, () => {});
  try {
    for await (const chunk of unpacked) {
      budget.spend(chunk.length);
      // A chunk is a view of the decoder's buffer, which a short chunk would keep in memory.
      yield 2 * chunk.length < chunk.buffer.byteLength ? Buffer.from(chunk) : chunk;
    }
  } finally {
    options.ended?.(decoder.bytesWritten);
    // Node does not close a decoder with bytes left after the end of its stream: it would keep 300 KB, and its pipeline would never end.
    decoder.destroy();
  }
}

/** A block of Snappy. @throws Unreadable `damaged`, and `too_large` for more than `most`; LimitReached */
export function unsnapped(packed: Buffer, budget: Budget, most: number): Buffer {
  budget.spend(ATTEMPT_COST + packed.length);
  const size = plainSize(packed);
  if (size === undefined || size > SNAPPY_RATIO_MAXIMUM * packed.length) throw new Unreadable('damaged');
  if (size > most) throw new Unreadable('too_large');
  budget.spend(size);
  return unpackSnappy(packed);
}

/** A block of LZ4 that unpacks to exactly `size` bytes. @throws Unreadable, LimitReached */
export function unpackedLz4(packed: Buffer, budget: Budget, size: number): Buffer {
  budget.spend(ATTEMPT_COST + packed.length);
  if (size > LZ4_RATIO_MAXIMUM * packed.length) throw new Unreadable('damaged');
  const target = Buffer.alloc(size);
  if (unpackedLz4Into(packed, budget, target, 0) !== size) throw new Unreadable('damaged');
  return target;
}

/** A block of LZ4 that follows its dictionary; returns its end. @throws Unreadable, LimitReached */
export function unpackedLz4Into(packed: Buffer, budget: Budget, target: Buffer, start: number): number {
  budget.spend(ATTEMPT_COST + packed.length + Math.min(target.length - start, LZ4_RATIO_MAXIMUM * packed.length));
  return unpackLz4(packed, target, start);
}

/** A block of LZO that unpacks to exactly `size` bytes. @throws Unreadable, LimitReached */
export function unpackedLzo(packed: Buffer, budget: Budget, size: number): Buffer {
  // LZO produces at most 255 bytes per byte: a larger claim is not believed.
  const room = Math.min(size, 256 * packed.length + 64);
  budget.spend(ATTEMPT_COST + packed.length + room);
  const target = Buffer.alloc(room);
  if (unpackLzo(packed, target) !== size) throw new Unreadable('damaged');
  return target;
}

/** The longest header of a chunk of LZMA2. Bytes. */
const LZMA2_HEADER_BYTES = 6;
/** A cached LZMA2 decoder that is not in use: decoders are large, and a file may have many streams. */
let spare_lzma2: Lzma2 | undefined;
/** A larger decoder is not cached. Bytes. */
const SPARE_LZMA2_MAXIMUM = 1024 ** 2;

/** The chunks of an LZMA2 stream at `from`; returns its end. Bytes before damage are returned. @throws Unreadable, LimitReached */
export function* unpackedLzma2(reader: Reader, from: number, dictionary_bytes: number): Generator<Buffer, number> {
  const { budget } = reader;
  budget.spend(ATTEMPT_COST);
  const decoder = spare_lzma2 ?? new Lzma2();
  spare_lzma2 = undefined;
  decoder.begin(dictionary_bytes);
  try {
    for (let at = from; ; ) {
      const head = reader.at(at, LZMA2_HEADER_BYTES);
      if (head.length === 0) throw new Unreadable('damaged');
      if (head[0] === 0) return at + 1;
      const { bytes, packed, plain, is_stored } = decoder.header(head);
      const chunk = reader.at(at + bytes, packed);
      budget.spend(packed + plain);
      const is_whole = decoder.chunk(chunk, plain, is_stored);
      yield Buffer.from(decoder.given());
      if (!is_whole) throw new Unreadable('damaged');
      at += bytes + packed;
    }
  } finally {
    if (decoder.held_bytes <= SPARE_LZMA2_MAXIMUM) spare_lzma2 = decoder;
  }
}

/** LZMA without its own header, as in 7z. @throws Unreadable, also if it exceeds `most` bytes; LimitReached */
export function unpackedLzma(
  packed: Buffer,
  { properties, dictionary_bytes, plain }: { properties: number; dictionary_bytes: number; plain: number },
  budget: Budget,
  most: number,
): Buffer {
  if (plain > most) throw new Unreadable('too_large');
  budget.spend(ATTEMPT_COST + packed.length + plain);
  const unpacked = new Lzma2().whole(packed, properties, dictionary_bytes, plain);
  if (unpacked.length < plain) throw new Unreadable('damaged');
  return Buffer.from(unpacked);
}

/** Fixed cost of a block: its trees are built, however few bytes it has. */
const BZIP2_BLOCK_COST = 1024;
/** Cost of a byte of bzip2, relative to a byte that is only searched. */
const BZIP2_COST = 2;
const BZIP2_PIECE_BYTES = 256 * 1024;
/** A cached bzip2 decoder that is not in use: it has 4 MB, and a file may have many blocks. */
let spare_bzip2: Bzip2Block | undefined;

/**
 * A block of bzip2 after its magic and checksum, in pieces; returns the checksum of its output. `bits` charges what it reads. `most`: bytes before run-length decoding.
 * Bytes before damage are returned. @throws Unreadable, LimitReached
 */
export function* unpackedBzip2(bits: HighBits, budget: Budget, most: number): Generator<Buffer, number> {
  budget.spend(BZIP2_BLOCK_COST);
  const block = spare_bzip2 ?? new Bzip2Block();
  spare_bzip2 = undefined;
  try {
    block.read(bits, most);
    budget.spend(BZIP2_COST * block.text_bytes);
    while (block.most_left > 0) {
      const room = Math.min(BZIP2_PIECE_BYTES, block.most_left);
      budget.spend(room);
      const piece = Buffer.allocUnsafe(room);
      const bytes = block.fill(piece);
      // A short piece would keep its whole buffer in memory.
      if (bytes > 0) yield 2 * bytes < room ? Buffer.from(piece.subarray(0, bytes)) : piece.subarray(0, bytes);
    }
    if (!block.is_complete) throw new Unreadable('damaged');
    return block.crc;
  } finally {
    spare_bzip2 = block;
  }
}
