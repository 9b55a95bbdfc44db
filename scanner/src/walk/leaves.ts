import { isAscii, isUtf8 } from 'node:buffer';
import type { LeafMember, Mark } from '#scanner/formats/format.ts';
import { LEAF_FORMATS } from '#scanner/formats/index.ts';
import { standsAt } from '#scanner/reading/content.ts';
import type { Reader } from '#scanner/reading/reader.ts';
import { LOOK_BYTES, textFormOf } from '#scanner/text/text-encoding.ts';

// Formats without members (leaves): their ends, and data that is embedded in them.

const HEAD_BYTES = 128;

const WITH_MEMBERS = LEAF_FORMATS.filter(({ leaf }) => leaf.members !== undefined);

const begins = (head: Buffer, marks: readonly Mark[]) => marks.some(({ at, bytes }) => standsAt(head, bytes, at));

/** Kind of a content without members, and its end. */
export interface Leaf {
  kind: 'binary' | 'text';
  end: number;
}

/** Control characters that no text has, so that one ends a text. Searching for single bytes is fast, and packed data has one of these in its first hundreds of bytes. */
const TELLING = [0, 1, 2, 3, 4, 5, 6, 7];

/** Size of the sample that decides whether a content is text. */
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

/** Whether bytes are UTF-8, the last character of which may be cut. `isUtf8` checks all but the last character, because throwing an error takes longer than the check. */
function isCutUtf8(bytes: Buffer): boolean {
  let end = bytes.length;
  for (let back = 1; back <= 4 && back <= bytes.length; back += 1) {
    // Not the first byte of a character.
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

/** Whether bytes are at most 2 % non-ASCII, valid UTF-8, or have a line feed and are at least half ASCII. Random bytes meet no condition. */
function isMostlyText(bytes: Buffer): boolean {
  const sample = bytes.subarray(0, TEXT_SAMPLE_BYTES);
  let high = 0;
  for (let at = 0; at < sample.length; at += 1) high += (sample[at] ?? 0) >> 7;
  if (high <= sample.length * 0.02 || isCutUtf8(sample)) return true;
  return high <= sample.length * NOT_ASCII_SHARE_MAXIMUM && sample.includes(0x0a);
}

/** Whether the content certainly begins with text: other data is not ASCII for 32 bytes. */
const beginsAsAscii = (head: Buffer) => head.length >= TEXT_BYTES_LEAST && isAscii(head.subarray(0, TEXT_BYTES_LEAST));

/** A text at offset 0. If other bytes follow, it ends with the last whole line before them. */
function textLeaf(reader: Reader, head: Buffer): Leaf | undefined {
  const sample = reader.at(0, TEXT_SAMPLE_BYTES);
  if ((textFormOf(sample)?.encoding ?? 'utf-8') !== 'utf-8') return { kind: 'text', end: reader.size };
  // Lines end with a line feed, or with a carriage return alone as on classic Mac OS.
  const is_ascii = beginsAsAscii(head);
  const endOfLastLine = (bytes: Buffer) => Math.max(bytes.lastIndexOf(0x0a), is_ascii ? bytes.lastIndexOf(0x0d) : -1) + 1;
  const first = firstControl(head);
  // Many binary formats begin with a few letters and a line end.
  if (first >= 0 && (first < TEXT_BYTES_LEAST || endOfLastLine(head.subarray(0, first)) === 0)) return undefined;
  if (!isMostlyText(sample) && !is_ascii) return undefined;
  let position = 0;
  let line = 0;
  for (const chunk of reader.chunks(0, reader.size)) {
    const control = firstControl(chunk);
    const end_of_line = endOfLastLine(chunk.subarray(0, control < 0 ? chunk.length : control));
    if (end_of_line > 0) line = position + end_of_line;
    if (control >= 0) return line > 0 ? { kind: 'text', end: line } : undefined;
    position += chunk.length;
  }
  return { kind: 'text', end: reader.size };
}

/** Maximum number of zeros with which a format begins. Bytes. */
const LEADING_ZEROS = 3;

/** Start of the content after the zeros from `start` to `end`: `end`, or shortly before it for a format that begins with zeros. */
export function beginning(reader: Reader, start: number, end: number): number {
  for (let at = Math.max(start, end - LEADING_ZEROS); at < end; at += 1) {
    const head = reader.at(at, HEAD_BYTES);
    if (LEAF_FORMATS.some(({ leaf }) => leaf.walk !== undefined && begins(head, leaf.marks))) return at;
  }
  return end;
}

/** The content without members that begins at offset 0; undefined for an unknown format. */
export function leafOf(reader: Reader): Leaf | undefined {
  const head = reader.at(0, HEAD_BYTES);
  for (const { leaf } of LEAF_FORMATS) {
    if (leaf.walk === undefined || !begins(head, leaf.marks)) continue;
    const end = leaf.walk(reader, head);
    if (end !== undefined && end > 0) return { kind: 'binary', end: Math.min(end, reader.size) };
  }
  return textLeaf(reader, head);
}

/** Whether the content begins with text, but is not read as text because of the bytes that follow. */
export function isTextBeforeOthers(reader: Reader, { kind, end }: Leaf): boolean {
  if (kind !== 'text' || end >= reader.size) return false;
  const head = reader.at(0, LOOK_BYTES);
  return beginsAsAscii(head) && textFormOf(head) === undefined;
}

const MEMBERS_MAXIMUM = 1000;
/** Shorter members are ignored. Bytes. */
const MEMBER_LEAST = 32;
const MEMBERS_HEAD_BYTES = 64;

/** Whether these bytes begin a leaf format whose embedded data can be read. */
export function hasLeafMembers(head: Buffer): boolean {
  return WITH_MEMBERS.some(({ leaf }) => begins(head, leaf.marks));
}

/**
 * Data that is embedded in a leaf format, as members; none for other formats. Members lie within the content and have at least MEMBER_LEAST
 * bytes.
 */
export function* leafMembers(reader: Reader): Generator<LeafMember> {
  const head = reader.at(0, MEMBERS_HEAD_BYTES);
  const format = WITH_MEMBERS.find(({ leaf }) => begins(head, leaf.marks));
  let count = 0;
  for (const member of format?.leaf.members?.(reader, head) ?? []) {
    const end = Math.min(reader.size, member.end);
    const bytes = (member.more ?? []).reduce((sum, range) => sum + range.end - range.start, end - member.start);
    if (member.start < 0 || bytes < MEMBER_LEAST) continue;
    count += 1;
    if (count > MEMBERS_MAXIMUM) return;
    yield { ...member, end };
  }
}
