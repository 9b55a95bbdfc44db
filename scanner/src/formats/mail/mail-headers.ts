import { headerText, type ParameterPiece, parameterText } from './header-words.ts';

// Parses the headers of mails and mail parts.

/** Maximum length of a boundary. A delimiter is one line, and lines are limited to this length (RFC 5322, 2.1.1). Bytes. */
export const BOUNDARY_BYTES_MAXIMUM = 998;
/** Maximum length of a file name. Characters. */
const NAME_CHARACTERS_MAXIMUM = 1024;
/** Maximum length of a parameter value. Characters. */
const PARAMETER_CHARACTERS_MAXIMUM = 4096;

export interface Headers {
  type: string;
  boundary: string | undefined;
  /** Boundaries of repeated fields. Some programs use the first field, some the last. */
  other_boundaries: readonly string[];
  encoding: string;
  other_encodings: readonly string[];
  name: string | undefined;
  /** Whether lines that end with a space continue in the next line (RFC 3676). */
  is_flowed: boolean;
  /** Whether the space at the end of a folded line is removed (RFC 3676, 4.2). */
  is_joined: boolean;
  /** Number of mails into which the message is split (RFC 2046, 5.2.2). */
  pieces: number;
}

/** An extended value without the star in its name, as some programs write it: charset, two apostrophes, and percent encoding. */
const EXTENDED = /^[\w.-]{1,40}'[\w-]{0,40}'[^%]{0,1000}%[0-9a-f]{2}/i;

/** Decodes a file name. */
function readable(name: string): string {
  const short = name.slice(0, NAME_CHARACTERS_MAXIMUM);
  return headerText(EXTENDED.test(short) ? parameterText([{ number: 0, is_extended: true, text: short }]) : short);
}

/** The quoted string that begins at `start`, and the position after it. */
function quoted(value: string, start: number): { text: string; after: number } {
  let text = '';
  let at = start + 1;
  for (; at < value.length && value[at] !== '"'; at += 1) {
    if (value[at] === '\\') at += 1;
    text += value[at] ?? '';
  }
  return { text, after: at + 1 };
}

/** Removes comments (RFC 5322, 3.2.2) outside quoted strings. */
function withoutComments(value: string): string {
  const last_end = value.lastIndexOf(')');
  let text = '';
  let depth = 0;
  for (let at = 0; at < value.length; ) {
    const character = value[at] ?? '';
    if (character === '"' && depth === 0) {
      const { after } = quoted(value, at);
      text += value.slice(at, after);
      at = after;
      continue;
    }
    if (character === '(' && at < last_end) depth += 1;
    else if (character === ')' && depth > 0) depth -= 1;
    else if (depth === 0) text += character;
    at += 1;
  }
  return text;
}

/** Maximum number of sections of a parameter. */
const PIECES_MAXIMUM = 200;

/**
 * The parameters of a header value, by lower-case name without the suffixes of RFC 2231. Extended and split values take precedence over plain ones; sections
 * are joined in order.
 */
function parametersOf(value: string): Map<string, string> {
  const found = new Map<string, { plain: string | undefined; pieces: ParameterPiece[] }>();
  const isEnd = (character: string | undefined) => character === ';' || character === ' ' || character === '\t';
  for (let at = 0; at < value.length; ) {
    const equals = value.indexOf('=', at);
    if (equals < 0) break;
    const before = value.slice(at, equals).trimEnd();
    const start = Math.max(before.lastIndexOf(';'), before.lastIndexOf(' '), before.lastIndexOf('\t')) + 1;
    const [name = '', first, second] = before.slice(start).toLowerCase().split('*');
    at = equals + 1;
    while (value[at] === ' ' || value[at] === '\t') at += 1;
    let text = '';
    if (value[at] === '"') {
      ({ text, after: at } = quoted(value, at));
    } else {
      const from = at;
      while (at < value.length && !isEnd(value[at])) at += 1;
      text = value.slice(from, at);
    }
    const known = found.get(name) ?? { plain: undefined, pieces: [] };
    found.set(name, known);
    // Forms of a parameter: `name=`, `name*=`, `name*0=` and `name*0*=`.
    if (first === undefined) known.plain ??= text;
    else if (known.pieces.length < PIECES_MAXIMUM)
      known.pieces.push({ number: Number(first) || 0, is_extended: first === '' || second !== undefined, text });
  }
  const parameters = new Map<string, string>();
  for (const [name, { plain, pieces }] of found) {
    const value = pieces.length > 0 ? parameterText(pieces) : (plain ?? '');
    parameters.set(name, value.slice(0, PARAMETER_CHARACTERS_MAXIMUM));
  }
  return parameters;
}

export const NO_HEADERS: Headers = {
  type: '',
  boundary: undefined,
  other_boundaries: [],
  encoding: '',
  other_encodings: [],
  name: undefined,
  is_flowed: false,
  is_joined: false,
  pieces: 1,
};
/** Maximum number of fields with the same name that are kept. */
export const SAME_FIELDS_MAXIMUM = 4;

export function headersOf(values: ReadonlyMap<string, readonly string[]>): Headers {
  if (values.size === 0) return NO_HEADERS;
  const all = (name: string) => (values.get(name) ?? []).map((value) => withoutComments(value).trim());
  const types = all('content-type');
  const of_types = types.map(parametersOf);
  const boundaries = of_types.flatMap((parameters) => parameters.get('boundary')?.slice(0, BOUNDARY_BYTES_MAXIMUM) ?? []);
  const [boundary, ...other_boundaries] = new Set(boundaries);
  const [encoding = '', ...other_encodings] = new Set(all('content-transfer-encoding').map((value) => value.toLowerCase()));
  const of_files = all('content-disposition').map(parametersOf);
  const name = [...of_files.map((file) => file.get('filename')), ...of_types.map((type) => type.get('name'))].find(Boolean);
  const kinds = types.map((type) => /^[^\s;]*/.exec(type)?.[0].toLowerCase() ?? '');
  return {
    type: kinds.find((kind) => kind.startsWith('multipart/')) ?? kinds[0] ?? '',
    boundary,
    other_boundaries,
    encoding,
    other_encodings,
    name: name === undefined ? undefined : readable(name),
    is_flowed: of_types.some((parameters) => parameters.get('format')?.toLowerCase() === 'flowed'),
    is_joined: of_types.some((parameters) => parameters.get('delsp')?.toLowerCase() === 'yes'),
    pieces: kinds.includes('message/partial') ? Number(of_types.map((type) => type.get('total')).find(Boolean) ?? 2) : 1,
  };
}
