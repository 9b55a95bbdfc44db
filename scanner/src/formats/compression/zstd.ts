import type { StatusDetail } from '@palisade/contract/antivirus';
import { decompressed, ZSTD_WINDOW_MAXIMUM } from '#scanner/decompression/decompress.ts';
import { byMarks, format, hexMark, patternOf } from '#scanner/formats/format.ts';
import { Unreadable } from '#scanner/reading/member.ts';
import type { Reader } from '#scanner/reading/reader.ts';
import { isSkippable, skippableFrame } from './lz4.ts';
import { behind, type Leaves, unpackedBy } from './unpacked-streams.ts';

// Zstandard (RFC 8878), unpacked by Node. This module walks the blocks of each frame, so that a piece ends where a frame ends (Node drops what follows a frame
// within a piece) and truncated frames are detected.

const ZSTD = hexMark('28b52ffd');
const MAGIC_BYTES = ZSTD.bytes.length;
/** Maximum size of a frame header (3.1.1.1). Bytes. */
const HEADER_BYTES_MAXIMUM = 18;
const BLOCK_HEADER_BYTES = 3;
const BLOCK_BYTES_MAXIMUM = 128 * 1024;
const BLOCK = { raw: 0, rle: 1, packed: 2 } as const;
const CHECKSUM_BYTES = 4;
/** Packed bytes given to the decoder at a time. */
const PIECE_BYTES = 128 * 1024;

interface FrameHeader {
  /** Size of the header with the magic. Bytes. */
  bytes: number;
  window_bytes: number;
  has_dictionary: boolean;
  has_checksum: boolean;
}

