import type { YaraPattern } from './yara-source.ts';

// Extracts literals without which a pattern cannot match: they are in sets, and every content that the pattern matches contains at least one literal of each set. They are in lowercase
// Latin-1, for a search that ignores case, whatever the pattern's modifiers.

/** Literals are cut to this length. Bytes. */
const LITERAL_BYTES = 8;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', f: '\f', a: '\x07', v: '\v' };

/** Converts A to Z to lowercase; other bytes stay. */
const inSmallLetters = (text: string) => text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** Sets of literals: one of each set is needed. No sets: no literals are known. */
type Needs = readonly (readonly string[])[];

/** The part of a text that is searched for. A `wide` pattern is searched in the content without zero bytes, so its literal has none either. */
function literalIn(text: string, is_wide: boolean): string | undefined {
  const [longest = ''] = is_wide ? text.split('\0').sort((one, other) => other.length - one.length) : [text];
  return longest === '' ? undefined : inSmallLetters(longest.slice(0, LITERAL_BYTES));
}

/** The set that is least often found by chance: the one whose shortest literal is longest. */
function best(sets: Needs): readonly string[] | undefined {
  const worth = (set: readonly string[]) => Math.min(...set.map(({ length }) => length)) - set.length / 1_000;
  return sets.toSorted((one, other) => worth(other) - worth(one))[0];
}

/** The base64 forms of a text at each of the three offsets in a group, without characters that also encode neighbouring bytes. */
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
  // Jumps, alternatives and bytes with wildcards end a run.
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

/** Parses a regular expression as far as its literals require. */
class RegexLiterals {
  private at = 0;
  private readonly body: string;
  private readonly is_wide: boolean;

  constructor(body: string, is_wide: boolean) {
    this.body = body;
    this.is_wide = is_wide;
  }

  /** Literals of alternatives, up to the end or a closing parenthesis. */
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

  /** The minimum number of repeats of the previous part, and whether it has no quantifier. */
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

  /** A single byte as text, the literals of a group, or undefined for a part that matches different bytes. */
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
        // A character beyond ASCII is several bytes.
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

/** Sets of literals: every content that the pattern matches contains at least one of each set. No sets if none are known. */
export function literalsOf({ kind, body, modifiers }: YaraPattern): Needs {
  // `xor`, or base64 with a custom alphabet.
  if (/\bxor\b|base64(?:wide)? \(/.test(modifiers)) return [];
  const is_wide = /wide\b/.test(modifiers);
  if (kind === 'text') return ofText(body, /\bbase64/.test(modifiers), is_wide);
  if (kind === 'hex') return ofHex(body);
  return new RegexLiterals(body, is_wide).alternatives();
}

/** Finds which of many literals a content contains, in one pass and ignoring case (Aho and Corasick, 1975). */
export class LiteralSearch {
  private readonly columns: number;
  /** Column of each byte; 0 for bytes that no literal has. */
  private readonly column = new Uint8Array(256);
  /** The next state for each state and column. */
  private readonly next: Uint16Array;
  /** Ids of the literals that end in each state. */
  private readonly ends: (readonly number[] | undefined)[];

  /** @throws if they are too many for the table */
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
    // Each state falls back to the longest prefix of a literal that is its suffix; states are visited in the order of their depth.
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

  /** Sets `found` to 1 for each literal that the content contains. */
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
