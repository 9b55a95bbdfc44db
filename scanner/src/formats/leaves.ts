import { isUtf8 } from 'node:buffer';
import { sqliteEnd } from '#scanner/formats/data/sqlite.ts';
import { fontEnd, isFont, walkFonts } from '#scanner/formats/media/leaf-fonts.ts';
import {
  walkAsf,
  walkAu,
  walkAudio,
  walkBoxes,
  walkFlac,
  walkFlv,
  walkMatroska,
  walkMidi,
  walkOgg,
  walkPackets,
} from '#scanner/formats/media/leaf-media.ts';
import {
  walkBitmap,
  walkGif,
  walkIcon,
  walkJpeg,
  walkPhotoshop,
  walkPng,
  walkTiff,
} from '#scanner/formats/media/leaf-pictures.ts';
import {
  walkCafe,
  walkCrx,
  walkElf,
  walkMach,
  walkProgram,
  walkShortcut,
  walkWasm,
} from '#scanner/formats/programs/leaf-programs.ts';
import { textFormOf } from '#scanner/text/text-encoding.ts';
import { standsAt } from '#scanner/walk/content.ts';
import type { Reader } from '#scanner/walk/reader.ts';
import { hex, type LeafFormat, sizedAt, text, u32, walkChunk } from './leaf-walk.ts';

const walkSqlite = (reader: Reader, head: Buffer) => (head.length < 100 ? undefined : sqliteEnd(head, reader.size));

const walkFont = (reader: Reader, head: Buffer) => (isFont(head) ? fontEnd(reader, 0) : undefined);

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
  { magic: text(' EMF'), at: 40, walk: sizedAt(48, true) },
  // MS-WMF 2.3.2: a head of 22 bytes, and a size in words.
  { magic: hex('d7cdc69a'), at: 0, walk: (_reader, head) => 22 + 2 * u32(head, 28, true) },
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
  { magic: hex('00010000'), at: 0, walk: walkFont },
  { magic: text('OTTO'), at: 0, walk: walkFont },
  { magic: text('true'), at: 0, walk: walkFont },
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
