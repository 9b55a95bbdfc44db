import { format, patternOf, spelled } from '#scanner/formats/format.ts';
import type { Content } from '#scanner/reading/content.ts';
import type { Member, ReadContext } from '#scanner/reading/member.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';
import { BINHEX_MARK, fromBinHex, fromYenc, isYencBegin, YENC_BEGIN_BYTES } from '#scanner/text/encoded-texts.ts';
import { fromUuencode, isUuencodeBegin, UUENCODE_BEGIN_BYTES } from '#scanner/text/text-codings.ts';
import { mailFolder, NEWLINE, RETURN, streamed } from './mail.ts';

// Files in uuencode, yEnc or BinHex within a text.

const BEGIN = Buffer.from('begin');
/** Larger binary files are not searched for encoded files, nor are larger files of any kind for yEnc and BinHex. Bytes. */
const ENCODED_BYTES_MAXIMUM = 16 * 1024 ** 2;
const TEXT_BYTES = 4096;

/** Whether a text has a line that begins a uuencoded file. */
function holdsUuencode(reader: Reader, head: Buffer): boolean {
  if (reader.size > ENCODED_BYTES_MAXIMUM && head.subarray(0, TEXT_BYTES).includes(0)) return false;
  for (let at = reader.find(BEGIN, 0); at >= 0; at = reader.find(BEGIN, at + BEGIN.length)) {
    if ((at === 0 || reader.at(at - 1, 1)[0] === NEWLINE) && isUuencodeBegin(reader.at(at, UUENCODE_BEGIN_BYTES))) return true;
  }
  return false;
}

const YBEGIN = Buffer.from('=ybegin ');

/** Whether a text has a line that begins a yEnc file. */
function holdsYenc(reader: Reader): boolean {
  for (let at = reader.find(YBEGIN, 0); at >= 0; at = reader.find(YBEGIN, at + YBEGIN.length)) {
    const before = at === 0 ? NEWLINE : reader.at(at - 1, 1)[0];
    if ((before === NEWLINE || before === RETURN) && isYencBegin(reader.at(at, YENC_BEGIN_BYTES))) return true;
  }
  return false;
}

/** Whether a text contains uuencoded, yEnc or BinHex files, which begin with their own first line. */
function holdsEncoded(reader: Reader, head: Buffer): boolean {
  if (holdsUuencode(reader, head)) return true;
  return reader.size <= ENCODED_BYTES_MAXIMUM && (holdsYenc(reader) || reader.find(BINHEX_MARK, 0) >= 0);
}

const YPART = Buffer.from('\n=ypart ');

/** Multipart yEnc files, with their parts joined by name. */
function* yencInParts(reader: Reader, { budget }: ReadContext): Generator<Member> {
  if (reader.find(YPART, 0) < 0) return;
  const files = new Map<string, Buffer[][]>();
  for (const { name, bytes } of fromYenc(reader.chunks(0, reader.size))) {
    const part = [...bytes];
    const size = part.reduce((sum, piece) => sum + piece.length, 0);
    budget.addUnpacked(size, size, reader.size);
    const known = files.get(name);
    if (known === undefined) files.set(name, [part]);
    else known.push(part);
  }
  for (const [name, parts] of files) {
    if (parts.length < 2) continue;
    const bytes = Buffer.concat(parts.flat());
    yield { name, read: () => ({ content: { size: bytes.length, bytes } }) };
  }
}

/** The encoded files of a text. */
async function* encodedMembers(content: Content, context: ReadContext): AsyncGenerator<Member> {
  using reader = openReader(content, context.budget);
  if (holdsYenc(reader)) {
    for (const { name, bytes } of fromYenc(reader.chunks(0, reader.size)))
      yield { name, read: () => ({ stream: streamed(bytes), packed_bytes: reader.size }) };
    yield* yencInParts(reader, context);
  }
  let number = 0;
  for (let at = reader.find(BINHEX_MARK, 0); at >= 0; ) {
    const next = reader.find(BINHEX_MARK, at + 1);
    const line_end = at + BINHEX_MARK.length;
    const texts = reader.chunks(line_end, next < 0 ? reader.size : next);
    number += 1;
    let bytes = 0;
    const forks = fromBinHex(texts, (more) => {
      bytes += more;
      context.budget.addUnpacked(more, bytes, reader.size);
    });
    for (const [fork, content] of Object.entries(forks)) {
      if (content.length > 0)
        yield { name: `BinHex ${number}, ${fork}`, read: () => ({ content: { size: content.length, bytes: content } }) };
    }
    at = next;
  }
  for (const { name, bytes } of fromUuencode(reader.chunks(0, reader.size)))
    yield { name, read: () => ({ stream: streamed(bytes), packed_bytes: reader.size }) };
}

const BINHEX_START = '(This file must be converted with BinHex';

/** Encoded files in a text, which begin with their own first line: uuencode, yEnc, BinHex. */
export const encodedFiles = format({
  id: 'uuencode',
  media_type: 'text/x-uuencode',
  // The mails of a mailbox are examined separately.
  recogniseBeside: ({ reader, head, first }) =>
    first?.format.traits.owns_end?.(reader) !== true && first?.format.id !== mailFolder.id && holdsEncoded(reader, head) ? 48 : 0,
  carve: [
    {
      id: 'binhex',
      pattern: spelled(BINHEX_START),
      proves: (reader, at) => /^.{38,80}\s{1,8}:[!-z]{20}/s.test(reader.at(at, 120).toString('latin1')),
      is_own: true,
    },
    {
      id: 'yenc',
      pattern: patternOf({ at: 0, bytes: YBEGIN }),
      proves: (reader, at) => /^=ybegin (\w+=\d+ ){2,5}name=/.test(reader.at(at, 120).toString('latin1')),
      is_own: true,
    },
    {
      id: 'uuencode',
      pattern: '/\\nbegin(-base64)? [0-7]{3,4} [!-~]/',
      bits: 56 + 20,
      is_guess: true,
      is_own: true,
      is_endless: true,
    },
  ],
  traits: { is_text: true, is_beside: true, reads_beside: ['uuencode', 'yenc', 'binhex'] },
  limits: null,
  open: encodedMembers,
});
