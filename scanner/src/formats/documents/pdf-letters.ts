import type { Member } from '#scanner/reading/member.ts';
import { base85RunsOf } from '#scanner/text/base85-runs.ts';
import { LOOK_BYTES, textFormOf } from '#scanner/text/text-encoding.ts';
import { runsOf } from '#scanner/text/text-runs.ts';

// Text streams of a PDF that contain encoded data, such as base64.

/** Maximum size of a text that is searched for encoded data. Bytes. */
const LETTERS_BYTES_MAXIMUM = 16 * 1024 ** 2;
const LESS = 0x3c;
const DIGITS = /^[0-9a-f]+$/i;
const DIGITS_LOOKED_AT = 20;

/** Whether a text contains encoded data. Glyph numbers in hexadecimal strings of a page (9.4.3) do not count. */
function holdsLetters(text: Buffer, isFile: (head: Buffer) => boolean): boolean {
  for (const { start } of runsOf(text))
    if (text[start - 1] !== LESS || !DIGITS.test(text.toString('latin1', start, start + DIGITS_LOOKED_AT))) return true;
  const isSomething = (bytes: Buffer) => textFormOf(bytes.subarray(0, LOOK_BYTES)) !== undefined || isFile(bytes);
  return !base85RunsOf(text, isSomething).next().done;
}

/** The text of a stream, up to a maximum size. */
export class StreamText {
  private readonly pieces: Buffer[] = [];
  /** Number of bytes received. Bytes after the maximum is reached are not counted. */
  bytes = 0;

  add(piece: Buffer): void {
    if (this.bytes >= LETTERS_BYTES_MAXIMUM) return;
    this.pieces.push(Buffer.from(piece.subarray(0, LETTERS_BYTES_MAXIMUM - this.bytes)));
    this.bytes += piece.length;
  }

  text(): Buffer {
    return Buffer.concat(this.pieces);
  }

  /** The text as a member, if it contains encoded data. */
  *end(isFile: (head: Buffer) => boolean): Generator<Member> {
    const text = this.text();
    if (holdsLetters(text, isFile))
      yield { name: 'text of a stream', read: () => ({ content: { size: text.length, bytes: text } }) };
  }
}
