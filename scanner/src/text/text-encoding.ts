import { standsAt } from '#scanner/reading/content.ts';
import { fromEbcdic, isEbcdic } from './ebcdic.ts';
import { fromBocu, fromScsu } from './small-unicode.ts';
import { decodedBase64 } from './text-codings.ts';

// Detects the encoding of a text as common programs do: by its byte order mark, else by its bytes (names from the WHATWG Encoding Standard; UTF-7 from RFC 2152).

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'utf-32le' | 'utf-32be' | 'ebcdic' | 'bocu-1' | 'scsu';

/** Encoding of a text, and the length of its byte order mark. */
export interface TextForm {
  encoding: Encoding;
  mark_bytes: number;
  /** Number of the EBCDIC code page; by default the first. */
  page?: number;
}

const UTF8_MARK = Buffer.from('efbbbf', 'hex');

/** Removes the byte order mark of UTF-8: rules recognise a file by the first bytes of the text. */
export function withoutMark(bytes: Buffer): Buffer {
  return bytes.subarray(0, UTF8_MARK.length).equals(UTF8_MARK) ? bytes.subarray(UTF8_MARK.length) : bytes;
}

const MARKS: readonly { mark: Buffer; encoding: Encoding }[] = [
  // Before UTF-16, with whose mark it begins.
  { mark: Buffer.from('fffe0000', 'hex'), encoding: 'utf-32le' },
  { mark: Buffer.from('0000feff', 'hex'), encoding: 'utf-32be' },
  { mark: UTF8_MARK, encoding: 'utf-8' },
  { mark: Buffer.from('fffe', 'hex'), encoding: 'utf-16le' },
  { mark: Buffer.from('feff', 'hex'), encoding: 'utf-16be' },
  { mark: Buffer.from('fbee28', 'hex'), encoding: 'bocu-1' },
  { mark: Buffer.from('0efeff', 'hex'), encoding: 'scsu' },
];
/** In these encodings the mark is an ordinary character, and decoding the next bytes depends on it. */
const SMALL: ReadonlyMap<Encoding, (pieces: Iterable<Buffer>) => Generator<string>> = new Map([
  ['bocu-1', fromBocu],
  ['scsu', fromScsu],
]);
const WIDE: readonly Encoding[] = ['utf-16le', 'utf-16be', 'utf-32le', 'utf-32be'];
/** Size of the sample that decides the encoding. Bytes. */
export const LOOK_BYTES = 4096;
const QUICK_BYTES = 128;
/** Fewer characters are not recognised without a mark. */
const LOOK_CHARACTERS_LEAST = 4;
/** At most one of CONTROLS_ONE_OF characters of a text is a stray control character, and at least one of ASCII_ONE_OF is ASCII, since any script has blanks and line ends. */
const CONTROLS_ONE_OF = 32;
const ASCII_ONE_OF = 16;

/** Control characters that texts have: backspace, tab, line feed, vertical tab, form feed, carriage return, the end of a DOS text, escape. */
const ORDINARY_CONTROLS: ReadonlySet<number> = new Set([8, 9, 10, 11, 12, 13, 26, 27]);

function isControl(code: number): boolean {
  return code < 0x20 ? !ORDINARY_CONTROLS.has(code) : code === 0x7f || code === 0xfffe || code === 0xffff;
}

/** Bytes of a code unit. */
function widthOf(encoding: Encoding): number {
  return encoding.startsWith('utf-32') ? 4 : 2;
}

/** Reads one code unit in the byte order of the encoding. */
function unitAt(piece: Buffer, at: number, encoding: Encoding): number {
  if (encoding === 'utf-16le') return piece.readUInt16LE(at);
  if (encoding === 'utf-16be') return piece.readUInt16BE(at);
  return encoding === 'utf-32le' ? piece.readUInt32LE(at) : piece.readUInt32BE(at);
}

/** The complete code units of bytes. */
function unitsOf(piece: Buffer, encoding: Encoding): number[] {
  const width = encoding.startsWith('utf-32') ? 4 : 2;
  return Array.from({ length: Math.floor(piece.length / width) }, (_, index) => unitAt(piece, index * width, encoding));
}

/** A shorter text before zeros is not recognised: it may be a name before numbers. Bytes. */
const PADDED_LEAST = 32;

/** Removes zero padding from a text, in whole units of `width` bytes. */
function withoutPadding(piece: Buffer, width: number): Buffer {
  let end = piece.length;
  while (end > 0 && piece[end - 1] === 0) end -= 1;
  end = Math.ceil(end / width) * width;
  return end < PADDED_LEAST || end > piece.length ? piece : piece.subarray(0, end);
}

