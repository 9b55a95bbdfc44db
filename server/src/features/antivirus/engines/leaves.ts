import { isUtf8 } from 'node:buffer';
import { standsAt } from './content.ts';
import type { Reader } from './reader.ts';
import { textFormOf } from './text-encoding.ts';

// Formats that hold no files, only themselves: pictures, sound, films, programs, fonts, tables. Each is walked along its own structure, so that what
// somebody put behind its end is known as such. A walk ends where the structure does, or where it breaks; sizes are claims and lead nowhere twice,
// because every step goes forward.

/** Where a format ends that begins at 0. Undefined when it does not begin there after all. Bytes. */
type Walk = (reader: Reader, head: Buffer) => number | undefined;

interface LeafFormat {
  magic: Buffer;
  /** Where the magic stands. */
  at: number;
  walk: Walk;
}

const text = (characters: string) => Buffer.from(characters, 'latin1');
const hex = (digits: string) => Buffer.from(digits, 'hex');

/** A structure that is read field by field: beyond the end of the file there are zeros, and the walk ends by `has`. */
const u16 = (bytes: Buffer, at: number, little: boolean) =>
  at + 2 > bytes.length ? 0 : little ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at);
const u32 = (bytes: Buffer, at: number, little: boolean) =>
  at + 4 > bytes.length ? 0 : little ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at);
const u64 = (bytes: Buffer, at: number, little: boolean) =>
  at + 8 > bytes.length ? 0 : Number(little ? bytes.readBigUInt64LE(at) : bytes.readBigUInt64BE(at));

/** Repeats a step that answers where the next one begins, until one answers nothing or stands still. Answers where it came to. */
function along(reader: Reader, from: number, step: (at: number) => number | undefined): number {
  let at = from;
  while (at < reader.size) {
    const next = step(at);
    if (next === undefined || !(next > at)) return at;
    at = Math.min(next, reader.size);
  }
  return at;
}

/** PNG (and MNG, JNG): chunks of length, type, bytes and CRC, up to the one that ends it (PNG, 5.3). */
function walkPng(reader: Reader): number {
  let ended = false;
  return along(reader, 8, (at) => {
    if (ended) return undefined;
    const head = reader.at(at, 8);
    const type = head.toString('latin1', 4, 8);
    if (head.length < 8 || !/^[A-Za-z]{4}$/.test(type)) return undefined;
    ended = type === 'IEND' || type === 'MEND';
    return at + 12 + u32(head, 0, false);
  });
}

const JPEG = { mark: 0xff, start: 0xd8, end: 0xd9, scan: 0xda } as const;
/** Marks without a segment: the byte 0xff itself, TEM and the restarts. */
const isAloneInJpeg = (mark: number) => mark === 0 || mark === 1 || (mark >= 0xd0 && mark <= 0xd7);

/** The next mark of a JPEG that is none of a scan's own. */
function nextMark(reader: Reader, from: number): number | undefined {
  let position = from;
  let before = 0;
  for (const chunk of reader.chunks(from, reader.size)) {
    for (let found = before === JPEG.mark ? 0 : chunk.indexOf(JPEG.mark); found >= 0; ) {
      const is_first = before === JPEG.mark && found === 0;
      const mark = is_first ? chunk[0] : chunk[found + 1];
      if (mark === undefined) break;
      if (!isAloneInJpeg(mark) && mark !== JPEG.mark) return is_first ? position - 1 : position + found;
      before = 0;
      found = chunk.indexOf(JPEG.mark, is_first ? 0 : found + 1);
    }
    before = chunk.at(-1) ?? 0;
    position += chunk.length;
  }
  return undefined;
}

/** JPEG: segments up to the mark that ends the picture (ITU-T T.81, B.1). */
function walkJpeg(reader: Reader): number {
  let at = 2;
  while (at < reader.size) {
    const head = reader.at(at, 4);
    if (head[0] !== JPEG.mark) return at;
    const mark = head[1] ?? 0;
    if (mark === JPEG.mark) {
      at += 1;
      continue;
    }
    if (mark === JPEG.end) return at + 2;
    if (mark === JPEG.start || isAloneInJpeg(mark)) {
      at += 2;
      continue;
    }
    const length = u16(head, 2, false);
    if (length < 2) return at;
    at += 2 + length;
    if (mark === JPEG.scan) at = nextMark(reader, at) ?? reader.size;
  }
  return reader.size;
}

/** GIF: a screen, then blocks up to the trailer (GIF89a). */
function walkGif(reader: Reader, head: Buffer): number {
  const tableBytes = (flags: number) => ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1));
  const subBlocks = (from: number) => {
    let at = from;
    while (at < reader.size) {
      const length = reader.at(at, 1)[0] ?? 0;
      at += 1 + length;
      if (length === 0) break;
    }
    return at;
  };
  let ended = false;
  return along(reader, 13 + tableBytes(head[10] ?? 0), (at) => {
    if (ended) return undefined;
    const block = reader.at(at, 10);
    const [kind = -1] = block;
    switch (kind) {
      case 0x3b:
        ended = true;
        return at + 1;
      case 0x21:
        return subBlocks(at + 2);
      case 0x2c:
        return subBlocks(at + 11 + tableBytes(block[9] ?? 0));
      case 0:
        return at + 1;
      default:
        return undefined;
    }
  });
}

