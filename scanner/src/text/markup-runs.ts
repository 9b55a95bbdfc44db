import { decodeHTML } from 'entities';
import { DECODED_LEAST, type Run } from './text-runs.ts';

// Finds base64 that markup interrupts: with character references, and with tags and comments between its letters. A browser ignores all of them: it resolves references in an attribute,
// a script reads the text of an element without its tags, and blanks in base64 have no meaning.

const LESS = 0x3c;
const AMPERSAND = 0x26;
const SEMICOLON = 0x3b;

const PERCENT = 0x25;
const SPACE = 0x20;
const LETTER = 1;
const BLANK = 2;
const KIND = new Uint8Array(256);
for (const letter of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_') KIND[letter.charCodeAt(0)] = LETTER;
for (const blank of '\t\n\f\r') KIND[blank.charCodeAt(0)] = BLANK;

const REFERENCE = /^&(?:#[xX][0-9a-fA-F]{1,8}|#\d{1,9}|[A-Za-z][A-Za-z0-9]{1,30});?/;
const REFERENCE_BYTES = 34;
const ESCAPED = /^%(2[bBfFdD]|3[dD]|0[aAdD9]|20|[4-7][0-9a-fA-F]|3[0-9])/;
/** The second characters of references and tags. */
const BEGINS: ReadonlySet<number | undefined> = new Set(Buffer.from('#/!?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'));
/** The end of a `data:` URL's header: blanks in the base64 after it are ignored. */
const IN_ADDRESS = 'base64,';
const TAG_BEGIN = Buffer.from('<');
const TAG_END = Buffer.from('>');
const REFERENCE_BEGIN = Buffer.from('&');
const COMMENT = Buffer.from('<!--');
const COMMENT_END = Buffer.from('-->');
const CDATA = Buffer.from('<![CDATA[');
const CDATA_END = Buffer.from(']]>');
/** Longer tags count as text. Bytes. */
const TAG_BYTES_MAXIMUM = 1024;
const TAG = /^<[/!?]?[A-Za-z]/;
/** Least number of letters of a run. */
const LETTERS_LEAST = Math.ceil((DECODED_LEAST * 4) / 3);
/** In base64 at least one of this many letters is uppercase, and one lowercase. */
const EACH_ONE_OF = 16;
/** Number of positions between tags that are tried as the start of the base64, in case other text precedes it. */
const STARTS_MAXIMUM = 8;
const READINGS_MAXIMUM = 3;

/** Markup between letters: its length, and the letter that it stands for. */
interface Step {
  length: number;
  letter: string;
}

class Markup {
  private readonly text: Buffer;
  private readonly begins: readonly Buffer[];
  private readonly ends = new Map<Buffer, number>();

  constructor(text: Buffer, begins: readonly Buffer[]) {
    this.text = text;
    this.begins = begins;
  }

  /** Position of the first `mark` from `at` on; each part of the text is searched once. */
  private endOf(mark: Buffer, at: number): number {
    const known = this.ends.get(mark);
    if (known !== undefined && (known < 0 || known >= at)) return known;
    const found = this.text.indexOf(mark, at);
    this.ends.set(mark, found);
    return found;
  }

  /** The next position at which markup may interrupt base64. */
  next(from: number): number {
    return Math.min(...this.begins.map((mark) => this.endOf(mark, from)).map((at) => (at < 0 ? this.text.length : at)));
  }

  /** The markup at a position within base64; undefined if there is none. */
  step(at: number): Step | undefined {
    const { text } = this;
    const byte = text[at] ?? 0;
    if (byte === AMPERSAND) return this.reference(at);
    if (byte === LESS) return this.begins.includes(TAG_BEGIN) ? this.tag(at) : undefined;
    if (byte === PERCENT) {
      const [whole, digits = ''] = ESCAPED.exec(text.toString('latin1', at, at + 3)) ?? [];
      return whole === undefined ? undefined : stepOf(String.fromCharCode(Number.parseInt(digits, 16)), whole.length);
    }
    // The end of a CDATA section.
    return byte === 0x5d && text.subarray(at, at + CDATA_END.length).equals(CDATA_END)
      ? { length: CDATA_END.length, letter: '' }
      : undefined;
  }

  private reference(at: number): Step | undefined {
    const [whole] = REFERENCE.exec(this.text.toString('latin1', at, at + REFERENCE_BYTES)) ?? [];
    if (whole === undefined) return undefined;
    return stepOf(decodeHTML(whole), whole.length);
  }

  private tag(at: number): Step | undefined {
    const { text } = this;
    const is_comment = text.subarray(at, at + COMMENT.length).equals(COMMENT);
    if (is_comment) {
      const end = this.endOf(COMMENT_END, at + COMMENT.length);
      return end < 0 ? undefined : { length: end + COMMENT_END.length - at, letter: '' };
    }
    if (text.subarray(at, at + CDATA.length).equals(CDATA)) return { length: CDATA.length, letter: '' };
    if (!TAG.test(text.toString('latin1', at, at + 4))) return undefined;
    const length = this.endOf(TAG_END, at) + 1 - at;
    return length > 0 && length <= TAG_BYTES_MAXIMUM ? { length, letter: '' } : undefined;
  }
}

/** The step for a character that markup stands for: a letter of base64, or a blank; undefined for a character that ends the run. */
function stepOf(character: string, length: number): Step | undefined {
  const code = character.length === 1 ? character.charCodeAt(0) : 0x100;
  const kind = code < 0x100 ? KIND[code] : 0;
  if (kind === LETTER) return { length, letter: character };
  const is_blank = kind === BLANK || code === SPACE || code === 0xa0 || (code >= 0x2000 && code <= 0x200f) || code === 0xfeff;
  return is_blank ? { length, letter: '' } : undefined;
}

/** Whether letters are mixed as in base64: a word has an uppercase letter only at its beginning. */
function isMixed(letters: string): boolean {
  const sample = letters.slice(0, 1024);
  const least = sample.length / EACH_ONE_OF;
  const within = sample.match(/[a-z0-9+/][A-Z]/g)?.length ?? 0;
  return within >= least / 2 && (sample.match(/[a-z]/g)?.length ?? 0) >= least && (sample.match(/[A-Z]/g)?.length ?? 0) >= least;
}

/** Indices of texts of elements at which the base64 may begin: the first ones, and those shortly before the longest. */
function startsOf(pieces: readonly string[]): Iterable<number> {
  let longest = 0;
  for (const [index, { length }] of pieces.entries()) if (length > (pieces[longest]?.length ?? 0)) longest = index;
  const starts = Array.from({ length: STARTS_MAXIMUM }, (_, index) => [index, Math.max(0, longest - index)]).flat();
  return [...new Set(starts.filter((index) => index < pieces.length))].sort((one, other) => one - other);
}

/** Runs of base64 with markup in them that decode to a text or a file, as `isSomething` decides. */
export function* markupRunsOf(text: Buffer, isSomething: (bytes: Buffer) => boolean): Generator<Run> {
  // Searches with references alone first: a second search skips whole tags, and would miss references in attributes.
  if (text.includes(SEMICOLON)) yield* runsWith(text, [REFERENCE_BEGIN], isSomething);
  if (text.includes(LESS)) yield* runsWith(text, [REFERENCE_BEGIN, TAG_BEGIN], isSomething);
}

function* runsWith(text: Buffer, begins: readonly Buffer[], isSomething: (bytes: Buffer) => boolean): Generator<Run> {
  const markup = new Markup(text, begins);
  let done = 0;
  for (let at = markup.next(0); at < text.length; at = markup.next(Math.max(at + 1, done))) {
    if (!BEGINS.has(text[at + 1])) continue;
    let start = at;
    while (start > done && (KIND[text[start - 1] ?? 0] ?? 0) > 0) start -= 1;
    const pieces: string[] = [''];
    let has_markup = false;
    let end = start;
    const has_blanks = text.toString('latin1', start - IN_ADDRESS.length, start) === IN_ADDRESS;
    while (end < text.length) {
      const from = end;
      while (KIND[text[end] ?? 0] === LETTER) end += 1;
      if (end > from) pieces.push((pieces.pop() ?? '') + text.toString('latin1', from, end));
      while (KIND[text[end] ?? 0] === BLANK || (has_blanks && text[end] === SPACE)) end += 1;
      if (end > from) continue;
      const step = markup.step(end);
      if (step === undefined) break;
      has_markup = true;
      // A new element begins a new text.
      if (text[end] === LESS && pieces.at(-1) !== '') pieces.push('');
      pieces.push((pieces.pop() ?? '') + step.letter);
      end += step.length;
    }
    done = Math.max(done, end);
    if (!has_markup || pieces.reduce((sum, { length }) => sum + length, 0) < LETTERS_LEAST) continue;
    let readings = 0;
    for (const first of startsOf(pieces)) {
      const letters = pieces.slice(first).join('').replaceAll('-', '+').replaceAll('_', '/');
      if (letters.length < LETTERS_LEAST || !isMixed(letters)) continue;
      const bytes = Buffer.from(letters, 'base64');
      if (!isSomething(bytes)) continue;
      yield { how: 'base64', start, end, bytes };
      // Words before the data may look like base64, so several starts are tried.
      readings += 1;
      if (readings === READINGS_MAXIMUM) break;
    }
  }
}
