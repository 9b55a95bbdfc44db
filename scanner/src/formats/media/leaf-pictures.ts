import { along, u16, u32 } from '#scanner/formats/leaf-walk.ts';
import type { Reader } from '#scanner/reading/reader.ts';

// Finds the ends of image files.

/** The end of a PNG, MNG or JNG file: chunks of length, type, data and CRC, up to the end chunk (PNG, 5.3). */
export function walkPng(reader: Reader): number {
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

/** Markers without a segment: a stuffed zero, TEM and the restart markers. */
const isAloneInJpeg = (mark: number) => mark === 0 || mark === 1 || (mark >= 0xd0 && mark <= 0xd7);

/** The next marker of a JPEG that ends a scan. */
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

/** The end of a JPEG file: segments up to the end marker (ITU-T T.81, B.1). */
export function walkJpeg(reader: Reader): number {
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

/** The end of a GIF file: the logical screen, then blocks up to the trailer (GIF89a). */
export function walkGif(reader: Reader, head: Buffer): number {
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

export function walkBitmap(_reader: Reader, head: Buffer): number | undefined {
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

/** Maximum numbers of directories and of values in an entry. */
const TIFF = { folders: 1024, values: 65_536 } as const;

/** Size of each type of value (TIFF 6.0, section 2). Bytes. */
const TIFF_TYPE_BYTES = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4];

/** Tags with the positions of strips, tiles and thumbnails, and the tags with their sizes. */
const TIFF_PLACES: Readonly<Record<number, number>> = { 273: 279, 324: 325, 513: 514, 288: 289 };

const TIFF_FOLDERS: readonly number[] = [330, 34665, 34853, 40965];

/** The end of a TIFF file: its directories with their values, and the strips and tiles that they refer to. */
export function walkTiff(reader: Reader, head: Buffer): number {
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

/** The end of an icon or cursor file: after its last image. */
export function walkIcon(reader: Reader, head: Buffer): number | undefined {
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

/** The end of a Photoshop file: three sections with their lengths, then the rows of each channel, uncompressed or with a table of compressed lengths. */
export function walkPhotoshop(reader: Reader, head: Buffer): number | undefined {
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
