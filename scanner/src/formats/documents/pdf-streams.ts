import type { StatusDetail } from '@palisade/contract/antivirus';
import type { ReadContext } from '#scanner/reading/member.ts';
import type { Reader } from '#scanner/reading/reader.ts';
import { filterOf, type Parameters, unpredicted } from './pdf-filters.ts';
import type { Lock } from './pdf-lock.ts';
import { ENDS_NAME } from './pdf-plain.ts';

// Finds the streams of a PDF, parses their dictionaries, and undoes their filters.

/** Maximum size of the dictionary before a stream. Bytes. */
const DICTIONARY_BYTES_MAXIMUM = 64 * 1024;
/** Maximum number of filters of a stream. Writers use one, rarely two. */
const FILTERS_MAXIMUM = 8;
const STREAM = Buffer.from('stream');
const END_STREAM = Buffer.from('endstream');
/** Maximum number of blanks after `stream`. */
const BLANKS_MAXIMUM = 62;
/** Image filters. Their data contains nothing but an image, so it is not unpacked. */
const PICTURE_FILTERS: readonly string[] = ['DCTDecode', 'DCT', 'JPXDecode', 'CCITTFaxDecode', 'CCF', 'JBIG2Decode'];

const DELIMITERS = '/<>[]()%';

function isSpace(text: string, at: number): boolean {
  return text.charCodeAt(at) <= 0x20;
}

/** Position after the last `/Filter` key; -1 if there is none. */
function filterValueAt(dictionary: string): number {
  for (let at = dictionary.lastIndexOf('/Filter'); at >= 0; at = at === 0 ? -1 : dictionary.lastIndexOf('/Filter', at - 1)) {
    const next = at + '/Filter'.length;
    if (isSpace(dictionary, next) || DELIMITERS.includes(dictionary[next] ?? '')) return next;
  }
  return -1;
}

/** The names of the filters in a dictionary, in order (ISO 32000-1, 7.4); undefined if they cannot be parsed, for example in a reference. */
function filtersOf(dictionary: string): string[] | undefined {
  let next = filterValueAt(dictionary);
  if (next < 0) return [];
  const skip = () => {
    while (next < dictionary.length && isSpace(dictionary, next)) next += 1;
  };
  skip();
  if (dictionary.startsWith('null', next)) return [];
  const is_list = dictionary[next] === '[';
  if (is_list) next += 1;
  const names: string[] = [];
  for (skip(); dictionary[next] === '/'; skip()) {
    const start = next + 1;
    next = start;
    while (next < dictionary.length && !isSpace(dictionary, next) && !DELIMITERS.includes(dictionary[next] ?? '')) next += 1;
    names.push(dictionary.slice(start, next));
    if (!is_list) break;
  }
  const is_understood = is_list ? dictionary[next] === ']' : names.length > 0;
  return is_understood ? names : undefined;
}

export interface Found {
  /** Number of the object; undefined if unknown. */
  number: number | undefined;
  dictionary: string;
  start: number;
  end: number;
  /** Whether the dictionary may begin before the bytes that were read. */
  is_cut: boolean;
}

