import { format } from '#scanner/formats/format.ts';
import type { Content } from '#scanner/reading/content.ts';
import { LimitReached } from '#scanner/reading/limits.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';
import { fromBase64, fromQuotedPrintable, upToPadding } from '#scanner/text/text-codings.ts';
import { BOUNDARY_BYTES_MAXIMUM, type Headers, headersOf, NO_HEADERS, SAME_FIELDS_MAXIMUM } from './mail-headers.ts';
import { BARE_PARTS, BARE_PARTS_BYTES, BEFORE_MAIL, MBOX_START, mailKind } from './mail-kind.ts';

// A MIME parser of its own (RFC 2045, 2046), which reads a mail in one pass with bounded memory. Mail programs show as much as they can of a broken mail, so a
// scanner must read everything that any of them would show.

const PART_DEPTH_MAXIMUM = 32;
/** Maximum length of a header field, and of one line of it. Bytes. */
const HEADER = { bytes: 256 * 1024, line: 64 * 1024 } as const;
/** Parts and mails up to this size are decoded in one piece. Bytes. */
const WHOLE_BYTES = 64 * 1024;
/** Maximum length of the text that `MBOX_START` matches. Bytes. */
const MBOX_START_BYTES = 300;
const LINE_END = Buffer.from('\n');
const DASHES = Buffer.from('\n--');
const PADDING = Buffer.from('=');
export const NEWLINE = 0x0a;
export const RETURN = 0x0d;

/** A multipart that is open at the current position. */
interface Level {
  /** Undefined while unknown: the header declares no boundary, and no line that looks like one was found yet. */
  delimiter: Buffer | undefined;
  parts: number;
  headers: Headers;
  body: number;
}

/** A delimiter line that begins a part of an open multipart. */
interface Delimiter {
  position: number;
  after: number;
  level: number;
}

interface Leaf {
  headers: Headers;
  from: number;
  to: number;
}

const FIELD_NAME = /^[!-9;-~]{1,80}$/;
const KEPT_HEADERS: readonly string[] = ['content-type', 'content-disposition', 'content-transfer-encoding'];

/** One pass over a mail. `levels` has the multiparts that are open at the current position, outermost first. */
class Walk {
  private readonly reader: Reader;
  private readonly end: number;
  private readonly levels: Level[] = [];

  constructor(reader: Reader, end: number) {
    this.reader = reader;
    this.end = end;
  }

  *leaves(from: number): Generator<Leaf> {
    const [, boundary] = BARE_PARTS.exec(this.reader.at(from, BARE_PARTS_BYTES).toString('latin1')) ?? [];
    if (boundary !== undefined) this.open(NO_HEADERS, boundary, from);
    for (let part = from; part < this.end; ) {
      const { headers, body, strict, delimiter } = this.header(part);
      const is_multipart = headers.boundary !== undefined || headers.type.startsWith('multipart/');
      if (is_multipart && delimiter === undefined) {
        this.open(headers, headers.boundary, body);
        for (const other of headers.other_boundaries) this.open(headers, other, body);
      }
      const next = delimiter ?? this.nextDelimiter(body);
      const to = next?.position ?? this.end;
      if (!is_multipart || delimiter !== undefined) {
        yield { headers, from: body, to };
        // Programs differ: for some the body begins at the first invalid header line, for others after the empty line. Both readings are given.
        if (strict > body && strict < to) yield { headers, from: strict, to };
      } else if (next !== undefined && [headers.encoding, ...headers.other_encodings].some(isEncoded)) {
        // A multipart is never encoded as a whole. Programs that misread its type decode the first part as an encoded body.
        yield { headers, from: body, to };
      }
      // An inner multipart without parts is given as a plain part.
      for (const { headers: own, body: own_body, parts } of this.levels.splice(next === undefined ? 0 : next.level + 1)) {
        if (parts === 0) yield { headers: own, from: own_body, to };
      }
      if (next === undefined) return;
      const level = this.levels[next.level];
      if (level !== undefined) level.parts += 1;
      part = next.after;
    }
    for (const { headers, body, parts } of this.levels) if (parts === 0) yield { headers, from: body, to: this.end };
  }

  private open(headers: Headers, boundary: string | undefined, body: number): void {
    if (this.levels.length >= PART_DEPTH_MAXIMUM) throw new LimitReached('depth');
    this.levels.push({
      delimiter: boundary === undefined ? undefined : Buffer.from(`--${boundary}`, 'latin1'),
      parts: 0,
      headers,
      body,
    });
  }

