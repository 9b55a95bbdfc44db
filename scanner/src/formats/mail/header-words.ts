import { decodeBytes, decodePage } from '#scanner/text/code-pages.ts';
import { fromQuotedPrintable } from '#scanner/text/text-codings.ts';

// Decodes text in mail headers. Headers are kept as Latin-1, one character for each byte, because their charset is not known at first.

/** Encoded words (RFC 2047). RFC 2231 adds a language after the charset. */
const WORD = /=\?([^?\s*]{1,80})(?:\*[^?\s]{0,40})?\?([bq])\?([^?]{0,1000})\?=/gi;
/** Whitespace between adjacent encoded words is ignored (RFC 2047, 6.2). */
const BETWEEN_WORDS = /(\?=)[ \t\r\n]{1,64}(?==\?[^?\s]{1,80}\?[bq]\?)/gi;
/** The most frequent charset, beside UTF-8, of mails that declare none. */
const USUAL_PAGE = 'windows-1252';

function bytesOf(coding: string, word: string): Buffer {
  return coding.toLowerCase() === 'b'
    ? Buffer.from(word, 'base64')
    : Buffer.concat([...fromQuotedPrintable([Buffer.from(word.replaceAll('_', ' '), 'latin1')])]);
}

const plainOf = (text: string) => decodeBytes(Buffer.from(text, 'latin1'), USUAL_PAGE);

/** Decodes a header value: encoded words in any charset, and raw bytes. Characters that are split between two words are joined. */
export function headerText(value: string): string {
  const joined = value.replaceAll(BETWEEN_WORDS, '$1');
  let text = '';
  let at = 0;
  let held: { charset: string; bytes: Buffer; end: number } | undefined;
  const flush = () => {
    if (held !== undefined) text += decodePage(held.charset, held.bytes) ?? decodeBytes(held.bytes, USUAL_PAGE);
    held = undefined;
  };
  for (const { 0: whole, 1: charset = '', 2: coding = '', 3: word = '', index } of joined.matchAll(WORD)) {
    const bytes = bytesOf(coding, word);
    if (held !== undefined && held.end === index && held.charset === charset.toLowerCase())
      held = { charset: held.charset, bytes: Buffer.concat([held.bytes, bytes]), end: index + whole.length };
    else {
      flush();
      text += plainOf(joined.slice(at, index));
      held = { charset: charset.toLowerCase(), bytes, end: index + whole.length };
    }
    at = index + whole.length;
  }
  flush();
  return text + plainOf(joined.slice(at));
}

/** A section of a parameter (RFC 2231): `name*0*=...`. */
export interface ParameterPiece {
  number: number;
  is_extended: boolean;
  text: string;
}

const CHARSET = /^([\w.:-]{0,40})'[\w-]{0,40}'/;

/** Joins and decodes the sections of a parameter. The result is UTF-8 with one character for each byte, like other header values. */
export function parameterText(pieces: readonly ParameterPiece[]): string {
  const ordered = pieces.toSorted((one, other) => one.number - other.number);
  if (!ordered.some(({ is_extended }) => is_extended)) return ordered.map(({ text }) => text).join('');
  const charset = CHARSET.exec(ordered[0]?.text ?? '')?.[1] ?? '';
  const bytes = ordered.map(({ text, is_extended }, index) => {
    const plain = index === 0 ? text.replace(CHARSET, '') : text;
    const whole = is_extended
      ? plain.replaceAll(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
      : plain;
    return Buffer.from(whole, 'latin1');
  });
  const all = Buffer.concat(bytes);
  const text = (charset === '' ? undefined : decodePage(charset, all)) ?? decodeBytes(all, USUAL_PAGE);
  return Buffer.from(text, 'utf8').toString('latin1');
}
