import { type Content, openSource, type Source } from './content.ts';
import { LimitReached } from './limits.ts';
import { type Member, memberOfBytes, Unreadable, type Workshop } from './member.ts';

// Own walk over MIME (RFC 2045, 2046): a mail program shows what it can of a broken mail, so a scanner has to read all that any of them would.

/** A mail that is larger is not taken apart. Bytes. */
const MAIL_BYTES_MAXIMUM = 64 * 1024 ** 2;
const PART_DEPTH_MAXIMUM = 32;
const HEADER_BYTES_MAXIMUM = 1024 ** 2;
const SEARCH_BYTES = 4 * 1024 ** 2;

const KNOWN_HEADER =
  /^(received|return-path|delivered-to|message-id|mime-version|date|from|to|subject|reply-to|content-type|content-transfer-encoding|x-[a-z-]{2,40}|dkim-signature|authentication-results)[ \t]*:/i;
const MBOX_START = /^From [^\r\n]{1,200}\r?\n[!-9;-~]{1,76}:/;
const HEAD_CHARACTERS = 16 * 1024;

/** Whether a mail, or a mailbox of many, begins with these bytes. */
export function mailKind(head: Buffer): 'mail' | 'mailbox' | undefined {
  const text = head.toString('latin1', 0, HEAD_CHARACTERS).replace(/^(\xef\xbb\xbf)?(\r?\n)*/, '');
  if (MBOX_START.test(text)) return 'mailbox';
  if (!/^[!-9;-~]{1,76}[ \t]*:/.test(text)) return undefined;
  const headers = text.slice(0, /\r?\n\r?\n/.exec(text)?.index ?? text.length).split(/\r?\n(?![ \t])/);
  const known = headers.filter((line) => KNOWN_HEADER.test(line));
  // One such line alone also begins notes and logs; a mail with attachments declares them.
  return known.length >= 2 || known.some((line) => /^content-(type|transfer-encoding)/i.test(line)) ? 'mail' : undefined;
}

interface Headers {
  type: string;
  boundary: string | undefined;
  encoding: string;
  name: string | undefined;
}

/** RFC 2047 words and RFC 2231 percent signs, as far as a name on screen needs it. */
function readable(name: string): string {
  return name
    .replaceAll(/=\?[^?\s]+\?([bq])\?([^?\s]*)\?=/gi, (_, how: string, word: string) =>
      how.toLowerCase() === 'b'
        ? Buffer.from(word, 'base64').toString('utf8')
        : quotedPrintable(Buffer.from(word.replaceAll('_', ' '), 'latin1')).toString('utf8'),
    )
    .replace(/^[\w-]*'[\w-]*'/, '')
    .replaceAll(/(%[0-9a-f]{2})+/gi, (coded) => Buffer.from(coded.replaceAll('%', ''), 'hex').toString('utf8'));
}

function parameter(value: string, name: string): string | undefined {
  const found = new RegExp(`[;\\s]${name}(?:\\*0?\\*?)?[ \\t]*=[ \\t]*(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;]+))`, 'i').exec(value);
  return found?.[1]?.replaceAll(/\\(.)/g, '$1') ?? found?.[2];
}

function headersOf(block: string): Headers {
  const unfolded = block.replaceAll(/\r?\n[ \t]+/g, ' ').replaceAll(/\([^()]{0,200}\)/g, '');
  const value = (name: string) => new RegExp(`^${name}[ \\t]*:(.*)$`, 'im').exec(unfolded)?.[1]?.trim() ?? '';
  const type = value('content-type');
  const name = parameter(value('content-disposition'), 'filename') ?? parameter(type, 'name');
  return {
    type: /^[^\s;]*/.exec(type)?.[0].toLowerCase() ?? '',
    boundary: parameter(` ${type}`, 'boundary'),
    encoding: value('content-transfer-encoding').toLowerCase(),
    name: name === undefined ? undefined : readable(name),
  };
}

