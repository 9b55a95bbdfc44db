import { DECODED_LEAST, type Run } from './text-runs.ts';

// Decodes escaped values in a dump of a database: quoted strings as mysqldump writes them (MySQL manual, "String Literals"), and fields of COPY and of
// `bytea` with octal escapes (PostgreSQL manual, COPY and "Binary Data Types").

const QUOTE = 0x27;
const BACKSLASH = 0x5c;
const TAB = 0x09;
const NEWLINE = 0x0a;
/** The first words of a statement with values: as most programs write it, and other forms. */
const STATEMENT = 'INSERT INTO';
const STATEMENTS = ['REPLACE INTO', 'INSERT IGNORE', 'insert into', 'Insert Into', 'VALUES (', 'values ('] as const;
/** The other forms are searched for only in the first bytes of a text. Bytes. */
const LOOK_BYTES = 64 * 1024;
/** Marks of dumps in which a backslash is no escape, unless an E precedes the string. */
const STANDARD = ['standard_conforming_strings = on', 'PRAGMA foreign_keys', 'PostgreSQL database dump'] as const;
const COPY = 'COPY ';
const FROM = ' FROM stdin;';
const COPY_LINE_MAXIMUM = 4096;
/** A value begins after one of these characters, or after a prefix for its kind. */
const BEFORE_VALUE = new Set([...'(,= \t\r\n'].map((character) => character.charCodeAt(0)));
const KINDS = new Set([...'eEnNbByY'].map((character) => character.charCodeAt(0)));

/** Letters that after a backslash stand for another byte. */
const MYSQL: ReadonlyMap<number, number> = escapes({ '0': 0, b: 8, n: 10, r: 13, t: 9, Z: 26 });
const POSTGRES: ReadonlyMap<number, number> = escapes({ b: 8, f: 12, n: 10, r: 13, t: 9, v: 11 });

function escapes(meaning: Readonly<Record<string, number>>): ReadonlyMap<number, number> {
  return new Map(Object.entries(meaning).map(([letter, byte]) => [letter.charCodeAt(0), byte]));
}

interface Literal {
  start: number;
  /** Position of its closing quotation mark, or the end of the text. */
  end: number;
  has_escapes: boolean;
}

/** The literal whose opening quotation mark is at `open`. `takes_backslash`: a backslash is an escape. */
function literalAt(text: Buffer, open: number, takes_backslash: boolean): Literal {
  let has_escapes = false;
  let at = open + 1;
  for (; at < text.length; at += 1) {
    const byte = text[at];
    if (byte === BACKSLASH) {
      has_escapes = true;
      if (takes_backslash) at += 1;
    } else if (byte === QUOTE) {
      if (text[at + 1] !== QUOTE) break;
      has_escapes = true;
      at += 1;
    }
  }
  return { start: open + 1, end: Math.min(at, text.length), has_escapes };
}

const isOctal = (byte: number | undefined, most: number) => byte !== undefined && byte >= 0x30 && byte <= most;

function octalAt(text: Buffer, at: number): number | undefined {
  if (!isOctal(text[at], 0x33) || !isOctal(text[at + 1], 0x37) || !isOctal(text[at + 2], 0x37)) return undefined;
  return (((text[at] ?? 0) & 3) << 6) | (((text[at + 1] ?? 0) & 7) << 3) | ((text[at + 2] ?? 0) & 7);
}

/** Resolves escapes: doubled quotation marks, and backslashes if they are escapes. */
function meaning(
  text: Buffer,
  of: { backslash: ReadonlyMap<number, number> | undefined; has_octal: boolean; doubles: boolean },
): Buffer {
  const bytes = Buffer.allocUnsafe(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at] ?? 0;
    if (of.doubles && byte === QUOTE && text[at + 1] === QUOTE) at += 1;
    else if (byte === BACKSLASH && of.backslash !== undefined && at + 1 < text.length) {
      at += 1;
      const octal = of.has_octal ? octalAt(text, at) : undefined;
      if (octal !== undefined) at += 2;
      const letter = text[at] ?? 0;
      bytes[length++] = octal ?? of.backslash.get(letter) ?? letter;
      continue;
    }
    bytes[length++] = byte;
  }
  return bytes.subarray(0, length);
}

