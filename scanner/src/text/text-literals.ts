// Extracts texts between quotation marks: a JSON string with `\n` in it, a list of strings with a line each, adjacent strings as in C and in message catalogues.

const QUOTE = 0x22;
export const APOSTROPHE = 0x27;
const BACKSLASH = 0x5c;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const COMMA = 0x2c;
const LETTER_L = 0x4c;
const LETTER_N = 0x6e;
const LETTER_R = 0x72;
const LETTER_U = 0x75;
/** No rule matches a shorter text. Bytes. */
const LEAST = 33;
/** Lists of fewer strings are not read as lines of a text. */
const LINES_LEAST = 3;
/** A longer list is read as several texts. */
const LINES_MAXIMUM = 10_000;
/** Size of texts that rules with a limit of 64 KiB, of which there are many, can match. Bytes. */
export const SHORT_BYTES_MAXIMUM = 32 * 1024;
/** Maximum depth of strings in strings, as in a log of JSON messages. */
const DEPTH_MAXIMUM = 3;
const ESCAPED: ReadonlyMap<number, number> = new Map([
  [LETTER_N, NEWLINE],
  [LETTER_R, RETURN],
  [0x74, 0x09],
  [0x62, 0x08],
  [0x66, 0x0c],
]);
const BLANKS: ReadonlySet<number> = new Set([0x09, NEWLINE, RETURN, 0x20]);
const UNICODE = /^u([0-9a-f]{4})/i;

interface Literal {
  start: number;
  end: number;
  has_lines: boolean;
  has_escapes: boolean;
}

/** The literal that begins with the quotation mark at `open`. It ends at the same mark, or at a line end that is not escaped. */
function literalAt(text: Buffer, open: number, mark: number): Literal {
  let has_lines = false;
  let has_escapes = false;
  let at = open + 1;
  for (; at < text.length && text[at] !== mark && text[at] !== NEWLINE; at += 1) {
    if (text[at] !== BACKSLASH) continue;
    at += 1;
    has_escapes = true;
    has_lines ||= text[at] === LETTER_N || text[at] === LETTER_R;
    if (text[at] === RETURN && text[at + 1] === NEWLINE) at += 1;
  }
  return { start: open + 1, end: Math.min(at, text.length), has_lines, has_escapes };
}

/** The text of a literal with its escapes resolved. */
function meaningOf(text: Buffer, { start, end, has_escapes }: Literal): Buffer {
  if (!has_escapes) return text.subarray(start, end);
  // In UTF-8 a character is never longer than its escape.
  const bytes = Buffer.allocUnsafe(end - start);
  let length = 0;
  for (let at = start; at < end; at += 1) {
    const byte = text[at] ?? 0;
    if (byte !== BACKSLASH || at + 1 >= end) {
      bytes[length++] = byte;
      continue;
    }
    at += 1;
    const letter = text[at] ?? 0;
    if (letter === NEWLINE || (letter === RETURN && text[at + 1] === NEWLINE)) {
      // An escaped line end is removed with the blanks that begin the next line (YAML 1.2, 7.3.1).
      while (at + 1 < end && BLANKS.has(text[at + 1] ?? 0)) at += 1;
      continue;
    }
    const digits = letter === LETTER_U ? UNICODE.exec(text.toString('latin1', at, Math.min(end, at + 5)))?.[1] : undefined;
    if (digits === undefined) bytes[length++] = ESCAPED.get(letter) ?? letter;
    else {
      length += bytes.write(String.fromCharCode(Number.parseInt(digits, 16)), length);
      at += 4;
    }
  }
  return bytes.subarray(0, length);
}

/** The separator of two literals: blanks only, or one comma with blanks; undefined for anything else. */
function between(text: Buffer, from: number, to: number): 'nothing' | 'comma' | undefined {
  let commas = 0;
  for (let at = from; at < to; at += 1) {
    const byte = text[at] ?? 0;
    if (byte === COMMA) commas += 1;
    else if (byte !== 0x20 && byte !== 0x09 && byte !== NEWLINE && byte !== RETURN && !(byte === LETTER_L && at === to - 1))
      return undefined;
  }
  return commas > 1 ? undefined : commas === 1 ? 'comma' : 'nothing';
}

const JSON_BEGIN = /^(?:\xef\xbb\xbf)?\s{0,32}[{[]/;
const JSON_BEGIN_BYTES = 40;
const MANY_LINES = Buffer.from('\\n');

/** Yields the texts. Works in one pass over the text, and one over each text that contains others. */
export function* literalTexts(text: Buffer, mark = QUOTE, depth = 0): Generator<Buffer> {
  function* within(bytes: Buffer): Generator<Buffer> {
    if (bytes.length < LEAST) return;
    yield bytes;
    if (depth + 1 < DEPTH_MAXIMUM && bytes.includes(QUOTE) && bytes.includes(MANY_LINES))
      yield* literalTexts(bytes, QUOTE, depth + 1);
  }
  const is_json = mark === QUOTE && JSON_BEGIN.test(text.toString('latin1', 0, JSON_BEGIN_BYTES));
  let group: Literal[] = [];
  let how: 'nothing' | 'comma' | undefined;
  function* flush(): Generator<Buffer> {
    const [only] = group;
    if (only !== undefined && group.length === 1) {
      // A single literal without lines counts only in JSON: in sentences it is a quoted word.
      if (is_json || only.has_lines) yield* within(meaningOf(text, only));
    } else if ((is_json && group.length >= LINES_LEAST) || group.some(({ has_lines }) => has_lines)) {
      const pieces: Buffer[] = [];
      for (const literal of group) {
        const piece = meaningOf(text, literal);
        pieces.push(piece);
        if (how === 'comma' && piece.at(-1) !== NEWLINE) pieces.push(Buffer.from('\n'));
      }
      const whole = Buffer.concat(pieces);
      yield* within(whole);
      // Rules for short texts do not match a long one.
      if (whole.length > SHORT_BYTES_MAXIMUM) for (const piece of pieces) if (piece.includes(NEWLINE)) yield* within(piece);
    }
    group = [];
    how = undefined;
  }
  for (let open = text.indexOf(mark); open >= 0; ) {
    const literal = literalAt(text, open, mark);
    const last = group.at(-1);
    const gap = last === undefined ? undefined : between(text, last.end + 1, open);
    if (last !== undefined && (gap === undefined || (how !== undefined && gap !== how) || group.length === LINES_MAXIMUM))
      yield* flush();
    else how = gap;
    // Only a literal with a closing mark counts.
    if (text[literal.end] === mark) group.push(literal);
    else yield* flush();
    open = text.indexOf(mark, literal.end + 1);
  }
  yield* flush();
}
