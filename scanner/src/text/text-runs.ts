import { hexDigit } from './text-codings.ts';

// Finds bytes encoded in a text: base64 (RFC 4648, either alphabet, in one line or in lines as in PEM and OpenPGP), hexadecimal digits, escapes, and lists
// of numbers in scripts.

/** Bytes decoded from a text. `start`, `end`: range of their encoded form in the text. */
export interface Run {
  how: 'base64' | 'hex' | 'numbers' | 'escapes' | 'address' | 'literal' | 'uuencode' | 'base85';
  start: number;
  end: number;
  bytes: Buffer;
}

/** A run that decodes to fewer bytes is ignored: words and names look the same. */
export const DECODED_LEAST = 33;
/** Least length of the lines of a run, except the last one. Characters. */
const LINE_LEAST = 20;

const PLAIN = 1;
const URL_SAFE = 2;
const ALPHABET = new Uint8Array(256);
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')
  ALPHABET[character.charCodeAt(0)] = PLAIN;
for (const character of '-_') ALPHABET[character.charCodeAt(0)] = URL_SAFE;
const DASH = 0x2d;
const UNDERSCORE = 0x5f;
const EQUALS = 0x3d;
/** A line end between two lines of a run, possibly an escape within a literal, with prefixes that mail and comments add to a line. */
const BREAK =
  /^={0,2}(?:[ \t]{0,4}>{1,2}[ \t]{0,4}[^\r\n]{1,40})?(?:\\r)?(?:\\n|\\?\r?\n|\\?\r)[ \t]{0,16}(?:(?:[>#*;':%]{1,4}|rem[ \t]|@?\(?echo[ .]|\/\/[ \t]|--[ \t])[ \t]{0,4})?/i;
/**
 * The break before a folded line, which begins with a blank (RFC 5545, 3.1; RFC 6350, 3.2; RFC 2849). The first line of a value has a name before it, so the value is
 * shorter there.
 */
const FOLD = /^\r?\n[ \t]{1,16}(?=[A-Za-z0-9+/])/;
const FOLDED_LINE_MAXIMUM = 1000;
/**
 * Characters that may follow a line of a run: a line end, padding, quotation marks, a backslash, brackets, and a redirection of a
 * script.
 */
const BEHIND_LINE: readonly number[] = [0x0a, 0x0d, EQUALS, 0x22, 0x27, 0x5c, 0x3c, 0x29, 0x60, 0x3e, 0x20];
const BREAK_BYTES = 96;

function isOf(byte: number | undefined): boolean {
  return ALPHABET[byte ?? 0] !== 0;
}

/** Length of the second line of a folded value, if other text precedes the value in its first line; otherwise 0. */
function foldedWidth(text: Buffer, start: number, first_end: number): number {
  const before = text[start - 1] ?? 0x0a;
  const [gap] = FOLD.exec(text.toString('latin1', first_end, first_end + BREAK_BYTES)) ?? [];
  if (gap === undefined || before === 0x0a || before === 0x0d) return 0;
  const from = first_end + gap.length;
  let to = from;
  while (to - from <= FOLDED_LINE_MAXIMUM && isOf(text[to])) to += 1;
  return to - from > FOLDED_LINE_MAXIMUM ? 0 : to - from;
}

const COLON = 0x3a;
const SPACE = 0x20;
const TAB = 0x09;

/** Range of a folded value's characters in its first line, after its name: they may be too few for a line of a run. */
function foldedBefore(text: Buffer, start: number, done: number): { start: number; end: number } | undefined {
  let end = start;
  while (end > done && start - end < BREAK_BYTES && (text[end - 1] === SPACE || text[end - 1] === TAB)) end -= 1;
  if (end === start || text[end - 1] !== 0x0a) return undefined;
  end -= text[end - 2] === 0x0d ? 2 : 1;
  let first = end;
  while (first > done && end - first < FOLDED_LINE_MAXIMUM && isOf(text[first - 1])) first -= 1;
  const before = text[first - 1] === SPACE ? text[first - 2] : text[first - 1];
  return first < end && before === COLON ? { start: first, end } : undefined;
}

/** The lines of a run from its first line on: following lines of the same length, and a shorter last one. */
function linesFrom(text: Buffer, start: number, first_end: number): { lines: Buffer[]; end: number } {
  const lines = [text.subarray(start, first_end)];
  let end = first_end;
  const width = Math.max(first_end - start, foldedWidth(text, start, first_end));
  for (let length = width; length === width || lines.length === 1; ) {
    const [gap] = BREAK.exec(text.toString('latin1', end, end + BREAK_BYTES)) ?? [];
    if (gap === undefined) break;
    const from = end + gap.length;
    let to = from;
    while (to - from < width && isOf(text[to])) to += 1;
    length = to - from;
    // A line that is longer, or continues with other text, is not part of the run.
    const next = text[to] ?? 0x0a;
    if (length === 0 || isOf(text[to]) || !BEHIND_LINE.includes(next)) break;
    lines.push(text.subarray(from, to));
    end = to;
  }
  return { lines, end };
}

function isHex(text: Buffer): boolean {
  for (const byte of text) if (hexDigit(byte) === undefined) return false;
  return text.length % 2 === 0;
}

/** The digits without the prefix of databases: `0x`, `\\x`. */
function withoutPrefix(text: Buffer): Buffer {
  const at = text[0] === 0x30 ? 1 : 0;
  return ((text[at] ?? 0) | 0x20) === 0x78 ? text.subarray(at + 1) : text;
}

/** Converts URL-safe base64 to the standard alphabet; undefined if it has too many dashes and underscores, as a line of a table or a long name has. */
function ofBase64(text: Buffer): Buffer | undefined {
  let others = 0;
  for (const byte of text) if (byte === DASH || byte === UNDERSCORE) others += 1;
  if (others * 4 > text.length) return undefined;
  if (others === 0) return text;
  const plain = Buffer.from(text);
  for (let at = 0; at < plain.length; at += 1) {
    if (plain[at] === DASH) plain[at] = 0x2b;
    else if (plain[at] === UNDERSCORE) plain[at] = 0x2f;
  }
  return plain;
}

const WHOLE = { least: 24, most: 128 } as const;

/** Decodes a short text that consists of base64 or hexadecimal digits alone: within other text it might be a word. */
export function* wholeOf(text: Buffer): Generator<Run> {
  if (text.length > WHOLE.most) return;
  const letters = text.toString('latin1').replaceAll(/\s/g, '');
  if (letters.length < WHOLE.least || !/^[A-Za-z0-9+/]+={0,2}$/.test(letters)) return;
  const is_hex = isHex(Buffer.from(letters));
  const bytes = Buffer.from(letters, is_hex ? 'hex' : 'base64');
  if (bytes.length < DECODED_LEAST) yield { how: is_hex ? 'hex' : 'base64', start: 0, end: text.length, bytes };
}

/** Runs of base64 and of hexadecimal digits, in one pass: one of LINE_LEAST characters is checked, and its neighbours if it may be part of a run. */
export function* runsOf(text: Buffer): Generator<Run> {
  let done = 0;
  for (let at = LINE_LEAST - 1; at < text.length; at += LINE_LEAST) {
    if (!isOf(text[at])) continue;
    let start = at;
    while (start > done && isOf(text[start - 1])) start -= 1;
    let end = at + 1;
    while (end < text.length && isOf(text[end])) end += 1;
    // Dashes of PEM armour and of drawn lines surround a run and are not part of it.
    while (start < end && (text[start] === DASH || text[start] === UNDERSCORE)) start += 1;
    if (end - start >= LINE_LEAST) {
      const first = foldedBefore(text, start, done);
      const folded = first === undefined ? undefined : linesFrom(text, first.start, first.end);
      // A run that ends before `at` is not used: it would be searched again and again.
      const is_folded = first !== undefined && folded !== undefined && folded.end > at;
      if (is_folded) start = first.start;
      const run = is_folded ? folded : linesFrom(text, start, end);
      end = run.end;
      const [only] = run.lines;
      const characters = only !== undefined && run.lines.length === 1 ? only : Buffer.concat(run.lines);
      const digits = withoutPrefix(characters);
      const is_hex = isHex(digits);
      const coded = is_hex ? digits : ofBase64(characters);
      if (coded !== undefined && (is_hex ? coded.length / 2 : Math.floor((coded.length * 3) / 4)) >= DECODED_LEAST)
        yield {
          how: is_hex ? 'hex' : 'base64',
          start,
          end,
          bytes: Buffer.from(coded.toString('latin1'), is_hex ? 'hex' : 'base64'),
        };
    }
    // `done` stays before a short run, so that the beginning of a folded value is found from its second line.
    if (end - start >= LINE_LEAST) done = end;
    at = Math.max(at, end - 1 - ((end - 1 - (LINE_LEAST - 1)) % LINE_LEAST));
  }
}

const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const SEPARATORS = Buffer.from(', \t\r\n_&;:|', 'latin1');
const NUMBERS_BYTES_MAXIMUM = 8 * 1024 ** 2;

/** Whether a list of numbers may begin after this byte: lists follow a bracket, a quotation mark, an equals sign, `@` or a line end. */
function isListStart(byte: number): boolean {
  return (
    byte === 0x28 ||
    byte === 0x5b ||
    byte === 0x7b ||
    byte === EQUALS ||
    byte === 0x22 ||
    byte === 0x27 ||
    byte === 0x40 ||
    byte === 0x0a
  );
}

const CASTS = ['(byte)', '(byte) ', '(char)', '(char) ', '(sbyte)', '(unsigned char)', '(uint8_t)', '(BYTE)'].map((cast) =>
  Buffer.from(cast),
);
const BRACKET = 0x28;

const AND = 0x26;

/** Whether a hexadecimal number of Visual Basic begins here: `&H5A`. */
function isMarked(text: Buffer, at: number): boolean {
  return text[at] === AND && ((text[at + 1] ?? 0) | 0x20) === 0x68 && hexDigit(text[at + 2]) !== undefined;
}

/** Length of a cast to a byte before a number. */
function castAt(text: Buffer, at: number): number {
  if (text[at] !== BRACKET) return 0;
  return Math.max(0, ...CASTS.map((cast) => (text.subarray(at, at + cast.length).equals(cast) ? cast.length : 0)));
}

/** Reads a list of numbers up to 255, with separators between them, from `at` on; returns them as bytes (-1 as 255), and their end. */
function numbersFrom(text: Buffer, at: number): { bytes: number[]; end: number } {
  const bytes: number[] = [];
  let next = at;
  let end = at;
  for (;;) {
    while (next < text.length && next - end < 16 && SEPARATORS.includes(text[next] ?? 0x41) && !isMarked(text, next)) next += 1;
    if (bytes.length > 0 && next === end) break;
    next += castAt(text, next);
    let is_hex = false;
    const is_negative = text[next] === DASH;
    if (is_negative) next += 1;
    const mark = text[next + 1] ?? 0;
    if ((text[next] === DIGIT_0 && (mark | 0x20) === 0x78) || (text[next] === 0x26 && (mark | 0x20) === 0x68)) {
      is_hex = true;
      next += 2;
    }
    let value = 0;
    let digits = 0;
    for (let digit = hexDigit(text[next]); digits < 4; digit = hexDigit(text[next])) {
      if (digit === undefined || (!is_hex && digit > 9)) break;
      value = value * (is_hex ? 16 : 10) + digit;
      digits += 1;
      next += 1;
    }
    if (digits === 0 || value > 255) break;
    bytes.push(is_negative ? 256 - value : value);
    end = next;
  }
  return { bytes, end };
}

const BLANKS_MAXIMUM = 16;

/** The character before a number and before the blanks that precede it. */
function beforeBlanks(text: Buffer, at: number): number {
  let before = at - 1;
  while (before > 0 && at - before <= BLANKS_MAXIMUM && (text[before] === 0x20 || text[before] === 0x09)) before -= 1;
  return text[before] ?? 0;
}

/** Lists of numbers that may be bytes. */
export function* listsOf(text: Buffer): Generator<Run> {
  if (text.length > NUMBERS_BYTES_MAXIMUM) return;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at] ?? 0;
    const is_number = byte >= DIGIT_0 && byte <= DIGIT_9;
    const is_marked = isMarked(text, at) || (byte === BRACKET && castAt(text, at) > 0);
    if (!(is_number || is_marked) || (at > 0 && !isListStart(beforeBlanks(text, at)))) continue;
    const { bytes, end } = numbersFrom(text, at);
    if (bytes.length >= DECODED_LEAST) yield { how: 'numbers', start: at, end, bytes: Buffer.from(bytes) };
    at = Math.max(at, end - 1);
  }
}

const ESCAPES =
  /(?:&#x[0-9a-f]{1,4};){8,}|(?:&#\d{1,5};){8,}|(?:\\x[0-9a-f]{2}){8,}|(?:\\u[0-9a-f]{4}){8,}|(?:%[0-9a-f]{2}){8,}/gi;
const ESCAPED = /&#x([0-9a-f]+);|&#(\d+);|\\[xu]([0-9a-f]+)|%([0-9a-f]{2})/gi;

/** Runs of characters that are all escaped: as bytes if each is below 256, else as text. */
export function* escapesOf(text: Buffer): Generator<Run> {
  for (const { 0: whole, index } of text.toString('latin1').matchAll(ESCAPES)) {
    const codes = [...whole.matchAll(ESCAPED)].map(([, hex, decimal, digits, percent]) =>
      decimal === undefined ? Number.parseInt(hex ?? digits ?? percent ?? '', 16) : Number(decimal),
    );
    if (codes.length < DECODED_LEAST) continue;
    const bytes = codes.some((code) => code > 255)
      ? Buffer.from(codes.map((code) => String.fromCharCode(code)).join(''))
      : Buffer.from(codes);
    yield { how: 'escapes', start: index, end: index + whole.length, bytes };
  }
}

const QUOTE = 0x22;
const APOSTROPHE = 0x27;
const BACKSLASH = 0x5c;
const ESCAPED_LETTERS: ReadonlyMap<number, number> = new Map(
  [...'n\nr\rt\tb\bf\f'.matchAll(/(.)(.)/gs)].map(([, letter = '', plain = '']) => [letter.charCodeAt(0), plain.charCodeAt(0)]),
);
const OF_ESCAPE = /^u00([0-9a-f]{2})/i;

/** The bytes that a JSON string from `start` to `end` holds, one per character; undefined if a character is above U+00FF. */
function bytesOfString(text: Buffer, start: number, end: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(end - start);
  let length = 0;
  for (let at = start; at < end; at += 1) {
    const byte = text[at] ?? 0;
    if (byte === BACKSLASH) {
      at += 1;
      const letter = text[at] ?? 0;
      const digits = letter === 0x75 ? OF_ESCAPE.exec(text.toString('latin1', at, at + 5))?.[1] : undefined;
      if (letter === 0x75 && digits === undefined) return undefined;
      bytes[length++] = digits === undefined ? (ESCAPED_LETTERS.get(letter) ?? letter) : Number.parseInt(digits, 16);
      if (digits !== undefined) at += 4;
    } else if (byte < 0x80) bytes[length++] = byte;
    else {
      // A character up to U+00FF has two bytes in UTF-8.
      const next = text[at + 1] ?? 0;
      if ((byte !== 0xc2 && byte !== 0xc3) || (next & 0xc0) !== 0x80) return undefined;
      bytes[length++] = ((byte & 3) << 6) | (next & 0x3f);
      at += 1;
    }
  }
  return bytes.subarray(0, length);
}

/** JSON strings that hold bytes as characters, with control characters as `\u00..`. */
export function* stringsOf(text: Buffer): Generator<Run> {
  if (!text.includes('\\u00')) return;
  for (let open = text.indexOf(QUOTE); open >= 0; ) {
    let has_bytes = false;
    let at = open + 1;
    for (; at < text.length && text[at] !== QUOTE && text[at] !== NEWLINE; at += 1) {
      if (text[at] !== BACKSLASH) continue;
      at += 1;
      has_bytes ||= text[at] === 0x75;
    }
    const end = at;
    if (has_bytes && end - open > DECODED_LEAST) {
      const bytes = bytesOfString(text, open + 1, Math.min(end, text.length));
      if (bytes !== undefined && bytes.length >= DECODED_LEAST) yield { how: 'literal', start: open, end, bytes };
    }
    open = text.indexOf(QUOTE, end + 1);
  }
}

const LETTER_B = 0x62;
const LETTER_X = 0x78;
/** Escapes that distinguish bytes from words: `\x`, `\n`, `\r`. */
const OF_ESCAPES: ReadonlySet<number> = new Set([LETTER_X, 0x6e, 0x72]);
const WORD = /\w/;

/** Bytes literals of Python, with escapes for other bytes than letters. */
export function* byteLiteralsOf(text: Buffer): Generator<Run> {
  for (let at = text.indexOf(LETTER_B); at >= 0; at = text.indexOf(LETTER_B, at + 1)) {
    const mark = text[at + 1];
    if ((mark !== QUOTE && mark !== APOSTROPHE) || (at > 0 && WORD.test(String.fromCharCode(text[at - 1] ?? 0)))) continue;
    let end = at + 2;
    let has_bytes = false;
    for (; end < text.length && text[end] !== mark && text[end] !== NEWLINE; end += 1) {
      if (text[end] !== BACKSLASH) continue;
      end += 1;
      has_bytes ||= OF_ESCAPES.has(text[end] ?? 0);
    }
    if (has_bytes && end - at > DECODED_LEAST) {
      const bytes = bytesOfLiteral(text.subarray(at + 2, end));
      if (bytes.length >= DECODED_LEAST) yield { how: 'literal', start: at, end: Math.min(end + 1, text.length), bytes };
    }
    at = end;
  }
}

function bytesOfLiteral(literal: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(literal.length);
  let length = 0;
  for (let at = 0; at < literal.length; at += 1) {
    const letter = literal[at + 1] ?? 0;
    const [high, low] = [hexDigit(literal[at + 2]), hexDigit(literal[at + 3])];
    if (literal[at] !== BACKSLASH) bytes[length++] = literal[at] ?? 0;
    else if (letter === LETTER_X && high !== undefined && low !== undefined) {
      bytes[length++] = high * 16 + low;
      at += 3;
    } else {
      bytes[length++] = letter === DIGIT_0 ? 0 : (ESCAPED_LETTERS.get(letter) ?? letter);
      at += 1;
    }
  }
  return bytes.subarray(0, length);
}

const DATA = Buffer.from('data:');
const ADDRESS = /^data:[\w.+/;=-]{0,200},/i;
const ADDRESS_HEAD_BYTES = 220;

/** Data of `data:` URLs (RFC 2397), percent-decoded. Base64 without escapes and blanks is found as a run. */
export function* addressesOf(text: Buffer): Generator<Run> {
  for (let at = text.indexOf(DATA); at >= 0; at = text.indexOf(DATA, at + DATA.length)) {
    const [head] = ADDRESS.exec(text.toString('latin1', at, at + ADDRESS_HEAD_BYTES)) ?? [];
    if (head === undefined) continue;
    const start = at + head.length;
    let end = start;
    const first = text[at - 1];
    const quote = first === 0x22 || first === 0x27 ? first : undefined;
    while (
      end < text.length &&
      (quote === undefined ? ![0x20, 0x22, 0x27, 0x29, 0x3c, 0x3e, 0x0a, 0x0d].includes(text[end] ?? 0) : text[end] !== quote)
    )
      end += 1;
    const plain = text
      .toString('latin1', start, end)
      .replaceAll(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
    // Browsers skip blanks in base64, which end a run. Base64 without blanks and escapes is found as a run.
    const is_base64 = /;\s{0,8}base64,$/i.test(head);
    const is_plain_run = is_base64 && plain.length === end - start && !/\s/.test(plain);
    const bytes = Buffer.from(plain, is_base64 ? 'base64' : 'latin1');
    if (bytes.length >= DECODED_LEAST && !is_plain_run) yield { how: 'address', start, end, bytes };
    at = Math.max(at, end - DATA.length);
  }
}

/** Numbers with the same separator between each two, at which a script splits them. */
const SPLIT = /(?<!\d)\d{1,3}([^\d\s"'\\]{1,3})\d{1,3}(?:\1\d{1,3}){31,}(?!\d)/g;

/** Lists of numbers with any one separator of up to three characters. */
export function* splitsOf(text: Buffer): Generator<Run> {
  if (text.length > NUMBERS_BYTES_MAXIMUM) return;
  for (const { 0: whole, 1: mark = '', index } of text.toString('latin1').matchAll(SPLIT)) {
    const numbers = whole.split(mark).map(Number);
    if (numbers.every((number) => number < 256))
      yield { how: 'numbers', start: index, end: index + whole.length, bytes: Buffer.from(numbers) };
  }
}
export const NEWLINE = 0x0a;
export const RETURN = 0x0d;
export const BACKTICK = 0x60;
