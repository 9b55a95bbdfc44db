import { hexDigit } from './text-codings.ts';
import { digitsOf } from './text-listings.ts';
import { DECODED_LEAST, type Run } from './text-runs.ts';

// Finds bytes written as columns of hexadecimal digits beside other text: traces of curl and tcpdump, memory dumps of debuggers, rows of a log, drawings with a code between two rows,
// calls in a database script that append a piece each. Rows after the same text belong together.

/** Longer lines are not read as rows. Bytes. */
const LINE_BYTES_MAXIMUM = 8192;
/** Least number of bytes of a row; the last one of a block may have fewer. */
const ROW_LEAST = 8;
/** Least number of digits of a row without separators. */
const PIECE_LEAST = 16;
/** Maximum number of different texts before rows (groups), and of blocks in a group; later ones are ignored. */
const GROUPS_MAXIMUM = 500;
const BLOCKS_MAXIMUM = 200;
/** Maximum length of the text before a row. Bytes. */
const BEFORE_MAXIMUM = 300;
/** Maximum number of characters between two cells: blanks, tabs, commas, colons or dashes. */
const BETWEEN_MAXIMUM = 3;
/** After each multiple of this many cells, the separator may differ, as between two halves of a row. */
const HALF = 4;
const HALVES = /^(?:[ \t]{1,2}|[ \t]?-[ \t]?)$/;
const OFFSET_STEP_MAXIMUM = 64;
/** Larger texts are not searched; texts come in windows of this size (text-views.ts). Bytes. */
const TEXT_BYTES_MAXIMUM = 16 * 1024 ** 2;

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const COLON = 0x3a;
const LETTER_X = 0x78;

function isAlphanumeric(byte: number | undefined): boolean {
  return byte !== undefined && ((byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a));
}

function isBetween(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x2c || byte === 0x3a || byte === 0x2d;
}

/** Characters that may join a cell to a preceding number, so that its last digits are not part of a row. */
function isWithin(byte: number | undefined): boolean {
  return byte === 0x2e || byte === 0x3a || byte === 0x2d || byte === 0x2f || byte === 0x2b || byte === 0x5f || byte === 0x5c;
}

/** Cells with the same number of digits, and the same separator between each two. */
interface Cells {
  start: number;
  end: number;
  /** Digits of a cell; 0 for one cell of any length. */
  width: number;
  count: number;
  between: string;
  /** Whether each begins with `0x`. */
  has_mark: boolean;
}

const bytesOf = ({ start, end, width, count }: Cells) => (width === 0 ? (end - start) / 2 : (count * width) / 2);

/** The cells from `start` on that have the same form. */
function cellsFrom(text: Buffer, start: number, end: number): Cells | undefined {
  let cells: Cells | undefined;
  for (let at = start; at < end; ) {
    const has_mark = text[at] === 0x30 && ((text[at + 1] ?? 0) | 0x20) === LETTER_X;
    const first = has_mark ? at + 2 : at;
    let last = first;
    while (last < end && hexDigit(text[last]) !== undefined) last += 1;
    const digits = last - first;
    if (digits < 2 || digits % 2 === 1 || (last < end && isAlphanumeric(text[last]))) return cells;
    const width = digits === 2 || digits === 4 || digits === 8 || (digits === 16 && has_mark) ? digits : 0;
    if (cells === undefined) cells = { start, end: last, width, count: 1, between: '', has_mark };
    else {
      if (cells.width !== width || width === 0 || cells.has_mark !== has_mark) return cells;
      const between = text.toString('latin1', cells.end, at);
      // The first cell is an offset.
      if (cells.count === 1 && between.startsWith(':') && between.length > 1) return cells;
      if (cells.count === 1) cells.between = between;
      else if (between !== cells.between && (cells.count % HALF > 0 || !HALVES.test(between))) return cells;
      cells.count += 1;
      cells.end = last;
    }
    if (width === 0) return cells;
    at = last;
    while (at < end && at - last < BETWEEN_MAXIMUM && isBetween(text[at])) at += 1;
    if (at === last) return cells;
  }
  return cells;
}

/** Writes the bytes of cells, at most `most`, and returns the end of what was written. */
function write(text: Buffer, { start, end }: Cells, most: number, target: Buffer, at: number): number {
  const stop = at + most;
  let position = at;
  for (let from = start; from + 1 < end && position < stop; ) {
    const high = hexDigit(text[from]);
    const low = hexDigit(text[from + 1]);
    if (high === undefined || low === undefined) {
      // A prefix `0x`, or a separator.
      from += high === 0 ? 2 : 1;
      continue;
    }
    target[position++] = high * 16 + low;
    from += 2;
  }
  return position;
}