const NO_LETTERS: ReadonlyMap<number, number> = new Map();
function* meaningsOf(text: Buffer, { start, end }: Literal, takes_backslash: boolean, is_standard: boolean): Generator<Buffer> {
  const raw = text.subarray(start, end);
  const backslash = takes_backslash ? (is_standard ? POSTGRES : MYSQL) : undefined;
  const plain = meaning(raw, { backslash, has_octal: takes_backslash && is_standard, doubles: true });
  yield plain;
  // The older format of `bytea` has its own escapes.
  if (is_standard && plain.includes(BACKSLASH)) yield meaning(plain, { backslash: NO_LETTERS, has_octal: true, doubles: false });
}

/** Whether a dump follows the SQL standard, in which a backslash is no escape. If the marks of such a dump are only found after a quotation mark, they may be data, so both values are yielded. */
function* readingsOf(text: Buffer): Generator<boolean> {
  const says = STANDARD.map((words) => text.indexOf(words)).filter((at) => at >= 0);
  const quote = text.indexOf(QUOTE);
  if (says.length > 0) yield true;
  if (says.length === 0 || (quote >= 0 && Math.min(...says) > quote)) yield false;
}

function* stringsIn(text: Buffer, is_standard: boolean): Generator<Run> {
  for (let open = text.indexOf(QUOTE); open >= 0; ) {
    const before = text[open - 1] ?? NEWLINE;
    const kind = KINDS.has(before) && !KINDS.has(text[open - 2] ?? 0);
    if (!BEFORE_VALUE.has(before) && !kind) {
      open = text.indexOf(QUOTE, open + 1);
      continue;
    }
    const takes_backslash = !is_standard || (before | 0x20) === 0x65;
    const literal = literalAt(text, open, takes_backslash);
    const { start, end, has_escapes } = literal;
    if (has_escapes && end - start >= DECODED_LEAST)
      for (const bytes of meaningsOf(text, literal, takes_backslash, is_standard))
        if (bytes.length >= DECODED_LEAST) yield { how: 'literal', start, end, bytes };
    open = text.indexOf(QUOTE, end + 1);
  }
}

/** The fields between a COPY line and the line that ends its data. */
function* fieldsIn(text: Buffer): Generator<Run> {
  for (let at = text.indexOf(COPY); at >= 0; at = text.indexOf(COPY, at)) {
    const line = text.indexOf(NEWLINE, at);
    if (line < 0) return;
    const is_copy =
      (at === 0 || text[at - 1] === NEWLINE) &&
      text.toString('latin1', Math.max(at, line - COPY_LINE_MAXIMUM), line).includes(FROM);
    if (!is_copy) {
      at += COPY.length;
      continue;
    }
    const ending = text.indexOf('\n\\.', line);
    const stop = ending < 0 ? text.length : ending;
    for (let start = line + 1; start < stop; ) {
      let end = start;
      let has_escapes = false;
      for (; end < stop && text[end] !== TAB && text[end] !== NEWLINE; end += 1) has_escapes ||= text[end] === BACKSLASH;
      if (has_escapes && end - start >= DECODED_LEAST) {
        const plain = meaning(text.subarray(start, end), { backslash: POSTGRES, has_octal: true, doubles: false });
        if (plain.length >= DECODED_LEAST) yield { how: 'literal', start, end, bytes: plain };
        const bytes = plain.includes(BACKSLASH)
          ? meaning(plain, { backslash: NO_LETTERS, has_octal: true, doubles: false })
          : plain;
        if (bytes !== plain && bytes.length >= DECODED_LEAST) yield { how: 'literal', start, end, bytes };
      }
      start = end + 1;
    }
    at = stop;
  }
}

/** Whether bytes that are not wholly text begin like a dump. */
export function beginsAsDump(bytes: Buffer): boolean {
  const head = bytes.subarray(0, LOOK_BYTES);
  return head.includes(STATEMENT) || head.includes(FROM);
}

/** Values with escapes in a dump or any other database script. */
export function* sqlStringsOf(text: Buffer): Generator<Run> {
  const head = text.subarray(0, LOOK_BYTES);
  if (text.includes(STATEMENT) || STATEMENTS.some((words) => head.includes(words)))
    for (const is_standard of readingsOf(text)) yield* stringsIn(text, is_standard);
  if (text.includes(FROM)) yield* fieldsIn(text);
}
