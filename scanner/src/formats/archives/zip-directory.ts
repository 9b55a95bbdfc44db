import { crc32 } from 'node:zlib';
import { Unreadable } from '#scanner/reading/member.ts';
import type { Reader } from '#scanner/reading/reader.ts';
import { struct } from '#scanner/reading/struct.ts';
import { decodeBytes } from '#scanner/text/code-pages.ts';
import { type Aes, aesOf } from './zip-crypto.ts';

// Records of a zip archive: directories and local headers. Numbers in comments are sections of APPNOTE 6.3.

export const LOCAL = Buffer.from('PK\x03\x04', 'latin1');
export const CENTRAL = Buffer.from('PK\x01\x02', 'latin1');
export const END = Buffer.from('PK\x05\x06', 'latin1');
export const DESCRIPTOR = Buffer.from('PK\x07\x08', 'latin1');
const ZIP64_END = Buffer.from('PK\x06\x06', 'latin1');
const ZIP64_LOCATOR = Buffer.from('PK\x06\x07', 'latin1');
export const SIGNED_TAIL_BYTES = 24;

/** Local file header (4.3.7). */
export const LOCAL_HEADER = struct('little', {
  signature: 4,
  version: 'u16',
  flags: 'u16',
  method: 'u16',
  time: 'u16',
  date: 'u16',
  crc: 'u32',
  packed: 'u32',
  unpacked: 'u32',
  name_bytes: 'u16',
  extra_bytes: 'u16',
});
/** Central directory header (4.3.12). */
const CENTRAL_HEADER = struct('little', {
  signature: 4,
  made_by: 'u16',
  version: 'u16',
  flags: 'u16',
  method: 'u16',
  time: 'u16',
  date: 'u16',
  crc: 'u32',
  packed: 'u32',
  unpacked: 'u32',
  name_bytes: 'u16',
  extra_bytes: 'u16',
  comment_bytes: 'u16',
  disk: 'u16',
  internal_attributes: 'u16',
  external_attributes: 'u32',
  offset: 'u32',
});
/** End of central directory record (4.3.16). */
export const END_RECORD = struct('little', {
  signature: 4,
  disk: 'u16',
  directory_disk: 'u16',
  entries_here: 'u16',
  entries: 'u16',
  directory_bytes: 'u32',
  directory_offset: 'u32',
  comment_bytes: 'u16',
});
/** Zip64 end of central directory record (4.3.14). */
const ZIP64_END_RECORD = struct('little', {
  signature: 4,
  record_bytes: 'u64',
  made_by: 'u16',
  version: 'u16',
  disk: 'u32',
  directory_disk: 'u32',
  entries_here: 'u64',
  entries: 'u64',
  directory_bytes: 'u64',
  directory_offset: 'u64',
});
/** Zip64 end of central directory locator (4.3.15). */
const ZIP64_END_LOCATOR = struct('little', { signature: 4, disk: 'u32', offset: 'u64', disks: 'u32' });

export const LOCAL_BYTES = LOCAL_HEADER.bytes;
const CENTRAL_BYTES = CENTRAL_HEADER.bytes;
export const END_BYTES = END_RECORD.bytes;
const COMMENT_BYTES_MAXIMUM = 65_535;
const ZIP64_LOCATOR_BYTES = ZIP64_END_LOCATOR.bytes;
const ZIP64_END_BYTES = ZIP64_END_RECORD.bytes;
const ZIP64_EXTRA = 0x0001;
export const ALL_ONES = 0xffffffff;
export const FLAG = { encrypted: 1, descriptor: 1 << 3, utf8: 1 << 11 } as const;
export const METHOD = { stored: 0, deflated: 8, bzip2: 12, aes: 99 } as const;
/** Methods that only 7-Zip unpacks (4.4.5): deflate64, LZMA, zstd, xz, PPMd, and the methods of PKZIP 1. */
export const FOREIGN_METHODS: readonly number[] = [1, 2, 3, 4, 5, 6, 9, 14, 93, 95, 98];
/** Maximum size of one such member, and of all together. The total stays below 4 GiB, from which zip64 is required. Bytes. */
export const FOREIGN_BYTES_MAXIMUM = 1024 ** 3;
export const FOREIGN_TOTAL_MAXIMUM = 3 * 1024 ** 3;
/**
 * Maximum total size of such members, as a multiple of the size of the file. A member whose headers differ is read twice; more sharing of packed bytes is a
 * bomb.
 */
