import { fromBase85 } from './text-base85.ts';

// Decodes bytes that a text lists as numbers, line by line.

const OFFSET = /^(?:(?:0x)?[0-9a-f]{4,16}(:?)[ \t]{1,8})/i;
const DIGITS = /^(?:[0-9a-f]{2}){1,4}$/i;
/** Pairs of digits with the same separator between each two, as a loop prints them. */
const MARKED = /(?<![0-9a-f])[0-9a-f]{2}([^0-9a-f\s"'\\]| )(?:[0-9a-f]{2}\1){30,}[0-9a-f]{2}(?![0-9a-f])/gi;

/** The digits of a line of hexdump, xxd, od or debug, without the text column after them; empty for any other line. */
export function digitsOf(line: string): string {
  const plain = line
    .replace(/^[\t @(]{0,16}(?:echo )?(?:e )?[ \t]{0,8}/i, '')
    .replace(/\s{0,4}(?:>|\|).*$/, '')
    .trimEnd();
  const offset = OFFSET.exec(plain);
  const behind = plain.slice(offset?.[0].length ?? 0);
  const shown = offset?.[1] === ':' ? (behind.split('  ', 1)[0] ?? '') : behind;
  // `certutil -encodehex` has the text column after three blanks.
  const words = (shown.split('   ', 1)[0] ?? '').split(/[ \t]+/);
  // A last line with only an offset gives no digits.
  return (offset !== null || words.length > 1) && words.every((word) => DIGITS.test(word)) ? words.join('') : '';
}

const INTEL = /^:([0-9a-f]{2})[0-9a-f]{4}00((?:[0-9a-f]{2}){1,255})[0-9a-f]{2}\r?$/i;
const MOTOROLA = /^S([123])[0-9a-f]{2}((?:[0-9a-f]{2}){3,255})[0-9a-f]{2}\r?$/i;
/** Tektronix extended: number of characters, type (6: data), checksum, number of digits of the address. */
const TEKTRONIX = /^%[0-9a-f]{2}6[0-9a-f]{2}([0-9a-f])([0-9a-f]{2,255})\r?$/i;
const LISTED = /=\s{0,8}hex(?:\([0-9a-f]\))?:\s{0,8}((?:[0-9a-f]{2},?\s{0,4}(?:\\\r?\n\s{0,8})?){8,})/gi;

function withoutZeros(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  return bytes.subarray(0, end);
}

/** Lines of od: an offset, and octal numbers of two bytes or one. `xxd -b` writes bytes in binary. */
const OCTAL_LINE = /^[0-7]{7}(?:[ \t]{1,4}[0-7]{6})+[ \t]{0,8}\r?$/;
const OCTAL_BYTES_LINE = /^[0-9a-f]{7,8}(?:[ \t]{1,4}[0-3][0-7]{2})+[ \t]{0,8}\r?$/i;
const BITS_LINE = /^(?:[0-9a-f]{4,16}:[ \t]{0,4})?(?:[01]{8}(?![\w:])[ \t\r]{0,4})+/i;

/** The bytes of a line of octal or binary numbers; undefined for any other line. */
function countedIn(line: string): Buffer | undefined {
  const words = () =>
    line
      .trim()
      .split(/[ \t]+/)
      .slice(1);
  if (OCTAL_LINE.test(line))
    return Buffer.from(words().flatMap((word) => [Number.parseInt(word, 8) & 0xff, Number.parseInt(word, 8) >> 8]));
  if (OCTAL_BYTES_LINE.test(line)) return Buffer.from(words().map((word) => Number.parseInt(word, 8)));
  const [bits] = BITS_LINE.exec(line) ?? [];
  return bits === undefined
    ? undefined
    : Buffer.from((bits.match(/(?<!\w)[01]{8}(?![\w:])/g) ?? []).map((word) => Number.parseInt(word, 2)));
}

const LISTING =
  /^(?::[0-9a-f]{10}|%[0-9a-f]{2}6[0-9a-f]{5}|S[0-3][0-9a-f]{8}|(?:echo )?(?:e )?\s{0,8}(?:0x)?(?:[0-9a-f]{2,16}:?\s{1,8}){4})/im;
const LISTED_LINE_LEAST = 5;
const LISTED_LINE_MAXIMUM = 600;

/** Bytes written as lines of digits: by hexdump and similar programs, or in formats for EPROMs. */
export function* lineListings(text: string): Generator<Buffer> {
  if (!LISTING.test(text)) return;
  const pieces: Buffer[] = [];
  const counted: Buffer[] = [];
  const hex = (digits: string) => pieces.push(Buffer.from(digits.replaceAll(/[^0-9a-f]/gi, ''), 'hex'));
  for (const line of text.split('\n')) {
    if (line.length < LISTED_LINE_LEAST) continue;
    const other = countedIn(line);
    if (other !== undefined) counted.push(other);
    if (line.length > LISTED_LINE_MAXIMUM) continue;
    const intel = INTEL.exec(line);
    const motorola = MOTOROLA.exec(line);
    const tektronix = TEKTRONIX.exec(line);
    if (intel !== null) hex(intel[2] ?? '');
    else if (motorola !== null) hex((motorola[2] ?? '').slice(2 + 2 * Number(motorola[1])));
    else if (tektronix !== null) hex((tektronix[2] ?? '').slice(Number.parseInt(tektronix[1] ?? '', 16) || 16));
    else hex(digitsOf(line));
  }
  const bytes = Buffer.concat(pieces);
  yield bytes;
  // Programs that write EPROM formats pad the last line with zeros.
  if (bytes.at(-1) === 0) yield withoutZeros(bytes);
  // Little-endian numbers of two or four bytes: `od -x`, `xxd -e`.
  for (const width of [2, 4]) {
    const whole = Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % width)));
    yield width === 2 ? whole.swap16() : whole.swap32();
  }
  yield withoutZeros(Buffer.concat(counted));
}

/** Bytes written as hexadecimal digits with a separator between each two, or in registry files. */
export function* listings(text: string): Generator<Buffer> {
  for (const [digits] of text.matchAll(MARKED)) yield Buffer.from(digits.replaceAll(/[^0-9a-f]/gi, ''), 'hex');
  for (const [, digits = ''] of text.matchAll(LISTED)) yield Buffer.from(digits.replaceAll(/[^0-9a-f]/gi, ''), 'hex');
}

const GIT_PATCH = /^(?:literal|delta) \d{1,10}\r?\n((?:[A-Za-z][!-~]{5,65}\r?\n){1,20000})/gm;

/** Packed files in a patch of git (`git diff --binary`): lines of base85, each after its length, that together are a zlib stream. */
export function* fromPatches(text: string): Generator<Buffer> {
  for (const [, lines = ''] of text.matchAll(GIT_PATCH)) {
    const pieces: Buffer[] = [];
    for (const line of lines.split(/\r?\n/)) {
      if (line === '') continue;
      const code = line.charCodeAt(0);
      pieces.push(fromBase85(line.slice(1), false).subarray(0, code >= 0x61 ? code - 0x60 + 26 : code - 0x40));
    }
    yield Buffer.concat(pieces);
  }
}
