import { unpackedLz4Into } from '#scanner/decompression/decompress.ts';
import { LZ4_HISTORY_BYTES, LZ4_RATIO_MAXIMUM as LZ4_RATIO } from '#scanner/decompression/lz.ts';
import { byMarks, format, patternOf, withBits } from '#scanner/formats/format.ts';
import { Unreadable } from '#scanner/reading/member.ts';
import type { Reader } from '#scanner/reading/reader.ts';
import { block, type Leaves, unpackedBy } from './unpacked-streams.ts';

// Frames and blocks of LZ4, and the skippable frames that LZ4 shares with zstd.

const LZ4_FRAME = 0x184d2204;
const LZ4_LEGACY = 0x184c2102;
const LZ4_LEGACY_BLOCK_BYTES = 8 * 1024 ** 2;
/** Skippable frames (RFC 8878, 3.1.2) have 16 possible magics. */
const isSkippableMagic = (magic: number) => magic >>> 4 === 0x184d2a5;
const LZ4_FLAG = { independent: 0x20, block_checksum: 0x10, size: 0x08, checksum: 0x04, dictionary: 0x01 } as const;

function word(reader: Reader, at: number): number | undefined {
  const bytes = reader.at(at, 4);
  return bytes.length < 4 ? undefined : bytes.readUInt32LE(0);
}

/** Output buffer shared by all frames. A frame of seven bytes may claim blocks of 4 MiB, so a buffer for each frame would be too costly. */
interface Lz4Room {
  target: Buffer;
}

function roomFor(room: Lz4Room, bytes: number): Buffer {
  if (room.target.length < bytes) room.target = Buffer.alloc(bytes);
  return room.target.subarray(0, bytes);
}

/** Unpacks one frame (lz4_Frame_format.md) whose magic is at `from`. Returns its end. */
function* lz4Frame(reader: Reader, from: number, room: Lz4Room): Generator<Buffer, number> {
  const [flags = 0, descriptor = 0] = block(reader, from + 4, 2);
  if (flags >> 6 !== 1) throw new Unreadable('unsupported');
  if ((flags & LZ4_FLAG.dictionary) !== 0) throw new Unreadable('unsupported');
  const kind = (descriptor >> 4) & 7;
  if (kind < 4) throw new Unreadable('damaged');
  const most = 2 ** (2 * kind + 8);
  // The output of earlier blocks precedes the next block as history. It is moved to the front only when the buffer is full.
  const target = roomFor(room, LZ4_HISTORY_BYTES + 2 * most);
  let first = 0;
  let end = 0;
  let at = from + 7 + ((flags & LZ4_FLAG.size) === 0 ? 0 : 8);
  for (;;) {
    const size = block(reader, at, 4).readUInt32LE(0);
    at += 4;
    if (size === 0) return at + ((flags & LZ4_FLAG.checksum) === 0 ? 0 : 4);
    const packed_bytes = size & 0x7fffffff;
    if (packed_bytes > most) throw new Unreadable('damaged');
    const packed = block(reader, at, packed_bytes);
    at += packed_bytes + ((flags & LZ4_FLAG.block_checksum) === 0 ? 0 : 4);
    if ((flags & LZ4_FLAG.independent) !== 0) end = 0;
    if (end + most > target.length) {
      target.copyWithin(0, end - LZ4_HISTORY_BYTES, end);
      end = LZ4_HISTORY_BYTES;
    }
    first = end;
    end =
      size > 0x7fffffff
        ? first + packed.copy(target, first)
        : unpackedLz4Into(packed, reader.budget, target.subarray(0, first + most), first);
    yield Buffer.from(target.subarray(first, end));
  }
}

/** The legacy format of the first lz4 version and of the Linux kernel: blocks up to the end of the file or the next magic. */
function* lz4Legacy(reader: Reader, from: number, room: Lz4Room): Generator<Buffer, number> {
  for (let at = from + 4; ; ) {
    const size = word(reader, at);
    // A size above the maximum of a block is the magic of something else.
    if (size === undefined || size === 0 || size > LZ4_LEGACY_BLOCK_BYTES + LZ4_LEGACY_BLOCK_BYTES / 255 + 16) return at;
    const packed = block(reader, at + 4, size);
    const target = roomFor(room, LZ4_LEGACY_BLOCK_BYTES);
    yield Buffer.from(target.subarray(0, unpackedLz4Into(packed, reader.budget, target, 0)));
    at += 4 + size;
  }
}

const SKIPPABLE_HEAD_BYTES = 8;
/** Skippable frames up to this size hold numbers of a program (pzstd writes the size of the next frame) and are not examined. Bytes. */
const SKIPPABLE_NUMBERS_MAXIMUM = 64;
/** Last bytes of a seek table (zstd, contrib/seekable_format). */
const SEEK_TABLE_END = Buffer.from('b1ea928f', 'hex');

/**
 * The end of the skippable frame (RFC 8878, 3.1.2) at `at`, which may lie after the end of the file; undefined if no such frame is there. `leaves` receives its
 * content, which may be anything.
 */
