import { format, withBits } from '#scanner/formats/format.ts';
import type { Content } from '#scanner/reading/content.ts';
import { LimitReached } from '#scanner/reading/limits.ts';
import type { Member, ReadContext } from '#scanner/reading/member.ts';
import { openReader } from '#scanner/reading/reader.ts';
import { hexDigit } from '#scanner/text/text-codings.ts';
import { ole1Members } from './ole-native.ts';

// RTF as Word reads it (RTF specification 1.9.1): groups, control words and hexadecimal digits in one pass. Word accepts any header that begins with `{\rt`,
// and ignores control words, unknown groups, blanks and other characters between the digits of an object.

const OPEN = 0x7b;
const CLOSE = 0x7d;
const BACKSLASH = 0x5c;
const APOSTROPHE = 0x27;
const STAR = 0x2a;

const HEADER = Buffer.from('{\\rt');

function isRtf(head: Buffer): boolean {
  return head.subarray(0, HEADER.length).equals(HEADER);
}

/** Destinations that contain bytes as hexadecimal digits. */
const OF_DIGITS: readonly string[] = [
  'objdata',
  'datastore',
  'themedata',
  'colorschememapping',
  'pict',
  'blipuid',
  'svb',
  'passwordhash',
];
/** Maximum depth of groups. The specification limits it to 100; deeper groups are treated as part of their parent. */
const DEPTH_MAXIMUM = 4096;
const WORD_BYTES = 32;
/** The bytes of an object are kept in pieces of this size. Bytes. */
const PIECE_BYTES = 64 * 1024;

const LETTER = new Uint8Array(256);
for (let code = 0x41; code <= 0x5a; code += 1) {
  LETTER[code] = 1;
  LETTER[code + 32] = 1;
}
const isDigit = (byte: number | undefined) => byte !== undefined && byte >= 0x30 && byte <= 0x39;

/** Collects the bytes of one destination. */
class Digits {
  readonly name: string;
  private readonly pieces: Buffer[] = [];
  private piece = Buffer.allocUnsafe(PIECE_BYTES);
  private length = 0;
  private high: number | undefined;

  constructor(name: string) {
    this.name = name;
  }

  digit(value: number): void {
    if (this.high === undefined) this.high = value;
    else {
      this.byte(this.high * 16 + value);
      this.high = undefined;
    }
  }

  byte(value: number): void {
    if (this.length === PIECE_BYTES) {
      this.pieces.push(this.piece);
      this.piece = Buffer.allocUnsafe(PIECE_BYTES);
      this.length = 0;
    }
    this.piece[this.length++] = value;
  }

  /** Drops an unpaired digit. */
  align(): void {
    this.high = undefined;
  }

  bytes(): Buffer {
    return Buffer.concat([...this.pieces, this.piece.subarray(0, this.length)]);
  }
}

interface Group {
  /** Target of the digits in this group; undefined for text. */
  digits: Digits | undefined;
  /** The group begins with `\*` and is skipped if its control word is unknown. */
  is_optional: boolean;
}

/**
 * The bytes of destinations with hexadecimal digits, and the data of `\bin`. With `keeps_escapes`, escaped characters count as digits too. `ended` receives the
 * position after the outermost group.
 */
