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

// The only file that decompresses. Every attempt is charged to the budget, a guess and a failure too, so that a file cannot make readers unpack for nothing. Biome refuses the decoders of node:zlib and of
// lz.ts in every other file. What 7-Zip unpacks is charged where it reads and writes (seven-zip.ts).

/** The cost of an attempt beside its bytes: a decoder is set up and released. */
const ATTEMPT_COST = 2048;
/** zlib's own figure (zlib.net, "Technical Details"). */
export const DEFLATE_RATIO_MAXIMUM = 1032;
/** Steps of a guess, each 16 times the one before: most wrong guesses fail in the first. Bytes. */
const GUESS_STEPS = { first: 4096, factor: 16 } as const;
/** Windows of more than 16 MiB, which brotli's own program unpacks as well. */
const BROTLI_PARAMETERS = { [constants.BROTLI_DECODER_PARAM_LARGE_WINDOW]: 1 };

/** The largest window of zstd that its own program unpacks without being asked to (zstd 1.5, `--memory`). Bytes. */
export const ZSTD_WINDOW_MAXIMUM = 2 ** 27;
const ZSTD_PARAMETERS = { [constants.ZSTD_d_windowLogMax]: Math.log2(ZSTD_WINDOW_MAXIMUM) };

/** zlib with its head, deflate without one, brotli, zstd. */
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

/** Whether a decoder is at work that is not awaited. */
let is_calling = false;

/**
 * Node keeps each decoder that failed until the event loop turns (`destroy` asks for a tick, to say that it is closed), and a reader that looks at bytes in memory does not let it turn: 60,000 failures were 245 MB.
 * Decoders of calls that do not wait are closed at once; streams are as they were.
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
  // Most guesses fail, and their stacks are not read.
  Error.stackTraceLimit = 0;
  try {
    return DECODERS[packing](packed, options);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    is_calling = false;
  }
}

/** Bytes that node:zlib allocates at a time unless it is told otherwise. */
const CHUNK_BYTES = 16 * 1024;

/** `most`: unpacked bytes; `is_open`: a cut stream gives its available part; `chunk_bytes`: bytes that are allocated at a time. */
interface Order {
  most: number;
  is_open?: boolean | undefined;
  chunk_bytes?: number | undefined;
}

/** `whole`: to its end, of which `read` bytes are packed. `large`: its output exceeds the limit. `cut`: its end is missing. `none`: it is no such stream. */
export type Unpacked = { kind: 'whole'; plain: Buffer; read: number } | { kind: 'large' | 'cut' | 'none' };

/** What node:zlib answers where it is asked how much it has read. */
const answerSchema = z.object({ buffer: z.instanceof(Buffer), engine: z.object({ bytesWritten: z.number() }) });

function kindOf(error: unknown): 'large' | 'cut' | 'none' {
  if (error instanceof RangeError) return 'large';
  return error instanceof Error && 'code' in error && error.code === 'Z_BUF_ERROR' ? 'cut' : 'none';
}

/**
 * Decompresses the stream that begins with the first byte.
 * @throws LimitReached only: bytes that are no such stream are an answer.
 */
export function decompress(packing: Packing, packed: Buffer, budget: Budget, { most, is_open, chunk_bytes }: Order): Unpacked {
  budget.spend(ATTEMPT_COST);
  const room = Math.max(1, most);
  const options = {
    maxOutputLength: room,
    info: true,
    // A small result in more room than it needs would keep all of that room.
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

/** As `decompress`, for bytes that may be anything: it fails early and cheaply. The first attempt takes only a part, so that a long stream is begun several times. */
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

/** Whether a stream begins here, as far as its first bytes show: one that is cut, or continues, counts. */
export function beginsStream(packing: Packing, packed: Buffer, budget: Budget): boolean {
  for (const most of [GUESS_STEPS.first, GUESS_STEPS.first * GUESS_STEPS.factor]) {
    const answer = decompress(packing, packed, budget, { most, chunk_bytes: GUESS_STEPS.first, is_open: true });
    if (answer.kind !== 'large') return answer.kind === 'whole' && answer.plain.length > 0;
  }
  return true;
}

/** The same for a stream in pieces. The good part of a damaged stream is given before it throws. `ended` gets the number of packed bytes that it took. */
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
  // The error that ends the pipeline is the one that reading the last stream throws.
  const unpacked: AsyncIterable<Buffer> = pipeline(pieces, decoder, () => {});
  try {
    for await (const chunk of unpacked) {
      budget.spend(chunk.length);
      // A chunk is a part of the decoder's room, which a short one would keep.
      yield 2 * chunk.length < chunk.buffer.byteLength ? Buffer.from(chunk) : chunk;
    }
  } finally {
    options.ended?.(decoder.bytesWritten);
    // Node does not close a decoder that has bytes left behind the end of its stream. It holds 300 KB, and its pipeline waits for ever.
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

/** A block of LZ4 behind its dictionary; answers its end. @throws Unreadable, LimitReached */
export function unpackedLz4Into(packed: Buffer, budget: Budget, target: Buffer, start: number): number {
  budget.spend(ATTEMPT_COST + packed.length + Math.min(target.length - start, LZ4_RATIO_MAXIMUM * packed.length));
  return unpackLz4(packed, target, start);
}

/** A block of LZO that unpacks to exactly `size` bytes. @throws Unreadable, LimitReached */
export function unpackedLzo(packed: Buffer, budget: Budget, size: number): Buffer {
  // LZO gives at most 255 bytes for one: what claims more is not believed.
  const room = Math.min(size, 256 * packed.length + 64);
  budget.spend(ATTEMPT_COST + packed.length + room);
  const target = Buffer.alloc(room);
  if (unpackLzo(packed, target) !== size) throw new Unreadable('damaged');
  return target;
}

/** The longest header of a chunk of LZMA2. Bytes. */
const LZMA2_HEADER_BYTES = 6;
/** The decoder of LZMA2 that no stream has at the moment: it is large, and a file may have many streams. */
let spare_lzma2: Lzma2 | undefined;
/** A larger one is not kept. Bytes. */
const SPARE_LZMA2_MAXIMUM = 1024 ** 2;

/** The chunks of a stream of LZMA2 that begins at `from`; answers its end. Bytes before damage are given. @throws Unreadable, LimitReached */
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

/** LZMA without a header of its own, as 7z has it. @throws Unreadable, also where `most` bytes are too few; LimitReached */
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

/** The cost of a block beside its bytes: its trees are made, however few bytes it has. */
const BZIP2_BLOCK_COST = 1024;
/** A byte of a sorted text costs as much as so many that are only searched. */
const BZIP2_COST = 2;
const BZIP2_PIECE_BYTES = 256 * 1024;
/** The decoder of bzip2 that no block has at the moment: it has 4 MB, and a file may have many blocks. */
let spare_bzip2: Bzip2Block | undefined;

/**
 * A block of bzip2 behind its mark and its checksum, in pieces; answers the checksum of what it gave. `bits` charges what it reads. `most`: bytes of the block before its runs are unpacked. Bytes before damage are given.
 * @throws Unreadable, LimitReached
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
      // A short piece would keep all of its room.
      if (bytes > 0) yield 2 * bytes < room ? Buffer.from(piece.subarray(0, bytes)) : piece.subarray(0, bytes);
    }
    if (!block.is_complete) throw new Unreadable('damaged');
    return block.crc;
  } finally {
    spare_bzip2 = block;
  }
}
