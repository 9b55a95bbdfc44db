import { hexDigit } from './text-codings.ts';

// The text of an RTF as Word shows it: letters that are written as digits, and words that stand in several groups.

const BACKSLASH = 0x5c;
const APOSTROPHE = 0x27;
const STAR = 0x2a;
const OPEN = 0x7b;
const CLOSE = 0x7d;
/** Words that begin a line or a cell. */
const BREAKS: ReadonlySet<string> = new Set(['par', 'line', 'sect', 'page', 'cell', 'row', 'pard']);
const WORD_BYTES = 48;
const WORD = /^([A-Za-z]{1,32})(-?\d{1,10})? ?/;

/** Groups that no reader sees: tables of fonts, colours and styles, the document's properties, and those that a star marks as such. */
const UNSEEN =
  /^\\(?:\*|fonttbl|colortbl|stylesheet|listtable|listoverridetable|info|header[lrf]?|footer[lrf]?|pict|object|generator)(?![a-z])/;

/** In one pass; no more than there are bytes. `body`: without invisible groups. */
export function textOfRtf(rtf: Buffer, part: 'all' | 'body' = 'all'): Buffer {
  const target = Buffer.allocUnsafe(rtf.length);
  let length = 0;
  /** Characters behind `\u` that stand for it where nothing knows Unicode. */
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
      // A character that is escaped; a star and the like stand for nothing.
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
