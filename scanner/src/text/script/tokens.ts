import { fromEscape } from './escapes.ts';

// Splits scripts into tokens: one tokenizer for all languages, with their differences as data.

export type Language = 'javascript' | 'visual-basic' | 'powershell' | 'php' | 'python' | 'shell';

export interface Token {
  kind: 'text' | 'number' | 'name' | 'mark' | 'line' | 'pattern';
  /** A text without its quotation marks and with its escapes resolved; a name as written. */
  value: string;
  start: number;
  end: number;
}

/** Further tokens are not read. */
const TOKENS_MAXIMUM = 100_000;

const COMMENTS: Readonly<Record<Language, RegExp>> = {
  javascript: /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y,
  'visual-basic': /'[^\n]*|rem\b[^\n]*/iy,
  powershell: /<#[\s\S]*?(?:#>|$)|#[^\n]*/y,
  php: /\/\/[^\n]*|#[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y,
  python: /#[^\n]*/y,
  shell: /#[^\n]*/y,
};
const CONTINUED: Readonly<Record<Language, RegExp>> = {
  javascript: /\\\r?\n/y,
  'visual-basic': /_[ \t]{0,16}\r?\n/y,
  powershell: /`\r?\n/y,
  php: /\\\r?\n/y,
  python: /\\\r?\n/y,
  shell: /\\\r?\n/y,
};
const NUMBER = /0[xX][0-9a-fA-F]{1,13}|&[hH][0-9a-fA-F]{1,8}&?|0[bB][01]{1,52}|0[oO][0-7]{1,17}|\d{1,15}(?:\.\d{1,15})?/y;
const NAME = /[@$]?[A-Za-z_][\w$]{0,63}\$?|\$\{[\w:]{1,63}\}|\$/y;
/** Commands of PowerShell have a dash in their names, and its operators have one before theirs. */
const CMDLET = /[A-Za-z]{2,24}-[A-Za-z]{2,24}\b/y;
const DASHED = /-[a-zA-Z]{1,10}\b/y;
const MARK = /=>|->|::|\.\.\.|\*\*=?|>>>|<<|>>|[-+.&|^*/%]=|\.\.|[=!]==?|&&|\|\||[\s\S]/y;
/** A regular expression of JavaScript; longer ones are not evaluated. */
const PATTERN = /^\/(?:[^/\\\n[]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n])*\])+\/[a-z]{0,6}/;
const PATTERN_LENGTH = 160;
const PREFIX = /(?:[bBrRuUfF]{1,2}|\$|@)(?=["'])/y;

/** Whether a text may have several lines. */
const isLong = (mark: string, is_doubled: boolean) => mark.length > 1 || mark === '`' || is_doubled;

/** The end of the text that begins at `open`, after its quotation mark; undefined if it is not closed. */
function endOfText(source: string, open: number, mark: string, escape_mark: string, is_doubled: boolean): number | undefined {
  for (let at = open; at < source.length; at += 1) {
    const letter = source[at];
    if (letter === escape_mark) at += 1;
    else if (letter === mark[0] && source.startsWith(mark, at)) {
      if (is_doubled && source[at + 1] === mark) at += 1;
      else return at;
    } else if (letter === '\n' && mark.length === 1 && !isLong(mark, is_doubled)) return undefined;
  }
  return undefined;
}

/** The text literal at `at`. `unclosed`: quotation marks that are not closed in the rest of the source. */
function textAt(source: string, at: number, language: Language, unclosed: Set<string>): Token | undefined {
  PREFIX.lastIndex = at;
  const prefix =
    language === 'python' || language === 'powershell' || language === 'shell' ? (PREFIX.exec(source)?.[0] ?? '') : '';
  const first = source[at + prefix.length];
  const is_quote =
    first === '"' || (first === "'" && language !== 'visual-basic') || (first === '`' && language === 'javascript');
  if (!is_quote) return undefined;
  const start = at + prefix.length;
  const here = language === 'powershell' && prefix === '@';
  const triple = language === 'python' && source.startsWith(first.repeat(3), start);
  const mark = here ? `\n${first}@` : triple ? first.repeat(3) : first;
  const is_doubled = mark.length === 1 && (language === 'visual-basic' || language === 'powershell');
  const is_raw =
    here || /r/i.test(prefix) || ((language === 'powershell' || language === 'shell') && first === "'" && prefix !== '$');
  if (unclosed.has(mark)) return undefined;
  const escape_mark = language === 'powershell' ? '`' : '\\';
  const open = start + (triple ? 3 : 1);
  const close = endOfText(source, open, mark, is_raw || language === 'visual-basic' ? '' : escape_mark, is_doubled);
  if (close === undefined) {
    if (isLong(mark, is_doubled)) unclosed.add(mark);
    return undefined;
  }
  const inner = source.slice(open, close);
  const once = is_doubled ? inner.replaceAll(first + first, first) : inner;
  const is_plain = is_raw || language === 'visual-basic' || (language === 'php' && first === "'");
  const value = is_plain ? (language === 'php' ? once.replaceAll(/\\(['\\])/g, '$1') : once) : fromEscape(once, escape_mark);
  return {
    kind: 'text',
    value: here ? value.replace(/^[ \t]*\r?\n/, '').replace(/\r$/, '') : value,
    start: at,
    end: close + mark.length,
  };
}

const BEFORE_PATTERN = /^[=(,:;!&|?{}[+]$|^=>$|^\|\||^&&/;

/** The tokens of a script, without comments and blanks. Names and numbers are as written. */
export function tokensOf(source: string, language: Language): Token[] {
  const tokens: Token[] = [];
  const unclosed = new Set<string>();
  const take = (pattern: RegExp, at: number): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(source)?.[0];
  };
  for (let at = 0; at < source.length && tokens.length < TOKENS_MAXIMUM; ) {
    const letter = source[at] ?? '';
    if (letter === ' ' || letter === '\t' || letter === '\r') {
      at += 1;
      continue;
    }
    const skipped = take(CONTINUED[language], at) ?? take(COMMENTS[language], at);
    if (skipped !== undefined && !(skipped.startsWith('#') && language === 'shell' && source[at - 1] === '$')) {
      at += skipped.length;
      continue;
    }
    const add = (kind: Token['kind'], value: string, length = value.length) => {
      tokens.push({ kind, value, start: at, end: at + length });
      at += length;
    };
    if (letter === '\n') {
      add('line', letter);
      continue;
    }
    const text = textAt(source, at, language, unclosed);
    if (text !== undefined) {
      tokens.push(text);
      at = text.end;
      continue;
    }
    const last = tokens.at(-1);
    const pattern =
      letter === '/' && language === 'javascript' && (last === undefined || BEFORE_PATTERN.test(last.value))
        ? PATTERN.exec(source.slice(at, at + PATTERN_LENGTH))?.[0]
        : undefined;
    const dashed = language === 'powershell' ? (take(CMDLET, at) ?? take(DASHED, at)) : undefined;
    const number = take(NUMBER, at);
    const name = dashed ?? take(NAME, at);
    if (pattern !== undefined) add('pattern', pattern);
    else if (dashed?.startsWith('-') === true) add('mark', dashed.toLowerCase(), dashed.length);
    else if (number !== undefined) add('number', number);
    else if (name !== undefined) add('name', name);
    else add('mark', take(MARK, at) ?? letter);
  }
  return tokens;
}

/** Parses a number of any of the languages. */
export function numberOf(written: string): number {
  return /^&h/i.test(written) ? Number.parseInt(written.slice(2), 16) : Number(written);
}
