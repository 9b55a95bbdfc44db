import type { YaraPattern } from './yara-source.ts';

// Texts without which a pattern cannot match: it has sets of them, and of each set at least one text stands in every content that it matches. They are in small letters and in Latin-1, so that a search in
// small letters finds them whatever the pattern says of case.

/** Longer texts tell no more. Bytes. */
const LITERAL_BYTES = 8;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', f: '\f', a: '\x07', v: '\v' };

/** The letters A to Z small, as a search without regard to case has them; other bytes stay. */
const inSmallLetters = (text: string) => text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** Sets of texts: of each set one is needed. Without any set nothing is known. */
type Needs = readonly (readonly string[])[];

/** The part of a text that is searched for. A pattern in UTF-16 is looked for in the content without its NULs, so that it has none itself. */
function literalIn(text: string, is_wide: boolean): string | undefined {
  const [longest = ''] = is_wide ? text.split('\0').sort((one, other) => other.length - one.length) : [text];
  return longest === '' ? undefined : inSmallLetters(longest.slice(0, LITERAL_BYTES));
}

/** The set that is found least often by chance: its shortest text is the longest. */
function best(sets: Needs): readonly string[] | undefined {
  const worth = (set: readonly string[]) => Math.min(...set.map(({ length }) => length)) - set.length / 1_000;
  return sets.toSorted((one, other) => worth(other) - worth(one))[0];
}

/** The bytes of a text in base64, from each of the three places of a group; of letters that other bytes share with it, none. */
function inBase64(text: string): string[] {
  return [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text, 'latin1')]);
    const letters = bytes.toString('base64').replaceAll('=', '');
    const first = before === 0 ? 0 : before + 1;
    return letters.slice(first, bytes.length % 3 === 0 ? undefined : -1);
  });
}

function ofText(body: string, is_base64: boolean, is_wide: boolean): Needs {
  const bytes = Buffer.from(body, 'utf8').toString('latin1');
  const text = bytes.replaceAll(/\\(?:x([0-9a-fA-F]{2})|(.))/gs, (_whole, digits?: string, letter?: string) =>
    digits === undefined ? (ESCAPES[letter ?? ''] ?? letter ?? '') : String.fromCharCode(Number.parseInt(digits, 16)),
  );
  const literals = (is_base64 ? [text, ...inBase64(text)] : [text]).map((one) => literalIn(one, is_wide));
  return literals.some((literal) => literal === undefined) ? [] : [literals.flatMap((literal) => literal ?? [])];
}

function ofHex(body: string): Needs {
  // Jumps, alternatives and bytes that are not whole end a run.
  const flat = body.replaceAll(/\s/g, '').replaceAll(/\[[^\]]*\]/g, ' ');
  let depth = 0;
  let outer = '';
  for (const character of flat) {
    if (character === '(') depth += 1;
    outer += depth === 0 ? character : ' ';
    if (character === ')') depth -= 1;
  }
  return outer
    .replaceAll(/~../g, ' ')
    .split(' ')
    .flatMap((run) =>
      (run.match(/../g) ?? [])
        .map((pair) => (/^[0-9a-f]{2}$/i.test(pair) ? pair : ' '))
        .join('')
        .split(' '),
    )
    .flatMap((run) => {
      const literal = literalIn(Buffer.from(run, 'hex').toString('latin1'), false);
      return literal === undefined ? [] : [[literal]];
    });
}

/** Reads as much of a regular expression as its texts need. */
class RegexLiterals {
  private at = 0;
  private readonly body: string;
  private readonly is_wide: boolean;

  constructor(body: string, is_wide: boolean) {
    this.body = body;
    this.is_wide = is_wide;
  }

  /** The needs of alternatives, up to the end or a closing bracket. */
  alternatives(): Needs {
    const only = this.row();
    if (this.body[this.at] !== '|') return only;
    const branches = [best(only)];
    while (this.body[this.at] === '|') {
      this.at += 1;
      branches.push(best(this.row()));
    }
    return branches.some((branch) => branch === undefined) ? [] : [branches.flatMap((branch) => branch ?? [])];
  }

  /** The least number of repeats of the part before, and whether it stands there just once. */
  private repeat(): { least: number; is_once: boolean } {
    const [whole, mark, digits] = /^(?:([*?+])|\{(\d*)(?:,\d*)?\})\??/.exec(this.body.slice(this.at, this.at + 24)) ?? [];
    if (whole === undefined) return { least: 1, is_once: true };
    this.at += whole.length;
    return { least: mark === undefined ? Number(digits) : mark === '+' ? 1 : 0, is_once: false };
  }

  private row(): Needs {
    const sets: (readonly string[])[] = [];
    let run = '';
    const end = () => {
      const literal = literalIn(run, this.is_wide);
      if (literal !== undefined) sets.push([literal]);
      run = '';
    };
    while (this.at < this.body.length && this.body[this.at] !== '|' && this.body[this.at] !== ')') {
      const inner = this.part();
      const { least, is_once } = this.repeat();
      if (typeof inner === 'string') {
        if (least > 0) run += inner;
        if (!is_once) end();
        continue;
      }
      end();
      if (inner !== undefined && least > 0) sets.push(...inner);
    }
    end();
    return sets;
  }

