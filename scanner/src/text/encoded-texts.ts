import { linesOf } from './text-codings.ts';

// Decodes files encoded as text for newsgroups, yEnc (draft 1.3), and on classic Mac OS, BinHex 4.0 (RFC 1741).

const YENC_BEGIN = /^=ybegin [^\r\n]{0,400}/;
/** Maximum length that is read of the first line of an encoded file. Bytes. */
export const YENC_BEGIN_BYTES = 420;
/** Usually lines have 128 or 256 bytes, but the format sets no limit. Bytes. */
const YENC_LINE_BYTES_MAXIMUM = 16 * 1024 ** 2;
const EQUALS = 0x3d;
const LETTER_Y = 0x79;
const RETURN = 0x0d;

export function isYencBegin(text: Buffer): boolean {
  return /^=ybegin (?=[^\r\n]{0,400}\bsize=\d)/.test(text.toString('latin1', 0, YENC_BEGIN_BYTES));
}

/** Decodes a row: 42 was added to each byte, and another 64 to critical characters, which follow an equals sign. */
function yencRow(row: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(row.length);
  let length = 0;
  for (let at = 0; at < row.length; at += 1) {
    let byte = row[at] ?? 0;
    if (byte === RETURN) continue;
    if (byte === EQUALS) {
      at += 1;
      byte = (row[at] ?? 0) - 64;
    }
    bytes[length++] = byte - 42;
  }
  return bytes.subarray(0, length);
}

/** Yields files between `=ybegin` and `=yend`. Each file's bytes must be consumed before the next file is requested. */
export function* fromYenc(texts: Iterable<Buffer>): Generator<{ name: string; bytes: Generator<Buffer> }> {
  const lines = linesOf(texts, YENC_LINE_BYTES_MAXIMUM);
  const beginOf = (line: Buffer) =>
    line[0] === EQUALS && line[1] === LETTER_Y ? YENC_BEGIN.exec(line.toString('latin1', 0, YENC_BEGIN_BYTES)) : null;
  let begin: RegExpExecArray | null = null;
  function* rows(): Generator<Buffer> {
    for (let next = lines.next(); !next.done; next = lines.next()) {
      begin = beginOf(next.value);
      if (begin !== null) return;
      // `=yend`, or `=ypart`, the position of a part.
      if (next.value[0] === EQUALS && next.value[1] === LETTER_Y) {
        if (next.value.toString('latin1', 0, 6) === '=ypart') continue;
        return;
      }
      yield yencRow(next.value);
    }
  }
  for (;;) {
    while (begin === null) {
      const next = lines.next();
      if (next.done) return;
      begin = beginOf(next.value);
    }
    const [line]: readonly string[] = begin;
    begin = null;
    const bytes = rows();
    yield { name: /\bname=(.{1,255})/.exec(line ?? '')?.[1]?.trim() || 'file', bytes };
    // Consumes the bytes that the caller did not take.
    for (const _ of bytes);
  }
}

const BINHEX_LINE = '(This file must be converted with BinHex';
const SKIPPED = 0xff;
const BINHEX = new Uint8Array(256).fill(SKIPPED);
for (const [value, character] of [...'!"#$%&\'()*+,-012345689@ABCDEFGHIJKLMNPQRSTUVXYZ[`abcdefhijklmpqr'].entries())
  BINHEX[character.charCodeAt(0)] = value;
const COLON = 0x3a;
const REPEATED = 0x90;
/** Maximum number of bytes that are unpacked at once: three characters may be a run of 255. */
const UNPACKED_PIECE_BYTES = 64 * 1024;

/** The line that precedes a BinHex file, for searches. */
export const BINHEX_MARK = Buffer.from(BINHEX_LINE, 'latin1');

/** Decodes the characters between the first colon and the next one, and expands runs. */
function* binHexBytes(texts: Iterable<Buffer>): Generator<Buffer> {
  let is_begun = false;
  let bits = 0;
  let count = 0;
  let last = 0;
  let is_run = false;
  let target = Buffer.allocUnsafe(UNPACKED_PIECE_BYTES + 256);
  let length = 0;
  for (const text of texts) {
    for (const character of text) {
      if (character === COLON) {
        if (is_begun) {
          yield target.subarray(0, length);
          return;
        }
        is_begun = true;
        continue;
      }
      const value = is_begun ? (BINHEX[character] ?? SKIPPED) : SKIPPED;
      if (value === SKIPPED) continue;
      bits = ((bits << 6) | value) & 0xffffff;
      count += 6;
      if (count < 8) continue;
      count -= 8;
      const byte = (bits >>> count) & 0xff;
      if (is_run) {
        is_run = false;
        if (byte === 0) {
          target[length++] = REPEATED;
          last = REPEATED;
        } else {
          target.fill(last, length, length + byte - 1);
          length += byte - 1;
        }
      } else if (byte === REPEATED) is_run = true;
      else {
        target[length++] = byte;
        last = byte;
      }
      if (length < UNPACKED_PIECE_BYTES) continue;
      yield target.subarray(0, length);
      target = Buffer.allocUnsafe(UNPACKED_PIECE_BYTES + 256);
      length = 0;
    }
  }
  yield target.subarray(0, length);
}

/** Returns the data fork and the resource fork of a BinHex file. `onBytes` gets the number of unpacked bytes, and may throw. */
export function fromBinHex(texts: Iterable<Buffer>, onBytes: (bytes: number) => void): { data: Buffer; resources: Buffer } {
  const pieces: Buffer[] = [];
  for (const piece of binHexBytes(texts)) {
    onBytes(piece.length);
    pieces.push(piece);
  }
  const file = Buffer.concat(pieces);
  // Name, a zero, type, creator, flags, two lengths and a checksum.
  const header_bytes = (file[0] ?? 0) + 22;
  if (file.length < header_bytes) return { data: file, resources: Buffer.alloc(0) };
  const data_end = header_bytes + file.readUInt32BE(header_bytes - 10);
  return { data: file.subarray(header_bytes, data_end), resources: file.subarray(data_end + 2) };
}