export function skippableFrame(reader: Reader, at: number, leaves: Leaves): number | undefined {
  const head = reader.at(at, SKIPPABLE_HEAD_BYTES);
  if (head.length < SKIPPABLE_HEAD_BYTES || !isSkippableMagic(head.readUInt32LE(0))) return undefined;
  const start = at + SKIPPABLE_HEAD_BYTES;
  const end = start + head.readUInt32LE(4);
  const is_table = reader.at(end - SEEK_TABLE_END.length, SEEK_TABLE_END.length).equals(SEEK_TABLE_END);
  if (end - start > SKIPPABLE_NUMBERS_MAXIMUM && !is_table) leaves(start, Math.min(end, reader.size));
  return end;
}

/** Unpacks consecutive frames. `ended` receives the end of each. */
function* lz4Frames(reader: Reader, ended: (at: number) => void, leaves: Leaves): Generator<Buffer> {
  const room = { target: Buffer.alloc(0) };
  for (let at = 0; ; ended(at)) {
    const magic = word(reader, at) ?? 0;
    const skipped = skippableFrame(reader, at, leaves);
    if (magic === LZ4_FRAME) at = yield* lz4Frame(reader, at, room);
    else if (magic === LZ4_LEGACY) at = yield* lz4Legacy(reader, at, room);
    else if (skipped !== undefined) at = skipped;
    else return;
  }
}

/** Whether an LZ4 frame begins here, possibly after one skippable frame, which LZ4 shares with zstd. */
function isLz4(head: Buffer): boolean {
  const magic = head.length < 8 ? 0 : head.readUInt32LE(0);
  if (magic === LZ4_FRAME || magic === LZ4_LEGACY) return true;
  const next = nextFrame(head);
  return next !== undefined && [LZ4_FRAME, LZ4_LEGACY].includes(next);
}

/** The magic after a skippable frame. */
function nextFrame(head: Buffer): number | undefined {
  if (head.length < 8 || !isSkippableMagic(head.readUInt32LE(0))) return undefined;
  const next = 8 + head.readUInt32LE(4);
  return next + 4 <= head.length ? head.readUInt32LE(next) : undefined;
}

const ZSTD = 0xfd2fb528;

/** Whether a skippable frame begins here that is not followed by LZ4. Such frames are attributed to zstd; there may be several, and long ones. */
export function isSkippable(head: Buffer): boolean {
  if (head.length < 8 || !isSkippableMagic(head.readUInt32LE(0))) return false;
  const next = nextFrame(head);
  return next === undefined || next === ZSTD || isSkippableMagic(next);
}

/** Sessions and bookmarks of Firefox: a magic, a size, and one LZ4 block (toolkit/components/lz4). */
const MOZ_LZ4 = Buffer.from('mozLz40\0');
const MOZ_HEAD_BYTES = 12;
/** Maximum packed and unpacked size. Bytes. */
const MOZ_BYTES_MAXIMUM = 64 * 1024 ** 2;

function* mozBlock(reader: Reader, ended: (at: number) => void): Generator<Buffer> {
  const size = block(reader, MOZ_LZ4.length, 4).readUInt32LE(0);
  const packed_bytes = reader.size - MOZ_HEAD_BYTES;
  if (size > LZ4_RATIO * packed_bytes) throw new Unreadable('damaged');
  if (size > MOZ_BYTES_MAXIMUM || packed_bytes > MOZ_BYTES_MAXIMUM) throw new Unreadable('too_large');
  const target = Buffer.alloc(size);
  yield target.subarray(0, unpackedLz4Into(block(reader, MOZ_HEAD_BYTES, packed_bytes), reader.budget, target, 0));
  ended(reader.size);
}

const LZ4_FRAME_MARK = { at: 0, bytes: Buffer.alloc(4) };
LZ4_FRAME_MARK.bytes.writeUInt32LE(LZ4_FRAME);
const LZ4_LEGACY_MARK = { at: 0, bytes: Buffer.alloc(4) };
LZ4_LEGACY_MARK.bytes.writeUInt32LE(LZ4_LEGACY);

export const lz4 = format({
  id: 'lz4',
  media_type: 'application/x-lz4',
  recognise: withBits(32, isLz4),
  carve: [
    {
      // Version 1 without a dictionary, and a valid block size (LZ4 frame format 1.6.4).
      pattern: `${patternOf(LZ4_FRAME_MARK)} (40|44|48|4c|50|54|58|5c|60|64|68|6c|70|74|78|7c) (40|50|60|70)`,
    },
    {
      id: 'lz4-legacy',
      title: 'lz4',
      pattern: `${patternOf(LZ4_LEGACY_MARK)} ?? ?? (00|01|02|03|04|05|06|07) 00`,
      is_guess: true,
    },
  ],
  traits: { is_named_after_file: true },
  limits: 'Frames that need a dictionary are not read.',
  open: unpackedBy(lz4Frames),
});

export const mozLz4 = format({
  id: 'mozlz4',
  media_type: 'application/x-packed',
  recognise: byMarks([{ at: 0, bytes: MOZ_LZ4 }]),
  traits: { is_named_after_file: true },
  limits: null,
  open: unpackedBy(mozBlock),
});