export const FOREIGN_SHARED_MAXIMUM = 4;
export const VERSION_MAXIMUM = 63;
export const NAME_BYTES_MAXIMUM = 4096;

/** Members up to these sizes are inflated in one call instead of by a stream. Bytes. */
export const QUICK = { packed: 4 * 1024 ** 2, unpacked: 8 * 1024 ** 2 } as const;
/** Size of the pieces in which a directory is read. Bytes. */
const DIRECTORY_PIECE_BYTES = 256 * 1024;

export interface Entry {
  name: string;
  flags: number;
  method: number;
  crc: number;
  packed: number;
  unpacked: number;
  /** Position of the packed bytes. */
  start: number;
  /** The sizes are in a data descriptor after the data, and unknown here. */
  open_end: boolean;
  /** Modification time in DOS format. If the checksum is in a data descriptor, the old cipher verifies the password with this time. */
  time: number;
  aes: Aes | undefined;
}

export interface Directory {
  start: number;
  size: number;
  /** Number added to the offsets of the directory: the size of data that precedes the archive. Bytes. */
  shift: number;
  /** Number of entries according to the end record. */
  entries: number;
  /** Range of the end record, including the zip64 record. */
  end: { from: number; to: number };
}

/** The directory that the end record at `position` describes (4.3.16, with zip64 4.3.14); undefined if no directory header is there. */
function directoryAt(reader: Reader, position: number): Directory | undefined {
  const end = END_RECORD.read(reader.at(position, END_BYTES));
  if (end === undefined) return undefined;
  let { directory_bytes: size, directory_offset: offset, entries } = end;
  let last = position;
  const locator = ZIP64_END_LOCATOR.read(reader.at(position - ZIP64_LOCATOR_BYTES, ZIP64_LOCATOR_BYTES));
  if (position >= ZIP64_LOCATOR_BYTES + ZIP64_END_BYTES && locator?.signature.equals(ZIP64_LOCATOR)) {
    // Data before the archive makes the locator's offset wrong. The record is then directly before the locator.
    for (const at of [locator.offset, position - ZIP64_LOCATOR_BYTES - ZIP64_END_BYTES]) {
      const record = at <= position ? ZIP64_END_RECORD.read(reader.at(at, ZIP64_END_BYTES)) : undefined;
      if (!record?.signature.equals(ZIP64_END)) continue;
      ({ entries, directory_bytes: size, directory_offset: offset } = record);
      last = at;
      break;
    }
  }
  const record = { from: last, to: position + END_BYTES };
  const begins = (start: number) => start >= 0 && reader.at(start, 4).equals(CENTRAL);
  if (size === 0 && end.entries === 0) {
    return { start: last, size: 0, shift: Math.max(0, last - offset), entries: 0, end: record };
  }
  if (begins(last - size)) return { start: last - size, size, shift: last - size - offset, entries, end: record };
  return begins(offset)
    ? { start: offset, size: Math.min(size, reader.size - offset), shift: 0, entries, end: record }
    : undefined;
}

/** Maximum number of directories that are read. Some programs use the first end record, others the last. */
const DIRECTORIES_MAXIMUM = 4;

/** The directories of the end records at the end of the file, last one first. */
export function findDirectories(reader: Reader): Directory[] {
  const from = Math.max(0, reader.size - END_BYTES - COMMENT_BYTES_MAXIMUM);
  const tail = reader.at(from, reader.size - from);
  const found: Directory[] = [];
  for (let at = tail.lastIndexOf(END); at >= 0; at = at === 0 ? -1 : tail.lastIndexOf(END, at - 1)) {
    const directory = directoryAt(reader, from + at);
    if (directory !== undefined) found.push(directory);
    if (found.length === DIRECTORIES_MAXIMUM) break;
  }
  return found;
}

/** Whether the file ends with a zip archive that has entries. Other data may precede the archive. */
export function endsAsZip(reader: Reader): boolean {
  return findDirectories(reader).some(({ size }) => size > 0);
}

const UNICODE_PATH = { id: 0x7075, head: 5, version: 1 } as const;

