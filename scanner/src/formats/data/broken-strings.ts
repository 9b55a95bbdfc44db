import { isUtf8 } from 'node:buffer';
import { format } from '#scanner/formats/format.ts';
import type { Content } from '#scanner/reading/content.ts';
import type { Member, ReadContext } from '#scanner/reading/member.ts';
import type { Reader } from '#scanner/reading/reader.ts';
import { textFormOf } from '#scanner/text/text-encoding.ts';
import { DECODED_LEAST, type Run } from '#scanner/text/text-runs.ts';
import { isUtf8Text, membersOfValues, type Value } from '#scanner/text/values.ts';

// Strings of CBOR with indefinite length (RFC 8949, 3.2.3): chunks with their own lengths, up to a break byte. Their only magic is one byte, so a string counts
// only if all chunks and the break are valid.

const BYTES = 0x5f;
const TEXT = 0x7f;
const END = 0xff;
/** Minimum number of chunks. A string of one chunk is visible in the file as it is. */
const PIECES_LEAST = 2;
/** Minimum number of chunks for a string that is neither text nor a file: two chunks and a break occur in every 8 MB of random data. */
const OPAQUE_PIECES_LEAST = 4;
/** Minimum share of ASCII in text of a one-byte encoding. */
const ASCII_LEAST = 0.75;
/** Maximum length of a rejected string within which other strings are searched. Bytes. */
const LOOKED_WITHIN_MAXIMUM = 512;
/** Size of the length field in bytes, for values from 24 on of the last five bits of the first byte. */
const LENGTH_BYTES = [1, 2, 4] as const;

/** The range of the chunk at `at`; undefined if it is invalid. `first` is the first byte of an empty chunk of the same type. */
function pieceAt(bytes: Buffer, at: number, first: number): { start: number; end: number } | undefined {
  const byte = bytes[at] ?? 0;
  const kind = byte - first;
  if (kind < 0 || kind >= 24 + LENGTH_BYTES.length) return undefined;
  const length_bytes = kind < 24 ? 0 : (LENGTH_BYTES[kind - 24] ?? 0);
  const start = at + 1 + length_bytes;
  if (start > bytes.length) return undefined;
  const end = start + (length_bytes === 0 ? kind : bytes.readUIntBE(at + 1, length_bytes));
  return end < bytes.length ? { start, end } : undefined;
}

/** The next position where a string may begin: its first byte, followed by a valid first chunk; -1 if there is none. */
function nextMark(bytes: Buffer, from: number): number {
  for (let at = from; at + PIECES_LEAST < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    // The first bytes of both types differ in one bit, so one comparison excludes most bytes.
    if ((byte | (BYTES ^ TEXT)) !== TEXT) continue;
    const kind = (bytes[at + 1] ?? 0) - byte + 31;
    if (kind < 0 || kind >= 24 + LENGTH_BYTES.length) continue;
    if (kind > 24) return at;
    // The byte after the first chunk excludes most other data.
    const next = bytes[kind < 24 ? at + 2 + kind : at + 3 + (bytes[at + 2] ?? 0)];
    if (next !== undefined && (next === END || (next > byte - 32 && next < byte - 4))) return at;
  }
  return -1;
}

/** Whether a string is text, and not a few bytes that happen to contain no control characters. */
function isText(string: Buffer): boolean {
  const form = textFormOf(string);
  if (form?.encoding !== 'utf-8') return form !== undefined;
  let ascii = 0;
  for (const byte of string) if (byte < 0x80) ascii += 1;
  return ascii >= string.length * ASCII_LEAST || isUtf8(string);
}

/**
 * The strings with their chunks joined; `isFile` recognises files. Each chain of chunks is followed once, because a chain without an end remains without one.
 */
export function* brokenStringsOf(bytes: Buffer, isFile: (string: Buffer) => boolean): Generator<Run> {
  const isOpaque = (string: Buffer) => !isText(string) && !isFile(string);
  let seen: Uint8Array | undefined;
  const isSeen = (at: number) => ((seen?.[at >> 3] ?? 0) & (1 << (at & 7))) !== 0;
  for (let open = nextMark(bytes, 0); open >= 0; open = nextMark(bytes, open + 1)) {
    const first = (bytes[open] ?? 0) - 31;
    let count = 0;
    let size = 0;
    let at = open + 1;
    for (let piece = pieceAt(bytes, at, first); piece !== undefined && !isSeen(at); piece = pieceAt(bytes, at, first)) {
      seen ??= new Uint8Array((bytes.length >> 3) + 1);
      seen[at >> 3] = (seen[at >> 3] ?? 0) | (1 << (at & 7));
      count += 1;
      size += piece.end - piece.start;
      at = piece.end;
    }
    if (bytes[at] !== END || count < PIECES_LEAST) continue;
    if (size >= DECODED_LEAST) {
      const string = joined(bytes, open + 1, first, size);
      const is_none = count < OPAQUE_PIECES_LEAST && isOpaque(string);
      if (is_none && size <= LOOKED_WITHIN_MAXIMUM) continue;
      if (!is_none) yield { how: 'literal', start: open, end: at, bytes: string };
    }
    open = at;
  }
}

function joined(bytes: Buffer, start: number, first: number, size: number): Buffer {
  const whole = Buffer.allocUnsafe(size);
  let length = 0;
  for (let piece = pieceAt(bytes, start, first); piece !== undefined && length < size; piece = pieceAt(bytes, piece.end, first))
    length += bytes.copy(whole, length, piece.start, piece.end);
  return whole;
}

/** Maximum size of a content that is searched. Bytes. */
const SEARCHED_MAXIMUM = 16 * 1024 ** 2;

/** Whether the content contains a string in chunks. The whole content is searched, since the chunks may look like other data. */
function holdsBrokenStrings(reader: Reader, isFile: (string: Buffer) => boolean): boolean {
  if (reader.size > SEARCHED_MAXIMUM) return false;
  const bytes = reader.at(0, reader.size);
  return bytes.includes(END) && brokenStringsOf(bytes, isFile).next().done !== true;
}

/** The strings as members. */
function brokenStringMembers(content: Content, context: ReadContext, isFile: (bytes: Buffer) => boolean): AsyncGenerator<Member> {
  return membersOfValues(content, context, isFile, function* (reader): Generator<Value> {
    for (const { bytes } of brokenStringsOf(reader.at(0, reader.size), isFile)) yield { bytes, is_text: isUtf8Text(bytes) };
  });
}

export const brokenStrings = format({
  id: 'cbor-strings',
  media_type: 'application/octet-stream',
  recogniseBeside({ reader, head, first, isFile }) {
    const may_hold = first === undefined || first.format.traits.is_mail === true || first.format.late?.isLate(head) === true;
    return may_hold && holdsBrokenStrings(reader, isFile) ? 24 : 0;
  },
  traits: { is_text: true, is_beside: true },
  limits: null,
  open: (content, context) => brokenStringMembers(content, context, context.isFile),
});