  /** A single byte as text, the texts of a group, or undefined for what may be several things. */
  private part(): string | Needs | undefined {
    const character = this.body[this.at] ?? '';
    this.at += 1;
    switch (character) {
      case '(': {
        if (this.body.startsWith('?:', this.at)) this.at += 2;
        const needs = this.alternatives();
        this.at += 1;
        return needs;
      }
      case '[':
        this.skipClass();
        return undefined;
      case '.':
      case '^':
      case '$':
        return undefined;
      case '\\':
        return this.escape();
      default:
        // A letter beyond ASCII is several bytes.
        return character < '\x80' ? character : undefined;
    }
  }

  private escape(): string | undefined {
    const letter = this.body[this.at] ?? '';
    this.at += 1;
    if (letter === 'x') {
      const code = Number.parseInt(this.body.slice(this.at, this.at + 2), 16);
      this.at += 2;
      return Number.isNaN(code) ? undefined : String.fromCharCode(code);
    }
    if (ESCAPES[letter] !== undefined) return ESCAPES[letter];
    return /[\w]/.test(letter) ? undefined : letter;
  }

  private skipClass(): void {
    if (this.body[this.at] === '^') this.at += 1;
    for (let is_first = true; this.at < this.body.length && (is_first || this.body[this.at] !== ']'); is_first = false)
      this.at += this.body[this.at] === '\\' ? 2 : 1;
    this.at += 1;
  }
}

/** Sets of texts: of each at least one stands in every content that a pattern matches. No set where that is not known. */
export function literalsOf({ kind, body, modifiers }: YaraPattern): Needs {
  // `xor`, and an alphabet of the rule's own.
  if (/\bxor\b|base64(?:wide)? \(/.test(modifiers)) return [];
  const is_wide = /wide\b/.test(modifiers);
  if (kind === 'text') return ofText(body, /\bbase64/.test(modifiers), is_wide);
  if (kind === 'hex') return ofHex(body);
  return new RegexLiterals(body, is_wide).alternatives();
}

/** Finds which of many short texts stand in a content, in one pass and without regard to case (Aho and Corasick, 1975). */
export class LiteralSearch {
  private readonly columns: number;
  /** Column of each byte; 0 for bytes that no text has. */
  private readonly column = new Uint8Array(256);
  /** The next state of a state and a column. */
  private readonly next: Uint16Array;
  /** Texts that end in a state. */
  private readonly ends: (readonly number[] | undefined)[];

  /** @throws where they are more than the table holds */
  constructor(texts: readonly string[]) {
    let columns = 1;
    for (const text of texts) {
      for (const byte of Buffer.from(text, 'latin1')) {
        if (this.column[byte] !== 0) continue;
        this.column[byte] = columns;
        columns += 1;
      }
    }
    if (columns > 255) throw new Error('Texts with nearly every byte cannot be searched for.');
    for (let byte = 0x41; byte <= 0x5a; byte += 1) this.column[byte] = this.column[byte + 32] ?? 0;
    this.columns = columns;
    const most = texts.reduce((sum, { length }) => sum + length, 1);
    if (most > 0xffff) throw new Error('The texts are too many to be searched for.');
    this.next = new Uint16Array(most * columns);
    this.ends = Array.from({ length: most }, () => undefined);
    this.build(texts);
  }

  private build(texts: readonly string[]): void {
    const { next, ends, columns, column } = this;
    let states = 1;
    for (const [id, text] of texts.entries()) {
      let state = 0;
      for (const byte of Buffer.from(text, 'latin1')) {
        const place = state * columns + (column[byte] ?? 0);
        if (next[place] === 0) {
          next[place] = states;
          states += 1;
        }
        state = next[place] ?? 0;
      }
      ends[state] = [...(ends[state] ?? []), id];
    }
    // Each state falls back to the longest beginning of a text that it ends with; states come in the order of their depth.
    const fallback = new Uint16Array(states);
    const waiting: number[] = [];
    for (let letter = 0; letter < columns; letter += 1) if (next[letter] !== 0) waiting.push(next[letter] ?? 0);
    for (let at = 0; at < waiting.length; at += 1) {
      const state = waiting[at] ?? 0;
      const other = fallback[state] ?? 0;
      if (ends[other] !== undefined) ends[state] = [...(ends[state] ?? []), ...ends[other]];
      for (let letter = 0; letter < columns; letter += 1) {
        const place = state * columns + letter;
        const there = next[other * columns + letter] ?? 0;
        const child = next[place] ?? 0;
        if (child === 0) next[place] = there;
        else {
          fallback[child] = there;
          waiting.push(child);
        }
      }
    }
  }

  /** Marks the texts that stand in a content. */
  mark(bytes: Uint8Array, found: Uint8Array): void {
    const { next, ends, columns, column } = this;
    let state = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      state = next[state * columns + (column[bytes[at] ?? 0] ?? 0)] ?? 0;
      const here = ends[state];
      if (here !== undefined) for (const id of here) found[id] = 1;
    }
  }
}
