import { constants, inflateRawSync, inflateSync } from 'node:zlib';
import { type Content, openSource } from './content.ts';
import { LimitReached } from './limits.ts';
import { type Member, memberOfBytes, Unreadable, type Workshop } from './member.ts';

/** A PDF that is larger is matched as it is, and not taken apart. Bytes. */
const PDF_BYTES_MAXIMUM = 256 * 1024 ** 2;
/** A picture of 60 megapixels in three colours still fits. */
const STREAM_BYTES_MAXIMUM = 192 * 1024 ** 2;
/** The readable copy of the document is given out in pieces of about this size. */
const COPY_BYTES = 8 * 1024 ** 2;
const DICTIONARY_BYTES_MAXIMUM = 4096;
const HEADER = Buffer.from('%PDF-1.7\n');
const HEADER_WITHIN = 1024;

/** The header may stand anywhere in the first 1,024 bytes (ISO 32000-1, Annex H, note 13). */
export function isPdf(head: Buffer): boolean {
  return head.subarray(0, HEADER_WITHIN + 5).includes('%PDF-');
}

function ascii85(text: string): Buffer {
  const digits = text
    .replaceAll(/\s/g, '')
    .replace(/^<~/, '')
    .replace(/~>?.*$/s, '')
    .replaceAll('z', '!!!!!');
  const bytes = Buffer.alloc(Math.ceil(digits.length / 5) * 4);
  for (let group = 0; group * 5 < digits.length; group += 1) {
    let value = 0;
    for (let index = 0; index < 5; index += 1) value = value * 85 + ((digits.charCodeAt(group * 5 + index) || 117) - 33);
    bytes.writeUInt32BE((value >>> 0) % 2 ** 32, group * 4);
  }
  const missing = (5 - (digits.length % 5)) % 5;
  return bytes.subarray(0, bytes.length - missing);
}

/** @throws LimitReached before more than `most` bytes are unpacked. */
function inflated(bytes: Buffer, most: number): Buffer {
  // What is good of a damaged stream is taken, as viewers do.
  const options = { maxOutputLength: Math.min(most, STREAM_BYTES_MAXIMUM), finishFlush: constants.Z_SYNC_FLUSH };
  const isTooMuch = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
  try {
    try {
      return inflateSync(bytes, options);
    } catch (error) {
      if (isTooMuch(error)) throw error;
      return inflateRawSync(bytes.subarray(2), options);
    }
  } catch (error) {
    if (isTooMuch(error)) throw new LimitReached(most < STREAM_BYTES_MAXIMUM ? 'bomb' : 'too_large');
    throw error;
  }
}

/** The names of the filters, in order (ISO 32000-1, 7.4); `#41` in a name is `A` (7.3.5). */
function filtersOf(dictionary: string): string[] {
  const filter = /\/Filter\s*(\[[^\]]*\]|\/[^\s/<>[\]()]+)/.exec(dictionary)?.[1] ?? '';
  return [...filter.matchAll(/\/([^\s/\]]+)/g)].map((found) => found[1] ?? '');
}

/** Undefined for pictures, and for a filter that is not taken off. @throws LimitReached */
function decoded(bytes: Buffer, filters: readonly string[], most: number): Buffer | undefined {
  let result = bytes;
  for (const filter of filters) {
    switch (filter) {
      case 'FlateDecode':
      case 'Fl':
        result = inflated(result, most);
        break;
      case 'ASCIIHexDecode':
      case 'AHx':
        result = Buffer.from(
          result
            .toString('latin1')
            .replace(/>.*$/s, '')
            .replaceAll(/[^0-9a-f]/gi, ''),
          'hex',
        );
        break;
      case 'ASCII85Decode':
      case 'A85':
        result = ascii85(result.toString('latin1'));
        break;
      default:
        return undefined;
    }
  }
  return result;
}

interface Found {
  dictionary: string;
  bytes: Buffer;
}