/** The number of ASCII characters when the bytes are read in an encoding; undefined if they are not text, which most data shows early. */
function asciiIn(piece: Buffer, encoding: Encoding): number | undefined {
  const is_wide = encoding.startsWith('utf-32');
  const width = is_wide ? 4 : 2;
  let ascii = 0;
  let wrong = 0;
  let units = 0;
  let is_open = false;
  for (let at = 0; at + width <= piece.length; at += width) {
    const code = unitAt(piece, at, encoding);
    units += 1;
    if (code < 0x80) ascii += 1;
    const is_low = code >= 0xdc00 && code < 0xe000;
    if (is_wide ? code >= 0x110000 || (code >= 0xd800 && code < 0xe000) : is_low !== is_open) return undefined;
    if (isControl(code)) wrong += 1;
    is_open = !is_wide && code >= 0xd800 && code < 0xdc00;
  }
  return wrong * CONTROLS_ONE_OF > units ? undefined : ascii;
}

/** Whether bytes are a text in ASCII or in any encoding that extends it, possibly padded with zeros. */
function isPlain(padded: Buffer): boolean {
  let end = padded.length;
  while (end > 0 && padded[end - 1] === 0) end -= 1;
  const piece = padded.subarray(0, end);
  if (end < Math.min(padded.length, PADDED_LEAST) || piece.includes(0)) return false;
  let wrong = 0;
  // A loop by index: each text is checked several times, and an iterator takes four times as long.
  for (let at = 0; at < piece.length; at += 1) {
    const byte = piece[at] ?? 0;
    if (byte < 0x20 && !ORDINARY_CONTROLS.has(byte)) wrong += 1;
  }
  return wrong * CONTROLS_ONE_OF <= piece.length;
}

/** The form of a text that begins with these bytes; undefined for other data. */
export function textFormOf(head: Buffer): TextForm | undefined {
  const piece = head.subarray(0, LOOK_BYTES);
  if (piece.length === 0) return undefined;
  for (const { mark, encoding } of MARKS) {
    if (!standsAt(piece, mark, 0)) continue;
    const behind = piece.subarray(mark.length);
    const small = SMALL.get(encoding);
    const is_text =
      small !== undefined
        ? isPlain(Buffer.from([...small([piece])].join('').slice(1)))
        : encoding === 'utf-8'
          ? isPlain(behind)
          : asciiIn(withoutPadding(behind, widthOf(encoding)), encoding) !== undefined;
    if (is_text) return { encoding, mark_bytes: mark.length };
  }
  if (isEbcdic(piece)) return { encoding: 'ebcdic', mark_bytes: 0 };
  if (isPlain(piece)) return { encoding: 'utf-8', mark_bytes: 0 };
  let best: { encoding: Encoding; share: number } | undefined;
  for (const encoding of WIDE) {
    const width = widthOf(encoding);
    const padded = piece.subarray(0, QUICK_BYTES);
    // Rejects most other data early.
    if (asciiIn(withoutPadding(padded, width), encoding) === undefined) continue;
    const whole = withoutPadding(piece, width);
    const characters = Math.floor(whole.length / width);
    if (characters < LOOK_CHARACTERS_LEAST) continue;
    const ascii = asciiIn(whole, encoding);
    if (ascii === undefined || ascii * ASCII_ONE_OF < characters) continue;
    if (best === undefined || ascii / characters > best.share) best = { encoding, share: ascii / characters };
  }
  return best === undefined ? undefined : { encoding: best.encoding, mark_bytes: 0 };
}

const RETURN = 0x0d;
const NEWLINE = 0x0a;

/** Whether a line of a text ends with a carriage return alone, as on classic Mac OS. */
export function hasLoneReturn(text: Buffer): boolean {
  for (let at = text.indexOf(RETURN); at >= 0; at = text.indexOf(RETURN, at + 1)) {
    if (text[at + 1] !== NEWLINE) return true;
  }
  return false;
}

function* wide32(pieces: Iterable<Buffer>, encoding: Encoding): Generator<string> {
  let rest = Buffer.alloc(0);
  for (const piece of pieces) {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    const characters = unitsOf(bytes, encoding).map((code) => (code < 0x110000 ? String.fromCodePoint(code) : '\ufffd'));
    rest = Buffer.from(bytes.subarray(bytes.length - (bytes.length % 4)));
    yield characters.join('');
  }
}

/** Line ends that UTF-16 and UTF-32 texts may have in addition to those of ASCII: next line, line and paragraph separator (Unicode, 5.8). */
const WIDE_ENDS = /[\u0085\u2028\u2029]/g;

function* wide16(pieces: Iterable<Buffer>, encoding: Encoding): Generator<string> {
  const decoder = new TextDecoder(encoding);
  for (const piece of pieces) yield decoder.decode(piece, { stream: true });
}

function* latin(pieces: Iterable<Buffer>): Generator<string> {
  for (const piece of pieces) yield piece.toString('latin1');
}

