import { DECODED_LEAST, type Run } from './text-runs.ts';

// Finds bytes encoded in base85 without any mark, in the alphabets of Adobe (PostScript language reference, 3.13.3), RFC 1924 (Python, git) and ZeroMQ (RFC 32, Z85). Five letters are
// four bytes.

/** Least number of letters of a run, so that it decodes to at least DECODED_LEAST bytes. */
const RUN_LEAST = Math.ceil((DECODED_LEAST * 5) / 4) + 1;
/** Least length of the lines of a run, except the last one. Letters. */
const LINE_LEAST = 40;
/** The alphabet of Adobe: character codes 33 to 117 in order. */
const ADOBE = Array.from({ length: 85 }, (_, index) => String.fromCharCode(33 + index)).join('');
const RFC1924 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~';
const Z85 = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#';
const NONE = 0xff;
/** Single letters for four bytes: `z` for zeros in Adobe's alphabet, `y` for blanks in that of btoa. */
const ZEROS = 0x7a;
const BLANKS = 0x79;

const SHORT: ReadonlyMap<number, number> = new Map([
  [ZEROS, 0],
  [BLANKS, 0x20202020],
]);

interface Alphabet {
  values: Uint8Array;
  /** 1 for each letter of the alphabet, and for each letter that stands for four bytes. */
  letters: Uint8Array;
  /** The letter with the value 0. */
  zero: number;
  has_short: boolean;
}

function alphabetOf(letters: string, has_short: boolean): Alphabet {
  const values = new Uint8Array(256).fill(NONE);
  for (const [value, letter] of [...letters].entries()) values[letter.charCodeAt(0)] = value;
  return {
    values,
    letters: values.map((value, letter) => (value !== NONE || (has_short && SHORT.has(letter)) ? 1 : 0)),
    zero: values.indexOf(0),
    has_short,
  };
}

const ALPHABETS: readonly Alphabet[] = [alphabetOf(ADOBE, true), alphabetOf(RFC1924, false), alphabetOf(Z85, false)];

/** Decodes letters; undefined if five of them exceed the range of four bytes. */
function decoded(letters: Buffer, { values, has_short }: Alphabet): Buffer | undefined {
  let shorts = 0;
  if (has_short) for (let at = 0; at < letters.length; at += 1) if (SHORT.has(letters[at] ?? 0)) shorts += 1;
  const bytes = Buffer.allocUnsafe(Math.ceil(letters.length / 5) * 4 + 4 * shorts);
  let length = 0;
  let value = 0;
  let count = 0;
  for (let at = 0; at < letters.length; at += 1) {
    const letter = letters[at] ?? 0;
    const short = has_short && count === 0 ? SHORT.get(letter) : undefined;
    if (short !== undefined) {
      bytes.writeUInt32BE(short, length);
      length += 4;
      continue;
    }
    const digit = values[letter] ?? NONE;
    if (digit === NONE) return undefined;
    value = value * 85 + digit;
    count += 1;
    if (count < 5) continue;
    if (value > 0xffffffff) return undefined;
    bytes.writeUInt32BE(value, length);
    length += 4;
    value = 0;
    count = 0;
  }
  if (count > 1) {
    for (let more = count; more < 5; more += 1) value = value * 85 + 84;
    if (value > 0xffffffff) return undefined;
    bytes.writeUInt32BE(value, length);
    length += count - 1;
  }
  return Buffer.from(bytes.subarray(0, length));
}

const isUpper = (letter: number) => letter >= 0x41 && letter <= 0x5a;
const isLower = (letter: number) => letter >= 0x61 && letter <= 0x7a;
const isDigit = (letter: number) => letter >= 0x30 && letter <= 0x39;
/** Of this many letters at least one is uppercase, one lowercase, and one neither letter nor digit. */
const EACH_ONE_OF = 24;
const LOOK_LETTERS = 1024;

