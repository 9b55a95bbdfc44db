// Texts that stand between quotation marks: a string of JSON with `\n` in it, a list of strings with a line each, strings one behind the other as in C and in catalogues of words.

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
/** Less is no text that a rule tells. Bytes. */
const LEAST = 33;
/** Lists of fewer strings are no text of lines. */
const LINES_LEAST = 3;
/** A longer list is read in several texts. */
const LINES_MAXIMUM = 10_000;
/** Many rules ask for texts below 64 KiB. */
export const SHORT_BYTES_MAXIMUM = 32 * 1024;
/** Strings in strings, as a log has them of messages in JSON. */
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

/** The end of the literal that begins with the mark at `open`: its mark, or the end of a line that does not continue. */
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

/** The meaning of a literal. */
function meaningOf(text: Buffer, { start, end, has_escapes }: Literal): Buffer {
  if (!has_escapes) return text.subarray(start, end);
  // An escape is never shorter than its character, in UTF-8.
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
      // The line continues after the blanks that the next one begins with (YAML 1.2, 7.3.1).
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

/** The text between two literals: only blanks, or a comma with them; undefined for any other. */
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

/** The texts, each once. In one pass over the text, and one over each text that holds others. */
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
      // A sentence quotes words, a document of JSON holds texts.
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
      // Rules for short texts do not see them in a long one.
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
    // A mark at the end of a line ends no literal.
    if (text[literal.end] === mark) group.push(literal);
    else yield* flush();
    open = text.indexOf(mark, literal.end + 1);
  }
  yield* flush();
}
