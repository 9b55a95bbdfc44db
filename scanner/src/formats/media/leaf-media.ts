import { along, text, u32, u64 } from '#scanner/formats/leaf-walk.ts';
import type { Reader } from '#scanner/reading/reader.ts';

// Finds the ends of sound and video files.

/** A number with 7 bits in each byte and the highest bit clear (ID3v2.4.0, 6.2). */
const synchsafe = (bytes: Buffer, at: number) => bytes.subarray(at, at + 4).reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0);

/** Bit rates in kbit/s by version (1, then 2 and 2.5), layer and index (ISO 11172-3, 2.4.2.3). */
const MPEG_RATES: readonly (readonly number[])[] = [
  [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
];

const MPEG_HERTZ = [44_100, 48_000, 32_000];

/** Size of the MPEG audio frame that begins with these bytes; undefined if none does. Bytes. */
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

/** Size of the AAC frame (ISO 13818-7, ADTS) that begins with these bytes; undefined if none does. Bytes. */
function adtsBytes(head: Buffer): number | undefined {
  if (head.length < 6 || head[0] !== 0xff || ((head[1] ?? 0) & 0xf6) !== 0xf0) return undefined;
  const bytes = (((head[3] ?? 0) & 3) << 11) | ((head[4] ?? 0) << 3) | ((head[5] ?? 0) >> 5);
  return bytes < 7 ? undefined : bytes;
}

/** The end of MP3 or AAC data: tags (ID3v1, ID3v2, APE, Lyrics3) and frames in any order. */
export function walkAudio(reader: Reader): number | undefined {
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
    // Tags may be padded with zeros.
    return bytes === undefined ? (head[0] === 0 && tags > 0 ? at + 1 : undefined) : at + bytes;
  });
  // A frame header has too few fixed bits, so three consecutive frames or a tag are required.
  return tags > 0 || frames > 2 ? end : undefined;
}

/** The end of an Ogg file: pages with their segment tables (RFC 3533). */
export function walkOgg(reader: Reader): number {
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

/** Maximum frame size. The format allows more (65,535 samples of 8 channels with 32 bits), but no writer uses it. Bytes. */
const FLAC_FRAME_MAXIMUM = 1024 ** 2;

const FLAC_FRAME_LEAST = 9;

/** Whether a valid frame header is here, according to its checksum (RFC 9639, 9.1). */
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

/**
 * The end of a FLAC file: metadata blocks, then frames. The length of a frame is not stored; it ends where its checksum matches and the next frame or nothing
 * follows.
 */
export function walkFlac(reader: Reader): number {
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

/** Types of top-level boxes (ISO 14496-12, table 1; QuickTime; ISO 15444-1, annex I). */
const BOX_TYPE =
  /^(ftyp|moov|mdat|free|skip|wide|pnot|PICT|junk|udta|uuid|meta|moof|mfra|sidx|ssix|styp|emsg|prft|pdin|bloc|idat|mdia|imda|jP {2}|jp2[chi]|xml |url |brob|jx[ltp][clip]|Exif|jumb)$/;

/** The end of MP4, HEIC, AVIF and JPEG 2000 files: boxes with a size and a type (ISO 14496-12, 4.2). */
export function walkBoxes(reader: Reader): number {
  return along(reader, 0, (at) => {
    const head = reader.at(at, 16);
    if (head.length < 8 || !BOX_TYPE.test(head.toString('latin1', 4, 8))) return undefined;
    const size = u32(head, 0, false);
    if (size === 0) return reader.size;
    if (size === 1) return head.length < 16 ? undefined : at + u64(head, 8, false);
    return size < 8 ? undefined : at + size;
  });
}

/** An EBML number, whose length is one more than the number of leading zero bits (RFC 8794, 4). If all value bits are ones, the value is unknown. */
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

export function walkMatroska(reader: Reader): number {
  return along(reader, 0, (at) => {
    const head = reader.at(at, 16);
    const id = ebml(head, 0, true);
    const size = id === undefined ? undefined : ebml(head, id.length, false);
    if (id === undefined || size === undefined || !MATROSKA.includes(id.value)) return undefined;
    return size.unknown ? reader.size : at + id.length + size.length + size.value;
  });
}

/** The end of an ASF file (WMV, WMA): objects with a GUID and a size. */
export function walkAsf(reader: Reader): number {
  return along(reader, 0, (at) => {
    const head = reader.at(at, 24);
    const size = u64(head, 16, true);
    return head.length < 24 || size < 24 || size > reader.size - at ? undefined : at + size;
  });
}

/** The end of a MIDI file: chunks with a four-letter type and a length. */
export function walkMidi(reader: Reader): number {
  return along(reader, 0, (at) => {
    const head = reader.at(at, 8);
    return /^MT(hd|rk)$/.test(head.toString('latin1', 0, 4)) ? at + 8 + u32(head, 4, false) : undefined;
  });
}

/** The end of a Sun audio file: the data offset and the data size, if it is known. */
export function walkAu(reader: Reader, head: Buffer): number {
  const bytes = u32(head, 8, false);
  return bytes === 0xffffffff ? reader.size : u32(head, 4, false) + bytes;
}

/** The end of a Flash video: tags, each followed by its size. */
export function walkFlv(reader: Reader, head: Buffer): number {
  return along(reader, u32(head, 5, false) + 4, (at) => {
    const tag = reader.at(at, 11);
    const is_tag = tag.length === 11 && [8, 9, 18].includes((tag[0] ?? 0) & 0x1f) && tag.readUIntBE(8, 3) === 0;
    return is_tag ? at + 15 + tag.readUIntBE(1, 3) : undefined;
  });
}

const PACKET_BYTES = 188;

/** The end of an MPEG transport stream: packets that begin with 0x47. At least five are required, because one byte may match by chance. */
export function walkPackets(reader: Reader): number | undefined {
  const end = along(reader, 0, (at) => (reader.at(at, 1)[0] === 0x47 ? at + PACKET_BYTES : undefined));
  return end >= Math.min(5 * PACKET_BYTES, reader.size) ? end : undefined;
}