/** Characters outside of the alphabet are skipped, padding in the middle ends one piece and begins the next (RFC 2045 section 6.8). */
function base64(body: Buffer): Buffer {
  const pieces = body
    .toString('latin1')
    .replaceAll(/[^A-Za-z0-9+/=]/g, '')
    .split(/=+/);
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece, 'base64')));
}

const HEX_DIGIT = new Map(
  [...'0123456789abcdef'].flatMap((digit, value) => [
    [digit.charCodeAt(0), value],
    [digit.toUpperCase().charCodeAt(0), value],
  ]),
);
const EQUALS = 0x3d;

function quotedPrintable(body: Buffer): Buffer {
  const decoded = Buffer.allocUnsafe(body.length);
  let length = 0;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at] ?? 0;
    if (byte !== EQUALS) {
      decoded[length++] = byte;
      continue;
    }
    const high = HEX_DIGIT.get(body[at + 1] ?? 0);
    const low = HEX_DIGIT.get(body[at + 2] ?? 0);
    if (high !== undefined && low !== undefined) {
      decoded[length++] = high * 16 + low;
      at += 2;
      continue;
    }
    // A soft line break: "=", blanks, end of line.
    let end = at + 1;
    while (body[end] === 0x20 || body[end] === 0x09 || body[end] === 0x0d) end += 1;
    if (body[end] === 0x0a) at = end;
    else decoded[length++] = byte;
  }
  return decoded.subarray(0, length);
}

/** Files between `begin 644 name` and `end` in a text (POSIX uuencode; its base64 form too). */
function* uuencoded(body: Buffer): Generator<{ name: string; bytes: Buffer }> {
  for (let at = body.indexOf('begin'); at >= 0; at = body.indexOf('begin', at + 5)) {
    const line_end = body.indexOf('\n', at);
    if (line_end < 0) return;
    const begin = /^begin(-base64)? [0-7]{3,4} ([^\r\n]{1,255})\r?$/.exec(
      body.toString('latin1', at, Math.min(line_end, at + 300)),
    );
    if (begin === null || (at > 0 && body[at - 1] !== 0x0a)) continue;
    const rows: Buffer[] = [];
    let row_start = line_end + 1;
    if (begin[1] !== undefined) {
      const end = body.indexOf('\n====', row_start);
      rows.push(base64(body.subarray(row_start, end < 0 ? body.length : end)));
    } else {
      while (row_start < body.length) {
        const row_end = body.indexOf('\n', row_start);
        const row = body.subarray(row_start, row_end < 0 ? body.length : row_end);
        const size = ((row[0] ?? 0x20) - 0x20) & 0x3f;
        if (size === 0 || row.subarray(0, 3).toString('latin1') === 'end') break;
        rows.push(uuRow(row, size));
        if (row_end < 0) break;
        row_start = row_end + 1;
      }
    }
    yield { name: begin[2] ?? 'file', bytes: Buffer.concat(rows) };
  }
}

function uuRow(row: Buffer, size: number): Buffer {
  const decoded = Buffer.alloc(Math.ceil(size / 3) * 3);
  const six = (at: number) => ((row[at] ?? 0x20) - 0x20) & 0x3f;
  for (let group = 0; group * 3 < size; group += 1) {
    const at = 1 + group * 4;
    const bits = (six(at) << 18) | (six(at + 1) << 12) | (six(at + 2) << 6) | six(at + 3);
    decoded.writeUIntBE(bits, group * 3, 3);
  }
  return decoded.subarray(0, size);
}

/** Where the header block of `part` ends, and where its body begins. */
function splitHeaders(part: Buffer): { block: string; body: Buffer } {
  const head = part.toString('latin1', 0, HEADER_BYTES_MAXIMUM);
  const first = /^\r?\n/.exec(head);
  if (first !== null) return { block: '', body: part.subarray(first[0].length) };
  const blank = /\r?\n\r?\n/.exec(head);
  if (blank === null) return { block: head, body: Buffer.alloc(0) };
  return { block: head.slice(0, blank.index), body: part.subarray(blank.index + blank[0].length) };
}

