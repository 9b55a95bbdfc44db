// Decodes bytes encoded as text in mail, PDF and old archives. Each decoder takes its text in chunks and yields bytes in chunks, with one chunk of each in
// memory: the consumer counts the decoded bytes before the next chunk is decoded.

const SKIPPED = 0xff;
const PADDING = 0xfe;

/** The value of each character of base64 (RFC 4648, table 1); all others are skipped. */
const BASE64 = new Uint8Array(256).fill(SKIPPED);
for (const [value, character] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].entries())
  BASE64[character.charCodeAt(0)] = value;
BASE64['='.charCodeAt(0)] = PADDING;

/** The value of each hexadecimal digit. */
const HEX = new Uint8Array(256).fill(SKIPPED);
for (const [value, digit] of [...'0123456789abcdef'].entries()) {
  HEX[digit.charCodeAt(0)] = value;
  HEX[digit.toUpperCase().charCodeAt(0)] = value;
}

/** The value of a hexadecimal digit, undefined for any other character. */
export function hexDigit(character: number | undefined): number | undefined {
  const value = HEX[character ?? 0];
  return value === SKIPPED ? undefined : value;
}

/** Decodes base64. Characters outside of the alphabet are skipped, and padding in the middle ends one part and begins the next (RFC 2045 section 6.8). */
export function* fromBase64(texts: Iterable<Buffer>): Generator<Buffer> {
  let bits = 0;
  let count = 0;
  for (const text of texts) {
    const bytes = Buffer.allocUnsafe(Math.ceil((text.length + 3) / 4) * 3);
    let length = 0;
    for (let at = 0; at < text.length; at += 1) {
      const value = BASE64[text[at] ?? 0] ?? SKIPPED;
      if (value === SKIPPED) continue;
      if (value === PADDING) {
        // After fewer than two characters, padding has no meaning: programs skip it.
        if (count < 2) continue;
        length = finish(bytes, length, bits, count);
        count = 0;
        continue;
      }
      bits = (bits << 6) | value;
      count += 1;
      if (count < 4) continue;
      bytes[length++] = bits >>> 16;
      bytes[length++] = bits >>> 8;
      bytes[length++] = bits;
      count = 0;
      bits = 0;
    }
    if (length > 0) yield bytes.subarray(0, length);
  }
  const rest = Buffer.alloc(3);
  const length = finish(rest, 0, bits, count);
  if (length > 0) yield rest.subarray(0, length);
}

/** The bytes up to padding in the middle, for programs that stop there; undefined without such padding. Lists of addresses add a line after every part. */
export function upToPadding(text: Buffer): Buffer | undefined {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    const value = BASE64[text[at] ?? 0] ?? SKIPPED;
    if (value < PADDING) count += 1;
    else if (value === PADDING && count % 4 >= 2) {
      const has_more = text.subarray(at).some((byte) => (BASE64[byte] ?? SKIPPED) < PADDING);
      return has_more ? Buffer.concat([...fromBase64([text.subarray(0, at)])]) : undefined;
    }
  }
  return undefined;
}

/** Writes the complete bytes of an unfinished group of `count` characters; returns the new length. */
function finish(bytes: Buffer, length: number, bits: number, count: number): number {
  if (count === 2) bytes[length] = bits >>> 4;
  if (count === 3) bytes.writeUInt16BE((bits >>> 2) & 0xffff, length);
  return length + Math.max(0, count - 1);
}

/** Decodes a short base64 text at once. */
export function decodedBase64(text: Buffer): Buffer {
  return Buffer.concat([...fromBase64([text])]);
}

const EQUALS = 0x3d;
const NEWLINE = 0x0a;
/** A soft line break: "=", blanks, end of line. More blanks than these are text. */
const BLANKS_MAXIMUM = 998;

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}

/** Decodes quoted-printable (RFC 2045 section 6.7); invalid escapes are kept as they are. */
export function* fromQuotedPrintable(texts: Iterable<Buffer>): Generator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for (const text of texts) {
    const { bytes, taken } = unquoted(rest.length === 0 ? text : Buffer.concat([rest, text]), false);
    rest = rest.length + text.length === taken ? Buffer.alloc(0) : Buffer.concat([rest, text]).subarray(taken);
    if (bytes.length > 0) yield bytes;
  }
  if (rest.length > 0) yield unquoted(rest, true).bytes;
}

