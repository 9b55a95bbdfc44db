import { text } from '#scanner/formats/carved-formats.ts';
import type { Hit } from './carving.ts';
import type { Reader } from './reader.ts';

// Where what was carved begins and ends.

const ZIP_END = text('PK\x05\x06');

const ZIP_END_BYTES = 22;

/**
 * Where zips end that stand within something else, by where they begin: behind the record that ends one, which says how far before itself the archive
 * began (APPNOTE 4.3.16).
 */
function zipEnds(reader: Reader): Map<number, number> {
  const ends = new Map<number, number>();
  for (let found = reader.find(ZIP_END, 0); found >= 0; found = reader.find(ZIP_END, found + 1)) {
    const end = reader.at(found, ZIP_END_BYTES);
    if (end.length < ZIP_END_BYTES) break;
    ends.set(found - end.readUInt32LE(12) - end.readUInt32LE(16), found + ZIP_END_BYTES + end.readUInt16LE(20));
  }
  return ends;
}

const DELIMITER = text('\n--');

const MIME_HEADER_BYTES = 16 * 1024;

/**
 * Where a mail ends that stands within something else: behind the delimiter that closes it (RFC 2046, 5.1.1), where its header names one; a part of a mail
 * before the next line that begins as delimiters do. Undefined where nothing says it.
 */
function mimeEndsOf(reader: Reader): (at: number) => number | undefined {
  // Hits come in their order, so that the same bytes are not searched again for each.
  let known = { from: 0, at: -1 };
  const nextDelimiter = (from: number): number => {
    if (from < known.from || from > known.at) known = { from, at: reader.find(DELIMITER, from) };
    if (known.at < 0) known.at = reader.size;
    return known.at;
  };
  return (at) => {
    const start = headerStart(reader, at);
    const head = reader.at(start, MIME_HEADER_BYTES).toString('latin1');
    const blank = /\r?\n\r?\n/.exec(head);
    if (blank === null) return undefined;
    const boundary = /boundary[ \t]*=[ \t]*"?([^";\r\n]{1,200})/i.exec(head.slice(0, blank.index))?.[1]?.trimEnd();
    if (boundary !== undefined) {
      const closing = `--${boundary}--`;
      const found = reader.find(text(closing), start + blank.index);
      return found < 0 ? undefined : found + closing.length;
    }
    const end = nextDelimiter(start + blank.index + blank[0].length - 1);
    return end === reader.size ? undefined : end + 1;
  };
}

/** Formats whose readers go on to the end of what they are given. */
const ENDLESS: readonly string[] = ['pdf', 'uuencode'];

/** Answers where the part ends that a carved container is read from: its own end where it tells one, else `limit` at most. */
export function extentsOf(reader: Reader, hits: readonly Hit[]): (hit: Hit, limit: number) => number {
  const places = new Map<string, number[]>();
  for (const { carved, offset } of hits) {
    if (!ENDLESS.includes(carved.format)) continue;
    const known = places.get(carved.format);
    if (known === undefined) places.set(carved.format, [offset]);
    else known.push(offset);
  }
  let zips: Map<number, number> | undefined;
  const mimeEnd = mimeEndsOf(reader);
  return ({ carved: { format }, offset }, limit) => {
    if (format === 'zip') {
      zips ??= zipEnds(reader);
      return Math.min(limit, zips.get(offset) ?? limit);
    }
    if (format === 'mime') return Math.min(limit, mimeEnd(offset) ?? limit);
    const list = places.get(format) ?? [];
    let low = 0;
    for (let high = list.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((list[middle] ?? 0) > offset) high = middle;
      else low = middle + 1;
    }
    return Math.min(limit, list[low] ?? limit);
  };
}

const HEADER_LINES_BYTES = 4096;

/** Where the lines begin that describe a part of a mail, of which one was found: behind the last line before it that is no header. */
export function headerStart(reader: Reader, at: number): number {
  // Behind a zero, or a line that ends as old Macs end them, nothing is known to belong to it.
  if (reader.at(at, 1)[0] !== 0x0a) return at + 1;
  const from = Math.max(0, at - HEADER_LINES_BYTES);
  const lines = reader
    .at(from, at - from + 1)
    .toString('latin1')
    .split('\n');
  let start = at + 1;
  // The last one is empty: the place is that of the line's end before the header.
  for (const line of lines.slice(0, -1).reverse()) {
    if (!/^([!-9;-~]{1,76}[ \t]*:|[ \t]+\S)/.test(line)) break;
    start -= line.length + 1;
  }
  return Math.max(0, start);
}