/** The parts between lines that begin with `--boundary` (RFC 2046 section 5.1.1). The closing delimiter does not end the reading: some programs go on. */
function* partsOf(body: Buffer, boundary: string): Generator<Buffer> {
  const delimiter = Buffer.from(`--${boundary}`, 'latin1');
  let start: number | undefined;
  for (let at = body.indexOf(delimiter); at >= 0; at = body.indexOf(delimiter, at + delimiter.length)) {
    if (at > 0 && body[at - 1] !== 0x0a) continue;
    if (start !== undefined) yield body.subarray(start, at);
    const line_end = body.indexOf('\n', at);
    if (line_end < 0) return;
    start = line_end + 1;
  }
  if (start !== undefined) yield body.subarray(start);
}

/** What a mail program would take for the boundary where the header names none: the first line that begins with two dashes. */
function guessedBoundary(body: Buffer): string | undefined {
  return /(?:^|\n)--([^\s-][^\r\n]{0,100}?)[ \t]*\r?\n[!-9;-~]{1,76}:/.exec(body.toString('latin1', 0, HEAD_CHARACTERS))?.[1];
}

function* leavesOf(part: Buffer, depth: number): Generator<{ name: string; bytes: Buffer }> {
  if (depth > PART_DEPTH_MAXIMUM) throw new LimitReached('depth');
  const { block, body } = splitHeaders(part);
  const { type, boundary, encoding, name } = headersOf(block);
  const parting = boundary ?? (type.startsWith('multipart/') ? guessedBoundary(body) : undefined);
  let parts = 0;
  if (parting !== undefined) {
    for (const inner of partsOf(body, parting)) {
      parts += 1;
      yield* leavesOf(inner, depth + 1);
    }
  }
  if (parts > 0) return;
  const decoded = /base64/.test(encoding) ? base64(body) : /quoted-printable/.test(encoding) ? quotedPrintable(body) : body;
  const ending = type === 'text/html' ? 'html' : type === 'message/rfc822' ? 'eml' : 'txt';
  if (decoded.length > 0) yield { name: name ?? `part.${ending}`, bytes: /uu/.test(encoding) ? Buffer.alloc(0) : decoded };
  yield* uuencoded(decoded);
}

/** The decoded parts of a mail. */
export async function* mailMembers(content: Content, workshop: Workshop): AsyncGenerator<Member> {
  if (content.size > MAIL_BYTES_MAXIMUM) throw new Unreadable('too_large');
  const source = openSource(content);
  try {
    const mail = source.read(0, source.size);
    const start = /^(?:\xef\xbb\xbf)?(?:\r?\n)*/.exec(mail.toString('latin1', 0, 1024))?.[0].length ?? 0;
    for (const { name, bytes } of leavesOf(mail.subarray(start), 0)) {
      if (bytes.length > 0) yield memberOfBytes(workshop, name, bytes, bytes.length);
    }
  } finally {
    source.close();
  }
}

function nextMail(source: Source, from: number): number {
  const mark = Buffer.from('\nFrom ');
  for (let at = from; at < source.size; at += SEARCH_BYTES) {
    const found = source.read(at, SEARCH_BYTES + mark.length - 1).indexOf(mark);
    if (found >= 0) return at + found + 1;
  }
  return source.size;
}

/** The mails of a mailbox (RFC 4155): each begins with a line `From `. */
export async function* mailboxMembers(content: Content, workshop: Workshop): AsyncGenerator<Member> {
  const source = openSource(content);
  try {
    let number = 0;
    for (let start = 0; start < source.size; ) {
      const end = nextMail(source, start);
      number += 1;
      const name = `mail ${number}.eml`;
      if (end - start > MAIL_BYTES_MAXIMUM) {
        yield { name, closed: 'too_large', read: () => ({ content: { size: 0, bytes: Buffer.alloc(0) } }) };
      } else {
        const mail = source.read(start, end - start);
        const first_line = mail.indexOf('\n') + 1;
        yield memberOfBytes(workshop, name, mail.subarray(first_line), mail.length);
      }
      start = end;
    }
  } finally {
    source.close();
  }
}
