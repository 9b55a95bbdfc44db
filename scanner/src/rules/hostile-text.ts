import type { YaraPattern } from './yara-source.ts';

// Generates text that is slow to search for a pattern: repeated prefixes of its matches, and near matches.

/** A part of text that a pattern matches: fixed bytes, or bytes that may vary. */
interface Stretch {
  text: string;
  is_fixed: boolean;
}

type Node =
  | { kind: 'text'; text: string; is_fixed: boolean }
  | { kind: 'row'; nodes: Node[] }
  | { kind: 'choice'; nodes: Node[] }
  | { kind: 'repeat'; node: Node; least: number; most: number };

const NOTHING: Node = { kind: 'row', nodes: [] };
/** Limit for rules with very many patterns. */
const UNIT_CHARACTERS_MAXIMUM = 4096;
/** Maximum number of repeats that are generated for an unbounded or large quantifier. */
const REPEAT_MAXIMUM = 400;
/** Characters for variable parts; the first one that the class contains is used. Those of the most common classes come first. */
const FILLING = ['x', ' ', '0', '/', 'A', '+', '"', "'", '(', '\t', '\n', '\x00', '\xe2'];
const CLASSES: Readonly<Record<string, string>> = {
  d: '0-9',
  w: 'A-Za-z0-9_',
  s: ' \\t\\r\\n',
  D: '^0-9',
  W: '^A-Za-z0-9_',
  S: '^ \\t\\r\\n',
};
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', f: '\f', a: '\x07', v: '\v', '0': '\0' };

/** Parses a regular expression of YARA. Bytes are represented as Latin-1. */
function parseRegex(body: string): Node {
  let at = 0;

  function readEscape(): string {
    const letter = body[at] ?? '';
    at += 1;
    if (letter === 'x') {
      const code = Number.parseInt(body.slice(at, at + 2), 16);
      at += 2;
      return String.fromCharCode(Number.isNaN(code) ? 0 : code);
    }
    return ESCAPES[letter] ?? letter;
  }

  /** Parses a class after its `[`; returns one byte that it contains. */
  function readClass(): Node {
    const is_negated = body[at] === '^';
    if (is_negated) at += 1;
    const ranges: [number, number][] = [];
    for (let first = true; at < body.length && (first || body[at] !== ']'); first = false) {
      if (body[at] === '\\' && (CLASSES[body[at + 1] ?? ''] ?? '') !== '') {
        const inner = CLASSES[body[at + 1] ?? ''] ?? '';
        at += 2;
        if (!inner.startsWith('^')) for (const byte of inner) ranges.push([byte.charCodeAt(0), byte.charCodeAt(0)]);
        continue;
      }
      const readOne = () => {
        const byte = body[at] ?? '';
        at += 1;
        return (byte === '\\' ? readEscape() : byte).charCodeAt(0);
      };
      const low = readOne();
      if (body[at] === '-' && body[at + 1] !== ']') {
        at += 1;
        ranges.push([low, readOne()]);
      } else ranges.push([low, low]);
    }
    at += 1;
    const takes = (byte: string) =>
      ranges.some(([low, high]) => byte.charCodeAt(0) >= low && byte.charCodeAt(0) <= high) !== is_negated;
    const own = String.fromCharCode(ranges[0]?.[0] ?? 0x78);
    // A class of one byte is fixed.
    const is_fixed = !is_negated && ranges.length === 1 && ranges[0]?.[0] === ranges[0]?.[1];
    return { kind: 'text', text: is_negated ? (FILLING.find(takes) ?? 'x') : own, is_fixed };
  }

  function readAtom(): Node {
    const byte = body[at] ?? '';
    at += 1;
    if (byte === '^' || byte === '$') return NOTHING;
    if (byte === '.') return { kind: 'text', text: 'x', is_fixed: false };
    if (byte === '[') return readClass();
    if (byte === '(') {
      if (body.startsWith('?:', at)) at += 2;
      const node = readChoice();
      at += 1;
      return node;
    }
    if (byte !== '\\') return { kind: 'text', text: byte, is_fixed: true };
    const letter = body[at] ?? '';
    if (letter === 'b' || letter === 'B') {
      at += 1;
      return NOTHING;
    }
    const inner = CLASSES[letter];
    if (inner !== undefined) {
      at += 1;
      return { kind: 'text', text: inner.startsWith('^') ? '+' : (inner[0] ?? 'x'), is_fixed: false };
    }
    return { kind: 'text', text: readEscape(), is_fixed: true };
  }

  function readRow(): Node {
    const nodes: Node[] = [];
    while (at < body.length && body[at] !== '|' && body[at] !== ')') {
      const node = readAtom();
      const bounds = /^\{(\d*)(,?)(\d*)\}/.exec(body.slice(at, at + 24));
      const sign = body[at] ?? '';
      if (bounds !== null) at += bounds[0].length;
      else if ('*+?'.includes(sign) && sign !== '') at += 1;
      else {
        nodes.push(node);
        continue;
      }
      if (body[at] === '?') at += 1;
      const least = bounds === null ? (sign === '+' ? 1 : 0) : Number(bounds[1] ?? 0);
      const bound =
        bounds === null ? (sign === '?' ? 1 : REPEAT_MAXIMUM) : bounds[2] === '' ? least : Number(bounds[3] || REPEAT_MAXIMUM);
      nodes.push({ kind: 'repeat', node, least, most: Math.max(least, Math.min(REPEAT_MAXIMUM, bound)) });
    }
    return nodes.length === 1 && nodes[0] !== undefined ? nodes[0] : { kind: 'row', nodes };
  }

  function readChoice(): Node {
    const nodes = [readRow()];
    while (body[at] === '|') {
      at += 1;
      nodes.push(readRow());
    }
    return nodes.length === 1 && nodes[0] !== undefined ? nodes[0] : { kind: 'choice', nodes };
  }

  return readChoice();
}