/** Reads a frame header (RFC 8878, 3.1.1.1); undefined if it is truncated or the reserved bit is set. */
function frameHeader(head: Buffer): FrameHeader | undefined {
  const descriptor = head[MAGIC_BYTES];
  if (descriptor === undefined || (descriptor & 0x08) !== 0) return undefined;
  const is_single = (descriptor & 0x20) !== 0;
  const size_bytes = [is_single ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  const dictionary_bytes = [0, 1, 2, 4][descriptor & 3] ?? 0;
  const window_at = MAGIC_BYTES + 1;
  const dictionary_at = window_at + (is_single ? 0 : 1);
  const size_at = dictionary_at + dictionary_bytes;
  const bytes = size_at + size_bytes;
  if (head.length < bytes) return undefined;
  const window = head[window_at] ?? 0;
  const base = 2 ** (10 + (window >> 3));
  // With a single segment, the window size is the content size.
  const window_bytes = !is_single
    ? base + (base / 8) * (window & 7)
    : size_bytes === 8
      ? Number(head.readBigUInt64LE(size_at))
      : head.readUIntLE(size_at, size_bytes);
  return {
    bytes,
    window_bytes,
    has_dictionary: dictionary_bytes > 0 && head.readUIntLE(dictionary_at, dictionary_bytes) !== 0,
    has_checksum: (descriptor & 0x04) !== 0,
  };
}

/** Result of a walk: the reason why it ended before the end of the last frame, if it did. */
interface Walked {
  failure: StatusDetail | undefined;
}

/** The packed bytes of the frame at `from`, in pieces. Returns its end; undefined if it is truncated, damaged or not supported. */
function* frame(reader: Reader, from: number, walked: Walked): Generator<Buffer, number | undefined> {
  const header = frameHeader(reader.at(from, HEADER_BYTES_MAXIMUM));
  if (header === undefined || header.has_dictionary || header.window_bytes > ZSTD_WINDOW_MAXIMUM) {
    walked.failure = header === undefined ? 'damaged' : header.has_dictionary ? 'unsupported' : 'too_large';
    return undefined;
  }
  let given = from;
  let content_bytes = 0;
  let at = from + header.bytes;
  for (let is_last = false; !is_last; ) {
    const head = reader.at(at, BLOCK_HEADER_BYTES);
    const block = head.length < BLOCK_HEADER_BYTES ? undefined : head.readUIntLE(0, BLOCK_HEADER_BYTES);
    const size = block === undefined ? 0 : block >> 3;
    const type = block === undefined ? undefined : (block >> 1) & 3;
    const is_block = type === BLOCK.raw || type === BLOCK.rle || type === BLOCK.packed;
    const end = at + BLOCK_HEADER_BYTES + (type === BLOCK.rle ? 1 : size);
    if (block === undefined || !is_block || size > BLOCK_BYTES_MAXIMUM || end > reader.size) {
      // The available part of the block is unpacked.
      walked.failure = 'damaged';
      yield* reader.chunks(given, Math.min(end, reader.size));
      return undefined;
    }
    content_bytes += size;
    is_last = (block & 1) !== 0;
    at = end;
    const checksum_bytes = is_last && header.has_checksum ? CHECKSUM_BYTES : 0;
    // Empty frames are skipped: each costs the decoder as much as one with content, and there may be a million.
    if (is_last && content_bytes === 0 && given === from) {
      at += checksum_bytes;
      break;
    }
    if (is_last || at - given >= PIECE_BYTES) {
      yield Buffer.from(reader.at(given, at - given));
      given = at;
    }
    // The checksum is a piece of its own, because the decoder gives no output of a piece that fails.
    if (checksum_bytes > 0) yield Buffer.from(reader.at(at, checksum_bytes));
    at += checksum_bytes;
  }
  if (at > reader.size) walked.failure = 'damaged';
  return at;
}

/** The packed bytes of consecutive frames. `ended` receives the end of each, `leaves` the content of skippable frames. */
function* frames(reader: Reader, walked: Walked, ended: (at: number) => void, leaves: Leaves): Generator<Buffer> {
  for (let at = 0; walked.failure === undefined; ended(at)) {
    const skipped = skippableFrame(reader, at, leaves);
    const end = skipped ?? (reader.at(at, MAGIC_BYTES).equals(ZSTD.bytes) ? yield* frame(reader, at, walked) : undefined);
    if (end === undefined) return;
    at = end;
    if (at > reader.size) walked.failure = 'damaged';
  }
}

async function* zstdFrames(reader: Reader, ended: (at: number) => void, leaves: Leaves): AsyncGenerator<Buffer> {
  const walked: Walked = { failure: undefined };
  let end = 0;
  let given = 0;
  let taken = 0;
  const isEnded = (at: number) => {
    end = at;
    ended(at);
  };
  function* counted(): Generator<Buffer> {
    for (const piece of frames(reader, walked, isEnded, leaves)) {
      given += piece.length;
      yield piece;
    }
  }
  const pieces = counted();
  const first = pieces.next();
  // The decoder would report an empty input as a truncated frame.
  if (first.done !== true) {
    yield* decompressed('zstd', behind(first.value, pieces), reader.budget, {
      ended: (read) => {
        taken = read;
      },
    });
  }
  if (walked.failure !== undefined) throw new Unreadable(walked.failure);
  // The decoder and this walk must agree on the ends of frames.
  if (end === 0 || taken !== given) throw new Unreadable('damaged');
}

/** Whether the first block has an existing type and at most 128 KiB (RFC 8878, 3.1.1). */
function provesZstd(reader: Reader, at: number): boolean {
  const head = reader.at(at, HEADER_BYTES_MAXIMUM + BLOCK_HEADER_BYTES);
  const header = frameHeader(head);
  if (header === undefined || head.length < header.bytes + BLOCK_HEADER_BYTES) return false;
  const block = head.readUIntLE(header.bytes, BLOCK_HEADER_BYTES);
  return ((block >> 1) & 3) <= BLOCK.packed && block >> 3 <= BLOCK_BYTES_MAXIMUM;
}

const zstdByMark = byMarks([ZSTD]);

export const zstd = format({
  id: 'zstd',
  media_type: 'application/zstd',
  recognise: (head) => zstdByMark(head) || (isSkippable(head) ? 28 : 0),
  carve: [{ pattern: `${patternOf(ZSTD)} (00|04|20|24|40|44|60|64|80|84|a0|a4|c0|c4|e0|e4)`, proves: provesZstd }],
  traits: { is_named_after_file: true },
  limits: 'Frames that need a dictionary, or a window above 128 MiB, are not read.',
  open: unpackedBy(zstdFrames, { is_tried: true }),
});