/** Whether characters are mixed as in base85, unlike words, addresses, programs and base64. Repeated characters are ignored, since zeros of a file are one repeated letter. */
function isMixed(letters: Buffer): boolean {
  let [upper, lower, digits, all] = [0, 0, 0, 0];
  for (let at = 0; at < letters.length && all < LOOK_LETTERS; at += 1) {
    const letter = letters[at] ?? 0;
    if (letter === letters[at - 1]) continue;
    all += 1;
    if (isUpper(letter)) upper += 1;
    else if (isLower(letter)) lower += 1;
    else if (isDigit(letter)) digits += 1;
  }
  const least = all / EACH_ONE_OF;
  return all >= DECODED_LEAST && upper >= least && lower >= least && all - upper - lower - digits >= least && digits > 0;
}

/** In encoded UTF-32BE text, three or four of five letters have the value 0; the others are from a part of the alphabet, so `isMixed` fails. */
const WIDE_ZEROS = { least: 0.5, most: 0.85 };
const WIDE_KINDS_LEAST = 8;

function isWide(letters: Buffer, { zero }: Alphabet): boolean {
  const looked = letters.subarray(0, LOOK_LETTERS);
  let zeros = 0;
  for (const letter of looked) if (letter === zero) zeros += 1;
  const share = zeros / looked.length;
  return share >= WIDE_ZEROS.least && share <= WIDE_ZEROS.most && new Set(looked).size > WIDE_KINDS_LEAST;
}

const QUOTES = Buffer.from('"\'`');
const BACKSLASH = 0x5c;
const OPENINGS_MAXIMUM = 4;
const OPENING_WITHIN = 64;

/** Removes the backslashes with which a literal escapes quotation marks and backslashes. */
function withoutEscapes(letters: Buffer): Buffer {
  const plain = Buffer.allocUnsafe(letters.length);
  let length = 0;
  for (let at = 0; at < letters.length; at += 1) {
    const next = letters[at + 1] ?? 0;
    if (letters[at] === BACKSLASH && (next === BACKSLASH || QUOTES.includes(next))) at += 1;
    plain[length++] = letters[at] ?? 0;
  }
  return plain.subarray(0, length);
}

/** The letters from a quotation mark to the next same one that is not escaped, or to the end. */
function literalFrom(letters: Buffer, open: number): Buffer {
  const quote = letters[open] ?? 0;
  for (let at = open + 1; at < letters.length; at += 1) {
    if (letters[at] === BACKSLASH) at += 1;
    else if (letters[at] === quote) return letters.subarray(open + 1, at);
  }
  return letters.subarray(open + 1);
}

/** Text that may directly precede the letters: XML tags, or a name with a colon or an equals sign. */
const BEFORE = /^.{0,60}?\[CDATA\[|^(?:[^<>]{0,30}\?>)?(?:<[\w:.-]{1,40}>){1,6}|^[\w.-]{1,40}[=:]/;
const BEHIND = /(?:\]\]>?)?(?:<\/[\w:.-]{1,40}>?){0,6}[,;]?$/;