/** Parses a hex pattern: bytes, wildcards, jumps and choices. */
function parseHex(body: string): Node {
  const words = body.match(/\[[^\]]*\]|~?[0-9A-Fa-f?]{2}|[()|]/g) ?? body.replaceAll(/\s/g, '').match(/../g) ?? [];
  let at = 0;
  function readChoice(): Node {
    const choices: Node[] = [];
    let nodes: Node[] = [];
    for (; at < words.length; at++) {
      const word = words[at] ?? '';
      if (word === ')') break;
      if (word === '|') {
        choices.push({ kind: 'row', nodes });
        nodes = [];
      } else if (word === '(') {
        at += 1;
        nodes.push(readChoice());
      } else if (word.startsWith('[')) {
        const [low = '', high = low] = word.slice(1, -1).split('-');
        const least = Number(low.trim() || 0);
        const most = Math.max(least, Math.min(REPEAT_MAXIMUM, Number(high.trim() || REPEAT_MAXIMUM)));
        nodes.push({ kind: 'repeat', node: { kind: 'text', text: 'x', is_fixed: false }, least, most });
      } else {
        const is_fixed = !/[?~]/.test(word);
        nodes.push({
          kind: 'text',
          text: String.fromCharCode(Number.parseInt(word.replaceAll(/[?~]/g, '0').slice(-2), 16)),
          is_fixed,
        });
      }
    }
    choices.push({ kind: 'row', nodes });
    return choices.length === 1 && choices[0] !== undefined ? choices[0] : { kind: 'choice', nodes: choices };
  }
  return readChoice();
}

function parseText(body: string): Node {
  const text = body.replaceAll(/\\(x[0-9A-Fa-f]{2}|.)/g, (_all, letter: string) =>
    letter.startsWith('x') ? String.fromCharCode(Number.parseInt(letter.slice(1), 16)) : (ESCAPES[letter] ?? letter),
  );
  return { kind: 'text', text, is_fixed: true };
}

