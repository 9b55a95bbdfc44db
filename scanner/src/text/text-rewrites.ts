import { fromBase32, fromBase85, runsOfBase85 } from './text-base85.ts';
import { fromPatches, lineListings, listings } from './text-listings.ts';

// Undoes the calls that scripts use most to hide a text: literals that are joined, formatted, reversed or replaced, and bytes
// written as a listing. The script is never run: each call is recognised by its name and its literals.

/** Larger texts are not rewritten: scripts that hide something are smaller, and programs are larger. Bytes. */
const TEXT_BYTES_MAXIMUM = 256 * 1024;
/** In larger texts variables are not substituted. Bytes. */
const FOLLOWED_BYTES_MAXIMUM = 32 * 1024;
const LEAST = 33;
const LITERALS_MAXIMUM = 2000;
const WHOLE_LITERALS_MAXIMUM = 100;
const WHOLE_LITERAL_BYTES = { least: 64, most: 64 * 1024 } as const;
const VARIABLES_MAXIMUM = 500;
const REPLACEMENTS_MAXIMUM = 16;
/** Maximum size of all results for one text, as a multiple of its size. */
const GROWTH_MAXIMUM = 8;

/**
 * A literal does not begin at an escaped or doubled quotation mark, which belongs to an earlier literal: otherwise the text would be searched to its end from each of
 * thousands of such marks.
 */
