import { decompress, decompressed } from '#scanner/decompression/decompress.ts';
import type { Budget } from '#scanner/reading/limits.ts';
import { hexDigit } from '#scanner/text/text-codings.ts';

// The filters of PDF streams (ISO 32000-1, 7.4). Each maps pieces to pieces, so that a long stream or chain of filters is never in memory as a whole, and the
// consumer can stop early.

type Pieces = AsyncIterable<Buffer> | Iterable<Buffer>;
/** Parameters of a filter (7.4.4.3) that are used here. */
export interface Parameters {
  predictor?: number;
  colors?: number;
  bits?: number;
  columns?: number;
  early?: number;
}
const NO_PARAMETERS: Parameters = {};
type Filter = (pieces: Pieces, budget: Budget, parameters?: Parameters) => AsyncIterable<Buffer>;

const PIECE_BYTES = 64 * 1024;
/** Streams up to these sizes are unpacked in one call. Bytes. */
const QUICK = { packed: 64 * 1024, unpacked: 256 * 1024 } as const;
const END_OF_DATA = 0x3e;

async function* asciiHex(pieces: Pieces): AsyncGenerator<Buffer> {
  let high: number | undefined;
  for await (const piece of pieces) {
    const bytes = Buffer.allocUnsafe((piece.length + 1) >>> 1);
    let length = 0;
    let at = 0;
    for (; at < piece.length && piece[at] !== END_OF_DATA; at += 1) {
      const value = hexDigit(piece[at]);
      if (value === undefined) continue;
      if (high === undefined) high = value;
      else {
        bytes[length++] = high * 16 + value;
        high = undefined;
      }
    }
    if (length > 0) yield bytes.subarray(0, length);
    if (at < piece.length) break;
  }
  // A final single digit counts as if 0 followed it (7.4.2).
  if (high !== undefined) yield Buffer.from([high * 16]);
}

const A85_LEAST = 0x21;
const A85_MOST = 0x75;
const LETTER_Z = 0x7a;
const TILDE = 0x7e;
const LESS = 0x3c;

async function* ascii85(pieces: Pieces): AsyncGenerator<Buffer> {
  let value = 0;
  let digits = 0;
  let seen = 0;
  for await (const piece of pieces) {
    // A `z` stands for four bytes.
    const bytes = Buffer.allocUnsafe(piece.length * 4 + 4);
    let length = 0;
    let is_over = false;
    for (const character of piece) {
      if (character <= 0x20) continue;
      seen += 1;
      if (character === TILDE) {
        // btoa data begins with `<~`, which is not data.
        is_over = seen !== 2 || digits !== 1 || value !== LESS - A85_LEAST;
        if (is_over) break;
        value = 0;
        digits = 0;
      } else if (character === LETTER_Z && digits === 0) {
        bytes.writeUInt32BE(0, length);
        length += 4;
      } else if (character >= A85_LEAST && character <= A85_MOST) {
        value = value * 85 + (character - A85_LEAST);
        digits += 1;
        if (digits < 5) continue;
        bytes.writeUInt32BE(value % 2 ** 32, length);
        length += 4;
        value = 0;
        digits = 0;
      }
    }
    if (length > 0) yield bytes.subarray(0, length);
    if (is_over) break;
  }
  if (digits < 2) return;
  for (let missing = digits; missing < 5; missing += 1) value = value * 85 + 84;
  const last = Buffer.alloc(4);
  last.writeUInt32BE(value % 2 ** 32);
  yield last.subarray(0, digits - 1);
}

/** Run-length decoding (7.4.5): a length below 128 copies bytes, a length above 128 repeats a byte, and 128 ends the data. */
async function* runLength(pieces: Pieces): AsyncGenerator<Buffer> {
  let target = Buffer.allocUnsafe(PIECE_BYTES);
  let length = 0;
  let copies = 0;
  let repeats = 0;
  for await (const piece of pieces) {
    for (const byte of piece) {
      if (length + 128 > target.length) {
        yield target.subarray(0, length);
        target = Buffer.allocUnsafe(PIECE_BYTES);
        length = 0;
      }
      if (copies > 0) {
        target[length++] = byte;
        copies -= 1;
      } else if (repeats > 0) {
        target.fill(byte, length, length + repeats);
        length += repeats;
        repeats = 0;
      } else if (byte === 128) {
        yield target.subarray(0, length);
        return;
      } else if (byte < 128) copies = byte + 1;
      else repeats = 257 - byte;
    }
  }
  yield target.subarray(0, length);
}