/** Decodes a text to UTF-8 without its byte order mark, with line feeds as line ends. The bytes of UTF-8, valid or not, are otherwise kept. */
export function* decodedText(pieces: Iterable<Buffer>, { encoding, mark_bytes, page }: TextForm): Generator<Buffer> {
  const small = SMALL.get(encoding);
  const texts =
    small !== undefined
      ? small(pieces)
      : encoding === 'ebcdic'
        ? fromEbcdic(pieces, page)
        : encoding === 'utf-8'
          ? latin(pieces)
          : encoding.startsWith('utf-32')
            ? wide32(pieces, encoding)
            : wide16(pieces, encoding);
  // The decoder of UTF-16 removes the mark, the others keep it.
  let to_skip =
    encoding === 'utf-8' ? mark_bytes : (encoding.startsWith('utf-32') || small !== undefined) && mark_bytes > 0 ? 1 : 0;
  let held = '';
  for (const text of texts) {
    const whole = held + text.slice(to_skip);
    to_skip = 0;
    // A line feed may follow in the next chunk.
    held = whole.endsWith('\r') ? '\r' : '';
    const lines = whole
      .slice(0, whole.length - held.length)
      .replaceAll('\r\n', '\n')
      .replaceAll('\r', '\n');
    const plain = WIDE.includes(encoding) ? lines.replaceAll(WIDE_ENDS, '\n') : lines;
    if (plain !== '') yield Buffer.from(plain, encoding === 'utf-8' ? 'latin1' : 'utf8');
  }
  if (held !== '') yield Buffer.from('\n');
}

const SHIFT = Buffer.from('+A');
const LETTER_A = 0x41;
const LETTER_H = 0x48;
/** A shifted sequence of UTF-7: `+`, the base64 of characters of which the first is ASCII, and an optional `-`. */
const SHIFTED = /\+A[A-H][A-Za-z0-9+/]{1,65533}-?/g;
/** The byte order mark in UTF-7. */
const SHIFTED_MARK = /^\+\/v[89+/]-?/;

/** Letters of base64. */
const IN_SHIFT = new Uint8Array(256);
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/') IN_SHIFT[character.charCodeAt(0)] = 1;
const SHIFT_BYTES = { least: 4, most: 65_536 } as const;
/** A sequence without a closing dash may be a word or a sum, unless it has at least this many letters and decodes to ASCII alone. */
const OPEN_SHIFT_LEAST = 16;
const DASH = 0x2d;
const ASCII = /^[\0-\x7f]*$/;

/** Whether an ASCII text has shifted sequences of UTF-7. Each run of base64 letters is checked once, from its first and its last possible shift. */
export function hasUtf7(text: Buffer): boolean {
  if (SHIFTED_MARK.test(text.toString('latin1', 0, SHIFT_BYTES.least + 1))) return true;
  for (let at = text.indexOf(SHIFT); at >= 0; at = text.indexOf(SHIFT, at)) {
    let end = at + 1;
    while (IN_SHIFT[text[end] ?? 0] === 1) end += 1;
    const is_closed = text[end] === DASH;
    if (is_closed || end - at >= OPEN_SHIFT_LEAST) {
      const first = text.indexOf(SHIFT, Math.max(at, end - SHIFT_BYTES.most));
      for (const start of new Set([first, text.lastIndexOf(SHIFT, end)])) {
        const next = text[start + 2] ?? 0;
        const least = is_closed ? SHIFT_BYTES.least : OPEN_SHIFT_LEAST;
        if (start < 0 || end - start < least || next < LETTER_A || next > LETTER_H) continue;
        const letters = fromShifted(text.toString('latin1', start, end));
        if (letters !== undefined && (is_closed || ASCII.test(letters))) return true;
      }
    }
    at = end;
  }
  return false;
}

/** The characters of one shifted sequence; undefined if it is not one. */
function fromShifted(shifted: string): string | undefined {
  const bytes = decodedBase64(Buffer.from(shifted.replaceAll(/^\+|-$/g, ''), 'latin1'));
  const whole = bytes.subarray(0, bytes.length - (bytes.length % 2));
  const units = unitsOf(whole, 'utf-16be');
  if (units.length === 0 || units.some(isControl)) return undefined;
  return whole.swap16().toString('utf16le');
}

/** Decodes the shifted sequences of UTF-7 in a text. */
export function fromUtf7(text: Buffer): Buffer {
  const plain = text
    .toString('latin1')
    .replace(SHIFTED_MARK, '')
    .replaceAll(SHIFTED, (shifted) => {
      const characters = fromShifted(shifted);
      return characters === undefined ? shifted : Buffer.from(characters, 'utf8').toString('latin1');
    })
    .replaceAll('+-', '+');
  return Buffer.from(plain, 'latin1');
}
