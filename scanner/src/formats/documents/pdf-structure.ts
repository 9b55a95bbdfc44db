import type { Range } from '#scanner/reading/ranges.ts';
import type { Reader } from '#scanner/reading/reader.ts';

// Determines the bytes that belong to a PDF (ISO 32000-1, 7.2 to 7.5): streams, and the tokens between them. Other bytes belong to other data.

const WINDOW_BYTES = 1024 ** 2;
/** Maximum length of a token. Real strings are shorter, and longer ones could hide other data. Bytes. */
const TOKEN_BYTES_MAXIMUM = 16 * 1024;
/** Maximum length of a comment, such as a version or a program name. Bytes. */
const COMMENT_BYTES_MAXIMUM = 80;

const BLANKS = /[\0\t\n\f\r ]+/y;
const COMMENT = /%[^\r\n]*/y;
/** A literal string, with nested parentheses of up to two levels. */
const STRING = /\((?:[^()\\]|\\[\s\S]|\((?:[^()\\]|\\[\s\S]|\((?:[^()\\]|\\[\s\S]){0,16384}\)){0,16384}\)){0,16384}\)/y;
const HEX = /<[0-9A-Fa-f\s\0]*>/y;
const NAME = /\/[^\0\t\n\f\r ()<>[\]{}/%]{0,256}/y;
const OTHER =
  /<<|>>|[[\]]|(?:[-+]?\d{0,20}\.?\d{1,20}\.?|true|false|null|obj|endobj|stream|endstream|xref|trailer|startxref|R|f|n)(?![^\0\t\n\f\r ()<>[\]{}/%])/y;
const END = '%%EOF';
/** Token types with their maximum lengths in bytes. Hexadecimal strings have no maximum, because signatures are long. */
const TOKENS: readonly { pattern: RegExp; most: number }[] = [
  { pattern: BLANKS, most: Number.POSITIVE_INFINITY },
  { pattern: NAME, most: TOKEN_BYTES_MAXIMUM },
  { pattern: OTHER, most: TOKEN_BYTES_MAXIMUM },
  { pattern: STRING, most: TOKEN_BYTES_MAXIMUM },
  { pattern: HEX, most: Number.POSITIVE_INFINITY },
  { pattern: COMMENT, most: COMMENT_BYTES_MAXIMUM },
];
/** A position where the document may resume after other data. */
const AGAIN =
  /(?<![^\s\0>\])])(?:\d{1,10}[\s\0]{1,8}\d{1,5}[\s\0]{1,8}obj|endobj|xref[\r\n ]|trailer[\s\0<]|startxref[\r\n ]|%%EOF|%PDF-)/g;

/** Claims the tokens of a range between two streams. `is_last` means that the range ends with this text. Returns the number of bytes examined. */
function claimTokens(text: string, start: number, is_last: boolean, claim: (start: number, end: number) => void): number {
  let at = 0;
  // Tokens that may continue after the window are examined with the next window.
  const enough = is_last ? text.length : Math.max(text.length - TOKEN_BYTES_MAXIMUM, 1);
  /** After `%%EOF` no string is accepted, because the magic of zstd begins with `(`. */
  let is_over = false;
  while (at < enough) {
    const from = at;
    for (let is_known = true; is_known && at < enough; ) {
      is_known = false;
      for (const { pattern, most } of TOKENS) {
        pattern.lastIndex = at;
        const [token = ''] = pattern.exec(text) ?? [];
        if (token.length === 0 || token.length > most || (is_over && pattern === STRING)) continue;
        if (pattern !== BLANKS) is_over = token.startsWith(END);
        at += token.length;
        is_known = true;
        break;
      }
    }
    if (at > from) claim(start + from, start + at);
    if (at >= enough) break;
    AGAIN.lastIndex = at + 1;
    at = AGAIN.exec(text)?.index ?? enough;
  }
  return at;
}

const OBJECT = Buffer.from(' obj');

/** Claims the bytes of a PDF. Files without objects only mention PDF, so nothing is claimed. `streams` are the ranges of the streams, in order. */
export function claimPdf(reader: Reader, streams: readonly Range[], claim: (start: number, end: number) => void): void {
  if (streams.length === 0 && reader.find(OBJECT, 0) < 0) return;
  let at = 0;
  for (const { start, end } of [...streams, { start: reader.size, end: reader.size }]) {
    while (at < start) {
      const piece = reader.at(at, Math.min(WINDOW_BYTES, start - at));
      if (piece.length === 0) return;
      at += claimTokens(piece.toString('latin1'), at, at + piece.length >= start, claim);
    }
    claim(start, end);
    at = Math.max(at, end);
  }
}
