import { hexDigit } from './text-codings.ts';

// Extracts the text of an RTF document as Word shows it: decodes escaped characters, and joins words that are split over groups.

const BACKSLASH = 0x5c;
const APOSTROPHE = 0x27;
const STAR = 0x2a;
const OPEN = 0x7b;
const CLOSE = 0x7d;
/** Control words that begin a line or a cell. */
const BREAKS: ReadonlySet<string> = new Set(['par', 'line', 'sect', 'page', 'cell', 'row', 'pard']);
const WORD_BYTES = 48;
const WORD = /^([A-Za-z]{1,32})(-?\d{1,10})? ?/;

/** Invisible groups: tables of fonts, colours and styles, properties of the document, and groups marked with a star. */
const UNSEEN =
  /^\\(?:\*|fonttbl|colortbl|stylesheet|listtable|listoverridetable|info|header[lrf]?|footer[lrf]?|pict|object|generator)(?![a-z])/;

/** Extracts the text in one pass; it is not longer than the RTF. `body`: without invisible groups. */
export function textOfRtf(rtf: Buffer, part: 'all' | 'body' = 'all'): Buffer {
  const target = Buffer.allocUnsafe(rtf.length);
  let length = 0;
  /** Number of fallback characters after `\u` that are still to be skipped. */
  let skipped = 0;
  const put = (byte: number) => {
    if (skipped > 0) skipped -= 1;
    else if (depth < unseen) target[length++] = byte;
  };
  let depth = 0;
  let unseen = Number.POSITIVE_INFINITY;
  for (let at = 0; at < rtf.length; ) {
    const byte = rtf[at] ?? 0;
    at += 1;
    if (byte === OPEN || byte === CLOSE) {
      skipped = 0;
      depth += byte === OPEN ? 1 : -1;
      if (depth < unseen) unseen = Number.POSITIVE_INFINITY;
      if (part === 'body' && byte === OPEN && depth < unseen && UNSEEN.test(rtf.toString('latin1', at, at + WORD_BYTES)))
        unseen = depth;
      continue;
    }
    if (byte === 0x0a || byte === 0x0d) continue;
    if (byte !== BACKSLASH) {
      put(byte);
      continue;
    }
    const next = rtf[at] ?? 0;
    const high = hexDigit(rtf[at + 1]);
    const low = hexDigit(rtf[at + 2]);
    if (next === APOSTROPHE && high !== undefined && low !== undefined) {
      put(high * 16 + low);
      at += 3;
      continue;
    }
    const [whole, word, number] = WORD.exec(rtf.toString('latin1', at, at + WORD_BYTES)) ?? [];
    if (whole === undefined) {
      // An escaped character; a star has no text.
      if (next !== STAR) put(next === 0x7e ? 0x20 : next);
      at += 1;
      continue;
    }
    at += whole.length;
    if (word === 'u' && number !== undefined) {
      skipped = 0;
      put(Number(number) & 0xff);
      skipped = 1;
    } else if (BREAKS.has(word ?? '')) put(0x0a);
    else if (word === 'tab') put(0x09);
  }
  return target.subarray(0, length);
}