/** Decodes as far as is possible without the next chunk, or everything at the end. */
function unquoted(text: Buffer, is_end: boolean): { bytes: Buffer; taken: number } {
  const bytes = Buffer.allocUnsafe(text.length);
  let length = 0;
  let at = 0;
  while (at < text.length) {
    const byte = text[at] ?? 0;
    if (byte !== EQUALS) {
      bytes[length++] = byte;
      at += 1;
      continue;
    }
    const high = hexDigit(text[at + 1]);
    const low = hexDigit(text[at + 2]);
    if (high !== undefined && low !== undefined) {
      bytes[length++] = high * 16 + low;
      at += 3;
      continue;
    }
    let end = at + 1;
    while (end - at <= BLANKS_MAXIMUM && isBlank(text[end])) end += 1;
    if (!is_end && (end >= text.length || at + 2 >= text.length)) break;
    // A soft line break at the end of the text is dropped.
    if (text[end] === NEWLINE || (is_end && end >= text.length)) at = end + 1;
    else {
      bytes[length++] = byte;
      at += 1;
    }
  }
  return { bytes: bytes.subarray(0, length), taken: at };
}

/** Lines of uuencode (POSIX) are shorter; the rest of a longer line is dropped. */
const LINE_BYTES_MAXIMUM = 1024;

/** The lines of a text without their ends. */
export function* linesOf(texts: Iterable<Buffer>, most = LINE_BYTES_MAXIMUM): Generator<Buffer> {
  let begun: Buffer[] = [];
  let begun_bytes = 0;
  const add = (piece: Buffer) => {
    if (begun_bytes >= most || piece.length === 0) return;
    begun.push(piece.subarray(0, most - begun_bytes));
    begun_bytes += piece.length;
  };
  for (const text of texts) {
    let start = 0;
    for (let end = text.indexOf(NEWLINE); end >= 0; end = text.indexOf(NEWLINE, start)) {
      if (begun_bytes === 0) {
        yield text.subarray(start, Math.min(end, start + most));
      } else {
        add(text.subarray(start, end));
        yield Buffer.concat(begun);
        begun = [];
        begun_bytes = 0;
      }
      start = end + 1;
    }
    add(text.subarray(start));
  }
  if (begun_bytes > 0) yield Buffer.concat(begun);
}

const BEGIN = /^begin(-base64)? [0-7]{3,4} ([^\r\n]{1,255})/;
/** Maximum length that is read of the first line of an encoded file: a longer name is cut. */
export const UUENCODE_BEGIN_BYTES = 300;
const LETTER_B = 0x62;

/** Whether a text begins with the first line of an encoded file. */
export function isUuencodeBegin(text: Buffer): boolean {
  return BEGIN.test(text.toString('latin1', 0, UUENCODE_BEGIN_BYTES));
}

/** Decodes a row of uuencode: its first character encodes the number of bytes, and each four characters after it are three bytes. */
export function uuRow(row: Buffer, size: number): Buffer {
  const decoded = Buffer.alloc(Math.ceil(size / 3) * 3);
  const six = (at: number) => ((row[at] ?? 0x20) - 0x20) & 0x3f;
  for (let group = 0; group * 3 < size; group += 1) {
    const at = 1 + group * 4;
    const bits = (six(at) << 18) | (six(at + 1) << 12) | (six(at + 2) << 6) | six(at + 3);
    decoded.writeUIntBE(bits, group * 3, 3);
  }
  return decoded.subarray(0, size);
}

/**
 * Yields files between `begin 644 name` and `end` in a text (POSIX uuencode, and its base64 form), in one pass: a line that begins a file ends the previous one,
 * because no row of a file looks like it. Each file's bytes must be consumed before the next file is requested.
 */
export function* fromUuencode(texts: Iterable<Buffer>): Generator<{ name: string; bytes: Generator<Buffer> }> {
  const lines = linesOf(texts);
  const beginOf = (line: Buffer) => (line[0] === LETTER_B ? BEGIN.exec(line.toString('latin1', 0, UUENCODE_BEGIN_BYTES)) : null);
  let begin: RegExpExecArray | null = null;
  /** The rows up to the end of the text or the beginning of the next file. */
  function* rows(): Generator<Buffer> {
    for (let next = lines.next(); !next.done; next = lines.next()) {
      begin = beginOf(next.value);
      if (begin !== null) return;
      yield next.value;
    }
  }
  function* plain(): Generator<Buffer> {
    for (const row of rows()) {
      const size = ((row[0] ?? 0x20) - 0x20) & 0x3f;
      if (size === 0 || row.subarray(0, 3).toString('latin1') === 'end') return;
      yield uuRow(row, size);
    }
  }
  function* base64Rows(): Generator<Buffer> {
    for (const row of rows()) {
      if (row.subarray(0, 4).toString('latin1') === '====') return;
      yield row;
    }
  }
  for (;;) {
    while (begin === null) {
      const next = lines.next();
      if (next.done) return;
      begin = beginOf(next.value);
    }
    const [, is_base64, name = 'file']: readonly (string | undefined)[] = begin;
    begin = null;
    const bytes = is_base64 === undefined ? plain() : fromBase64(base64Rows());
    yield { name, bytes };
    // Consumes the bytes that the caller did not take.
    for (const _ of bytes);
  }
}