/** RIFF and its big-endian relatives: one chunk whose size says where it ends. Writers that do not know it claim all ones. */
const walkChunk =
  (little: boolean): Walk =>
  (reader, head) => {
    const size = u32(head, 4, little);
    if (size === 0 || size === 0xffffffff) return reader.size;
    return Math.min(reader.size, 8 + size + (size % 2));
  };

function walkBitmap(_reader: Reader, head: Buffer): number | undefined {
  if (head.length < 26 || head.readUInt32LE(6) !== 0) return undefined;
  const header = head.readUInt32LE(14);
  if (header !== 12 && (header < 40 || header > 124)) return undefined;
  const [width, height, bits] =
    header === 12
      ? [head.readUInt16LE(18), head.readUInt16LE(20), head.readUInt16LE(24)]
      : [Math.abs(head.readInt32LE(18)), Math.abs(head.readInt32LE(22)), u16(head, 28, true)];
  const compression = header === 12 ? 0 : u32(head, 30, true);
  const size = compression === 1 || compression === 2 ? u32(head, 34, true) : Math.ceil((width * bits) / 32) * 4 * height;
  return Math.max(head.readUInt32LE(2), head.readUInt32LE(10) + size);
}

/** What 12 bytes of a TIFF entry say is at most so much of tables. More of them are none. */
const TIFF = { folders: 1024, values: 65_536 } as const;
/** Bytes of each type of value (TIFF 6.0, section 2). */
const TIFF_TYPE_BYTES = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4];
/** Tags that say where strips, tiles and thumbnails stand, and those that say how long they are. */
const TIFF_PLACES: Readonly<Record<number, number>> = { 273: 279, 324: 325, 513: 514, 288: 289 };
const TIFF_FOLDERS: readonly number[] = [330, 34665, 34853, 40965];

/** TIFF: its folders with their values, and the strips and tiles that they name. */
function walkTiff(reader: Reader, head: Buffer): number {
  const little = head[0] === 0x49;
  let end = 8;
  const seen = new Set<number>();
  const waiting = [u32(head, 4, little)];
  for (let folder = waiting.pop(); folder !== undefined && seen.size < TIFF.folders; folder = waiting.pop()) {
    if (folder < 8 || folder >= reader.size || seen.has(folder)) continue;
    seen.add(folder);
    const count = u16(reader.at(folder, 2), 0, little);
    const entries = reader.at(folder + 2, count * 12 + 4);
    end = Math.max(end, folder + 2 + entries.length);
    const values = new Map<number, number[]>();
    for (let at = 0; at + 12 <= count * 12 && at + 12 <= entries.length; at += 12) {
      const tag = u16(entries, at, little);
      const size = TIFF_TYPE_BYTES[u16(entries, at + 2, little)] ?? 0;
      const many = u32(entries, at + 4, little);
      const is_inside = size * many <= 4;
      const place = is_inside ? 0 : u32(entries, at + 8, little);
      if (!is_inside && place + size * many <= reader.size) end = Math.max(end, place + size * many);
      const is_wanted = tag in TIFF_PLACES || Object.values(TIFF_PLACES).includes(tag) || TIFF_FOLDERS.includes(tag);
      if (!is_wanted || (size !== 2 && size !== 4) || many > TIFF.values) continue;
      const bytes = is_inside ? entries.subarray(at + 8, at + 12) : reader.at(place, size * many);
      const numbers: number[] = [];
      for (let one = 0; one < many; one += 1)
        numbers.push(size === 2 ? u16(bytes, one * 2, little) : u32(bytes, one * 4, little));
      values.set(tag, numbers);
      if (TIFF_FOLDERS.includes(tag)) waiting.push(...numbers.slice(0, TIFF.folders));
    }
    for (const [places, lengths] of Object.entries(TIFF_PLACES)) {
      for (const [index, place] of (values.get(Number(places)) ?? []).entries())
        end = Math.max(end, place + (values.get(lengths)?.[index] ?? 0));
    }
    waiting.push(u32(entries, count * 12, little));
  }
  return end;
}

const MODULE_SIGNATURE = text('~Module signature appended~\n');
const HEADERS_MAXIMUM = 65_535;

/** ELF: headers, segments and sections (gABI, chapters 4 and 5), and the signature of a kernel's module behind them. */
function walkElf(reader: Reader, head: Buffer): number | undefined {
  const is_wide = head[4] === 2;
  const little = head[5] === 1;
  if ((head[4] !== 1 && !is_wide) || (head[5] !== 1 && head[5] !== 2)) return undefined;
  const word = (bytes: Buffer, at: number) => (is_wide ? u64(bytes, at, little) : u32(bytes, at, little));
  const tables = is_wide
    ? { programs: word(head, 32), sections: word(head, 40), sizes: 54 }
    : { programs: word(head, 28), sections: word(head, 32), sizes: 42 };
  const [program_bytes, programs, section_bytes, sections] = [0, 2, 4, 6].map((at) => u16(head, tables.sizes + at, little));
  let end = is_wide ? 64 : 52;
  const take = (from: number, bytes: number) => {
    if (from + bytes <= reader.size) end = Math.max(end, from + bytes);
    else if (from < reader.size) end = reader.size;
  };
  const each = (from: number, bytes: number | undefined, count: number | undefined, use: (entry: Buffer) => void) => {
    if (from === 0 || bytes === undefined || bytes < (is_wide ? 40 : 32) || count === undefined) return;
    const table = reader.at(from, bytes * Math.min(count, HEADERS_MAXIMUM));
    take(from, table.length);
    for (let at = 0; at + bytes <= table.length; at += bytes) use(table.subarray(at, at + bytes));
  };
  each(tables.programs, program_bytes, programs, (entry) => take(word(entry, is_wide ? 8 : 4), word(entry, is_wide ? 32 : 16)));
  const NO_BITS = 8;
  each(tables.sections, section_bytes, sections, (entry) => {
    if (u32(entry, 4, little) !== NO_BITS) take(word(entry, is_wide ? 24 : 16), word(entry, is_wide ? 32 : 20));
  });
  const tail = reader.at(reader.size - MODULE_SIGNATURE.length, MODULE_SIGNATURE.length);
  if (!tail.equals(MODULE_SIGNATURE)) return end;
  // The last number of what stands before the mark is the length of the signature (Linux, module_signature.h).
  const signature = u32(reader.at(reader.size - MODULE_SIGNATURE.length - 4, 4), 0, false);
  return end + signature + 12 + MODULE_SIGNATURE.length >= reader.size ? reader.size : end;
}