/** One text that a pattern matches: with branch number `turn` of each choice, and as short or as long as possible. */
function matchOf(node: Node, turn: number, is_long: boolean): Stretch[] {
  switch (node.kind) {
    case 'text':
      return [{ text: node.text, is_fixed: node.is_fixed }];
    case 'row':
      return node.nodes.flatMap((inner) => matchOf(inner, turn, is_long));
    case 'choice': {
      const branch = node.nodes[turn % node.nodes.length];
      return branch === undefined ? [] : matchOf(branch, turn, is_long);
    }
    case 'repeat': {
      const stretches = matchOf(node.node, turn, is_long);
      return Array.from({ length: is_long ? node.most : node.least }, () => stretches).flat();
    }
  }
}

/** Every fixed text of a pattern, including those of all branches and of optional parts. */
function fixedOf(node: Node): string[] {
  switch (node.kind) {
    case 'text':
      return node.is_fixed ? [node.text] : [];
    case 'repeat':
      return fixedOf(node.node);
    case 'choice':
      return node.nodes.flatMap(fixedOf);
    case 'row': {
      const texts: string[] = [];
      let run = '';
      for (const inner of node.nodes) {
        if (inner.kind === 'text' && inner.is_fixed) {
          run += inner.text;
          continue;
        }
        if (run !== '') texts.push(run);
        run = '';
        texts.push(...fixedOf(inner));
      }
      return run === '' ? texts : [...texts, run];
    }
  }
}

const textOf = (stretches: readonly Stretch[]) => stretches.map(({ text }) => text).join('');

/** The runs of fixed text in a match, in order. */
function runsOf(stretches: readonly Stretch[]): string[] {
  const runs: string[] = [];
  let was_fixed = false;
  for (const { text, is_fixed } of stretches) {
    if (is_fixed && was_fixed) runs.push(`${runs.pop() ?? ''}${text}`);
    else if (is_fixed) runs.push(text);
    was_fixed = is_fixed;
  }
  return runs;
}

const longest = (texts: readonly string[]) => texts.reduce((best, text) => (text.length > best.length ? text : best), '');
const mixedCase = (text: string) =>
  [...text].map((letter, at) => (at % 2 === 0 ? letter.toUpperCase() : letter.toLowerCase())).join('');
const wide = (text: string) => [...text].map((letter) => `${letter}\0`).join('');