const LZW = { clear: 256, end: 257, first: 258, codes: 4096, bits_least: 9, bits_most: 12 } as const;

/** LZW decoding (7.4.4). Code widths grow one code early, as nearly all writers do it, or not (table 8, EarlyChange). */
async function* lzw(pieces: Pieces, _budget: Budget, { early = 1 }: Parameters = NO_PARAMETERS): AsyncGenerator<Buffer> {
  const prefixes = new Uint16Array(LZW.codes);
  const lasts = new Uint8Array(LZW.codes);
  const lengths = new Uint16Array(LZW.codes).fill(1, 0, 256);
  for (let code = 0; code < 256; code += 1) lasts[code] = code;
  let target = Buffer.allocUnsafe(PIECE_BYTES);
  let length = 0;
  let next: number = LZW.first;
  let width: number = LZW.bits_least;
  let previous: number | undefined;
  let bits = 0;
  let count = 0;
  /** Writes the text of a code at `at`, from its last byte to its first. Returns its first byte. */
  const write = (code: number, at: number): number => {
    let rest = code;
    for (let index = (lengths[code] ?? 1) - 1; index >= 0; index -= 1) {
      target[at + index] = lasts[rest] ?? 0;
      rest = prefixes[rest] ?? 0;
    }
    return target[at] ?? 0;
  };
  for await (const piece of pieces) {
    for (const byte of piece) {
      bits = ((bits << 8) | byte) >>> 0;
      count += 8;
      if (count < width) continue;
      count -= width;
      const code = (bits >>> count) & ((1 << width) - 1);
      bits &= (1 << count) - 1;
      if (code === LZW.end) {
        yield target.subarray(0, length);
        return;
      }
      if (code === LZW.clear) {
        next = LZW.first;
        width = LZW.bits_least;
        previous = undefined;
        continue;
      }
      if (code > next || (code === next && previous === undefined)) throw new Error('A code that is not in the table yet.');
      if (length + LZW.codes > target.length) {
        yield target.subarray(0, length);
        target = Buffer.allocUnsafe(PIECE_BYTES);
        length = 0;
      }
      let first: number;
      if (code < next) {
        first = write(code, length);
        length += lengths[code] ?? 1;
      } else {
        // The code is defined by this step: the previous text, followed by its own first byte.
        first = write(previous ?? 0, length);
        length += lengths[previous ?? 0] ?? 1;
        target[length++] = first;
      }
      if (previous !== undefined && next < LZW.codes) {
        prefixes[next] = previous;
        lasts[next] = first;
        lengths[next] = (lengths[previous] ?? 1) + 1;
        next += 1;
        width = Math.min(LZW.bits_most, Math.max(LZW.bits_least, 32 - Math.clz32(next + (early === 0 ? 0 : 1))));
      }
      previous = code;
    }
  }
  yield target.subarray(0, length);
}

/**
 * Inflates a stream. Like viewers, it gives the data before any damage, and reads data after an invalid zlib header as raw deflate. @throws Error if nothing
 * can be inflated after an invalid header
 */
async function* inflate(pieces: Pieces, budget: Budget): AsyncGenerator<Buffer> {
  const { first, rest } = await begun(pieces);
  if (rest === undefined && first.length <= QUICK.packed) {
    // Streams that are larger or damaged are inflated in pieces, up to the damage.
    const answer = decompress('zlib', first, budget, { most: QUICK.unpacked, is_open: true });
    if (answer.kind === 'whole') {
      yield answer.plain;
      return;
    }
  }
  async function* from(skip: number): AsyncGenerator<Buffer> {
    yield first.subarray(skip);
    if (rest !== undefined) yield* rest;
  }
  let is_begun = false;
  // The first two bytes show whether the zlib header is valid (RFC 1950, 2.2).
  const has_head = first.length >= 2 && first.readUInt16BE(0) % 31 === 0 && ((first[0] ?? 0) & 0x0f) === 8;
  const options = { chunk_bytes: PIECE_BYTES, is_open: true };
  for await (const piece of decompressed(has_head ? 'zlib' : 'deflate', from(has_head ? 0 : 2), budget, options)) {
    is_begun = true;
    yield piece;
  }
  if (!is_begun && first.length > 2 && !has_head) throw new Error('No deflated data.');
}