/** Each stream with the dictionary before it (7.3.8), found by its keyword: the cross-reference table of a bad document lies. */
function* streamsOf(document: Buffer): Generator<Found> {
  for (let at = document.indexOf('stream'); at >= 0; ) {
    const start = at + 6 + (document[at + 6] === 0x0d ? 1 : 0) + (document[at + 6] === 0x0a || document[at + 7] === 0x0a ? 1 : 0);
    if (start === at + 6 || document.toString('latin1', Math.max(0, at - 3), at) === 'end') {
      at = document.indexOf('stream', at + 6);
      continue;
    }
    const before = document.toString('latin1', Math.max(0, at - DICTIONARY_BYTES_MAXIMUM), at);
    const dictionary = before
      .slice(Math.max(0, before.lastIndexOf(' obj')))
      .replaceAll(/#([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
    const length = Number(/\/Length\s+(\d{1,10})(?!\s+\d+\s+R)/.exec(dictionary)?.[1] ?? Number.NaN);
    const announced = document
      .toString('latin1', start + length, start + length + 12)
      .trimStart()
      .startsWith('endstream');
    const next = announced ? start + length : document.indexOf('endstream', start);
    const end = next < 0 ? document.length : next;
    yield { dictionary, bytes: document.subarray(start, end) };
    at = document.indexOf('stream', end + 9);
  }
}

/** The trailer names an encryption dictionary (7.6.1). */
function isEncrypted(document: Buffer): boolean {
  const key = '/Encrypt';
  for (let at = document.indexOf(key); at >= 0; at = document.indexOf(key, at + key.length)) {
    if (/^\s*(<<|\d+\s+\d+\s+R)/.test(document.toString('latin1', at + key.length, at + key.length + 40))) return true;
  }
  return false;
}

/**
 * The document with its streams unpacked, as one member in which rules see it like any other PDF, and each attached file as a member of its own.
 * @throws Unreadable `encrypted` at the end when its streams cannot be read.
 */
export async function* pdfMembers(
  content: Content,
  workshop: Workshop,
  isContainer: (bytes: Buffer) => boolean,
): AsyncGenerator<Member> {
  if (content.size > PDF_BYTES_MAXIMUM) throw new Unreadable('too_large');
  const source = openSource(content);
  try {
    const document = source.read(0, source.size);
    if (isEncrypted(document)) throw new Unreadable('encrypted');
    let copy: Buffer[] = [HEADER];
    let copy_bytes = 0;
    let damaged = false;
    for (const { dictionary, bytes } of streamsOf(document)) {
      workshop.budget.checkTime();
      const filters = filtersOf(dictionary);
      let plain: Buffer | undefined;
      try {
        plain = filters.length === 0 ? undefined : decoded(bytes, filters, workshop.budget.memberMaximum(bytes.length));
      } catch (error) {
        if (error instanceof LimitReached) throw error;
        damaged ||= bytes.length > 0;
      }
      const unpacked = plain ?? bytes;
      const attached = /\/EmbeddedFile\b/.test(dictionary) || isContainer(unpacked);
      if (attached && unpacked.length > 0) yield memberOfBytes(workshop, 'attached file', unpacked, bytes.length);
      if (plain === undefined || attached) continue;
      copy.push(Buffer.from(`${dictionary}stream\n`, 'latin1'), plain, Buffer.from('\nendstream\nendobj\n'));
      copy_bytes += plain.length;
      if (copy_bytes < COPY_BYTES) continue;
      yield { ...memberOfBytes(workshop, 'unpacked streams', Buffer.concat(copy), document.length), view: true };
      copy = [HEADER];
      copy_bytes = 0;
    }
    if (copy_bytes > 0)
      yield { ...memberOfBytes(workshop, 'unpacked streams', Buffer.concat(copy), document.length), view: true };
    if (damaged) throw new Unreadable('damaged');
  } finally {
    source.close();
  }
}