const CERTIFICATES = 4;

/** PE: headers, sections, the table of symbols and the signatures ("Attribute Certificate Table"); a program of DOS alone by its pages. */
function walkProgram(reader: Reader, head: Buffer): number | undefined {
  if (head.length < 64) return undefined;
  const start = head.readUInt32LE(0x3c);
  const header = reader.at(start, 24);
  if (header.length < 24 || header.readUInt32LE(0) !== 0x4550) return walkDos(head);
  const optional_bytes = header.readUInt16LE(20);
  const optional = reader.at(start + 24, optional_bytes);
  const sections = reader.at(start + 24 + optional_bytes, header.readUInt16LE(6) * 40);
  let end = Math.max(
    start + 24 + optional_bytes + sections.length,
    u32(optional, 60, true) <= 65_536 ? u32(optional, 60, true) : 0,
  );
  for (let at = 0; at + 40 <= sections.length; at += 40) {
    const bytes = sections.readUInt32LE(at + 16);
    if (bytes > 0) end = Math.max(end, sections.readUInt32LE(at + 20) + bytes);
  }
  const symbols = header.readUInt32LE(12);
  if (symbols > 0 && symbols < reader.size) {
    const names = symbols + header.readUInt32LE(16) * 18;
    end = Math.max(end, names + u32(reader.at(names, 4), 0, true));
  }
  const directories = u16(optional, 0, true) === 0x20b ? 112 : 96;
  const certificates = directories + CERTIFICATES * 8;
  const [place, bytes] = [u32(optional, certificates, true), u32(optional, certificates + 4, true)];
  // Signatures stand at the end of a program, behind whatever was appended to it before it was signed: only what lies directly behind is its end.
  if (place > 0 && place <= Math.ceil(end / 8) * 8 + 8 && place + bytes <= reader.size) end = Math.max(end, place + bytes);
  return end;
}

function walkDos(head: Buffer): number | undefined {
  const [last, pages] = [u16(head, 2, true), u16(head, 4, true)];
  if (pages === 0 || last > 512) return undefined;
  return (pages - 1) * 512 + (last === 0 ? 512 : last);
}

/** Mach-O: its segments (loader.h); of many architectures, all of their parts. */
function walkMach(reader: Reader, head: Buffer): number | undefined {
  const little = head[3] === 0xfe;
  const is_wide = (little ? head[0] : head[3]) === 0xcf;
  const count = u32(head, 16, little);
  const commands = reader.at(is_wide ? 32 : 28, Math.min(u32(head, 20, little), 1024 ** 2));
  let end = (is_wide ? 32 : 28) + commands.length;
  let at = 0;
  for (let index = 0; index < count && at + 8 <= commands.length; index += 1) {
    const command = u32(commands, at, little);
    const bytes = u32(commands, at + 4, little);
    if (bytes < 8) break;
    if (command === 0x19) end = Math.max(end, u64(commands, at + 40, little) + u64(commands, at + 48, little));
    if (command === 1) end = Math.max(end, u32(commands, at + 32, little) + u32(commands, at + 36, little));
    if (command === 2) end = Math.max(end, u32(commands, at + 16, little) + u32(commands, at + 20, little));
    at += bytes;
  }
  return end;
}

/** Java and macOS share four bytes; what follows is a version of 45 or more for the one, a small count of parts for the other. */
function walkCafe(reader: Reader, head: Buffer): number | undefined {
  if (u16(head, 6, false) >= 45) return walkJava(reader);
  let end = 8;
  for (let index = 0; index < Math.min(u32(head, 4, false), 44); index += 1) {
    const part = reader.at(8 + index * 20, 20);
    end = Math.max(end, u32(part, 8, false) + u32(part, 12, false));
  }
  return end;
}

/** Bytes of each kind of constant beside its tag (Java virtual machine specification, 4.4). */
const JAVA_CONSTANTS: Readonly<Record<number, number>> = {
  3: 4,
  4: 4,
  5: 8,
  6: 8,
  7: 2,
  8: 2,
  9: 4,
  10: 4,
  11: 4,
  12: 4,
  15: 3,
  16: 2,
  17: 4,
  18: 4,
  19: 2,
  20: 2,
};

