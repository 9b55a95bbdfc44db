import { decodeHTMLStrict } from 'entities';

// Characters and syntax that folding a text recognises.

export const QUOTE = 0x22;
export const APOSTROPHE = 0x27;
export const BACKSLASH = 0x5c;
export const BACKTICK = 0x60;
export const NEWLINE = 0x0a;
export const RETURN = 0x0d;
export const SPACE = 0x20;
export const TAB = 0x09;
export const CARET = 0x5e;
export const PERCENT = 0x25;
export const AMPERSAND = 0x26;
export const SLASH = 0x2f;
export const STAR = 0x2a;
export const HASH = 0x23;
export const LESS = 0x3c;
export const GREATER = 0x3e;
export const OPEN = 0x28;
export const CLOSE = 0x29;
export const DOLLAR = 0x24;
export const JOINING = Buffer.from('+&._\\`^', 'latin1');
export const BRACKET_END = 0x5d;
export const BRACE = 0x7b;
export const UNDERSCORE = 0x5f;
export const SEMICOLON = 0x3b;
export const COLON = 0x3a;

/** Characters at which folding may apply. */
export const SPECIAL = new Uint8Array(256);
for (const character of '\n\r\t "\'\\`^%&/#<>(]') SPECIAL[character.charCodeAt(0)] = 1;

export const LETTER = new Uint8Array(256);
export const WORD = new Uint8Array(256);
for (let code = 0; code < 128; code += 1) {
  const character = String.fromCharCode(code);
  if (/[A-Za-z]/.test(character)) LETTER[code] = 1;
  if (/\w/.test(character)) WORD[code] = 1;
}
export const isBlank = (byte: number | undefined) => byte === SPACE || byte === TAB;
export const isPrintable = (code: number | undefined): code is number => code !== undefined && code >= 0x20 && code < 0x7f;

/** After these words of scripts, many blanks, a line end or a comment only serve to hide a command. */
export const COMMANDS: ReadonlySet<string> = new Set(
  'assert,base64_decode,bitsadmin,call_user_func,certutil,cmd,createobject,curl,eval,exec,execute,iex,invoke,mshta,passthru,pcntl_exec,popen,powershell,preg_replace,proc_open,pwsh,regsvr32,run,rundll32,shell,shell_exec,shellexecute,system,unescape,wget,wscript,exe'.split(
    ',',
  ),
);
export const WORD_BYTES = 24;
export const BLANKS_MAXIMUM = 400;