  /**
   * Reads the header of a part. `strict` is the position after the empty line, `body` the position of the first invalid header line or, without one, `strict`.
   * `delimiter` is present if the part ends within its header.
   */
  private header(from: number): { headers: Headers; body: number; strict: number; delimiter?: Delimiter } {
    const values = new Map<string, string[]>();
    let loose: number | undefined;
    let unfolded = '';
    let name: string | undefined;
    const keep = () => {
      if (name !== undefined) {
        const same = values.get(name) ?? [];
        // Some programs use the last field.
        if (same.length === SAME_FIELDS_MAXIMUM) same.pop();
        values.set(name, [...same, unfolded]);
      }
      name = undefined;
    };
    for (let at = from; at < this.end; ) {
      const found = this.reader.find(LINE_END, at, this.end);
      const after = found < 0 ? this.end : found + 1;
      const line = this.reader.at(at, Math.min(after - at, HEADER.line));
      if (line[0] === NEWLINE || (line[0] === RETURN && line[1] === NEWLINE)) {
        keep();
        return { headers: headersOf(values), body: loose ?? after, strict: after };
      }
      const level = this.levelOf(line);
      if (level !== undefined) {
        keep();
        return { headers: headersOf(values), body: loose ?? at, strict: at, delimiter: { position: at, after, level } };
      }
      const is_folded = line[0] === 0x20 || line[0] === 0x09;
      if (!is_folded || name !== undefined) {
        const text = line.toString('latin1').trimEnd();
        if (is_folded && unfolded.length < HEADER.bytes) unfolded += ` ${text.trimStart()}`;
        if (!is_folded) {
          keep();
          const colon = text.indexOf(':');
          const key = colon < 0 || colon > 80 ? '' : text.slice(0, colon).trimEnd().toLowerCase();
          if (!FIELD_NAME.test(key) && !/^>?From /.test(text)) loose ??= at;
          if (KEPT_HEADERS.includes(key)) {
            name = key;
            unfolded = text.slice(colon + 1);
          }
        }
      }
      at = after;
    }
    keep();
    return { headers: headersOf(values), body: loose ?? this.end, strict: this.end };
  }

  /**
   * Index of the multipart whose delimiter begins the line (RFC 2046, 5.1.1), outermost first. A closing delimiter does not end the reading, because some
   * programs continue after it.
   */
  private levelOf(line: Buffer): number | undefined {
    if (line[0] !== 0x2d || line[1] !== 0x2d) return undefined;
    const level = this.levels.findIndex(
      ({ delimiter }) => delimiter !== undefined && line.subarray(0, delimiter.length).equals(delimiter),
    );
    return level < 0 ? undefined : level;
  }

  /** The next delimiter line after `body`. */
  private nextDelimiter(body: number): Delimiter | undefined {
    const { reader, end } = this;
    const longest = this.levels.reduce((most, { delimiter }) => Math.max(most, delimiter?.length ?? BOUNDARY_BYTES_MAXIMUM), 0);
    if (longest === 0) return undefined;
    for (let at = reader.find(DASHES, body - 1, end); at >= 0; at = reader.find(DASHES, at + DASHES.length - 1, end)) {
      const position = at + 1;
      const line = reader.at(position, Math.min(longest, end - position));
      const level = this.levelOf(line) ?? this.guess(line, position);
      if (level === undefined) continue;
      const line_end = reader.find(LINE_END, position, end);
      return { position, after: line_end < 0 ? end : line_end + 1, level };
    }
    return undefined;
  }

  /** Guesses an undeclared boundary as mail programs do: the first line that begins with two dashes and is followed by a header. */
  private guess(line: Buffer, position: number): number | undefined {
    const level = this.levels.findIndex(({ delimiter }) => delimiter === undefined);
    const open = this.levels[level];
    const line_end = line.indexOf(NEWLINE);
    if (open === undefined || line_end < 3 || line_end > 104) return undefined;
    const delimiter = line.toString('latin1', 0, line_end).trimEnd();
    const next = this.reader.at(position + line_end + 1, 77).toString('latin1');
    if (!/^--[^\s-]/.test(delimiter) || !/^[!-9;-~]{1,76}:/.test(next)) return undefined;
    open.delimiter = Buffer.from(delimiter, 'latin1');
    return level;
  }
}

/** The start of the mail, after data that may precede it. */
function startOf(reader: Reader): number {
  return BEFORE_MAIL.exec(reader.at(0, 1024).toString('latin1'))?.[0].length ?? 0;
}

const ENDINGS: Readonly<Record<string, string>> = { 'text/html': 'html', 'message/rfc822': 'eml' };

/** The decoded bytes of a part, in pieces. */
function* decoded(reader: Reader, { from, to }: Leaf, encoding: string): Generator<Buffer> {
  const texts = reader.chunks(from, to);
  if (encoding.includes('base64')) yield* fromBase64(texts);
  else if (encoding.includes('quoted-printable')) yield* fromQuotedPrintable(texts);
  else yield* texts;
}

