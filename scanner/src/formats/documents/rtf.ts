import { format, withBits } from '#scanner/formats/format.ts';
import type { Content } from '#scanner/reading/content.ts';
import { LimitReached } from '#scanner/reading/limits.ts';
import type { Member, ReadContext } from '#scanner/reading/member.ts';
import { openReader } from '#scanner/reading/reader.ts';
import { hexDigit } from '#scanner/text/text-codings.ts';
import { ole1Members } from './ole-native.ts';

// RTF as Word reads it (RTF specification 1.9.1): groups, control words and hexadecimal digits in one pass. Word takes any header that begins `{\rt`, and skips
// anything between the digits of an object: control words, unknown groups, blanks, letters that are no digits.

const OPEN = 0x7b;
const CLOSE = 0x7d;
const BACKSLASH = 0x5c;
const APOSTROPHE = 0x27;
const STAR = 0x2a;

const HEADER = Buffer.from('{\\rt');

function isRtf(head: Buffer): boolean {
  return head.subarray(0, HEADER.length).equals(HEADER);
}

/** Destinations whose text is bytes written as digits. */
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
/** Groups nest no deeper in Word (100 by the specification); deeper ones belong to the one above. */
const DEPTH_MAXIMUM = 4096;
const WORD_BYTES = 32;
/** More bytes of one object are kept in pieces. */
const PIECE_BYTES = 64 * 1024;

const LETTER = new Uint8Array(256);
for (let code = 0x41; code <= 0x5a; code += 1) {
  LETTER[code] = 1;
  LETTER[code + 32] = 1;
}
const isDigit = (byte: number | undefined) => byte !== undefined && byte >= 0x30 && byte <= 0x39;

/** The bytes of one destination, as they come. */
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

  /** A half byte before something else is lost. */
  align(): void {
    this.high = undefined;
  }

  bytes(): Buffer {
    return Buffer.concat([...this.pieces, this.piece.subarray(0, this.length)]);
  }
}

interface Group {
  /** Where its digits go; undefined for text. */
  digits: Digits | undefined;
  /** It begins with `\*`, and is to be passed over unless its word is known. */
  is_optional: boolean;
}

/**
 * The bytes in destinations of digits, and after `\bin`. `keeps_escapes`: an escaped character is a digit as well. `ended` is called where the group ends
 * that is the document.
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
        // A group that Word does not know: its text is nothing.
        group.is_optional = false;
        if (group.digits !== undefined && word !== 'objclass') group = { digits: undefined, is_optional: false };
      }
    } else at += 1;
  }
  // Of a document that ends too early what there is.
  const open = new Set([group, ...groups].flatMap(({ digits }) => (digits === undefined ? [] : [digits])));
  for (const digits of open) yield { name: digits.name, bytes: digits.bytes() };
}

/** Objects larger than this are not read again in the other way. Bytes. */
const TEXT_BYTES_MAXIMUM = 64 * 1024 ** 2;
const ESCAPE = Buffer.from("\\'");

/** The objects and other bytes in an RTF document; a file embedded in an object is a member of its own. */
async function* rtfMembers(content: Content, context: ReadContext): AsyncGenerator<Member> {
  const { budget, claim } = context;
  using reader = openReader(content, budget);
  if (reader.size > TEXT_BYTES_MAXIMUM) throw new LimitReached('too_large');
  const text = reader.at(0, reader.size);
  const ways = text.includes(ESCAPE) ? [false, true] : [false];
  const seen = new Set<string>();
  let number = 0;
  /** Word reads on behind the document; the bytes there are also read by their own format. */
  let first_end: number | undefined;
  for (const keeps_escapes of ways) {
    budget.spend(text.length);
    for (const { name, bytes } of digitsOf(text, keeps_escapes, (at) => (first_end ??= at))) {
      if (bytes.length === 0) continue;
      // Read in the other way most are the same again.
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