/** Length of the longest entity name in HTML. */
export const NAME_LETTERS = 31;
export const ENTITY = /^&(?:#[xX]([0-9a-fA-F]{1,6})|#(\d{1,7})|([A-Za-z]{2,31}));?/;

/** The ASCII character of an HTML entity name; undefined for other characters, which rules do not use. */
export function markOf(name: string): string | undefined {
  const character = decodeHTMLStrict(`&${name};`);
  return character.length <= 2 && /^[\n\t -~]{1,2}$/.test(character) ? character : undefined;
}

/** A number: decimal, `0x41` or `&H41`. CHARACTER_OF also accepts a calculation with two numbers. */
const NUMBER = String.raw`(?:0[xX][0-9a-fA-F]{1,4}|&[hH][0-9a-fA-F]{1,4}&?|\d{1,5})`;
const CHARACTER_OF = new RegExp(String.raw`^\(\s{0,8}(${NUMBER})(?:\s{0,8}([-+*^])\s{0,8}(${NUMBER}))?\s{0,8}\)`);
const LISTED = new RegExp(String.raw`^\s{0,8}(${NUMBER})\s{0,8}([,)])`);
const CAST = new RegExp(String.raw`^\s{0,4}(?:\(\s{0,4}(?=[^)]{1,8}\)))?(${NUMBER})`);
const OPERAND_CHARACTER = /^(?:chr[wb]?\$?|\[char\])/i;
/** The operators between two concatenated literals. */
export const JOINT =
  /^(?:[ \t\r\n]|[_\\`^][ \t]{0,8}\r?\n){0,64}(?:\.concat[ \t]{0,8}\(|[+&]|\.{1,2})(?:[ \t\r\n]|[_\\`^][ \t]{0,8}\r?\n){0,64}\({0,3}[ \t]{0,8}/;
/** A statement that appends to the value that the previous statement set. */
export const APPENDED =
  /^\)?[ \t]{0,8};?[ \t]{0,8}(?:\r?\n[ \t]{0,64}){1,4}[$A-Za-z_][\w$]{0,63}[ \t]{0,8}(?:[+.&]=|=[ \t]{0,8}[$A-Za-z_][\w$]{0,63}[ \t]{0,8}[+&.])[ \t]{0,8}/;
export const LOOK_BYTES = 400;

function numberOf(text: string): number {
  return /^&h/i.test(text) ? Number.parseInt(text.slice(2), 16) : Number(text);
}

function calculated(first: string, operator: string | undefined, second: string | undefined): number {
  const one = numberOf(first);
  const other = second === undefined ? 0 : numberOf(second);
  if (operator === '-') return one - other;
  if (operator === '*') return one * other;
  if (operator === '^') return one ^ other;
  return one + other;
}

export const VISUAL_BASIC = /\b(end sub|end function|createobject|option explicit|attribute vb_)\b/i;
export const COMMAND_FILE = /^[ \t]{0,8}(@echo|setlocal|set [a-z])/im;
export const LANGUAGE_BYTES = 64 * 1024;

/** At least this many carets, and at least one of this many characters, occur in a batch file only to hide the text. */
const CARETS = { least: 16, one_of: 8 } as const;

export function isCareted(beginning: string): boolean {
  const carets = beginning.match(/\^[!-~]/g)?.length ?? 0;
  return carets >= CARETS.least && carets * CARETS.one_of >= beginning.length;
}

/** Looks ahead in a text from the position that is folded. */
export class FoldSource {
  private readonly text: Buffer;
  private readonly ends = new Map<string, number>();

  constructor(text: Buffer) {
    this.text = text;
  }

  look(at: number, bytes = LOOK_BYTES): string {
    return this.text.toString('latin1', at, at + bytes);
  }

  /** Position of the first `end` from `at` on; each part of the text is searched once. */
  endOf(end: string, at: number): number {
    const known = this.ends.get(end);
    if (known !== undefined && (known < 0 || known >= at)) return known;
    const found = this.text.indexOf(end, at, 'latin1');
    this.ends.set(end, found);
    return found;
  }

  /** Reads `Chr(65)` or `[char]65`. */
  characterAt(at: number): { text: string; after: number } | undefined {
    const around = this.look(at, 64);
    const [start] = OPERAND_CHARACTER.exec(around) ?? [];
    if (start === undefined) return undefined;
    const rest = around.slice(start.length);
    const [whole, first, operator, second] = (start.startsWith('[') ? CAST.exec(rest) : CHARACTER_OF.exec(rest)) ?? [];
    if (whole === undefined || first === undefined) return undefined;
    const code = calculated(first, operator, second);
    // The parenthesis around the number of a cast.
    const close =
      start.startsWith('[') && whole.includes('(') ? (/^\s{0,4}\)/.exec(rest.slice(whole.length))?.[0].length ?? 0) : 0;
    return code > 0 && code < 0xd800
      ? { text: String.fromCharCode(code), after: at + start.length + whole.length + close }
      : undefined;
  }

  /** Reads a list of character codes up to its closing parenthesis. */
  listed(at: number): { text: string; after: number } | undefined {
    let text = '';
    for (let next = at; ; ) {
      const [whole, code, mark] = LISTED.exec(this.look(next, 32)) ?? [];
      if (whole === undefined || code === undefined) return undefined;
      text += String.fromCharCode(numberOf(code) & 0xffff);
      next += whole.length;
      if (mark === ')') return { text, after: next };
    }
  }
}