/** Generators of texts that are slow to search for one pattern, each in another way. A text is repeated to fill a file. */
export const SHAPES: Readonly<Record<string, (node: Node) => string>> = {
  'the whole match': (node) => textOf(matchOf(node, 0, false)),
  'the whole match, blank': (node) => `${textOf(matchOf(node, 0, false))} `,
  'the whole match, line': (node) => `${textOf(matchOf(node, 0, false))}\n`,
  'all but the last byte': (node) => textOf(matchOf(node, 0, false)).slice(0, -1),
  'all but the last byte, blank': (node) => `${textOf(matchOf(node, 0, false)).slice(0, -1)} `,
  'all but the last byte, line': (node) => `${textOf(matchOf(node, 0, false)).slice(0, -1)}\n`,
  'another last byte': (node) => `${textOf(matchOf(node, 0, false)).slice(0, -1)}!`,
  'the first half': (node) => halfOf(textOf(matchOf(node, 0, false))),
  'the first half, blank': (node) => `${halfOf(textOf(matchOf(node, 0, false)))} `,
  'without the last text': (node) =>
    runsOf(matchOf(node, 0, false))
      .slice(0, -1)
      .join(' '),
  'without the last text, blank': (node) =>
    `${runsOf(matchOf(node, 1, false))
      .slice(0, -1)
      .join(' ')} `,
  'without the first text': (node) =>
    runsOf(matchOf(node, 0, false))
      .slice(1)
      .join(' '),
  'without the first text, blank': (node) =>
    `${runsOf(matchOf(node, 1, false))
      .slice(1)
      .join(' ')} `,
  'the first text': (node) => runsOf(matchOf(node, 0, false))[0] ?? '',
  'the first text, blank': (node) => `${runsOf(matchOf(node, 0, false))[0] ?? ''} `,
  'the first text, many blanks': (node) => `${runsOf(matchOf(node, 0, false))[0] ?? ''}${' '.repeat(7)}`,
  'the last text': (node) => runsOf(matchOf(node, 0, false)).at(-1) ?? '',
  'the last text, blank': (node) => `${runsOf(matchOf(node, 0, false)).at(-1) ?? ''} `,
  'the longest text, blank': (node) => `${longest(fixedOf(node))} `,
  'the texts backwards': (node) =>
    `${runsOf(matchOf(node, 0, false))
      .reverse()
      .join(' ')} `,
  'each text twice': (node) =>
    runsOf(matchOf(node, 0, false))
      .map((run) => `${run} ${run} `)
      .join(''),
  'the last two texts': (node) =>
    `${runsOf(matchOf(node, 0, false))
      .slice(-2)
      .join(' ')} `,
  'the texts of all branches': (node) => `${fixedOf(node).join(' ')} `,
  'the texts of all branches, close': (node) => fixedOf(node).join(''),
  'the second branches': (node) => `${textOf(matchOf(node, 1, false)).slice(0, -1)} `,
  'the third branches': (node) => `${textOf(matchOf(node, 2, false)).slice(0, -1)} `,
  'the fourth branches': (node) => `${textOf(matchOf(node, 3, false)).slice(0, -1)} `,
  'as long as may be': (node) => textOf(matchOf(node, 1, true)).slice(0, -1),
  capitals: (node) => `${textOf(matchOf(node, 0, false)).slice(0, -1)} `.toUpperCase(),
  'mixed case': (node) => mixedCase(`${textOf(matchOf(node, 0, false)).slice(0, -1)} `),
  'two bytes a letter': (node) => wide(`${textOf(matchOf(node, 0, false)).slice(0, -1)} `),
  'two bytes a letter, second branches': (node) => wide(`${textOf(matchOf(node, 1, false)).slice(0, -1)} `),
};

function halfOf(text: string): string {
  return text.slice(0, Math.ceil(text.length / 2));
}

function nodeOf({ kind, body }: YaraPattern): Node {
  return kind === 'regex' ? parseRegex(body) : kind === 'hex' ? parseHex(body) : parseText(body);
}

/** Whether the pattern needs more than a search for fixed text. */
export function isWalked({ kind, body }: YaraPattern): boolean {
  return kind === 'regex' || (kind === 'hex' && /[[(]/.test(body));
}

/** Hostile texts of one rule, without duplicates: the bytes to repeat, as Latin-1, by their shape. */
export function hostileUnits(patterns: readonly YaraPattern[]): Map<string, string> {
  const units = new Map<string, string>();
  const known = new Set<string>();
  const addAll = (whose: string, node: Node) => {
    for (const [name, shape] of Object.entries(SHAPES)) {
      const unit = shape(node).slice(0, UNIT_CHARACTERS_MAXIMUM);
      if (unit.trim() === '' || known.has(unit)) continue;
      known.add(unit);
      units.set(`${name}, ${whose}`, unit);
    }
  };
  const nodes = patterns.map(nodeOf);
  addAll('all patterns', {
    kind: 'row',
    nodes: nodes.flatMap((node): Node[] => [node, { kind: 'text', text: ' ', is_fixed: false }]),
  });
  for (const [index, pattern] of patterns.entries()) {
    const node = nodes[index];
    if (node !== undefined && isWalked(pattern)) addAll(`pattern ${index + 1}`, node);
  }
  return units;
}
