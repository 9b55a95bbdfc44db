import { isUuencodeBegin, uuRow } from './text-codings.ts';
import { BACKTICK, NEWLINE, RETURN, type Run } from './text-runs.ts';

// Decodes rows of uuencode and xxencode without a `begin` line.

const WHOLE_ROW = Buffer.from('\nM');
const ROW_BYTES = 45;
const BLANK = 0x20;
/** Maximum number of characters after the letters of a row, such as a checksum. */
const ROW_MORE = 2;

/** End of the line if a row of uuencode (POSIX) begins at `start`; otherwise undefined. Blanks at the end of a row may be missing. */
function rowEnd(text: Buffer, start: number): number | undefined {
  const size = (text[start] ?? 0) - BLANK;
  if (size < 1 || size > ROW_BYTES) return undefined;
  const most = start + 1 + Math.ceil(size / 3) * 4 + ROW_MORE;
  const least = start + 1 + Math.ceil((size * 4) / 3);
  let at = start + 1;
  while (at < most && (text[at] ?? 0) >= BLANK && (text[at] ?? 0) <= BACKTICK) at += 1;
  if (text[at] === RETURN) at += 1;
  return at >= least && (at >= text.length || text[at] === NEWLINE) ? at : undefined;
}

/** Start of the next line, from `from` on, that begins like a full row; -1 if there is none. */
function nextRow(text: Buffer, from: number): number {
  if (from === 0 && text[0] === WHOLE_ROW[1]) return 0;
  const found = text.indexOf(WHOLE_ROW, Math.max(0, from - 1));
  return found < 0 ? -1 : found + 1;
}

/** Files of uuencode without a `begin` line: rows that hold 45 bytes each, except the last. Rows after a `begin` line are found as files. */
export function* rowsOf(text: Buffer): Generator<Run> {
  let next = 0;
  for (let start = nextRow(text, 0); start >= 0; start = nextRow(text, next)) {
    const rows: Buffer[] = [];
    next = start;
    for (let end = rowEnd(text, next); end !== undefined; end = rowEnd(text, next)) {
      const size = (text[next] ?? 0) - BLANK;
      rows.push(uuRow(text.subarray(next, end), size));
      next = end + 1;
      if (size < ROW_BYTES) break;
    }
    const line = text.lastIndexOf(NEWLINE, Math.max(0, start - 2)) + 1;
    if (rows.length > 0 && !isUuencodeBegin(text.subarray(line, start)))
      yield { how: 'uuencode', start, end: Math.min(next, text.length), bytes: Buffer.concat(rows) };
    next = Math.max(next, start + 1);
  }
}

/** Rows of xxencode: like uuencode, in another alphabet. All but the last hold 45 bytes. */
const XX_ROWS = /(?<![^\n])(?:h[-+0-9A-Za-z]{60}\r?\n)+(?:[-+0-9A-Za-g][-+0-9A-Za-z]{4,60}(?![^\r\n]))?/g;
const XX_ALPHABET = '+-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Files of xxencode without a `begin` line. */
export function* xxRowsOf(text: Buffer): Generator<Run> {
  for (const { 0: whole, index } of text.toString('latin1').matchAll(XX_ROWS)) {
    const rows = whole.split(/\r?\n/).filter((row) => row !== '');
    const bytes = rows.map((row) => {
      const plain = [...row].map((letter) => String.fromCharCode(BLANK + XX_ALPHABET.indexOf(letter))).join('');
      return uuRow(Buffer.from(plain, 'latin1'), plain.charCodeAt(0) - BLANK);
    });
    yield { how: 'uuencode', start: index, end: index + whole.length, bytes: Buffer.concat(bytes) };
  }
}
