import type { StatusDetail } from '@palisade/contract/antivirus';
import { format, HEAD_BYTES, spelled } from '#scanner/formats/format.ts';
import { mailKind } from '#scanner/formats/mail/mail.ts';
import { type Content, isDiskError } from '#scanner/reading/content.ts';
import { JoinedPieces } from '#scanner/reading/joined-pieces.ts';
import { LimitReached } from '#scanner/reading/limits.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import type { Range } from '#scanner/reading/ranges.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';
import { LOOK_BYTES, textFormOf } from '#scanner/text/text-encoding.ts';
import { filterOf, type Parameters, unpredicted } from './pdf-filters.ts';
import { StreamText } from './pdf-letters.ts';
import { type Lock, lockOf } from './pdf-lock.ts';
import { isOfPages, PageTexts } from './pdf-pages.ts';
import { ENDS_NAME, PlainObjects } from './pdf-plain.ts';
import { claimPdf } from './pdf-structure.ts';
import { PdfStrings, textOfString } from './pdf-texts.ts';

/** The readable copy of the document is given out in pieces of about this size, each beginning with the end of the one before. Bytes. */
const COPY = { bytes: 8 * 1024 ** 2, overlap: 64 * 1024 } as const;
/** The dictionary before a stream is read up to this length. Bytes. */
const DICTIONARY_BYTES_MAXIMUM = 64 * 1024;
/** Filters of one stream. Writers use one, seldom two. */
const FILTERS_MAXIMUM = 8;
const HEADER = Buffer.from('%PDF-1.7\n');
const HEADER_WITHIN = 1024;
const STREAM = Buffer.from('stream');
const END_STREAM = Buffer.from('endstream');
/** Blanks behind `stream`. */
const BLANKS_MAXIMUM = 62;
const ENCRYPT = Buffer.from('/Encrypt');
/** Beside the Crypt filter that changes nothing: what takes a picture apart, and holds nothing else. */
const PICTURE_FILTERS: readonly string[] = ['DCTDecode', 'DCT', 'JPXDecode', 'CCITTFaxDecode', 'CCF', 'JBIG2Decode'];

/** A document whose header is missing: viewers open what begins with an object. */
const FIRST_OBJECT = /^\s{0,64}(?:%[^\r\n]{0,200}[\r\n]{1,2}){0,4}\s{0,64}\d{1,7}\s{1,8}\d{1,5}\s{1,8}obj\s{0,64}<</;

/** Values of forms alone, for a document that is elsewhere (12.7.7). */
const FORM_DATA = '%FDF-1.';

/**
 * The header may stand anywhere in the first 1,024 bytes (ISO 32000-1, Annex H, note 13). At the very beginning it may be incomplete: Poppler warns, and continues.
 */
function isPdf(head: Buffer): boolean {
  const begins = /^\s{0,64}%PDF/.test(head.toString('latin1', 0, 68));
  return (
    begins ||
    head.toString('latin1', 0, FORM_DATA.length) === FORM_DATA ||
    head.subarray(0, HEADER_WITHIN + 5).includes('%PDF-') ||
    FIRST_OBJECT.test(head.toString('latin1', 0, HEADER_WITHIN))
  );
}

/** Whether the header stands behind something that is no blank and no byte order mark. */
function isPdfWithin(head: Buffer): boolean {
  return /[^\s\0\xef\xbb\xbf]/.test(head.toString('latin1', 0, Math.max(0, head.indexOf('%PDF'))));
}

const DELIMITERS = '/<>[]()%';

function isSpace(text: string, at: number): boolean {
  return text.charCodeAt(at) <= 0x20;
}

/** Where the value of the last `/Filter` begins, -1 when there is none. */
function filterValueAt(dictionary: string): number {
  for (let at = dictionary.lastIndexOf('/Filter'); at >= 0; at = at === 0 ? -1 : dictionary.lastIndexOf('/Filter', at - 1)) {
    const next = at + '/Filter'.length;
    if (isSpace(dictionary, next) || DELIMITERS.includes(dictionary[next] ?? '')) return next;
  }
  return -1;
}

/** The names of the filters in a dictionary, in order (ISO 32000-1, 7.4). Undefined when it names them elsewhere. */
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

interface Found {
  /** The number of its object, if known. */
  number: number | undefined;
  dictionary: string;
  start: number;
  end: number;
  /** The dictionary may continue before the part that was read. */
  is_cut: boolean;
}