/** Possible data of a run: all of it, or parts between tags or quotation marks, which are letters of Adobe's alphabet themselves. */
function* readings(letters: Buffer): Generator<Buffer> {
  yield letters;
  const before = BEFORE.exec(letters.toString('latin1', 0, OPENING_WITHIN))?.[0].length ?? 0;
  const behind = BEHIND.exec(letters.toString('latin1', Math.max(0, letters.length - OPENING_WITHIN)))?.[0].length ?? 0;
  if (before + behind > 0) yield letters.subarray(before, letters.length - behind);
  const escaped = letters.includes(BACKSLASH);
  if (escaped) yield withoutEscapes(letters);
  let openings = 0;
  for (let at = 0; at < Math.min(OPENING_WITHIN, letters.length) && openings < OPENINGS_MAXIMUM; at += 1) {
    if (!QUOTES.includes(letters[at] ?? 0)) continue;
    openings += 1;
    const literal = literalFrom(letters, at);
    yield literal;
    if (escaped) yield withoutEscapes(literal);
    // The literal may also extend to the last such mark of the run.
    const until = letters.lastIndexOf(letters[at] ?? 0);
    if (until > at + 1 && until - at - 1 !== literal.length) yield letters.subarray(at + 1, until);
  }
  // A literal that begins before the run, such as one with triple quotes.
  const last = letters[letters.length - 1] ?? 0;
  if (QUOTES.includes(last)) yield letters.subarray(0, -1);
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;
const isBlank = (byte: number | undefined) => byte === SPACE || byte === TAB;

/** Start of the letters of the next line; -1 if there is none. */
function nextLine(text: Buffer, end: number): number {
  let at = end;
  if (text[at] === RETURN) at += 1;
  if (text[at] !== NEWLINE) return -1;
  at += 1;
  while (isBlank(text[at])) at += 1;
  return at;
}

function lineEnd(text: Buffer, start: number, { letters }: Alphabet): number {
  let at = start;
  while (at < text.length && letters[text[at] ?? 0] === 1) at += 1;
  return at;
}

/** Runs in one alphabet: one of LINE_LEAST characters is checked, and its neighbours if it may be part of a run. */
function* inAlphabet(text: Buffer, alphabet: Alphabet, isSomething: (bytes: Buffer) => boolean): Generator<Run> {
  const isOf = (letter: number | undefined) => alphabet.letters[letter ?? 0] === 1;
  let done = 0;
  for (let at = LINE_LEAST - 1; at < text.length; at += LINE_LEAST) {
    if (at < done || !isOf(text[at])) continue;
    let start = at;
    while (start > done && isOf(text[start - 1])) start -= 1;
    const first_end = lineEnd(text, at, alphabet);
    let end = first_end;
    const width = first_end - start;
    if (width >= LINE_LEAST) {
      const lines = [text.subarray(start, end)];
      for (let length = width; length === width; ) {
        const from = nextLine(text, end);
        if (from < 0) break;
        const to = lineEnd(text, from, alphabet);
        length = to - from;
        const behind = text[to] ?? NEWLINE;
        if (length === 0 || length > width || (behind !== NEWLINE && behind !== RETURN && length === width)) break;
        lines.push(text.subarray(from, to));
        end = to;
      }
      const letters = lines.length === 1 ? text.subarray(start, end) : Buffer.concat(lines);
      if (letters.length >= RUN_LEAST && (isMixed(letters) || isWide(letters, alphabet))) {
        for (const reading of readings(letters)) {
          const bytes = reading.length < RUN_LEAST ? undefined : decoded(reading, alphabet);
          if (bytes === undefined || !isSomething(bytes)) continue;
          yield { how: 'base85', start, end, bytes };
          break;
        }
      }
    }
    done = Math.max(done, end);
  }
}

const ENTITIES: ReadonlyMap<string, string> = new Map(Object.entries({ lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }));
const ENTITY = /&(lt|gt|amp|quot|apos);/g;
const AMPERSAND = Buffer.from('&');

/** Resolves the XML entities of five of the letters; undefined if there are none. */
function withoutEntities(text: Buffer): Buffer | undefined {
  if (!text.includes(AMPERSAND)) return undefined;
  const source = text.toString('latin1');
  const plain = source.replaceAll(ENTITY, (whole, name: string) => ENTITIES.get(name) ?? whole);
  return plain.length === source.length ? undefined : Buffer.from(plain, 'latin1');
}

/** Runs of base85 in any of the alphabets that decode to a text or a file, as `isSomething` decides. */
export function* base85RunsOf(text: Buffer, isSomething: (bytes: Buffer) => boolean): Generator<Run> {
  for (const one of [text, withoutEntities(text)])
    if (one !== undefined) for (const alphabet of ALPHABETS) yield* inAlphabet(one, alphabet, isSomething);
}