/** Replaces escapes in names (7.3.5): `#41` is `A`. */
export function withoutEscapes(text: string): string {
  return text.includes('#')
    ? text.replaceAll(/#([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
    : text;
}

/**
 * The streams with their dictionaries (7.3.8), found by keyword because the cross-reference table of a malicious document may be wrong. A stream ends after its
 * stated length if `endstream` follows there. The search continues at the first `endstream`, because the length may be wrong too.
 */
export function* streamsOf(reader: Reader): Generator<Found> {
  let before_end = 0;
  for (let at = reader.find(STREAM, 0); at >= 0; ) {
    // Some writers put blanks before the line end; viewers ignore them.
    const after = reader.at(at + STREAM.length, 2 + BLANKS_MAXIMUM).toString('latin1');
    const line_end = /^[ \t]*(?:\r\n|\n|\r)/.exec(after)?.[0].length ?? 0;
    // Excludes `endstream` and ends of names: the type of an attached file is often `application/octet-stream`.
    if (line_end === 0 || !ENDS_NAME.has(reader.at(at - 1, 1)[0] ?? 0)) {
      at = reader.find(STREAM, at + STREAM.length);
      continue;
    }
    const start = at + STREAM.length + line_end;
    // A dictionary cannot begin inside the previous stream.
    const from = Math.max(before_end, at - DICTIONARY_BYTES_MAXIMUM);
    const before = reader.at(from, at - from).toString('latin1');
    const object = before.lastIndexOf(' obj');
    const dictionary = withoutEscapes(before.slice(Math.max(0, object)));
    const length = Number(/\/Length\s+(\d{1,10})(?!\s{1,20}\d{1,10}\s{1,20}R)/.exec(dictionary)?.[1] ?? Number.NaN);
    const announced = reader
      .at(start + length, 12)
      .toString('latin1')
      .trimStart()
      .startsWith('endstream');
    const next = reader.find(END_STREAM, start);
    const nearest = next < 0 ? reader.size : next;
    const number = Number(
      /(\d{1,10})\s{1,8}\d{1,5}\s{0,8}$/.exec(before.slice(Math.max(0, object - 32), Math.max(0, object)))?.[1] ?? Number.NaN,
    );
    yield {
      number: Number.isNaN(number) ? undefined : number,
      dictionary,
      start,
      end: announced ? start + length : nearest,
      is_cut: object < 0 && from > before_end,
    };
    before_end = nearest;
    at = reader.find(STREAM, nearest + END_STREAM.length);
  }
}

/** Maximum number of objects that are looked up in a document. */
const LOOKUPS_MAXIMUM = 64;
const OBJECT_BYTES = 4096;

/** Looks up objects by number. Each is searched once. */
export class Objects {
  private readonly reader: Reader;
  private readonly known = new Map<string, string>();

  constructor(reader: Reader) {
    this.reader = reader;
  }

  /** The text of the last object with this number; undefined if there is none outside object streams. */
  text(number: string): string | undefined {
    const known = this.known.get(number);
    if (known !== undefined) return known;
    if (this.known.size >= LOOKUPS_MAXIMUM) return undefined;
    const start = this.place(number);
    const text =
      start === undefined
        ? undefined
        : withoutEscapes(this.reader.at(start, OBJECT_BYTES).toString('latin1').split('endobj', 1)[0] ?? '');
    this.known.set(number, text ?? '');
    return text;
  }

  /** Position after the header of the last object with this number. */
  private place(number: string): number | undefined {
    const mark = Buffer.from(`${Number(number)} 0 obj`);
    let place: number | undefined;
    for (let at = this.reader.find(mark, 0); at >= 0; at = this.reader.find(mark, at + mark.length)) {
      const before = at === 0 ? 0x0a : (this.reader.at(at - 1, 1)[0] ?? 0);
      if (before < 0x30 || before > 0x39) place = at + mark.length;
    }
    return place;
  }

  /** The string that is the value of an object; undefined for other values. */
  string(number: number): Buffer | undefined {
    const start = /^\s*(\(|<[^<])/.test(this.text(`${number}`) ?? '') ? this.place(`${number}`) : undefined;
    return start === undefined ? undefined : stringOf(this.reader.at(start, SCRIPT_BYTES.most).toString('latin1').trimStart());
  }

  /** Replaces references to filters and their parameters by the objects. */
  resolved(dictionary: string): string {
    return dictionary.replaceAll(
      /\/(Filter|F|DecodeParms|DP)\s{0,16}(\d{1,10})\s{1,16}\d{1,5}\s{1,16}R\b/g,
      (whole, name: string, number: string) => {
        const text = name === 'F' ? undefined : this.text(number);
        return text === undefined ? whole : `/${name} ${text} `;
      },
    );
  }
}

/** The parameters of each filter, in order, from one dictionary or from a list that may contain nulls. */
function parametersOf(dictionary: string): Parameters[] {
  const [, list = ''] =
    /\/(?:DecodeParms|DP)\s{0,16}((?:\[\s{0,16})?(?:(?:null|<<[^>]{0,1000}>>)\s{0,16}){1,8})/.exec(dictionary) ?? [];
  return (list.match(/null|<<[^>]{0,1000}>>/g) ?? []).map((one) => {
    const value = (name: string) => {
      const number = new RegExp(`/${name}\\s{0,16}(\\d{1,9})`).exec(one)?.[1];
      return number === undefined ? undefined : Number(number);
    };
    const entries = Object.entries({
      predictor: value('Predictor'),
      colors: value('Colors'),
      bits: value('BitsPerComponent'),
      columns: value('Columns'),
      early: value('EarlyChange'),
    }).filter(([, number]) => number !== undefined);
    return Object.fromEntries(entries);
  });
}

/** A stream with its filters undone. */
interface Unfiltered {
  pieces: AsyncIterable<Buffer>;
  /** Whether a filter or the encryption was undone, so that the bytes differ from the document. */
  is_changed: boolean;
  /** Reason why a filter could not be undone. */
  unread?: StatusDetail | undefined;
  /** Whether the compression was detected and not declared. */
  is_guess?: true;
}

/** Whether the bytes are a zlib header (RFC 1950, 2.2). */
function looksDeflated(head: Buffer): boolean {
  return head.length === 2 && (head[0] ?? 0) % 16 === 8 && head.readUInt16BE(0) % 31 === 0;
}

export function unfiltered(
  reader: Reader,
  found: Found,
  objects: Objects,
  lock: Lock | undefined,
  { budget }: ReadContext,
): Unfiltered {
  const packed_bytes = found.end - found.start;
  const dictionary = objects.resolved(found.dictionary);
  async function* raw(): AsyncGenerator<Buffer> {
    const chunks = reader.chunks(found.start, found.end);
    yield* lock === undefined ? chunks : lock.opened(chunks, found);
  }
  /** Counts the output of each filter but the last as unpacked bytes. The consumer counts the output of the last one. */
  async function* counted(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let bytes = 0;
    for await (const piece of pieces) {
      bytes += piece.length;
      budget.spend(piece.length);
      budget.addUnpacked(piece.length, bytes, packed_bytes);
      yield piece;
    }
  }
  const names = filtersOf(dictionary);
  const parameters = parametersOf(dictionary);
  if (names === undefined || names.length === 0) {
    const inflate = lock === undefined && looksDeflated(reader.at(found.start, 2)) ? filterOf('FlateDecode') : undefined;
    if (inflate !== undefined) return { pieces: inflate(raw(), budget), is_changed: true, ...(names ? { is_guess: true } : {}) };
    return { pieces: raw(), is_changed: lock !== undefined, unread: names === undefined ? 'unsupported' : undefined };
  }
  if (names.length > FILTERS_MAXIMUM) return { pieces: raw(), is_changed: false, unread: 'unsupported' };
  let pieces: AsyncIterable<Buffer> = raw();
  let is_changed = false;
  for (const [index, name] of names.entries()) {
    if (name === 'Crypt') continue;
    const filter = filterOf(name);
    if (filter === undefined) return { pieces, is_changed, unread: PICTURE_FILTERS.includes(name) ? undefined : 'unsupported' };
    const own = parameters[index];
    pieces = filter(is_changed ? counted(pieces) : pieces, budget, own);
    if (own?.predictor !== undefined && own.predictor > 1) pieces = unpredicted(pieces, own);
    is_changed = true;
  }
  return { pieces, is_changed };
}
/** Length to which a script string is read: first `quick`, and if it is longer, `most`. Bytes. */
export const SCRIPT_BYTES = { quick: 4096, most: 1024 ** 2 } as const;
const STRING_ESCAPES: ReadonlyMap<string, string> = new Map(Object.entries({ n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }));

/** The PDF string (7.3.4) at the start of `text`; undefined for anything else. */
export function stringOf(text: string): Buffer | undefined {
  const hex = /^<([0-9a-f\s]*)>/i.exec(text)?.[1];
  if (hex !== undefined) return Buffer.from(hex.replaceAll(/\s/g, ''), 'hex');
  if (text[0] !== '(') return undefined;
  const characters: string[] = [];
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (character === '\\') {
      const [octal] = /^[0-7]{1,3}/.exec(text.slice(at + 1, at + 4)) ?? [];
      const next = text[at + 1] ?? '';
      if (octal === undefined && next !== '\n' && next !== '\r') characters.push(STRING_ESCAPES.get(next) ?? next);
      if (octal !== undefined) characters.push(String.fromCharCode(Number.parseInt(octal, 8) & 0xff));
      at += octal?.length ?? 1;
      continue;
    }
    if (character === ')') depth -= 1;
    if (depth === 0 && character === ')') break;
    if (depth > 0 || character !== '(') characters.push(character);
    if (character === '(') depth += 1;
  }
  return Buffer.from(characters.join(''), 'latin1');
}
