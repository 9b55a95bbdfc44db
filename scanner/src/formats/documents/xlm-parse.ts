import { type Formula, operation } from './xlm-formula.ts';

// Parses formulas in the XML of a sheet (ECMA-376 part 1, 18.17), to the extent that macro sheets need.

const TOKEN =
  /\s*(?:("(?:[^"]|"")*")|(\d+(?:\.\d+)?(?:[Ee][+-]?\d+)?)|('(?:[^']|'')*'!|[\p{L}_][\p{L}\p{N}_.]*!)?(\$?[A-Za-z]{1,3}\$?\d{1,7})(?![\p{L}\p{N}_.(])|([\p{L}_\\][\p{L}\p{N}_.\\]*)|(<=|>=|<>|[-+*/^&=<>%(),:;!{}]))/uy;

const BINDING: Readonly<Record<string, number>> = {
  '=': 1,
  '<': 1,
  '>': 1,
  '<=': 1,
  '>=': 1,
  '<>': 1,
  '&': 2,
  '+': 3,
  '-': 3,
  '*': 4,
  '/': 4,
  '^': 5,
};
const DEPTH_MAXIMUM = 64;
/** Maximum length of a formula in characters. Excel allows 8,192. */
const LENGTH_MAXIMUM = 32_768;

/** The position of a cell with a name such as `$B$7`. */
export function cellOf(name: string): { row: number; column: number } {
  const [, letters = '', digits = '0'] = /^\$?([A-Za-z]+)\$?(\d+)$/.exec(name) ?? [];
  let column = 0;
  for (const letter of letters.toUpperCase()) column = column * 26 + letter.charCodeAt(0) - 64;
  return { row: Number(digits) - 1, column: column - 1 };
}

class NoFormula extends Error {}

interface Token {
  kind: 'text' | 'number' | 'cell' | 'word' | 'mark' | 'end';
  text: string;
  sheet?: string | undefined;
}

function* tokensOf(source: string): Generator<Token> {
  TOKEN.lastIndex = 0;
  for (let at = 0; at < source.trimEnd().length; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const [, text, number, sheet, cell, word, mark] = TOKEN.exec(source) ?? [];
    if (text !== undefined) yield { kind: 'text', text: text.slice(1, -1).replaceAll('""', '"') };
    else if (number !== undefined) yield { kind: 'number', text: number };
    else if (cell !== undefined)
      yield { kind: 'cell', text: cell, sheet: sheet?.slice(0, -1).replaceAll(/^'|'$/g, '').replaceAll("''", "'") };
    else if (word !== undefined) yield { kind: 'word', text: word };
    else if (mark !== undefined) yield { kind: 'mark', text: mark };
    else throw new NoFormula();
  }
  yield { kind: 'end', text: '' };
}

/** Parses a formula without its `=`. A formula that cannot be parsed becomes a single text. */
export function parseFormula(source: string): Formula {
  if (source.length > LENGTH_MAXIMUM) return { kind: 'text', text: source };
  try {
    const tokens = [...tokensOf(source)];
    let at = 0;
    const peek = () => tokens[at] ?? { kind: 'end', text: '' };
    const takes = (mark: string): boolean => {
      const { kind, text } = peek();
      const is_there = kind === 'mark' && text === mark;
      if (is_there) at += 1;
      return is_there;
    };
    const inParentheses = (depth: number): Formula[] => {
      const parts: Formula[] = [];
      while (!takes(')')) {
        if (peek().kind === 'end') throw new NoFormula();
        if (takes(',')) parts.push({ kind: 'text', text: '' });
        else {
          parts.push(expression(0, depth + 1));
          if (!takes(',') && peek().text !== ')') throw new NoFormula();
        }
      }
      return parts;
    };
    const primary = (depth: number): Formula => {
      if (depth > DEPTH_MAXIMUM) throw new NoFormula();
      const token = peek();
      at += 1;
      switch (token.kind) {
        case 'text':
          return { kind: 'value', value: token.text };
        case 'number':
          return { kind: 'value', value: Number(token.text) };
        case 'cell': {
          if (takes(':'))
            return {
              kind: 'text',
              text: `${token.text}:${primary(depth + 1).kind === 'cell' ? (tokens[at - 1]?.text ?? '') : ''}`,
            };
          return { kind: 'cell', cell: cellOf(token.text), sheet: token.sheet };
        }
        case 'word': {
          const name = token.text.toUpperCase();
          if (takes('(')) return { kind: 'call', name: name.replace(/^_XL(?:FN|WS|UDF)\./, ''), parts: inParentheses(depth) };
          if (name === 'TRUE' || name === 'FALSE') return { kind: 'value', value: name === 'TRUE' };
          return { kind: 'text', text: takes('!') ? `${token.text}!${name_behind()}` : token.text };
        }
        case 'mark': {
          if (token.text === '+' || token.text === '-') return { kind: 'sign', sign: token.text, part: expression(6, depth + 1) };
          if (token.text !== '(') throw new NoFormula();
          const [only, ...more] = inParentheses(depth);
          if (only === undefined || more.length > 0) throw new NoFormula();
          return only;
        }
        case 'end':
          throw new NoFormula();
      }
    };
    const name_behind = (): string => {
      const { text } = peek();
      at += 1;
      return text;
    };
    const expression = (least: number, depth: number): Formula => {
      let left = primary(depth);
      for (;;) {
        if (takes('%')) {
          left = { kind: 'sign', sign: '%', part: left };
          continue;
        }
        const { kind, text } = peek();
        const binding = kind === 'mark' ? BINDING[text] : undefined;
        if (binding === undefined || binding < least) return left;
        at += 1;
        left = operation(text, left, expression(binding + 1, depth + 1));
      }
    };
    const formula = expression(0, 0);
    if (peek().kind !== 'end') throw new NoFormula();
    return formula;
  } catch (error) {
    if (error instanceof NoFormula) return { kind: 'text', text: source };
    throw error;
  }
}