function* digitsOf(
  text: Buffer,
  keeps_escapes: boolean,
  ended: (at: number) => void,
): Generator<{ name: string; bytes: Buffer }> {
  const groups: Group[] = [];
  let group: Group = { digits: undefined, is_optional: false };
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at] ?? 0;
    if (byte === OPEN) {
      if (groups.length < DEPTH_MAXIMUM) groups.push(group);
      group = { digits: group.digits, is_optional: false };
    } else if (byte === CLOSE) {
      const { digits } = group;
      group = groups.pop() ?? { digits: undefined, is_optional: false };
      if (digits !== undefined && group.digits !== digits) yield { name: digits.name, bytes: digits.bytes() };
      if (groups.length === 0) ended(at + 1);
    } else if (byte !== BACKSLASH) {
      const value = group.digits === undefined ? undefined : hexDigit(byte);
      if (value !== undefined) group.digits?.digit(value);
    } else if (text[at + 1] === APOSTROPHE) {
      const high = hexDigit(text[at + 2]);
      const low = hexDigit(text[at + 3]);
      if (high !== undefined && low !== undefined) {
        const value = keeps_escapes ? hexDigit(high * 16 + low) : undefined;
        if (value !== undefined) group.digits?.digit(value);
        at += 3;
      } else at += 1;
    } else if (text[at + 1] === STAR) {
      group.is_optional = true;
      at += 1;
    } else if (LETTER[text[at + 1] ?? 0] === 1) {
      let end = at + 1;
      while (end - at <= WORD_BYTES && LETTER[text[end] ?? 0] === 1) end += 1;
      const word = text.toString('latin1', at + 1, end).toLowerCase();
      let next = end;
      if (text[next] === 0x2d) next += 1;
      while (next - end < 11 && isDigit(text[next])) next += 1;
      const parameter = Number(text.toString('latin1', end, next)) || 0;
      if (text[next] === 0x20) next += 1;
      at = next - 1;
      if (word === 'bin' && parameter > 0) {
        const bytes = text.subarray(next, next + parameter);
        group.digits?.align();
        if (group.digits === undefined) yield { name: 'bin', bytes };
        else for (const value of bytes) group.digits.byte(value);
        at = next + bytes.length - 1;
      } else if (OF_DIGITS.includes(word)) group = { digits: new Digits(word), is_optional: false };
      else if (group.is_optional) {
        // Word ignores the text of a group that it does not know.
        group.is_optional = false;
        if (group.digits !== undefined && word !== 'objclass') group = { digits: undefined, is_optional: false };
      }
    } else at += 1;
  }
  // The destinations that a truncated document leaves open.
  const open = new Set([group, ...groups].flatMap(({ digits }) => (digits === undefined ? [] : [digits])));
  for (const digits of open) yield { name: digits.name, bytes: digits.bytes() };
}

/** Maximum size of a document. Bytes. */
const TEXT_BYTES_MAXIMUM = 64 * 1024 ** 2;
const ESCAPE = Buffer.from("\\'");

/** The objects and other binary data of an RTF document. Files embedded in OLE objects are separate members. */
async function* rtfMembers(content: Content, context: ReadContext): AsyncGenerator<Member> {
  const { budget, claim } = context;
  using reader = openReader(content, budget);
  if (reader.size > TEXT_BYTES_MAXIMUM) throw new LimitReached('too_large');
  const text = reader.at(0, reader.size);
  const ways = text.includes(ESCAPE) ? [false, true] : [false];
  const seen = new Set<string>();
  let number = 0;
  /** Word continues after the end of the document. Those bytes are not claimed, so that other formats can read them too. */
  let first_end: number | undefined;
  for (const keeps_escapes of ways) {
    budget.spend(text.length);
    for (const { name, bytes } of digitsOf(text, keeps_escapes, (at) => (first_end ??= at))) {
      if (bytes.length === 0) continue;
      // The second pass yields mostly the same objects; they are given once.
      const key = `${name} ${bytes.length} ${bytes.toString('latin1', 0, 64)}`;
      if (keeps_escapes && seen.has(key)) continue;
      seen.add(key);
      number += 1;
      budget.addUnpacked(bytes.length, bytes.length, bytes.length);
      yield { name: `${name} ${number}`, read: () => ({ content: { size: bytes.length, bytes } }) };
      if (name === 'objdata') yield* ole1Members(bytes, budget);
    }
  }
  claim(0, first_end ?? text.length);
}

export const rtf = format({
  id: 'rtf',
  media_type: 'application/rtf',
  recognise: withBits(40, isRtf),
  traits: { is_text: true },
  limits: null,
  open: rtfMembers,
});