/** The first piece, and the others if there are any. */
async function begun(pieces: Pieces): Promise<{ first: Buffer; rest: AsyncGenerator<Buffer> | undefined }> {
  async function* all(): AsyncGenerator<Buffer> {
    yield* pieces;
  }
  const iterator = all();
  const one = await iterator.next();
  if (one.done) return { first: Buffer.alloc(0), rest: undefined };
  const two = await iterator.next();
  if (two.done) return { first: one.value, rest: undefined };
  async function* rest(second: Buffer): AsyncGenerator<Buffer> {
    yield second;
    yield* iterator;
  }
  return { first: one.value, rest: rest(two.value) };
}

const PREDICTORS = { tiff: 2, png_least: 10 } as const;
/** Maximum length of a row. Bytes. */
const ROW_BYTES_MAXIMUM = 16 * 1024 ** 2;

function paeth(left: number, up: number, corner: number): number {
  const estimate = left + up - corner;
  const by_left = Math.abs(estimate - left);
  const by_up = Math.abs(estimate - up);
  const by_corner = Math.abs(estimate - corner);
  if (by_left <= by_up && by_left <= by_corner) return left;
  return by_up <= by_corner ? up : corner;
}

/** Undoes the prediction of a PNG row (7.4.4.4). Its first byte is the filter type. */
function unpredictedRow(row: Buffer, before: Buffer, pixel_bytes: number): Buffer {
  const kind = row[0] ?? 0;
  const plain = Buffer.from(row.subarray(1));
  for (let at = 0; at < plain.length; at += 1) {
    const left = at < pixel_bytes ? 0 : (plain[at - pixel_bytes] ?? 0);
    const up = before[at] ?? 0;
    const corner = at < pixel_bytes ? 0 : (before[at - pixel_bytes] ?? 0);
    const guess = kind === 1 ? left : kind === 2 ? up : kind === 3 ? (left + up) >> 1 : kind === 4 ? paeth(left, up, corner) : 0;
    plain[at] = (plain[at] ?? 0) + guess;
  }
  return plain;
}

/** Undoes the TIFF prediction of a row, where each byte is the difference from the previous pixel (8 bits for each component). */
function undifferenced(row: Buffer, pixel_bytes: number): Buffer {
  const plain = Buffer.from(row);
  for (let at = pixel_bytes; at < plain.length; at += 1) plain[at] = (plain[at] ?? 0) + (plain[at - pixel_bytes] ?? 0);
  return plain;
}

/** Undoes the predictor. */
export async function* unpredicted(pieces: Pieces, parameters: Parameters): AsyncGenerator<Buffer> {
  const { predictor = 1, colors = 1, bits = 8, columns = 1 } = parameters;
  const is_png = predictor >= PREDICTORS.png_least;
  const row_bytes = Math.ceil((colors * bits * columns) / 8) + (is_png ? 1 : 0);
  if ((!is_png && predictor !== PREDICTORS.tiff) || !(row_bytes > 1 && row_bytes <= ROW_BYTES_MAXIMUM)) {
    yield* pieces;
    return;
  }
  const pixel_bytes = Math.max(1, Math.ceil((colors * bits) / 8));
  let before: Buffer = Buffer.alloc(row_bytes);
  let held: Buffer[] = [];
  let held_bytes = 0;
  const plainOf = (row: Buffer): Buffer => {
    const plain = is_png ? unpredictedRow(row, before, pixel_bytes) : undifferenced(row, pixel_bytes);
    before = plain;
    return plain;
  };
  for await (const piece of pieces) {
    held.push(piece);
    held_bytes += piece.length;
    if (held_bytes < row_bytes) continue;
    const bytes = Buffer.concat(held);
    const rows: Buffer[] = [];
    let at = 0;
    for (; at + row_bytes <= bytes.length; at += row_bytes) rows.push(plainOf(bytes.subarray(at, at + row_bytes)));
    held = [bytes.subarray(at)];
    held_bytes = bytes.length - at;
    yield Buffer.concat(rows);
  }
  if (held_bytes > 0) yield plainOf(Buffer.concat(held));
}

const FILTERS: ReadonlyMap<string, Filter> = new Map([
  ['FlateDecode', inflate],
  ['Fl', inflate],
  ['ASCIIHexDecode', asciiHex],
  ['AHx', asciiHex],
  ['ASCII85Decode', ascii85],
  ['A85', ascii85],
  ['RunLengthDecode', runLength],
  ['RL', runLength],
  ['LZWDecode', lzw],
  ['LZW', lzw],
]);

/** The filter of that name; undefined for image filters and unknown ones. */
export function filterOf(name: string): Filter | undefined {
  return FILTERS.get(name);
}
