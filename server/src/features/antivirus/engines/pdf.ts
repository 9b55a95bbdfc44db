import type { StatusDetail } from '@palisade/contract/antivirus';
import { type Content, isDiskError } from './content.ts';
import { LimitReached } from './limits.ts';
import { type Member, Unreadable, type Workshop } from './member.ts';
import { filterOf } from './pdf-filters.ts';
import { openReader, type Reader } from './reader.ts';

/** The readable copy of the document is given out in pieces of about this size, each beginning with the end of the one before. Bytes. */
const COPY = { bytes: 8 * 1024 ** 2, overlap: 64 * 1024 } as const;
/** What stands before a stream is its dictionary, if it is not longer than this. Bytes. */
const DICTIONARY_BYTES_MAXIMUM = 64 * 1024;
/** Filters of one stream. Writers use one, seldom two. */
const FILTERS_MAXIMUM = 8;
const HEADER = Buffer.from('%PDF-1.7\n');
const HEADER_WITHIN = 1024;
const STREAM = Buffer.from('stream');
const END_STREAM = Buffer.from('endstream');
const ENCRYPT = Buffer.from('/Encrypt');
/** Beside the Crypt filter that changes nothing: what takes a picture apart, and holds nothing else. */
const PICTURE_FILTERS: readonly string[] = ['DCTDecode', 'DCT', 'JPXDecode', 'CCITTFaxDecode', 'CCF', 'JBIG2Decode'];

/** The header may stand anywhere in the first 1,024 bytes (ISO 32000-1, Annex H, note 13). */
export function isPdf(head: Buffer): boolean {
  return head.subarray(0, HEADER_WITHIN + 5).includes('%PDF-');
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
  dictionary: string;
  start: number;
  end: number;
  /** There may be more of the dictionary than what was read of it. */
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
    const after = reader.at(at + STREAM.length, 2);
    const line_end = after[0] === 0x0a ? 1 : after[0] === 0x0d ? (after[1] === 0x0a ? 2 : 1) : 0;
    if (line_end === 0 || reader.at(at - 3, 3).toString('latin1') === 'end') {
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
    yield { dictionary, start, end: announced ? start + length : nearest, is_cut: object < 0 && from > before_end };
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

/** How a stream is read without its filters. */
interface Unfiltered {
  pieces: AsyncIterable<Buffer>;
  /** Some filter was taken off: it has something to show that the document does not. */
  is_changed: boolean;
  /** What is not known of how to take them off. */
  unread?: StatusDetail | undefined;
  /** Nothing says that it is packed; it only looks so. */
  is_guess?: true;
}

/** What zlib packed begins with (RFC 1950, 2.2). */
function looksDeflated(head: Buffer): boolean {
  return head.length === 2 && (head[0] ?? 0) % 16 === 8 && head.readUInt16BE(0) % 31 === 0;
}

function unfiltered(reader: Reader, found: Found, { budget }: Workshop): Unfiltered {
  const packed_bytes = found.end - found.start;
  async function* raw(): AsyncGenerator<Buffer> {
    yield* reader.chunks(found.start, found.end);
  }
  /** What one filter gives to the next is unpacked, too. The last one's pieces are counted by who takes them. */
  async function* counted(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let bytes = 0;
    for await (const piece of pieces) {
      bytes += piece.length;
      budget.spend(piece.length);
      budget.addUnpacked(piece.length, bytes, packed_bytes);
      yield piece;
    }
  }
  const names = filtersOf(found.dictionary);
  if (names === undefined || names.length === 0) {
    const inflate = looksDeflated(reader.at(found.start, 2)) ? filterOf('FlateDecode') : undefined;
    if (inflate !== undefined) return { pieces: inflate(raw()), is_changed: true, ...(names ? { is_guess: true } : {}) };
    return { pieces: raw(), is_changed: false, unread: names === undefined ? 'unsupported' : undefined };
  }
  if (names.length > FILTERS_MAXIMUM) return { pieces: raw(), is_changed: false, unread: 'unsupported' };
  let pieces: AsyncIterable<Buffer> = raw();
  let is_changed = false;
  for (const name of names) {
    if (name === 'Crypt') continue;
    const filter = filterOf(name);
    if (filter === undefined) return { pieces, is_changed, unread: PICTURE_FILTERS.includes(name) ? undefined : 'unsupported' };
    pieces = filter(is_changed ? counted(pieces) : pieces);
    is_changed = true;
  }
  return { pieces, is_changed };
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
 * The document with its streams unpacked, as one member in which rules see it like any other PDF, and each attached file as a member of its own: what is
 * called one, and what `isFile` tells by its first `head_bytes` bytes.
 * @throws Unreadable `encrypted` when its streams cannot be read, and at the end what else could not be.
 */
export async function* pdfMembers(
  content: Content,
  workshop: Workshop,
  { head_bytes, isFile }: { head_bytes: number; isFile: (head: Buffer) => boolean },
): AsyncGenerator<Member> {
  const { budget } = workshop;
  const reader = openReader(content, budget);
  const unread = new Set<StatusDetail>();
  let copy: Buffer[] = [HEADER];
  let copy_bytes = 0;
  const view = (): Member => {
    const bytes = Buffer.concat(copy);
    copy = [HEADER, Buffer.from(bytes.subarray(-COPY.overlap))];
    copy_bytes = 0;
    // Its bytes were counted as they came.
    return { name: 'unpacked streams', view: true, read: () => ({ content: { size: bytes.length, bytes } }) };
  };
  try {
    if (isEncrypted(reader)) throw new Unreadable('encrypted');
    for (const found of streamsOf(reader)) {
      const { dictionary, start, end, is_cut } = found;
      const packed_bytes = end - start;
      const { pieces, is_changed, unread: closed, is_guess } = unfiltered(reader, found, workshop);
      const { head, all, failure } = await peeked(pieces, head_bytes);
      if (failure instanceof LimitReached || isDiskError(failure)) throw failure;
      if (closed !== undefined) unread.add(closed);
      if (is_cut) unread.add('damaged');
      if (head.length > 0 && (/\/EmbeddedFile\b/.test(dictionary) || isFile(head))) {
        yield { name: 'attached file', read: () => ({ stream: all, packed_bytes }) };
        continue;
      }
      if (!is_changed) continue;
      copy.push(Buffer.from(`${dictionary}stream\n`, 'latin1'));
      copy_bytes += dictionary.length;
      let plain_bytes = 0;
      try {
        for await (const piece of all) {
          plain_bytes += piece.length;
          budget.addUnpacked(piece.length, plain_bytes, packed_bytes);
          copy.push(piece);
          copy_bytes += piece.length;
          if (copy_bytes >= COPY.bytes) yield view();
        }
      } catch (error) {
        if (error instanceof LimitReached || isDiskError(error)) throw error;
        if (packed_bytes > 0 && !is_guess) unread.add('damaged');
      }
      copy.push(Buffer.from('\nendstream\nendobj\n'));
    }
    if (copy_bytes > 0) yield view();
    for (const detail of unread) throw new Unreadable(detail);
  } catch (error) {
    // What came before a limit is matched all the same.
    if (error instanceof LimitReached && copy_bytes > 0) yield view();
    throw error;
  } finally {
    reader.close();
  }
}