/** The cells with the most bytes in a line; each byte is checked at most twice. */
function cellsIn(text: Buffer, start: number, end: number): Cells | undefined {
  let best: Cells | undefined;
  for (let at = start; at < end; ) {
    if (!isAlphanumeric(text[at])) {
      at += 1;
      continue;
    }
    const before = text[at - 1];
    const is_free = at === start || !isWithin(before) || !isAlphanumeric(text[at - 2]);
    const cells = is_free ? cellsFrom(text, at, end) : undefined;
    const is_offset = cells !== undefined && cells.count === 1 && text[cells.end] === COLON;
    if (cells !== undefined && !is_offset && (best === undefined || bytesOf(cells) > bytesOf(best))) best = cells;
    // The last number may begin other cells, so it is checked again.
    const next = cells === undefined || cells.count === 1 ? undefined : cells.end;
    at = next ?? at;
    while (at < end && isAlphanumeric(text[at])) at += 1;
  }
  return best;
}

/** The text before cells with each number replaced by `#`: it is the same before each row of one listing. */
function shapeOf(before: string): string {
  return before
    .replaceAll(/<[^<>]{0,100}>/g, '')
    .replaceAll(/\b(?:0x)?[0-9a-f]+\b/gi, '#')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

interface Row {
  cells: Cells;
  line: number;
  shape: string;
  /** The offset before the row; undefined if there is other text. */
  offset: number | undefined;
  column: number;
}

const OFFSET_ALONE = /^\s*(?:[0-9a-f]{4,8}[`:])?(?:0x(?=[0-9a-f])|(?=[0-9a-f]{4}))([0-9a-f]{1,16}):?\s*$/i;

function rowOf(text: Buffer, start: number, line: number, cells: Cells): Row {
  const before = text.toString('latin1', start, cells.start);
  const offset = OFFSET_ALONE.exec(before)?.[1];
  return {
    cells,
    line,
    shape: shapeOf(before),
    offset: offset === undefined ? undefined : Number.parseInt(offset, 16),
    column: cells.start - start,
  };
}

/** Rows of `hexdump` and similar programs are read as listings in texts up to this size. Bytes. */
const LISTING_BYTES_MAXIMUM = 256 * 1024;

function lineAt(text: Buffer, { start, end }: Cells): string {
  const found = text.indexOf(NEWLINE, end);
  return text.toString('latin1', text.lastIndexOf(NEWLINE, start) + 1, found < 0 ? text.length : found);
}

/** Rows after the same text. */
interface Group {
  width: number;
  has_mark: boolean;
  shape: string;
  start: number;
  end: number;
  bytes: Buffer;
  size: number;
  /** Start in `bytes` of each block of consecutive rows, and the text above it. */
  blocks: { start: number; heading: string }[];
  /** Whether all its rows are also read as a listing. */
  is_listed: boolean;
  last: Row;
  /** Number of bytes of a row, according to the offsets. */
  step: number;
}

/** Whether a row looks like one of a listing, which text-listings.ts reads as well. */
const isListingShape = (text: Buffer, { shape, cells }: Row) =>
  text.length <= LISTING_BYTES_MAXIMUM && cells.width > 0 && !cells.has_mark && (shape === '' || shape === '#' || shape === '#:');

function settle(text: Buffer, group: Group, next: Row | undefined): void {
  const { cells, offset } = group.last;
  const step = (next?.offset ?? 0) - (offset ?? 0);
  if (offset !== undefined && next?.offset !== undefined && step > 0 && step <= OFFSET_STEP_MAXIMUM) group.step = step;
  const room = bytesOf(cells);
  if (group.size + room > group.bytes.length)
    group.bytes = Buffer.concat([group.bytes, Buffer.alloc(Math.max(room, group.bytes.length))]);
  const before = group.size;
  group.size = write(text, cells, offset === undefined ? room : Math.min(room, group.step), group.bytes, before);
  group.is_listed &&= digitsOf(lineAt(text, cells)).length === 2 * (group.size - before);
  group.end = cells.end;
}

/** The row in a line: at the column of the previous row if it continues there, else at the longest cells. */
function rowIn(
  text: Buffer,
  start: number,
  end: number,
  line: number,
  last: Row | undefined,
  isKnown: (row: Row) => boolean,
): Row | undefined {
  if (last !== undefined) {
    const at = start + last.column;
    const cells = at < end && (at === start || !isAlphanumeric(text[at - 1])) ? cellsFrom(text, at, end) : undefined;
    if (cells !== undefined && cells.has_mark === last.cells.has_mark) {
      // A short row without separators may look like a cell.
      const is_piece = last.cells.width === 0 && cells.count === 1;
      const row = rowOf(text, start, line, is_piece ? { ...cells, width: 0 } : cells);
      if (row.cells.width === last.cells.width && row.shape === last.shape) return row;
    }
  }
  const cells = cellsIn(text, start, end);
  if (cells === undefined || cells.start - start > BEFORE_MAXIMUM) return undefined;
  const is_whole = cells.width === 0 ? cells.end - cells.start >= PIECE_LEAST : bytesOf(cells) >= ROW_LEAST;
  const row = rowOf(text, start, line, cells);
  // A short row with offset 0 is a block of its own.
  return is_whole || (row.offset === 0 && isKnown(row)) ? row : undefined;
}

const keyOf = ({ cells, shape }: Row) => `${cells.width} ${cells.has_mark} ${shape}`;

/** One of this many bytes is checked: every row has a byte at one of these positions. */
const STRIDE = 12;
/** Characters of a row: digits, separators and the prefix `0x`. */
const OF_ROW = new Uint8Array(256);
for (const character of '0123456789abcdefABCDEF \t,:-xX') OF_ROW[character.charCodeAt(0)] = 1;

/** Start of the first characters from `from` on that may be a row; -1 if there are none. */
function mayBeRow(text: Buffer, from: number): number {
  let done = from;
  for (let at = from + STRIDE - 1; at < text.length; at += STRIDE) {
    if (OF_ROW[text[at] ?? 0] === 0) continue;
    let start = at;
    while (start > done && OF_ROW[text[start - 1] ?? 0] === 1) start -= 1;
    let end = at + 1;
    while (end < text.length && OF_ROW[text[end] ?? 0] === 1) end += 1;
    if (end - start >= PIECE_LEAST) {
      let digits = 0;
      for (let index = start; index < end; index += 1) if (hexDigit(text[index]) !== undefined) digits += 1;
      if (digits >= PIECE_LEAST) return start;
    }
    done = end;
    at = Math.max(at, end - 1);
  }
  return -1;
}

/** Number of lines after a row that are always checked. */
const LINES_BEHIND = 2;

function groupsOf(text: Buffer): Group[] {
  const groups = new Map<string, Group>();
  let last: Row | undefined;
  let above = '';
  let above_last = '';
  let behind = 0;
  const isKnown = (row: Row) => groups.has(keyOf(row));
  const lineEnd = (start: number) => {
    const found = text.indexOf(NEWLINE, start);
    return found < 0 ? text.length : found;
  };
  const lineStart = (at: number) => (at <= 0 ? 0 : text.lastIndexOf(NEWLINE, at - 1) + 1);
  const wordsAt = (start: number, end: number) => text.toString('latin1', start, Math.min(end, start + BEFORE_MAXIMUM)).trim();
  for (let start = 0, line = 0; start < text.length; line += 1) {
    if (behind === 0) {
      const place = mayBeRow(text, start);
      if (place < 0) break;
      const line_start = lineStart(place);
      if (line_start > start) {
        // It follows no earlier row: the exact number of skipped lines does not matter.
        line += LINES_BEHIND;
        above = wordsAt(lineStart(line_start - 1), line_start);
        start = line_start;
      }
    } else behind -= 1;
    const stop = lineEnd(start);
    const end = text[stop - 1] === RETURN ? stop - 1 : stop;
    // A line that repeats the text above the previous row, such as the code of a drawing, is not a row.
    const isAbove = (from: number, to: number) => above_last !== '' && wordsAt(from, to) === above_last;
    const follows = (one: Row) => line - one.line === 1 || (line - one.line === 2 && above === above_last);
    const before = last !== undefined && follows(last) && !isAbove(start, end) ? last : undefined;
    const row = end - start > LINE_BYTES_MAXIMUM ? undefined : rowIn(text, start, end, line, before, isKnown);
    if (row === undefined) above = wordsAt(start, end);
    else {
      const key = keyOf(row);
      const known = groups.get(key);
      if (known === undefined && groups.size === GROUPS_MAXIMUM) break;
      const is_next = known !== undefined && follows(known.last) && row.offset !== 0;
      const group = known ?? {
        ...row.cells,
        shape: row.shape,
        bytes: Buffer.alloc(0),
        size: 0,
        blocks: [],
        is_listed: isListingShape(text, row),
        last: row,
        step: Number.POSITIVE_INFINITY,
      };
      if (known !== undefined) settle(text, group, is_next ? row : undefined);
      if (!is_next && group.blocks.length < BLOCKS_MAXIMUM) group.blocks.push({ start: group.size, heading: shapeOf(above) });
      group.last = row;
      groups.set(key, group);
      above_last = above;
      last = row;
      behind = LINES_BEHIND;
    }
    start = stop + 1;
  }
  for (const group of groups.values()) settle(text, group, undefined);
  return [...groups.values()];
}

/** Swaps the bytes of numbers, which are little-endian on most machines; undefined for single bytes. */
function swapped(bytes: Buffer, width: number): Buffer | undefined {
  if (width < 4) return undefined;
  const whole = Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % (width / 2))));
  return width === 4 ? whole.swap16() : width === 8 ? whole.swap32() : whole.swap64();
}

/** The blocks of a group; and, as `more`, all rows together, each block, and the blocks below the same text joined. */
function piecesOf({ bytes, size, blocks }: Group): { blocks: Buffer[]; more: Buffer[] } {
  const parts = blocks.map(({ start }, index) => bytes.subarray(start, blocks[index + 1]?.start ?? size));
  const whole = bytes.subarray(0, size);
  if (parts.length === 1) return { blocks: parts, more: [whole] };
  const headings = new Map<string, Buffer[]>();
  for (const [index, part] of parts.entries()) {
    const heading = blocks[index]?.heading ?? '';
    const list = headings.get(heading);
    if (list === undefined) headings.set(heading, [part]);
    else list.push(part);
  }
  const together =
    headings.size > 1 ? [...headings.values()].filter(({ length }) => length > 1).map((list) => Buffer.concat(list)) : [];
  return { blocks: parts, more: [whole, ...parts, ...together] };
}

/** Bytes in columns of digits: each block of rows, and all rows of a group together. */
export function* hexRowsOf(text: Buffer): Generator<Run> {
  if (text.length > TEXT_BYTES_MAXIMUM) return;
  for (const group of groupsOf(text)) {
    const { start, end, width } = group;
    const { blocks, more } = piecesOf(group);
    if (group.is_listed && blocks.length === 1) continue;
    for (const bytes of more) {
      if (bytes.length < DECODED_LEAST) continue;
      yield { how: 'hex', start, end, bytes };
      const other = swapped(bytes, width);
      if (other !== undefined) yield { how: 'hex', start, end, bytes: other };
    }
  }
}

const LETTERS_ROW = /^([0-9a-f]{4,8}): (?![0-9a-f]{2} [0-9a-f]{2} )(.{1,128})$/i;
const LETTERS_TOGETHER_MAXIMUM = 50;

/** Texts in rows of letters, each after its offset (`curl --trace-ascii`), joined by the text above them. A gap in the offsets is a line end. */
export function* letterRowsOf(text: Buffer): Generator<Run> {
  if (text.length > TEXT_BYTES_MAXIMUM || !text.includes('0000: ')) return;
  const headings = new Map<string, string[]>();
  let pieces: string[] | undefined;
  let next = -1;
  let above = '';
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf(NEWLINE, start);
    const stop = found < 0 ? text.length : found;
    const line = text.toString('latin1', start, Math.min(stop, start + BEFORE_MAXIMUM)).replace(/\r$/, '');
    start = stop + 1;
    const [, digits = '', letters = ''] = LETTERS_ROW.exec(line) ?? [];
    const offset = Number.parseInt(digits, 16);
    const is_first = offset === 0;
    if (digits === '' || !(is_first || (pieces !== undefined && offset >= next && offset - next <= 2))) {
      above = shapeOf(line);
      pieces = undefined;
      continue;
    }
    if (is_first) {
      pieces = headings.get(above) ?? [];
      if (headings.size < LETTERS_TOGETHER_MAXIMUM) headings.set(above, pieces);
    } else if (offset > next) pieces?.push('\r\n');
    pieces?.push(letters);
    next = offset + letters.length;
  }
  for (const one of headings.values()) {
    const bytes = Buffer.from(one.join(''), 'latin1');
    if (bytes.length >= DECODED_LEAST) yield { how: 'literal', start: 0, end: text.length, bytes };
  }
}