function isEncoded(encoding: string): boolean {
  return encoding.includes('base64') || encoding.includes('quoted-printable');
}

/** A soft line break, with the quote marks and the space at the start of the next line. */
const SOFT_END = / \r?\n>{0,32} ?/g;
const SOFT_END_CUT = / (?:\r?|\r?\n>{0,32} ?)$/;
const SOFT_END_BYTES = 40;

/** Joins lines that continue in the next one. */
function* unflowed(pieces: Iterable<Buffer>, { is_joined }: Headers): Generator<Buffer> {
  let held = '';
  for (const piece of pieces) {
    const text = held + piece.toString('latin1');
    // A soft line break at the end of the piece may continue in the next piece.
    held = SOFT_END_CUT.exec(text.slice(-SOFT_END_BYTES))?.[0] ?? '';
    const whole = text.slice(0, text.length - held.length).replaceAll(SOFT_END, is_joined ? '' : ' ');
    yield Buffer.from(whole, 'latin1');
  }
  if (held !== '') yield Buffer.from(held, 'latin1');
}

/** Maximum size of a base64 part that is also decoded up to its padding. Bytes. */
const ENDED_BYTES_MAXIMUM = 16 * 1024 ** 2;

/** A base64 part as programs decode it that stop at the padding; undefined if nothing follows the padding or the part is too large. */
function endedAtPadding(reader: Reader, { from, to }: Leaf): Buffer | undefined {
  if (to - from > ENDED_BYTES_MAXIMUM) return undefined;
  const padding = reader.find(PADDING, from, to);
  return padding < 0 ? undefined : upToPadding(reader.at(from, to - from));
}

/** The part as different programs decode it: once for each encoding in its headers, up to base64 padding, and with soft line breaks joined. */
function* readings(reader: Reader, leaf: Leaf, context: ReadContext): Generator<Member> {
  const { headers, from, to } = leaf;
  const name = headers.name ?? `part.${ENDINGS[headers.type] ?? 'txt'}`;
  for (const encoding of [headers.encoding, ...headers.other_encodings])
    yield memberOf(name, decoded(reader, leaf, encoding), to - from, context);
  if ([headers.encoding, ...headers.other_encodings].some((encoding) => encoding.includes('base64'))) {
    const ended = endedAtPadding(reader, leaf);
    if (ended !== undefined) yield memberOf(name, [ended], to - from, context);
  }
  if (headers.is_flowed) yield memberOf(name, unflowed(decoded(reader, leaf, headers.encoding), headers), to - from, context);
}

export async function* streamed(chunks: Iterable<Buffer>): AsyncGenerator<Buffer> {
  yield* chunks;
}

/** Decodes small parts in one piece, others as a stream. */
function memberOf(name: string, chunks: Iterable<Buffer>, packed_bytes: number, { budget }: ReadContext): Member {
  if (packed_bytes > WHOLE_BYTES) return { name, read: () => ({ stream: streamed(chunks), packed_bytes }) };
  return {
    name,
    read() {
      const bytes = Buffer.concat([...chunks]);
      budget.addUnpacked(bytes.length, bytes.length, packed_bytes);
      return { content: { size: bytes.length, bytes } };
    },
  };
}

/** The decoded parts of a mail. @throws Unreadable at the end, if the mail is one part of a split message. */
async function* mailMembers(content: Content, context: ReadContext): AsyncGenerator<Member> {
  using reader = openReader(content, context.budget);
  let is_piece = false;
  for (const leaf of new Walk(reader, reader.size).leaves(startOf(reader))) {
    if (leaf.to <= leaf.from) continue;
    yield* readings(reader, leaf, context);
    is_piece ||= leaf.headers.pieces > 1;
  }
  // The content is complete only together with the other parts.
  if (is_piece) throw new Unreadable('unsupported');
}

const NEXT_MAIL = Buffer.from('\nFrom ');

/** Whether a file begins with an unknown `From ` line and later has a mail of a mailbox. */
function isMailboxBehind(reader: Reader, head: Buffer): boolean {
  if (head.toString('latin1', 0, 5) !== 'From ') return false;
  for (let at = reader.find(NEXT_MAIL, 0); at >= 0; at = reader.find(NEXT_MAIL, at + 1)) {
    if (MBOX_START.test(reader.at(at + 1, MBOX_START_BYTES).toString('latin1'))) return true;
  }
  return false;
}

/**
 * The mails of a mailbox (RFC 4155), each of which begins with a `From ` line. The file may also be a single mail that contains such lines as text, so the
 * encoded parts of that reading are given too.
 */