/** `#41` in a name is `A` (7.3.5). */
function withoutEscapes(text: string): string {
  return text.includes('#')
    ? text.replaceAll(/#([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
    : text;
}

/**
 * Each stream with the dictionary before it (7.3.8), found by its keyword: the cross-reference table of a bad document lies. A stream goes as far as its
 * length says, and others are looked for within it all the same: the length may lie as well.
 */
function* streamsOf(reader: Reader): Generator<Found> {
  let before_end = 0;
  for (let at = reader.find(STREAM, 0); at >= 0; ) {
    // Some writers put blanks before the line end; viewers pass over them.
    const after = reader.at(at + STREAM.length, 2 + BLANKS_MAXIMUM).toString('latin1');
    const line_end = /^[ \t]*(?:\r\n|\n|\r)/.exec(after)?.[0].length ?? 0;
    // Neither `endstream` nor the end of a name: the type of an attached file is often `application/octet-stream`.
    if (line_end === 0 || !ENDS_NAME.has(reader.at(at - 1, 1)[0] ?? 0)) {
      at = reader.find(STREAM, at + STREAM.length);
      continue;
    }
    const start = at + STREAM.length + line_end;
    // No dictionary goes back into the stream before.
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

/** The trailer names an encryption dictionary (7.6.1). */
function isEncrypted(reader: Reader): boolean {
  for (let at = reader.find(ENCRYPT, 0); at >= 0; at = reader.find(ENCRYPT, at + ENCRYPT.length)) {
    if (/^\s*(<<|\d+\s+\d+\s+R)/.test(reader.at(at + ENCRYPT.length, 40).toString('latin1'))) return true;
  }
  return false;
}

/** Objects that are looked up, at most: a document that names more of them is not helped. */
const LOOKUPS_MAXIMUM = 64;
const OBJECT_BYTES = 4096;

/** Objects by their number. Each is looked for once. */
class Objects {
  private readonly reader: Reader;
  private readonly known = new Map<string, string>();

  constructor(reader: Reader) {
    this.reader = reader;
  }

  /** The text of the last object of this number; undefined where there is none that stands in the file as text. */
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

  /** Where the last object of this number begins. */
  private place(number: string): number | undefined {
    const mark = Buffer.from(`${Number(number)} 0 obj`);
    let place: number | undefined;
    for (let at = this.reader.find(mark, 0); at >= 0; at = this.reader.find(mark, at + mark.length)) {
      const before = at === 0 ? 0x0a : (this.reader.at(at - 1, 1)[0] ?? 0);
      if (before < 0x30 || before > 0x39) place = at + mark.length;
    }
    return place;
  }

  /** The string that an object is; undefined where it is something else. */
  string(number: number): Buffer | undefined {
    const start = /^\s*(\(|<[^<])/.test(this.text(`${number}`) ?? '') ? this.place(`${number}`) : undefined;
    return start === undefined ? undefined : stringOf(this.reader.at(start, SCRIPT_BYTES.most).toString('latin1').trimStart());
  }

  /** A dictionary with references in its filters replaced by their objects. */
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

/** The parameters of each filter, in order: they stand in one dictionary, or in a list of them with nulls between. */
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

/** A stream without its filters. */
interface Unfiltered {
  pieces: AsyncIterable<Buffer>;
  /** Some filter was taken off: it has something to show that the document does not. */
  is_changed: boolean;
  /** The reason why a filter could not be removed. */
  unread?: StatusDetail | undefined;
  /** Not declared as packed; it only looks so. */
  is_guess?: true;
}

/** The first bytes of zlib data (RFC 1950, 2.2). */
function looksDeflated(head: Buffer): boolean {
  return head.length === 2 && (head[0] ?? 0) % 16 === 8 && head.readUInt16BE(0) % 31 === 0;
}

function unfiltered(reader: Reader, found: Found, objects: Objects, lock: Lock | undefined, { budget }: ReadContext): Unfiltered {
  const packed_bytes = found.end - found.start;
  const dictionary = objects.resolved(found.dictionary);
  async function* raw(): AsyncGenerator<Buffer> {
    const chunks = reader.chunks(found.start, found.end);
    yield* lock === undefined ? chunks : lock.opened(chunks, found);
  }
  /** The output of each filter but the last counts as unpacked, too. The last one's pieces are counted by who takes them. */
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

/** Streams that are remembered, for those that are named as files behind them. */
const STREAMS_KEPT_MAXIMUM = 20_000;
const NAME_OVERLAP = 64;
const OBJECT_WITHIN = 4096;
/** Keys whose stream is a file, a script or a form: a file specification's (7.11.3), an action's (12.6.4.16), the form's (12.7.8). */
const NAMED_FILE = /\/(?:F|UF|DOS|Unix|Mac|JS|XFA|EF)\s{0,16}(\d{1,10})\s{1,16}\d{1,5}\s{1,16}R\b/g;
/** Files that belong to one that is named (7.11.4.2). */
const RELATED = /\/RF\s{0,16}<<([^>]{0,4000})>>/g;
const FORM = /\/XFA\s{0,16}\[([^\]]{0,4000})\]/g;

function* filesIn(text: string): Generator<number> {
  const plain = withoutEscapes(text);
  for (const [, number] of plain.matchAll(NAMED_FILE)) yield Number(number);
  for (const [, list = ''] of [...plain.matchAll(FORM), ...plain.matchAll(RELATED)])
    for (const [, number] of list.matchAll(/(\d{1,10})\s{1,16}\d{1,5}\s{1,16}R/g)) yield Number(number);
}

/** The numbers of objects that are named as files where the document is not packed. */
function* filesNamedIn(reader: Reader): Generator<number> {
  let text = '';
  for (const chunk of reader.chunks(0, reader.size)) {
    text += chunk.toString('latin1');
    yield* filesIn(text);
    text = text.slice(-NAME_OVERLAP);
  }
}

const SCRIPT = Buffer.from('/JS');
/** A script is searched as far as `quick`, and a longer one as far as `most`. */
const SCRIPT_BYTES = { quick: 4096, most: 1024 ** 2 } as const;
const SCRIPTS_MAXIMUM = 100;
const STRING_ESCAPES: ReadonlyMap<string, string> = new Map(Object.entries({ n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }));

/** A string of PDF (7.3.4) that begins at the first character of `text`; undefined for anything else. */
function stringOf(text: string): Buffer | undefined {
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

/** The strings of scripts in the text of packed objects, which are not encrypted once more (7.5.7). */
function* packedScripts(text: string): Generator<Buffer> {
  for (let at = text.indexOf('/JS'); at >= 0; at = text.indexOf('/JS', at + 3)) {
    const [gap = ''] = /^\s{0,16}(?=[(<])/.exec(text.slice(at + 3, at + 20)) ?? [];
    const start = at + 3 + gap.length;
    if (!/^(\(|<[^<])/.test(text.slice(start, start + 2))) continue;
    const script = stringOf(text.slice(start, start + SCRIPT_BYTES.most));
    if (script === undefined || script.length === 0) continue;
    yield script;
    at = start + script.length;
  }
}

/** Scripts that stand in the document as strings. */
function* scriptsIn(reader: Reader, lock: Lock | undefined): Generator<Member> {
  let number = 0;
  let after = 0;
  for (
    let at = reader.find(SCRIPT, 0);
    at >= 0 && number < SCRIPTS_MAXIMUM;
    at = reader.find(SCRIPT, Math.max(at + SCRIPT.length, after))
  ) {
    const [gap = ''] = /^\s{0,16}(?=[(<])/.exec(reader.at(at + SCRIPT.length, 20).toString('latin1')) ?? [];
    const start = at + SCRIPT.length + gap.length;
    const first = reader.at(start, 2).toString('latin1');
    if (!/^(\(|<[^<])/.test(first)) continue;
    const short = reader.at(start, SCRIPT_BYTES.quick).toString('latin1');
    const quick = stringOf(short);
    const is_long = quick !== undefined && quick.length > SCRIPT_BYTES.quick / 8;
    const written = is_long ? stringOf(reader.at(start, SCRIPT_BYTES.most).toString('latin1')) : quick;
    if (written === undefined || written.length === 0) continue;
    after = start + written.length;
    const from = Math.max(0, at - OBJECT_WITHIN);
    const object =
      lock === undefined
        ? undefined
        : [
            ...reader
              .at(from, at - from)
              .toString('latin1')
              .matchAll(/(\d{1,10})\s\d{1,5}\sobj/g),
          ].at(-1);
    const bytes =
      object === undefined
        ? written
        : Buffer.concat([...(lock?.opened([written], { number: Number(object[1]), dictionary: '' }) ?? [])]);
    number += 1;
    yield { name: `script ${number}`, read: () => ({ content: { size: bytes.length, bytes } }) };
  }
}

/** So many texts of a document are matched each alone as well: a test file in a field is one. */
const ALONE_MAXIMUM = 500;
/** Texts are given out at this size together. Bytes. */
const TEXTS_BYTES = 1024 ** 2;
const NEWLINE = Buffer.from('\n');

/** The texts of a document's strings, as values each and as lines of a text together. */
class Texts {
  private readonly lines = new JoinedPieces(NEWLINE);
  private alone = 0;
  private readonly budget: ReadContext['budget'];

  constructor(budget: ReadContext['budget']) {
    this.budget = budget;
  }

  *add(strings: Iterable<Buffer>): Generator<Member> {
    for (const string of strings) {
      const text = textOfString(string);
      if (text === undefined) continue;
      this.budget.addUnpacked(text.length, text.length, string.length);
      this.lines.add(text);
      this.alone += 1;
      if (this.alone <= ALONE_MAXIMUM)
        yield { name: 'value', kind: 'alone', read: () => ({ content: { size: text.length, bytes: text } }) };
      if (this.lines.length >= TEXTS_BYTES) yield* this.end();
    }
  }

  *end(): Generator<Member> {
    if (this.lines.length === 0) return;
    const bytes = this.lines.take();
    yield { name: 'values', read: () => ({ content: { size: bytes.length, bytes } }) };
  }
}

/** A longer stream is no value that an author put beside the pages. Bytes. */
const VALUE_BYTES_MAXIMUM = 64 * 1024;

/** Longer gaps between streams are read in pieces, so that no damaged document comes into memory as a whole. Bytes. */
const BETWEEN_BYTES = 1024 ** 2;

/** The bytes between the streams of a document. */
function* between(reader: Reader, streams: readonly Range[]): Generator<Buffer> {
  let at = 0;
  for (const { start, end } of [...streams, { start: reader.size, end: reader.size }]) {
    for (; at < start; at += BETWEEN_BYTES) yield reader.at(at, Math.min(BETWEEN_BYTES, start - at));
    at = Math.max(end, Math.min(at, start));
  }
}

function openedBy(lock: Lock): (value: Buffer, number: number | undefined) => Buffer {
  return (value, number) => Buffer.concat([...lock.opened([value], { number, dictionary: '' })]);
}

/** The strings of a document between its streams, as they are without its encryption. */
function* stringsBetween(reader: Reader, streams: readonly Range[], lock: Lock | undefined): Generator<Buffer> {
  let at = 0;
  for (const { start, end } of [...streams, { start: reader.size, end: reader.size }]) {
    const strings = new PdfStrings();
    const pieces = at < start ? reader.chunks(at, start) : [];
    const plain = ({ bytes, number }: { bytes: Buffer; number: number | undefined }) =>
      lock === undefined ? bytes : Buffer.concat([...lock.opened([bytes], { number, dictionary: '' })]);
    for (const piece of pieces) yield* strings.push(piece).map(plain);
    yield* strings.end().map(plain);
    at = Math.max(at, end);
  }
}

/** The first bytes of a stream, at least `least` where there are as many, and all of it once more. */
async function peeked(
  pieces: AsyncIterable<Buffer>,
  least: number,
): Promise<{ head: Buffer; all: AsyncGenerator<Buffer>; failure: unknown }> {
  const iterator = pieces[Symbol.asyncIterator]();
  const first: Buffer[] = [];
  let failure: unknown;
  try {
    for (let bytes = 0; bytes < least; ) {
      const next = await iterator.next();
      if (next.done) break;
      first.push(next.value);
      bytes += next.value.length;
    }
  } catch (error) {
    failure = error;
  }
  async function* all(): AsyncGenerator<Buffer> {
    yield* first;
    if (failure !== undefined) throw failure;
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value;
  }
  return { head: Buffer.concat(first), all: all(), failure };
}

/**
 * The document with its streams unpacked, as one member in which rules see it like any other PDF, and each attached file as a member of its own: declared ones, and
 * those that `isFile` recognises by the first `head_bytes` bytes.
 * @throws Unreadable `encrypted` when its streams cannot be read, and at the end for other unread parts.
 */
async function* pdfMembers(
  content: Content,
  context: ReadContext,
  { head_bytes, isFile }: { head_bytes: number; isFile: (head: Buffer) => boolean },
): AsyncGenerator<Member> {
  const { budget } = context;
  const reader = openReader(content, budget);
  const unread = new Set<StatusDetail>();
  let copy: Buffer[] = [HEADER];
  let copy_bytes = 0;
  const view = (): Member => {
    const bytes = Buffer.concat(copy);
    copy = [HEADER, Buffer.from(bytes.subarray(-COPY.overlap))];
    copy_bytes = 0;
    // Its bytes were counted as they came.
    return { name: 'unpacked streams', kind: 'view', read: () => ({ content: { size: bytes.length, bytes } }) };
  };
  const objects = new Objects(reader);
  const named = new Set<number>();
  /** Streams that were not given as files, for those that turn out to be named as such. */
  const others = new Map<number, Found>();
  const ranges: Range[] = [];
  const texts = new Texts(budget);
  const plain_objects = new PlainObjects();
  const pages = new PageTexts();
  /** The content of a stream that is a text (`own`), or one that is a part of a page. */
  function* ofText(own: StreamText | undefined, page: StreamText | undefined): Generator<Member> {
    if (own !== undefined) yield* own.end(isFile);
    if (page !== undefined) pages.add(page.text());
    else if (own !== undefined && own.bytes <= VALUE_BYTES_MAXIMUM) yield* texts.add([own.text()]);
  }
  let scripts = 0;
  const scriptMember = (bytes: Buffer): Member => {
    scripts += 1;
    budget.addUnpacked(bytes.length, bytes.length, bytes.length);
    return { name: `packed script ${scripts}`, read: () => ({ content: { size: bytes.length, bytes } }) };
  };
  try {
    const lock = isEncrypted(reader) ? lockOf(reader) : undefined;
    if (isEncrypted(reader) && lock === undefined) throw new Unreadable('encrypted');
    for (const number of filesNamedIn(reader)) named.add(number);
    yield* scriptsIn(reader, lock);
    for (const found of streamsOf(reader)) {
      const { number, dictionary, start, end, is_cut } = found;
      ranges.push({ start, end });
      const packed_bytes = end - start;
      const { pieces, is_changed, unread: closed, is_guess } = unfiltered(reader, found, objects, lock, context);
      const { head, all, failure } = await peeked(pieces, head_bytes);
      if (failure instanceof LimitReached || isDiskError(failure)) throw failure;
      if (closed !== undefined) unread.add(closed);
      if (is_cut) unread.add('damaged');
      const is_named = number !== undefined && named.has(number);
      if (head.length > 0 && (is_named || /\/EmbeddedFile\b/.test(dictionary) || isFile(head))) {
        yield { name: 'attached file', read: () => ({ stream: all, packed_bytes }) };
        continue;
      }
      if (number !== undefined && others.size < STREAMS_KEPT_MAXIMUM) others.set(number, found);
      const own = textFormOf(head.subarray(0, LOOK_BYTES)) === undefined ? undefined : new StreamText();
      // Letters of two bytes make a page look like no text.
      const page = isOfPages(head) ? (own ?? new StreamText()) : undefined;
      if (!is_changed) {
        const kept = own ?? page;
        if (kept === undefined) continue;
        for await (const piece of all) kept.add(piece);
        yield* ofText(own, page);
        continue;
      }
      copy.push(Buffer.from(`${dictionary}stream\n`, 'latin1'));
      copy_bytes += dictionary.length;
      let plain_bytes = 0;
      const is_list = /\/ObjStm\b/.test(dictionary);
      let text = '';
      const strings = new PdfStrings();
      const bytesOf = ({ bytes }: { bytes: Buffer }) => bytes;
      try {
        for await (const piece of all) {
          plain_bytes += piece.length;
          budget.addUnpacked(piece.length, plain_bytes, packed_bytes);
          copy.push(piece);
          (own ?? page)?.add(piece);
          copy_bytes += piece.length;
          if (is_list) {
            const listed = piece.toString('latin1');
            for (const file of filesIn(text + listed)) named.add(file);
            if (scripts < SCRIPTS_MAXIMUM) for (const script of packedScripts(listed)) yield scriptMember(script);
            text = listed.slice(-NAME_OVERLAP);
            yield* texts.add(strings.push(piece).map(bytesOf));
            plain_objects.add(piece);
          }
          if (copy_bytes >= COPY.bytes) yield view();
        }
      } catch (error) {
        if (error instanceof LimitReached || isDiskError(error)) throw error;
        if (packed_bytes > 0 && !is_guess) unread.add('damaged');
      }
      yield* ofText(own, page);
      yield* texts.add(strings.end().map(bytesOf));
      copy.push(Buffer.from('\nendstream\nendobj\n'));
    }
    // Named in an object that itself was packed.
    for (const number of named) {
      const found = others.get(number);
      if (found === undefined) {
        // A script that is a string in an object of its own; in a document that is encrypted it is read as one of its streams would be.
        const script = scripts < SCRIPTS_MAXIMUM ? objects.string(number) : undefined;
        const plain =
          script === undefined ? undefined : lock === undefined ? [script] : lock.opened([script], { number, dictionary: '' });
        if (plain !== undefined) yield scriptMember(Buffer.concat([...plain]));
        continue;
      }
      const { pieces } = unfiltered(reader, found, objects, lock, context);
      yield { name: 'attached file', read: () => ({ stream: pieces, packed_bytes: found.end - found.start }) };
    }
    for (const bytes of between(reader, ranges)) plain_objects.add(bytes, lock && openedBy(lock));
    if (plain_objects.is_changed) {
      const plain = plain_objects.bytes();
      budget.addUnpacked(plain.length, plain.length, plain.length);
      copy.push(plain);
      copy_bytes += plain.length;
    }
    if (copy_bytes > 0) yield view();
    yield* texts.add(stringsBetween(reader, ranges, lock));
    yield* texts.end();
    for (const text of pages.texts()) {
      budget.spend(text.length);
      budget.addUnpacked(text.length, text.length, reader.size);
      yield { name: 'text of the pages', kind: 'alone', read: () => ({ content: { size: text.length, bytes: text } }) };
    }
    claimPdf(reader, ranges, context.claim);
    for (const detail of unread) throw new Unreadable(detail);
  } catch (error) {
    // Bytes before a limit are matched all the same.
    if (error instanceof LimitReached && copy_bytes > 0) yield view();
    throw error;
  } finally {
    reader.close();
  }
}

const PDF_START = '%PDF';
const PDF_FIRST = /^\s{0,64}%(?:PDF|FDF)/;

/** The first object of a PDF stands near its header (ISO 32000-1, 7.5.3). Bytes. */
const NEAR_OBJECT_WITHIN = 16 * 1024;
const NEAR_OBJECT = /[\s\0]\d{1,10}[\s\0]{1,20}\d{1,5}[\s\0]{1,20}obj/;

/** A header with a version, and an object behind it: programs that read and write PDF have the header alone among their texts. */
function provesPdf(reader: Reader, at: number): boolean {
  const head = reader.at(at, NEAR_OBJECT_WITHIN).toString('latin1');
  return /^%PDF-\d\.\d/.test(head) && NEAR_OBJECT.test(head);
}

/** A document that a mail carries may begin within the mail's first bytes. */
function isDocument(head: Buffer): boolean {
  return isPdf(head) && (PDF_FIRST.test(head.toString('latin1', 0, 68)) || mailKind(head) === undefined);
}

const late = { isLate: (head: Buffer) => head.toString('latin1', 0, PDF_START.length) !== PDF_START, carved_as: 'pdf' };

export const pdf = format({
  id: 'pdf',
  media_type: 'application/pdf',
  recognise: (head) => (isDocument(head) && !isPdfWithin(head) ? 32 : 0),
  carve: [{ pattern: spelled(`${PDF_START}-`), proves: provesPdf, is_endless: true }],
  late,
  limits: 'Documents behind a password are not read, except those that open without one.',
  open: (content, context) => pdfMembers(content, context, { head_bytes: HEAD_BYTES, isFile: context.isContainerHead }),
});

/** A document whose header stands behind something else: it may be a part of that. */
export const pdfWithin = format({
  id: 'pdf-within',
  media_type: 'application/pdf',
  recognise: (head) => (isDocument(head) && isPdfWithin(head) ? 32 : 0),
  traits: { is_beside: true, reads_beside: ['pdf'] },
  late,
  limits: null,
  open: pdf.open,
});

/** A document that begins among the first bytes of a mail. */
export const pdfInMail = format({
  id: 'pdf-in-mail',
  media_type: 'application/pdf',
  recogniseBeside: ({ head, first }) => (first?.format.traits.is_mail === true && isPdf(head) ? 32 : 0),
  late,
  limits: null,
  open: pdf.open,
});