/** The UTF-8 name in the Info-ZIP extra field (4.6.9), if its checksum matches the name in the header. */
function unicodePath(raw: Buffer, extra: Buffer): string | undefined {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== UNICODE_PATH.id) continue;
    const field = extra.subarray(at + 4, at + 4 + extra.readUInt16LE(at + 2));
    if (field.length <= UNICODE_PATH.head || field[0] !== UNICODE_PATH.version || field.readUInt32LE(1) !== crc32(raw)) continue;
    return field.toString('utf8', UNICODE_PATH.head);
  }
  return undefined;
}

/** Decodes a name: UTF-8 if the flag says so (4.4.4) or the bytes are valid UTF-8, otherwise code page 437 (appendix D). */
function nameOf(raw: Buffer, flags: number, extra: Buffer): string {
  return unicodePath(raw, extra) ?? ((flags & FLAG.utf8) === 0 ? decodeBytes(raw, 'cp437') : raw.toString('utf8'));
}

/** Replaces values of 32 ones by the 64-bit values of the zip64 extra field, which are in the same order (4.5.3). */
function wide(extra: Buffer, outside: readonly number[]): number[] {
  const values = [...outside];
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== ZIP64_EXTRA) continue;
    const field = extra.subarray(at + 4, at + 4 + extra.readUInt16LE(at + 2));
    let taken = 0;
    for (const [index, value] of values.entries()) {
      if (value !== ALL_ONES || taken + 8 > field.length) continue;
      values[index] = Number(field.readBigUInt64LE(taken));
      taken += 8;
    }
    break;
  }
  return values;
}

/** Reads the local header at `position` (4.3.7); undefined if it is invalid. */
export function localAt(reader: Reader, position: number): Entry | undefined {
  const head = LOCAL_HEADER.read(reader.at(position, LOCAL_BYTES));
  if (!head?.signature.equals(LOCAL)) return undefined;
  const { name_bytes, extra_bytes, flags, method, crc, time } = head;
  if ((head.version & 0xff) > VERSION_MAXIMUM || name_bytes === 0 || name_bytes > NAME_BYTES_MAXIMUM) return undefined;
  const rest = reader.at(position + LOCAL_BYTES, name_bytes + extra_bytes);
  const [unpacked = 0, packed = 0] = wide(rest.subarray(name_bytes), [head.unpacked, head.packed]);
  return {
    name: nameOf(rest.subarray(0, name_bytes), flags, rest.subarray(name_bytes)),
    flags,
    method,
    crc,
    packed,
    unpacked,
    start: position + LOCAL_BYTES + name_bytes + extra_bytes,
    open_end: (flags & FLAG.descriptor) !== 0 && packed === 0,
    time,
    aes: aesOf(rest.subarray(name_bytes)),
  };
}

interface Listed {
  entry: Omit<Entry, 'start'>;
  /** Position of the local header. */
  position: number;
}

/** The entries of a directory (4.3.12). @throws Unreadable at the first invalid entry. */
export function* listed(reader: Reader, directory: Directory): Generator<Listed> {
  let piece: Buffer = Buffer.alloc(0);
  let piece_start = directory.start;
  const end = directory.start + directory.size;
  for (let at = directory.start; at + CENTRAL_BYTES <= end; ) {
    const most = Math.min(end, at + CENTRAL_BYTES + 3 * 65_535);
    if (most > piece_start + piece.length) {
      piece = reader.at(at, Math.min(DIRECTORY_PIECE_BYTES, end - at));
      piece_start = at;
    }
    const bytes = piece.subarray(at - piece_start);
    const head = CENTRAL_HEADER.read(bytes);
    if (!head?.signature.equals(CENTRAL)) throw new Unreadable('damaged');
    const { name_bytes, extra_bytes, flags, method, crc, time } = head;
    const extra = bytes.subarray(CENTRAL_BYTES + name_bytes, CENTRAL_BYTES + name_bytes + extra_bytes);
    const [unpacked = 0, packed = 0, offset = 0] = wide(extra, [head.unpacked, head.packed, head.offset]);
    const name = nameOf(bytes.subarray(CENTRAL_BYTES, CENTRAL_BYTES + name_bytes), flags, extra);
    yield {
      entry: {
        name,
        flags,
        method,
        crc,
        packed,
        unpacked,
        open_end: false,
        time,
        aes: aesOf(extra),
      },
      position: offset + directory.shift,
    };
    at += CENTRAL_BYTES + name_bytes + extra_bytes + head.comment_bytes;
  }
}