async function* mailboxMembers(content: Content, context: ReadContext): AsyncGenerator<Member> {
  using reader = openReader(content, context.budget);
  let number = 0;
  for (let start = 0; start < reader.size; ) {
    const found = reader.find(NEXT_MAIL, start);
    const end = found < 0 ? reader.size : found + 1;
    const line_end = reader.find(LINE_END, start, end);
    const from = line_end < 0 ? end : line_end + 1;
    number += 1;
    const name = `mail ${number}.eml`;
    const packed_bytes = end - from;
    yield memberOf(name, reader.chunks(from, end), packed_bytes, context);
    start = end;
  }
  const first_line = reader.find(LINE_END, 0);
  for (const leaf of new Walk(reader, reader.size).leaves(first_line < 0 ? reader.size : first_line + 1)) {
    const { encoding, other_encodings } = leaf.headers;
    if (![encoding, ...other_encodings].some(isEncoded) || leaf.to <= leaf.from) continue;
    yield* readings(reader, leaf, context);
  }
}

const DELIMITER = Buffer.from('\n--');
const MIME_HEADER_BYTES = 16 * 1024;
const HEADER_LINES_BYTES = 4096;

/** The start of the header that contains the field at `at`: after the last line before it that is not a header line. */
function headerStart(reader: Reader, at: number): number {
  // If the field follows a zero or a carriage return, the preceding bytes do not count as part of the header.
  if (reader.at(at, 1)[0] !== NEWLINE) return at + 1;
  const from = Math.max(0, at - HEADER_LINES_BYTES);
  const lines = reader
    .at(from, at - from + 1)
    .toString('latin1')
    .split('\n');
  let start = at + 1;
  // The last element is empty, because the text ends with the line break before the field.
  for (const line of lines.slice(0, -1).reverse()) {
    if (!/^([!-9;-~]{1,76}[ \t]*:|[ \t]+\S)/.test(line)) break;
    start -= line.length + 1;
  }
  return Math.max(0, start);
}

/**
 * Finds the end of a mail inside other data: after the closing delimiter (RFC 2046, 5.1.1) if its header declares a boundary, otherwise before the next line
 * that looks like a delimiter. Undefined if there is none.
 */
function mailEndsIn(reader: Reader): (at: number) => number | undefined {
  // Positions arrive in ascending order, so the last search result is reused.
  let known = { from: 0, at: -1 };
  const nextDelimiter = (from: number): number => {
    if (from < known.from || from > known.at) known = { from, at: reader.find(DELIMITER, from) };
    if (known.at < 0) known.at = reader.size;
    return known.at;
  };
  return (at) => {
    const start = headerStart(reader, at);
    const head = reader.at(start, MIME_HEADER_BYTES).toString('latin1');
    const blank = /\r?\n\r?\n/.exec(head);
    if (blank === null) return undefined;
    const boundary = /boundary[ \t]*=[ \t]*"?([^";\r\n]{1,200})/i.exec(head.slice(0, blank.index))?.[1]?.trimEnd();
    if (boundary !== undefined) {
      const closing = `--${boundary}--`;
      const found = reader.find(Buffer.from(closing, 'latin1'), start + blank.index);
      return found < 0 ? undefined : found + closing.length;
    }
    const end = nextDelimiter(start + blank.index + blank[0].length - 1);
    return end === reader.size ? undefined : end + 1;
  };
}

export const mailMessage = format({
  id: 'mail',
  media_type: 'message/rfc822',
  recognise: (head) => (mailKind(head) === 'mail' ? 32 : 0),
  carve: [
    {
      id: 'mime',
      pattern: '/[\\x00\\r\\n](Content-Transfer-Encoding: {0,4}(base64|quoted-p|x-uue)|MIME-Version: {0,4}1)/i',
      // Bits of the shorter alternative.
      bits: 14 * 7 + 6,
      is_guess: true,
      is_own: true,
      startOf: headerStart,
      endsIn: mailEndsIn,
    },
  ],
  traits: { is_text: true, is_mail: true },
  limits: 'Parts whose bytes lie elsewhere are not fetched.',
  open: mailMembers,
});

export const mailFolder = format({
  id: 'mailbox',
  media_type: 'application/mbox',
  recognise: (head) => (mailKind(head) === 'mailbox' ? 32 : 0),
  traits: { is_text: true, is_mail: true },
  limits: null,
  open: mailboxMembers,
});

/** A mailbox with an unknown first line. */
export const mailFolderBehind = format({
  id: 'mailbox-behind',
  media_type: 'application/mbox',
  recogniseBeside: ({ reader, head, first }) => (first === undefined && isMailboxBehind(reader, head) ? 32 : 0),
  traits: { is_text: true, is_mail: true },
  limits: null,
  open: mailboxMembers,
});