export const LITERAL = String.raw`(?:[bB]|[rR])?(?:(?<![\\'])'(?:[^'\\\r\n]|\\[\s\S]|''){0,16384}'|(?<![\\"])"(?:[^"\\\r\n]|\\[\s\S]|""){0,16384}")`;
const GAP = String.raw`(?:\s|/\*[^*]{0,64}\*/){0,64}`;
/** Literals separated by commas. */
const LIST = new RegExp(`${LITERAL}(?:${GAP},${GAP}${LITERAL}){1,4096}`, 'g');
/** Adjacent literals, or literals with an operator (`+`, `&`, `.`) between them. Only one gap matches a sequence of blanks: two gaps would backtrack in quadratic time. */
const ROW = new RegExp(`${LITERAL}(?:${GAP}(?:[+&.]${GAP})?${LITERAL}){2,4096}`, 'g');
const ONE = new RegExp(LITERAL, 'g');
/** A literal of PowerShell: only a doubled quotation mark is an escape. */
const PLAIN = `(?:(?<!')'(?:[^']|''){0,1024}'|(?<!")"(?:[^"]|""){0,1024}")`;
const PLAIN_LIST = new RegExp(`${PLAIN}(?:\\s{0,16},\\s{0,16}${PLAIN}){1,4096}`, 'g');
const ONE_PLAIN = new RegExp(PLAIN, 'g');
const PLACED = new RegExp(
  `(${PLAIN})\\s{0,16}\\)?\\s{0,16}-f\\s{0,16}\\(?(${PLAIN}(?:\\s{0,16},\\s{0,16}${PLAIN}){0,4096})`,
  'gi',
);
const JOIN_OPERATOR = /-join\b|\[string\]::join/i;
const JOINED_BEHIND = /^\s{0,8}[\])]{0,4}\s{0,8}(?:\.\s{0,8}join\s{0,8}\(|-join\b)/i;
const JOINED_BEFORE =
  /(?:-join\s{0,8}|\bjoin\s{0,8}\(|\bimplode\s{0,8}\(|\.concat\s{0,8}\(|\bconcat\s{0,8}\()[@\s([]{0,8}(?:(['"])\1\s{0,8},\s{0,8}[@\s([]{0,8})?$/i;
const TURNED = /reverse|strrev|\[-1\.\.|::-1\]|\|\s{0,8}rev\b/i;
const REPLACING = new RegExp(
  `(?:-c?i?replace${GAP}|\\breplace${GAP}\\(${GAP}|\\bstr_replace${GAP}\\(${GAP})(${LITERAL}|/[^/\\r\\n]{1,64}/g?)${GAP},${GAP}(${LITERAL})`,
  'gi',
);
const REPLACING_LITERAL = new RegExp(
  `\\breplace${GAP}\\(${GAP}${LITERAL}${GAP},${GAP}(${LITERAL})${GAP},${GAP}(${LITERAL})`,
  'gi',
);
const ROT13 = /rot_?13/i;
const OCTAL = /(?:\\[0-7]{2,3}){8,}/g;
const PERCENT_U = /(?:%u[0-9a-f]{4}){8,}/gi;
const BASE32 = /\b[A-Z2-7]{40,}(?:\r?\n[A-Z2-7]{1,512}){0,4096}={0,6}/g;
const BASE85 = /b85decode|a85decode|ascii85|base85|<~/i;
const SINGLE_CODE = /String\.from(?:CharCode|CodePoint)\s{0,8}\(\s{0,8}(\d{1,5})\s{0,8}\)/g;
const ECHOED = /^[\t @(]{0,16}echo[ .\t(]{1,8}([^\r\n>|]{1,4096}?)[ \t]{0,8}\)?[ \t]{0,8}(?:>{1,2}[^\r\n]{1,256})?\r?$/gim;
/** An empty substitution in a template literal of JavaScript. */
const EMPTY = /\$\{(?:""|'')\}/g;
/** Between two concatenated template literals of JavaScript. */
const TEMPLATES = /`\s{0,8}\+\s{0,8}`/g;
/** Between two statements of one line that build a value from literals. */
const ADDED = /(["'])\s{0,8};\s{0,8}\$?[A-Za-z_]\w{0,31}\s{0,8}[+.]=\s{0,8}\1/g;
const PIECE = /^[A-Za-z0-9+/=_-]*$/;
const JOINS = /join|implode|concat/i;
const HERE = /<<-?[ \t]{0,8}(['"]?)(\w{1,80})\1[^\n]{0,200}\n/g;
const HERE_MAXIMUM = 100;
/** Data after the end marker of a script. */
const BEHIND_SCRIPT = /^__[A-Z_]{2,32}__\r?\n([\s\S]{32,65536})$/m;
const QUOTED_PRINTABLE = /(?:=[0-9A-F]{2}(?:=\r?\n)?){16,}/gi;
const UUENCODED = /unpack|uudecode/i;

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const ESCAPED: ReadonlyMap<string, string> = new Map(
  Object.entries({ n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', v: '\v', a: '\x07' }),
);

/** A sequence of at least four byte escapes. */
export const HEX_ESCAPES = /(?:\\x[0-9a-f]{2}){4}|(?:\\u00[0-9a-f]{2}){4}|(?:\\[0-7]{3}){4}/i;

/** The text of a literal: without its quotation marks, and with the escapes of most languages resolved. */
export function meaningOf(literal: string): string {
  const start = /^[bBrR]/.test(literal) ? 2 : 1;
  const quote = literal[start - 1] ?? '"';
  return literal
    .slice(start, -1)
    .replaceAll(quote + quote, quote)
    .replaceAll(
      /\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|([0-7]{1,3})|(\r?\n)|([\s\S]))/gi,
      (_, two?: string, four?: string, octal?: string, end?: string, one?: string): string => {
        const digits = two ?? four;
        if (digits !== undefined) return String.fromCharCode(Number.parseInt(digits, 16));
        if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 0xff);
        return end === undefined ? (ESCAPED.get(one ?? '') ?? one ?? '') : '';
      },
    );
}

function valuesIn(list: string): string[] {
  return (list.match(ONE) ?? []).map(meaningOf);
}

function rot13(text: string): string {
  return text.replaceAll(/[a-z]/gi, (letter) => {
    const base = letter <= 'Z' ? 65 : 97;
    return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base);
  });
}

function turned(text: string): string {
  return [...text].reverse().join('');
}

/** The values of a PowerShell list. */
function plainValuesIn(list: string): string[] {
  return (list.match(ONE_PLAIN) ?? []).map((literal) =>
    literal.slice(1, -1).replaceAll(literal.slice(0, 1).repeat(2), literal.slice(0, 1)),
  );
}

function* lists(text: string): Generator<string> {
  const joins = JOINS.test(text);
  if (JOIN_OPERATOR.test(text)) {
    for (const [list] of text.matchAll(PLAIN_LIST)) yield plainValuesIn(list).join('');
  }
  for (const { 0: list, index } of text.matchAll(LIST)) {
    const is_joined =
      JOINED_BEHIND.test(text.slice(index + list.length, index + list.length + 64)) ||
      JOINED_BEFORE.test(text.slice(Math.max(0, index - 64), index));
    const values = is_joined || joins ? valuesIn(list) : [];
    // A list that is joined elsewhere is recognised by its values.
    if (is_joined || (values.length > 2 && values.every((value) => PIECE.test(value)))) yield values.join('');
  }
  for (const [row] of text.matchAll(ROW)) yield valuesIn(row).join('');
}

/** Here-documents: files in a script, up to a line with the delimiter word. */
function* hereDocuments(text: string): Generator<string> {
  let count = 0;
  for (const { 0: whole, 2: word = '', index } of text.matchAll(HERE)) {
    count += 1;
    if (count > HERE_MAXIMUM) return;
    const start = index + whole.length;
    const end = text.indexOf(`\n${word}`, start);
    if (end > start) yield text.slice(start, end);
  }
}

/** Positions in a line of a script at which a row of uuencode may begin: the line start, or after a quotation mark. */
const ROW_BEGINS = /(?<=^|['"])/g;
const ROW_BEGINS_MAXIMUM = 8;

/** The row of uuencode in a line, of the length that its first character encodes; undefined if there is none. */
function rowIn(line: string): { size: number; letters: string } | undefined {
  for (const { index: start } of [...line.slice(0, 256).matchAll(ROW_BEGINS)].slice(0, ROW_BEGINS_MAXIMUM)) {
    const size = line.charCodeAt(start) - 32;
    const end = start + 1 + Math.ceil(size / 3) * 4;
    const letters = line.slice(start + 1, Math.min(end, line.length));
    // Blanks at the end of a line may have been removed.
    const is_whole = letters.length >= Math.ceil((size * 4) / 3) && /^(?:['"\\);,\s]|$)/.test(line.slice(end));
    if (size > 0 && size <= 45 && is_whole && /^[ -`]{4,60}$/.test(letters)) return { size, letters };
  }
  return undefined;
}

/** Decodes rows of uuencode in literals, each with its length before it. */
function fromLines(text: string): Buffer {
  const pieces: Buffer[] = [];
  for (const line of text.split(/\r?\n|\\n/)) {
    const row = rowIn(line);
    if (row === undefined) continue;
    const base64 = [...row.letters].map((letter) => ALPHABET[(letter.charCodeAt(0) - 32) & 63] ?? '').join('');
    pieces.push(Buffer.from(base64, 'base64').subarray(0, row.size));
  }
  return Buffer.concat(pieces);
}

/** Evaluates the format operator of PowerShell: `"{1}{0}" -f 'b','a'`. */
function placed(text: string): string {
  return text.replaceAll(PLACED, (whole, format: string, list: string) => {
    const values = plainValuesIn(list);
    const [pattern = ''] = plainValuesIn(format);
    const filled = pattern.replaceAll(/\{(\d{1,4})\}/g, (mark, number: string) => values[Number(number)] ?? mark);
    return filled.length > whole.length ? whole : `\n${filled}\n`;
  });
}

/** Applies the `replace` calls of a text to its literals; undefined if there are none. */
function replaced(text: string, literals: string): string | undefined {
  const pairs: [string, string][] = [];
  for (const pattern of [REPLACING_LITERAL, REPLACING]) {
    for (const [, from = '', to = ''] of text.matchAll(pattern)) {
      if (pairs.length === REPLACEMENTS_MAXIMUM) break;
      const search = from.startsWith('/') ? from.slice(1, from.lastIndexOf('/')) : meaningOf(from);
      const value = meaningOf(to);
      // A replacement may at most double the length of the replaced text.
      if (search !== '' && value.length <= search.length * 2) pairs.push([search, value]);
    }
  }
  if (pairs.length === 0) return undefined;
  let result = literals;
  for (const [from, to] of pairs) {
    const next = result.replaceAll(from, () => to);
    // A replacement that makes the result too long is skipped.
    if (next.length <= 2 * text.length) result = next;
  }
  return result;
}

const SET = /^[\t @]{0,16}set[ \t]{1,8}("?)([A-Za-z_][\w]{0,31})=([^\r\n]{0,4096})/gim;
const OF_SET = /([%!])([A-Za-z_]\w{0,31})(?::~(-?\d{1,4}),(\d{1,4}))?\1/g;
const ASSIGNED = new RegExp(
  `(?:^|[;\\s{(])(?:var\\s{1,8}|let\\s{1,8}|const\\s{1,8})?(\\$?[A-Za-z_]\\w{0,31})\\s{0,8}=\\s{0,8}(${LITERAL})(?=\\s{0,8}[;,\\r\\n)}]|$)`,
  'g',
);
const USED = /(?<![\w$'"])(\$?[A-Za-z_]\w{0,31})(?=\s{0,8}[+.&])|(?<=[+.&]\s{0,8})(\$?[A-Za-z_]\w{0,31})(?![\w'"(])/g;

/** Substitutes variables: those of a batch file, and those of a script that are set to a literal and used in a concatenation. */
function substituted(text: string): string | undefined {
  const values = new Map<string, string>();
  for (const [, quote, name = '', value = ''] of text.matchAll(SET)) {
    // The last quotation mark closes the first one.
    const set = quote === '' ? value : value.slice(0, value.lastIndexOf('"') + 1 || undefined).replace(/"$/, '');
    if (values.size < VARIABLES_MAXIMUM) values.set(name.toLowerCase(), set);
  }
  let room = GROWTH_MAXIMUM * text.length;
  const take = (whole: string, value: string | undefined) => {
    if (value === undefined || value.length > room) return whole;
    room -= value.length;
    return value;
  };
  if (values.size > 0) {
    return text.replaceAll(OF_SET, (whole, _mark: string, name: string, from?: string, count?: string) => {
      const value = values.get(name.toLowerCase());
      const start = Number(from ?? 0);
      const part = value === undefined || from === undefined ? value : value.slice(start).slice(0, Number(count));
      return take(whole, part);
    });
  }
  for (const [, name = '', literal = ''] of text.matchAll(ASSIGNED))
    if (values.size < VARIABLES_MAXIMUM) values.set(name, literal);
  if (values.size === 0) return undefined;
  // In a shell a variable may be next to any text.
  if (text.startsWith('#!'))
    return text.replaceAll(OF_SHELL, (whole, name: string) => take(whole, values.get(name)?.slice(1, -1)));
  return text.replaceAll(USED, (whole, one?: string, other?: string) => take(whole, values.get(one ?? other ?? '')));
}

const OF_SHELL = /\$\{?([A-Za-z_]\w{0,31})\}?/g;

/** The results of rewriting. `texts` are searched as texts again; `bytes` are data that was encoded in the text. */
interface Rewritten {
  texts: Buffer[];
  bytes: Buffer[];
  /** A listing or a patch is a file, whatever its content. */
  files: Buffer[];
}

/**
 * Bytes that no literal holds unescaped. Two unrelated quotation marks may enclose the beginning of a binary file after a script, and a file found there would be cut
 * off. Such a file is found elsewhere.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const RAW_BYTES = /[\0-\x08\x0e-\x1a]/;

/** A text that does not match has nothing to rewrite, like nearly every text. */
const TELLING = new RegExp(
  [
    /\s-f\b|join|implode|concat|reverse|strrev|replace|rot_?13/,
    /\\[0-7]{3}|%u[0-9a-f]{4}|[A-Z2-7]{40}/,
    /b85decode|a85decode|ascii85|<~|fromCharCode|fromCodePoint/,
    /`\s{0,8}\+|^[\t @(]{0,16}(?:echo|set)\b/,
    /^\s{0,8}(?::|S[0-3]|(?:0x)?[0-9a-f]{2,16}:?\s{1,8})[0-9a-f]/,
    /[=(]\s{0,4}b?['"]|hex:|hex\(|<!ENTITY|'''|"""|__DATA__|__END__|<</,
    /^(?:literal|delta) \d|unpack|uudecode|^#!|\$\{"|(?:=[0-9A-F]{2}){8}/,
    /(?:[0-9a-f]{2}(?:[^0-9a-f\s"'\\]| )){16}|^%[0-9a-f]{2}6[0-9a-f]{3}/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'im',
);

/** A triple-quoted literal of Python. */
const TRIPLE = /('''|""")([\s\S]{32,65536}?)\1/g;
/** Escape sequences of ISO 2022 for the Latin sets, which may be anywhere in a JIS text and are invisible. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const SHIFTED_SETS = /\x1b\([BJ]/g;
const ENTITY = /<!ENTITY\s{1,16}([A-Za-z_][\w.-]{0,63})\s{1,16}(?:"([^"<]{0,4096})"|'([^'<]{0,4096})')\s{0,16}>/g;
const ENTITIES_MAXIMUM = 200;
/** Maximum nesting of entities in the values of others. */
const ENTITY_ROUNDS = 4;

/** Such an escape sequence marks a JIS text. */
const SHIFT_BEGIN = '\x1b(';

/** Replaces the entities that an XML document declares with their values; undefined if it declares none. */
function withEntities(source: string): string | undefined {
  const values = new Map<string, string>();
  for (const [, name = '', one, other] of source.matchAll(ENTITY))
    if (values.size < ENTITIES_MAXIMUM)
      values.set(name, (one ?? other ?? '').replaceAll(/&#(?:x([0-9a-f]{1,2})|(\d{1,3}));/gi, spelledOut));
  if (values.size === 0) return undefined;
  let text = source;
  for (let round = 0; round < ENTITY_ROUNDS; round += 1) {
    let room = GROWTH_MAXIMUM * source.length - text.length;
    text = text.replaceAll(/&([A-Za-z_][\w.-]{0,63});/g, (whole, name: string) => {
      const value = values.get(name);
      if (value === undefined || value.length > room) return whole;
      room -= value.length;
      return value;
    });
  }
  return text;
}

function spelledOut(_: string, digits: string | undefined, decimal: string | undefined): string {
  return String.fromCharCode((digits === undefined ? Number(decimal) : Number.parseInt(digits, 16)) & 0xff);
}

/** Rewrites a text, and decodes data that it contains. `text`: UTF-8, or another encoding that extends ASCII. */
export function rewritten(text: Buffer): Rewritten {
  const found: Rewritten = { texts: [], bytes: [], files: [] };
  if (text.length > TEXT_BYTES_MAXIMUM) return found;
  const source = text.toString('latin1');
  if (!TELLING.test(source) && !source.includes(SHIFT_BEGIN)) return found;
  let room = GROWTH_MAXIMUM * text.length;
  const add = (list: Buffer[], bytes: Buffer) => {
    if (bytes.length < LEAST || bytes.length > room) return;
    room -= bytes.length;
    list.push(bytes);
  };
  const addText = (one: string) => add(found.texts, Buffer.from(one, 'latin1'));

  const plain = source
    .replaceAll(SINGLE_CODE, (_, code: string) => JSON.stringify(String.fromCharCode(Number(code) & 0xff)))
    .replaceAll(ADDED, '')
    .replaceAll(EMPTY, '')
    .replaceAll(TEMPLATES, '');
  const folded = placed(plain);
  if (folded !== source) addText(folded);
  const joined = [...lists(folded)];
  if (joined.length > 0) addText(joined.join('\n'));
  const with_values = folded.length <= FOLLOWED_BYTES_MAXIMUM ? substituted(folded) : undefined;
  if (with_values !== undefined && with_values !== folded) {
    addText(with_values);
    const rows = [...lists(with_values)];
    if (rows.length > 0) addText(rows.join('\n'));
  }
  const literals: string[] = [];
  for (const [literal] of folded.matchAll(ONE)) {
    if (literals.length === LITERALS_MAXIMUM) break;
    if (literal.length >= LEAST && !RAW_BYTES.test(literal)) literals.push(meaningOf(literal));
  }
  for (const [, , literal = ''] of folded.matchAll(TRIPLE)) {
    if (literals.length >= LITERALS_MAXIMUM) break;
    // Read as a literal in single quotation marks, which cannot end it.
    if (literal.length >= LEAST && !RAW_BYTES.test(literal)) literals.push(meaningOf(`'${literal}'`));
  }
  const other = replaced(folded, literals.join('\n'));
  if (other !== undefined) addText(other);
  if (TURNED.test(source)) addText(literals.map(turned).join('\n'));
  if (ROT13.test(source)) addText(literals.map(rot13).join('\n'));
  const whole = literals.filter(({ length }) => length >= WHOLE_LITERAL_BYTES.least && length <= WHOLE_LITERAL_BYTES.most);
  for (const literal of whole.slice(0, WHOLE_LITERALS_MAXIMUM)) add(found.bytes, Buffer.from(literal, 'latin1'));
  if (source.startsWith('#!')) {
    // A shell has no escapes in single quotation marks.
    for (const [, literal = ''] of [...source.matchAll(/'([^']{64,4096})'/g)].slice(0, WHOLE_LITERALS_MAXIMUM))
      if (!RAW_BYTES.test(literal)) add(found.bytes, Buffer.from(literal, 'latin1'));
    const behind = BEHIND_SCRIPT.exec(source)?.[1];
    if (behind !== undefined) add(found.bytes, Buffer.from(behind, 'latin1'));
  }
  for (const body of hereDocuments(source)) add(found.bytes, Buffer.from(body, 'latin1'));
  for (const [run] of source.matchAll(QUOTED_PRINTABLE)) add(found.bytes, Buffer.from(run.replaceAll(/=\r?\n|=/g, ''), 'hex'));
  if (UUENCODED.test(source)) {
    add(found.bytes, fromLines(source));
    // Also without the backslashes before quotation marks and dollar signs in a literal.
    if (source.includes('\\')) add(found.bytes, fromLines(source.replaceAll(/\\(['"\\$])/g, '$1')));
  }
  for (const [run] of source.matchAll(OCTAL))
    add(found.bytes, Buffer.from((run.match(/[0-7]{2,3}/g) ?? []).map((digits) => Number.parseInt(digits, 8) & 0xff)));
  for (const [run] of source.matchAll(PERCENT_U)) {
    // Two bytes in each character, as exploits place them in memory.
    add(found.bytes, Buffer.from((run.match(/[0-9a-f]{4}/gi) ?? []).join(''), 'hex').swap16());
    addText((run.match(/[0-9a-f]{4}/gi) ?? []).map((digits) => String.fromCharCode(Number.parseInt(digits, 16) & 0xff)).join(''));
  }
  for (const [run] of source.matchAll(BASE32)) add(found.bytes, fromBase32(run.replaceAll(/\s/g, '')));
  if (SHIFTED_SETS.test(source)) addText(source.replaceAll(SHIFTED_SETS, ''));
  const expanded = withEntities(source);
  if (expanded !== undefined) {
    addText(expanded);
    // The visible text, because rules for texts skip documents that begin with a tag.
    addText(expanded.replaceAll(/<[^<>]{0,4096}>/g, ''));
  }
  if (BASE85.test(source)) {
    for (const literal of literals) for (const is_adobe of [true, false]) add(found.bytes, fromBase85(literal, is_adobe));
    for (const run of runsOfBase85(source)) add(found.bytes, fromBase85(run, true));
  }
  const echoed = [...source.matchAll(ECHOED)].map(([, words = '']) => words);
  if (echoed.length > 1) {
    addText(echoed.join('\n'));
    // Lines of base64 with different lengths.
    add(found.bytes, Buffer.from(echoed.filter((words) => /^[A-Za-z0-9+/]{4,}={0,2}$/.test(words)).join(''), 'base64'));
  }
  for (const bytes of fromPatches(source)) add(found.files, bytes);
  const [listing, ...others] = lineListings(source);
  if (listing !== undefined) add(found.files, listing);
  for (const bytes of others) add(found.bytes, bytes);
  for (const bytes of listings(source)) add(found.bytes, bytes);
  if (source.startsWith('#!')) addText(source.replaceAll(/\\(?=[a-z])/gi, ''));
  return found;
}