/** A class file (4.1): constants, interfaces, fields, methods and attributes. Undefined where it is none. */
function walkJava(reader: Reader): number | undefined {
  let at = 8;
  const short = () => {
    const value = u16(reader.at(at, 2), 0, false);
    at += 2;
    return value;
  };
  const constants = short();
  for (let index = 1; index < constants && at < reader.size; index += 1) {
    const tag = reader.at(at, 3);
    const bytes = tag[0] === 1 ? 2 + u16(tag, 1, false) : JAVA_CONSTANTS[tag[0] ?? 0];
    if (bytes === undefined) return undefined;
    at += 1 + bytes;
    if (tag[0] === 5 || tag[0] === 6) index += 1;
  }
  at += 6;
  const interfaces = short();
  at += 2 * interfaces;
  const attributes = () => {
    for (let count = short(); count > 0 && at < reader.size; count -= 1) at += 6 + u32(reader.at(at + 2, 4), 0, false);
  };
  for (const _ of ['fields', 'methods']) {
    for (let count = short(); count > 0 && at < reader.size; count -= 1) {
      at += 6;
      attributes();
    }
  }
  attributes();
  return at;
}

/** A number of 7 bits a byte, the highest bit clear (ID3v2.4.0, 6.2). */
const synchsafe = (bytes: Buffer, at: number) => bytes.subarray(at, at + 4).reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0);
/** kbit/s by version (1, then 2 and 2.5), layer and index (ISO 11172-3, 2.4.2.3). */
const MPEG_RATES: readonly (readonly number[])[] = [
  [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
];
const MPEG_HERTZ = [44_100, 48_000, 32_000];

/** Bytes of the MPEG audio frame that begins with these; undefined when none does. */
function frameBytes(head: Buffer): number | undefined {
  if (head.length < 4 || head[0] !== 0xff || ((head[1] ?? 0) & 0xe0) !== 0xe0) return undefined;
  const version = ((head[1] ?? 0) >> 3) & 3;
  const layer = 4 - (((head[1] ?? 0) >> 1) & 3);
  const padding = ((head[2] ?? 0) >> 1) & 1;
  const hertz = (MPEG_HERTZ[((head[2] ?? 0) >> 2) & 3] ?? 0) / (version === 3 ? 1 : version === 2 ? 2 : 4);
  const table = version === 3 ? layer - 1 : layer === 1 ? 3 : 4;
  const rate = (MPEG_RATES[table]?.[(head[2] ?? 0) >> 4] ?? 0) * 1000;
  if (version === 1 || layer === 4 || hertz === 0 || rate === 0) return undefined;
  if (layer === 1) return (Math.floor((12 * rate) / hertz) + padding) * 4;
  return Math.floor(((layer === 3 && version !== 3 ? 72 : 144) * rate) / hertz) + padding;
}

/** AAC as it is streamed (ISO 13818-7, ADTS): the length of a frame stands in its header. */
function adtsBytes(head: Buffer): number | undefined {
  if (head.length < 6 || head[0] !== 0xff || ((head[1] ?? 0) & 0xf6) !== 0xf0) return undefined;
  const bytes = (((head[3] ?? 0) & 3) << 11) | ((head[4] ?? 0) << 3) | ((head[5] ?? 0) >> 5);
  return bytes < 7 ? undefined : bytes;
}

/** MP3 and AAC: tags and frames, in whatever order they come (ID3v1, ID3v2, APE, Lyrics3). */
function walkAudio(reader: Reader): number | undefined {
  let frames = 0;
  let tags = 0;
  const end = along(reader, 0, (at) => {
    const head = reader.at(at, 32);
    const tag = head.toString('latin1', 0, 3);
    if (tag === 'ID3') {
      tags += 1;
      return at + 10 + synchsafe(head, 6) + (((head[5] ?? 0) & 0x10) === 0 ? 0 : 10);
    }
    if (tag === 'TAG') return at + 128;
    if (head.toString('latin1', 0, 8) === 'APETAGEX') return at + 32 + u32(head, 12, true);
    if (head.toString('latin1', 0, 11) === 'LYRICSBEGIN') {
      const found = reader.find(text('LYRICS200'), at);
      return found < 0 ? undefined : found + 9;
    }
    const bytes = frameBytes(head) ?? adtsBytes(head);
    if (bytes !== undefined) frames += 1;
    // Tags may be filled up with zeros.
    return bytes === undefined ? (head[0] === 0 && tags > 0 ? at + 1 : undefined) : at + bytes;
  });
  // Two bytes alone are no sound; three frames behind one another are.
  return tags > 0 || frames > 2 ? end : undefined;
}

/** Ogg: pages with their table of segments (RFC 3533). */
function walkOgg(reader: Reader): number {
  return along(reader, 0, (at) => {
    const head = reader.at(at, 27 + 255);
    if (head.toString('latin1', 0, 4) !== 'OggS') return undefined;
    const segments = head[26] ?? 0;
    return at + 27 + segments + head.subarray(27, 27 + segments).reduce((sum, bytes) => sum + bytes, 0);
  });
}

const crcTable = (polynomial: number, bits: number) =>
  Uint16Array.from({ length: 256 }, (_, byte) => {
    let crc = byte << (bits - 8);
    for (let bit = 0; bit < 8; bit += 1) crc = (crc << 1) ^ ((crc >> (bits - 1)) & 1 ? polynomial : 0);
    return crc & (2 ** bits - 1);
  });
const FLAC_CRC8 = crcTable(0x07, 8);
const FLAC_CRC16 = crcTable(0x8005, 16);
/** No frame is longer: 65,535 samples of 8 channels with 32 bits each would be, but no writer makes them. */
const FLAC_FRAME_MAXIMUM = 1024 ** 2;
const FLAC_FRAME_LEAST = 9;

/** Whether the header of a frame stands here, by its own checksum (RFC 9639, 9.1). */
function isFlacFrame(head: Buffer): boolean {
  if (head.length < 6 || head[0] !== 0xff || ((head[1] ?? 0) & 0xfe) !== 0xf8) return false;
  const lead = head[4] ?? 0;
  let number = 1;
  while (number < 7 && ((lead << number) & 0x80) !== 0) number += 1;
  const blocks = (head[2] ?? 0) >> 4;
  const rate = (head[2] ?? 0) & 15;
  const coded = number === 1 ? 1 : number;
  const end = 4 + coded + (blocks === 6 ? 1 : blocks === 7 ? 2 : 0) + (rate === 12 ? 1 : rate === 13 || rate === 14 ? 2 : 0);
  const crc = head.subarray(0, end).reduce((sum, byte) => FLAC_CRC8[sum ^ byte] ?? 0, 0);
  return end < head.length && head[end] === crc;
}

/** FLAC: blocks of metadata, then frames. A frame's length stands nowhere: it ends where its checksum comes out and the next begins, or nothing does. */
function walkFlac(reader: Reader): number {
  let is_last = false;
  const frames = along(reader, 4, (at) => {
    if (is_last) return undefined;
    const head = reader.at(at, 4);
    if (head.length < 4) return undefined;
    is_last = ((head[0] ?? 0) & 0x80) !== 0;
    return at + 4 + head.readUIntBE(1, 3);
  });
  return along(reader, frames, (at) => {
    const frame = reader.at(at, Math.min(FLAC_FRAME_MAXIMUM, 64 * 1024));
    if (!isFlacFrame(frame)) return undefined;
    let crc = 0;
    let first: number | undefined;
    for (let index = 0; index < frame.length; index += 1) {
      crc = ((crc << 8) & 0xffff) ^ (FLAC_CRC16[((crc >> 8) ^ (frame[index] ?? 0)) & 0xff] ?? 0);
      if (crc !== 0 || index + 1 < FLAC_FRAME_LEAST) continue;
      const next = index + 1;
      if (isFlacFrame(frame.subarray(next, next + 17)) || next === frame.length) return at + next;
      first ??= next;
    }
    return first === undefined ? undefined : at + first;
  });
}

/** The boxes that stand beside one another in a file (ISO 14496-12, table 1; QuickTime; ISO 15444-1, annex I). */
const BOX_TYPE =
  /^(ftyp|moov|mdat|free|skip|wide|pnot|PICT|junk|udta|uuid|meta|moof|mfra|sidx|ssix|styp|emsg|prft|pdin|bloc|idat|mdia|imda|jP {2}|jp2[chi]|xml |url |brob|jx[ltp][clip]|Exif|jumb)$/;

/** MP4, HEIC, AVIF, JPEG 2000: boxes of size and type (ISO 14496-12, 4.2). */
function walkBoxes(reader: Reader): number {
  return along(reader, 0, (at) => {
    const head = reader.at(at, 16);
    if (head.length < 8 || !BOX_TYPE.test(head.toString('latin1', 4, 8))) return undefined;
    const size = u32(head, 0, false);
    if (size === 0) return reader.size;
    if (size === 1) return head.length < 16 ? undefined : at + u64(head, 8, false);
    return size < 8 ? undefined : at + size;
  });
}

/** A number of EBML with its length in the first byte's zeros (RFC 8794, 4); all ones means that it is not known. */
function ebml(bytes: Buffer, at: number, keeps_mark: boolean): { value: number; length: number; unknown: boolean } | undefined {
  const first = bytes[at] ?? 0;
  const length = Math.clz32(first) - 23;
  if (first === 0 || at + length > bytes.length) return undefined;
  let value = keeps_mark ? first : first & (0xff >> length);
  let unknown = (first & (0xff >> length)) === 0xff >> length;
  for (let index = 1; index < length; index += 1) {
    const byte = bytes[at + index] ?? 0;
    value = value * 256 + byte;
    unknown &&= byte === 0xff;
  }
  return { value, length, unknown };
}

const MATROSKA: readonly number[] = [0x1a45dfa3, 0x18538067, 0xec];
function walkMatroska(reader: Reader): number {
  return along(reader, 0, (at) => {
    const head = reader.at(at, 16);
    const id = ebml(head, 0, true);
    const size = id === undefined ? undefined : ebml(head, id.length, false);
    if (id === undefined || size === undefined || !MATROSKA.includes(id.value)) return undefined;
    return size.unknown ? reader.size : at + id.length + size.length + size.value;
  });
}

/** Fonts (OpenType, "Table directory"): the end of the last table, filled up to four bytes. */
function fontEnd(reader: Reader, start: number): number {
  const count = u16(reader.at(start + 4, 2), 0, false);
  const tables = reader.at(start + 12, count * 16);
  let end = start + 12 + tables.length;
  for (let at = 0; at + 16 <= tables.length; at += 16) {
    const tail = u32(tables, at + 8, false) + u32(tables, at + 12, false);
    end = Math.max(end, Math.min(Math.ceil(tail / 4) * 4, Math.max(tail, reader.size)));
  }
  return end;
}

function walkFonts(reader: Reader, head: Buffer): number {
  const count = Math.min(u32(head, 8, false), 1024);
  const places = reader.at(12, count * 4);
  let end = 12 + places.length;
  for (let at = 0; at + 4 <= places.length; at += 4) end = Math.max(end, fontEnd(reader, u32(places, at, false)));
  return end;
}

const isFont = (head: Buffer) =>
  u16(head, 4, false) > 0 && u16(head, 4, false) < 100 && /^[A-Z][A-Za-z0-9/ ]{3}$/.test(head.toString('latin1', 12, 16));

/** SQLite: pages as many as the header says, where it says so for this version of the file (file format, 1.3.7). */
function walkSqlite(reader: Reader, head: Buffer): number {
  const page = u16(head, 16, false) === 1 ? 65_536 : u16(head, 16, false);
  const pages = u32(head, 28, false);
  return pages > 0 && u32(head, 24, false) === u32(head, 92, false) ? page * pages : reader.size;
}

/** Where a section of each id may stand (core specification, 5.5.2). */
const WASM_ORDER = [1, 2, 3, 4, 5, 13, 6, 7, 8, 9, 12, 10, 11];

/** WebAssembly: sections with an id and a length in LEB128. */
function walkWasm(reader: Reader): number {
  let before = 0;
  return along(reader, 8, (at) => {
    const head = reader.at(at, 6);
    const rank = WASM_ORDER.indexOf(head[0] ?? 255);
    // Sections come in one order, each once; those of others (0) stand anywhere.
    if (head[0] !== 0 && rank < before) return undefined;
    if (head[0] !== 0) before = rank + 1;
    let length = 0;
    for (let index = 1; index < head.length; index += 1) {
      const byte = head[index] ?? 0;
      length += (byte & 0x7f) * 2 ** (7 * (index - 1));
      if (byte < 128) return at + index + 1 + length;
    }
    return undefined;
  });
}

/** Icons and cursors: the end of the last picture. */
function walkIcon(reader: Reader, head: Buffer): number | undefined {
  const count = u16(head, 4, true);
  if (count === 0 || count > 256) return undefined;
  const entries = reader.at(6, count * 16);
  let end = 6 + entries.length;
  for (let at = 0; at + 16 <= entries.length; at += 16) {
    if (entries[at + 3] !== 0 || u32(entries, at + 12, true) < 6 + count * 16) return undefined;
    end = Math.max(end, u32(entries, at + 12, true) + u32(entries, at + 8, true));
  }
  return end;
}

/** A shortcut (MS-SHLLINK 2): header, target, link information, five texts, and blocks up to one of less than 4 bytes. */
function walkShortcut(reader: Reader, head: Buffer): number {
  const flags = u32(head, 20, true);
  const has = (bit: number) => (flags & (1 << bit)) !== 0;
  let at = 76;
  if (has(0)) at += 2 + u16(reader.at(at, 2), 0, true);
  if (has(1)) at += u32(reader.at(at, 4), 0, true);
  for (const bit of [2, 3, 4, 5, 6]) if (has(bit)) at += 2 + u16(reader.at(at, 2), 0, true) * (has(7) ? 2 : 1);
  const blocks = along(reader, at, (from) => {
    const size = u32(reader.at(from, 4), 0, true);
    return size < 4 ? undefined : from + size;
  });
  return Math.min(reader.size, blocks + 4);
}

/** ASF (WMV, WMA): objects of a GUID and a size. */
function walkAsf(reader: Reader): number {
  return along(reader, 0, (at) => {
    const head = reader.at(at, 24);
    const size = u64(head, 16, true);
    return head.length < 24 || size < 24 || size > reader.size - at ? undefined : at + size;
  });
}

/** Size at 4, and what it counts from. */
const sizedAt =
  (at: number, little: boolean, more = 0): Walk =>
  (_reader, head) =>
    u32(head, at, little) + more;

/** MIDI: chunks of four letters and a length. */
function walkMidi(reader: Reader): number {
  return along(reader, 0, (at) => {
    const head = reader.at(at, 8);
    return /^MT(hd|rk)$/.test(head.toString('latin1', 0, 4)) ? at + 8 + u32(head, 4, false) : undefined;
  });
}

/** Sun's sound: where it begins and how long it is, if that is known. */
function walkAu(reader: Reader, head: Buffer): number {
  const bytes = u32(head, 8, false);
  return bytes === 0xffffffff ? reader.size : u32(head, 4, false) + bytes;
}

/** Flash video: tags with the size of the one before. */
function walkFlv(reader: Reader, head: Buffer): number {
  return along(reader, u32(head, 5, false) + 4, (at) => {
    const tag = reader.at(at, 11);
    const is_tag = tag.length === 11 && [8, 9, 18].includes((tag[0] ?? 0) & 0x1f) && tag.readUIntBE(8, 3) === 0;
    return is_tag ? at + 15 + tag.readUIntBE(1, 3) : undefined;
  });
}

const PACKET_BYTES = 188;

/** MPEG transport stream: packets that begin with one byte; five of them are no chance. */
function walkPackets(reader: Reader): number | undefined {
  const end = along(reader, 0, (at) => (reader.at(at, 1)[0] === 0x47 ? at + PACKET_BYTES : undefined));
  return end >= Math.min(5 * PACKET_BYTES, reader.size) ? end : undefined;
}

/** Photoshop: three sections with their length, then the rows of each channel, packed with a table of their lengths or not at all. */
function walkPhotoshop(reader: Reader, head: Buffer): number | undefined {
  if (u16(head, 4, false) !== 1) return undefined;
  const [channels, rows, columns, bits] = [
    u16(head, 12, false),
    u32(head, 14, false),
    u32(head, 18, false),
    u16(head, 22, false),
  ];
  let at = 26;
  for (const _ of ['colours', 'resources', 'layers']) {
    const length = u32(reader.at(at, 4), 0, false);
    at += 4 + length;
  }
  const compression = u16(reader.at(at, 2), 0, false);
  at += 2;
  if (compression === 0) return at + channels * rows * Math.ceil((columns * bits) / 8);
  if (compression !== 1) return reader.size;
  const lengths = reader.at(at, channels * rows * 2);
  at += lengths.length;
  for (let row = 0; row + 2 <= lengths.length; row += 2) at += lengths.readUInt16BE(row);
  return at;
}

/** The header of a Chrome extension (CRX3); the zip behind it is a rest. */
function walkCrx(_reader: Reader, head: Buffer): number | undefined {
  const version = u32(head, 4, true);
  return version === 3 ? 12 + u32(head, 8, true) : version === 2 ? 16 + u32(head, 8, true) + u32(head, 12, true) : undefined;
}

const FORMATS: readonly LeafFormat[] = [
  { magic: hex('89504e470d0a1a0a'), at: 0, walk: walkPng },
  { magic: hex('8a4d4e470d0a1a0a'), at: 0, walk: walkPng },
  { magic: hex('8b4a4e470d0a1a0a'), at: 0, walk: walkPng },
  { magic: hex('ffd8ff'), at: 0, walk: walkJpeg },
  { magic: text('GIF87a'), at: 0, walk: walkGif },
  { magic: text('GIF89a'), at: 0, walk: walkGif },
  { magic: text('RIFF'), at: 0, walk: walkChunk(true) },
  { magic: text('RF64'), at: 0, walk: walkChunk(true) },
  { magic: text('FORM'), at: 0, walk: walkChunk(false) },
  { magic: text('AT&TFORM'), at: 0, walk: sizedAt(8, false, 12) },
  { magic: text('icns'), at: 0, walk: sizedAt(4, false) },
  { magic: text('BM'), at: 0, walk: walkBitmap },
  { magic: hex('49492a00'), at: 0, walk: walkTiff },
  { magic: hex('4d4d002a'), at: 0, walk: walkTiff },
  { magic: hex('00000100'), at: 0, walk: walkIcon },
  { magic: hex('00000200'), at: 0, walk: walkIcon },
  { magic: text('\x7fELF'), at: 0, walk: walkElf },
  { magic: text('MZ'), at: 0, walk: walkProgram },
  { magic: hex('cffaedfe'), at: 0, walk: walkMach },
  { magic: hex('cefaedfe'), at: 0, walk: walkMach },
  { magic: hex('feedfacf'), at: 0, walk: walkMach },
  { magic: hex('feedface'), at: 0, walk: walkMach },
  { magic: hex('cafebabe'), at: 0, walk: walkCafe },
  { magic: text('dex\n03'), at: 0, walk: sizedAt(32, true) },
  { magic: text('ID3'), at: 0, walk: walkAudio },
  { magic: hex('ff'), at: 0, walk: walkAudio },
  { magic: text('OggS'), at: 0, walk: walkOgg },
  { magic: text('fLaC'), at: 0, walk: walkFlac },
  { magic: text('ftyp'), at: 4, walk: walkBoxes },
  { magic: text('jP  \r\n\x87\n'), at: 4, walk: walkBoxes },
  { magic: hex('1a45dfa3'), at: 0, walk: walkMatroska },
  { magic: text('MThd'), at: 0, walk: walkMidi },
  { magic: hex('3026b2758e66cf11'), at: 0, walk: walkAsf },
  { magic: hex('00010000'), at: 0, walk: (reader, head) => (isFont(head) ? fontEnd(reader, 0) : undefined) },
  { magic: text('OTTO'), at: 0, walk: (reader, head) => (isFont(head) ? fontEnd(reader, 0) : undefined) },
  { magic: text('true'), at: 0, walk: (reader, head) => (isFont(head) ? fontEnd(reader, 0) : undefined) },
  { magic: text('ttcf'), at: 0, walk: walkFonts },
  { magic: text('wOFF'), at: 0, walk: sizedAt(8, false) },
  { magic: text('wOF2'), at: 0, walk: sizedAt(8, false) },
  { magic: text('SQLite format 3\0'), at: 0, walk: walkSqlite },
  { magic: text('\0asm'), at: 0, walk: walkWasm },
  { magic: text('FWS'), at: 0, walk: sizedAt(4, true) },
  { magic: text('.snd'), at: 0, walk: walkAu },
  { magic: text('FLV\x01'), at: 0, walk: walkFlv },
  { magic: text('G'), at: 0, walk: walkPackets },
  { magic: text('8BPS'), at: 0, walk: walkPhotoshop },
  { magic: text('Cr24'), at: 0, walk: walkCrx },
  // MS-SHLLINK 2.1: the size of the header and the class id of a shortcut.
  { magic: hex('4c0000000114020000000000c000000000000046'), at: 0, walk: walkShortcut },
];
const HEAD_BYTES = 128;

/** What a content is that holds nothing but itself, and where that ends. */
export interface Leaf {
  kind: 'binary' | 'text';
  end: number;
}

/** Control characters that no text has and tell where it ends: searching for a byte is fast, and what is packed has one of these among its first hundreds. */
const TELLING = [0, 1, 2, 3, 4, 5, 6, 7];
/** Of other bytes above ASCII there are at most so many in what is one line of a text. */
const TEXT_SAMPLE_BYTES = 4096;
const TEXT_BYTES_LEAST = 32;
const NOT_ASCII_SHARE_MAXIMUM = 0.5;

function firstControl(bytes: Buffer): number {
  let first = bytes.length;
  for (const byte of TELLING) {
    const found = bytes.subarray(0, first).indexOf(byte);
    if (found >= 0) first = found;
  }
  return first < bytes.length ? first : -1;
}

/** Whether bytes are UTF-8, the last character of which may be cut. What does not decode is told without an error first: making one takes longer than the look. */
function isCutUtf8(bytes: Buffer): boolean {
  let end = bytes.length;
  for (let back = 1; back <= 4 && back <= bytes.length; back += 1) {
    // Not within a character.
    if (((bytes[bytes.length - back] ?? 0) & 0xc0) === 0x80) continue;
    end = bytes.length - back;
    break;
  }
  if (!isUtf8(bytes.subarray(0, end))) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(end), { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** UTF-8 as a whole; of others the larger part is ASCII. Random bytes are neither. */
function isMostlyText(bytes: Buffer): boolean {
  const sample = bytes.subarray(0, TEXT_SAMPLE_BYTES);
  let high = 0;
  for (let at = 0; at < sample.length; at += 1) high += (sample[at] ?? 0) >> 7;
  if (high <= sample.length * 0.02 || isCutUtf8(sample)) return true;
  return high <= sample.length * NOT_ASCII_SHARE_MAXIMUM && sample.includes(0x0a);
}

/** Text from 0 on. What is text in its beginning and then no more is so as far as the last line before that. */
function textLeaf(reader: Reader, head: Buffer): Leaf | undefined {
  const sample = reader.at(0, TEXT_SAMPLE_BYTES);
  if ((textFormOf(sample)?.encoding ?? 'utf-8') !== 'utf-8') return { kind: 'text', end: reader.size };
  const first = firstControl(head);
  // A few letters and a line's end are the beginning of many things.
  if (first >= 0 && (first < TEXT_BYTES_LEAST || !head.subarray(0, first).includes(0x0a))) return undefined;
  if (!isMostlyText(sample)) return undefined;
  let position = 0;
  let line = 0;
  for (const chunk of reader.chunks(0, reader.size)) {
    const control = firstControl(chunk);
    const end_of_line = chunk.subarray(0, control < 0 ? chunk.length : control).lastIndexOf(0x0a);
    if (end_of_line >= 0) line = position + end_of_line + 1;
    if (control >= 0) return line > 0 ? { kind: 'text', end: line } : undefined;
    position += chunk.length;
  }
  return { kind: 'text', end: reader.size };
}

/** Before the first byte that is not zero, so many zeros may belong to what begins there. Bytes. */
const LEADING_ZEROS = 3;

/** Where something begins behind zeros that go from `start` to `end`: at `end`, or where a format begins that has zeros first. */
export function beginning(reader: Reader, start: number, end: number): number {
  for (let at = Math.max(start, end - LEADING_ZEROS); at < end; at += 1) {
    const head = reader.at(at, HEAD_BYTES);
    if (FORMATS.some((format) => standsAt(head, format.magic, format.at))) return at;
  }
  return end;
}

/** What begins at 0 and holds nothing but itself; undefined for what nobody knows. */
export function leafOf(reader: Reader): Leaf | undefined {
  const head = reader.at(0, HEAD_BYTES);
  for (const { magic, at, walk } of FORMATS) {
    if (!standsAt(head, magic, at)) continue;
    const end = walk(reader, head);
    if (end !== undefined && end > 0) return { kind: 'binary', end: Math.min(end, reader.size) };
  }
  return textLeaf(reader, head);
}

/** The parts of a rest whose entropy is taken. Bytes. */
const ENTROPY = { block: 4096, least: 512, bound: 7 } as const;

/** Bits that a byte of a piece tells, by how often each stands in it (Shannon). */
function entropyOf(bytes: Buffer): number {
  const counts = new Uint32Array(256);
  for (const byte of bytes) counts[byte] = (counts[byte] ?? 0) + 1;
  let bits = 0;
  for (const count of counts) if (count > 0) bits -= (count / bytes.length) * Math.log2(count / bytes.length);
  return bits;
}

/**
 * Whether bytes look like nothing: more than 512 of them, of which some 4 KiB (or all, where they are fewer) have more than 7 bits of entropy to the
 * byte, as what is packed or encrypted has. Texts and tables have 4 to 6, programs up to 6.5.
 */
export function looksLikeNothing(reader: Reader, start: number, end: number): boolean {
  if (end - start <= ENTROPY.least) return false;
  for (let at = start; at < end; at += ENTROPY.block) {
    const block = reader.at(at, Math.min(ENTROPY.block, end - at));
    if (block.length > ENTROPY.least && entropyOf(block) > ENTROPY.bound) return true;
  }
  return false;
}
