import { format, patternOf, spelled } from '#scanner/formats/format.ts';
import type { Content } from '#scanner/reading/content.ts';
import { LimitReached } from '#scanner/reading/limits.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';
import { BINHEX_MARK, fromBinHex, fromYenc, isYencBegin, YENC_BEGIN_BYTES } from '#scanner/text/encoded-texts.ts';
import {
  fromBase64,
  fromQuotedPrintable,
  fromUuencode,
  isUuencodeBegin,
  UUENCODE_BEGIN_BYTES,
  upToPadding,
} from '#scanner/text/text-codings.ts';
import { headerText, type ParameterPiece, parameterText } from './header-words.ts';

// Own walk over MIME (RFC 2045, 2046), in one pass and with one piece of the mail in memory: mail programs show as much as they can of a broken
// mail, so a scanner has to read all that any of them would.

const PART_DEPTH_MAXIMUM = 32;
/** As much of one field of a header is kept, and of one line of it. Bytes. */
const HEADER = { bytes: 256 * 1024, line: 64 * 1024 } as const;
/** A delimiter is one line, and a line of mail has no more (RFC 5322, 2.1.1). Bytes. */
const BOUNDARY_BYTES_MAXIMUM = 998;
/** A name that is longer is cut. Characters. */
const NAME_CHARACTERS_MAXIMUM = 1024;
/** A parameter in pieces is cut here. Characters. */
const PARAMETER_CHARACTERS_MAXIMUM = 4096;
/** Parts and mails up to this size are decoded in one piece. Bytes. */
const WHOLE_BYTES = 64 * 1024;

const KNOWN_HEADER =
  /^(received|return-path|delivered-to|message-id|mime-version|date|from|to|subject|reply-to|content-type|content-transfer-encoding|x-[a-z-]{2,40}|dkim-signature|authentication-results)[ \t]*:/i;
const MBOX_START = /^From [^\r\n]{1,200}\r?\n[!-9;-~]{1,76}:/;
/** As much as that may need. */
const MBOX_START_BYTES = 300;
const HEAD_CHARACTERS = 16 * 1024;
const LINE_END = Buffer.from('\n');
const DASHES = Buffer.from('\n--');
const PADDING = Buffer.from('=');
const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** A byte order mark, empty lines, the length that Apple Mail writes first (emlx), a line of a mailbox that was made no line of one. */
const BEFORE_MAIL = /^(?:\xef\xbb\xbf)?(?:\r?\n)*(?:\d{1,12}[ \t]*\r?\n)?(?:>From [^\r\n]{1,200}\r?\n)?/;

/** Parts without the header that names their boundary, as a form is sent. */
const BARE_PARTS = /^--(?!-{0,90}\r?\n)([^\s]{1,90})\r?\nContent-(?:Disposition|Type|Transfer-Encoding|ID)[ \t]*:/i;

const BARE_PARTS_BYTES = 160;

/** Whether a mail, or a mailbox of many, begins with these bytes. */
export function mailKind(head: Buffer): 'mail' | 'mailbox' | undefined {
  const text = head.toString('latin1', 0, HEAD_CHARACTERS).replace(BEFORE_MAIL, '');
  if (BARE_PARTS.test(text)) return 'mail';
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
  /** Where the type is given again, and otherwise: some programs take the first, some the last. */
  other_boundaries: readonly string[];
  encoding: string;
  other_encodings: readonly string[];
  name: string | undefined;
  /** Lines that end with a blank continue in the next (RFC 3676). */
  is_flowed: boolean;
  /** The blank at a folded line's end belongs to no word (RFC 3676, 4.2). */
  is_joined: boolean;
  /** Number of mails that it is split into (RFC 2046, 5.2.2). */
  pieces: number;
}

/** The extended form without its star, as some programs write it: a charset, two apostrophes, and percent signs. */
const EXTENDED = /^[\w.-]{1,40}'[\w-]{0,40}'[^%]{0,1000}%[0-9a-f]{2}/i;

/** A name as a person reads it. */
function readable(name: string): string {
  const short = name.slice(0, NAME_CHARACTERS_MAXIMUM);
  return headerText(EXTENDED.test(short) ? parameterText([{ number: 0, is_extended: true, text: short }]) : short);
}

/** The quoted text that begins at `start` of a header's value, and where it ends. */
function quoted(value: string, start: number): { text: string; after: number } {
  let text = '';
  let at = start + 1;
  for (; at < value.length && value[at] !== '"'; at += 1) {
    if (value[at] === '\\') at += 1;
    text += value[at] ?? '';
  }
  return { text, after: at + 1 };
}

/** A header's value without its comments (RFC 5322, 3.2.2), which are none within quotes. */
function withoutComments(value: string): string {
  const last_end = value.lastIndexOf(')');
  let text = '';
  let depth = 0;
  for (let at = 0; at < value.length; ) {
    const character = value[at] ?? '';
    if (character === '"' && depth === 0) {
      const { after } = quoted(value, at);
      text += value.slice(at, after);
      at = after;
      continue;
    }
    if (character === '(' && at < last_end) depth += 1;
    else if (character === ')' && depth > 0) depth -= 1;
    else if (depth === 0) text += character;
    at += 1;
  }
  return text;
}

/** Pieces of one parameter that are put together. */
const PIECES_MAXIMUM = 200;

/** The parameters of a header's value, by their name in small letters without what RFC 2231 puts behind it: the one with a charset before the first plain one, and pieces in their order. */
function parametersOf(value: string): Map<string, string> {
  const found = new Map<string, { plain: string | undefined; pieces: ParameterPiece[] }>();
  const isEnd = (character: string | undefined) => character === ';' || character === ' ' || character === '\t';
  for (let at = 0; at < value.length; ) {
    const equals = value.indexOf('=', at);
    if (equals < 0) break;
    const before = value.slice(at, equals).trimEnd();
    const start = Math.max(before.lastIndexOf(';'), before.lastIndexOf(' '), before.lastIndexOf('\t')) + 1;
    const [name = '', first, second] = before.slice(start).toLowerCase().split('*');
    at = equals + 1;
    while (value[at] === ' ' || value[at] === '\t') at += 1;
    let text = '';
    if (value[at] === '"') {
      ({ text, after: at } = quoted(value, at));
    } else {
      const from = at;
      while (at < value.length && !isEnd(value[at])) at += 1;
      text = value.slice(from, at);
    }
    const known = found.get(name) ?? { plain: undefined, pieces: [] };
    found.set(name, known);
    // `name=`, `name*=`, `name*0=` and `name*0*=`.
    if (first === undefined) known.plain ??= text;
    else if (known.pieces.length < PIECES_MAXIMUM)
      known.pieces.push({ number: Number(first) || 0, is_extended: first === '' || second !== undefined, text });
  }
  const parameters = new Map<string, string>();
  for (const [name, { plain, pieces }] of found) {
    const value = pieces.length > 0 ? parameterText(pieces) : (plain ?? '');
    parameters.set(name, value.slice(0, PARAMETER_CHARACTERS_MAXIMUM));
  }
  return parameters;
}

const NO_HEADERS: Headers = {
  type: '',
  boundary: undefined,
  other_boundaries: [],
  encoding: '',
  other_encodings: [],
  name: undefined,
  is_flowed: false,
  is_joined: false,
  pieces: 1,
};
/** Fields of one name in one header that are looked at. */
const SAME_FIELDS_MAXIMUM = 4;

function headersOf(values: ReadonlyMap<string, readonly string[]>): Headers {
  if (values.size === 0) return NO_HEADERS;
  const all = (name: string) => (values.get(name) ?? []).map((value) => withoutComments(value).trim());
  const types = all('content-type');
  const of_types = types.map(parametersOf);
  const boundaries = of_types.flatMap((parameters) => parameters.get('boundary')?.slice(0, BOUNDARY_BYTES_MAXIMUM) ?? []);
  const [boundary, ...other_boundaries] = new Set(boundaries);
  const [encoding = '', ...other_encodings] = new Set(all('content-transfer-encoding').map((value) => value.toLowerCase()));
  const of_files = all('content-disposition').map(parametersOf);
  const name = [...of_files.map((file) => file.get('filename')), ...of_types.map((type) => type.get('name'))].find(Boolean);
  const kinds = types.map((type) => /^[^\s;]*/.exec(type)?.[0].toLowerCase() ?? '');
  return {
    type: kinds.find((kind) => kind.startsWith('multipart/')) ?? kinds[0] ?? '',
    boundary,
    other_boundaries,
    encoding,
    other_encodings,
    name: name === undefined ? undefined : readable(name),
    is_flowed: of_types.some((parameters) => parameters.get('format')?.toLowerCase() === 'flowed'),
    is_joined: of_types.some((parameters) => parameters.get('delsp')?.toLowerCase() === 'yes'),
    pieces: kinds.includes('message/partial') ? Number(of_types.map((type) => type.get('total')).find(Boolean) ?? 2) : 1,
  };
}

/** A multipart that the walk is in. */
interface Level {
  /** Undefined while it is not known: the header names none, and what looks like one has not come yet. */
  delimiter: Buffer | undefined;
  parts: number;
  headers: Headers;
  body: number;
}

/** A line that begins a part of one of the multiparts that are open. */
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

/** One pass over a mail. The open parts at the present place are in `levels`, the outermost first. */
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
        // Read both ways: some programs begin the body at the line that is no header, some behind the empty line.
        if (strict > body && strict < to) yield { headers, from: strict, to };
      } else if (next !== undefined && [headers.encoding, ...headers.other_encodings].some(isEncoded)) {
        // A multipart is never encoded as a whole: programs that find its type wrong read the first part as one encoded body.
        yield { headers, from: body, to };
      }
      // An inner multipart without a part is read as a plain part.
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
   * The header of a part, where its body begins, at the latest behind an empty line (`strict`), and at the first line that is no header already; where
   * the part ends within the header, that.
   */
  private header(from: number): { headers: Headers; body: number; strict: number; delimiter?: Delimiter } {
    const values = new Map<string, string[]>();
    let loose: number | undefined;
    let unfolded = '';
    let name: string | undefined;
    const keep = () => {
      if (name !== undefined) {
        const same = values.get(name) ?? [];
        // The last one counts for some programs.
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
   * Which multipart's delimiter begins a line (RFC 2046 section 5.1.1), the outermost first. The closing one does not end the reading: some programs read on.
   */
  private levelOf(line: Buffer): number | undefined {
    if (line[0] !== 0x2d || line[1] !== 0x2d) return undefined;
    const level = this.levels.findIndex(
      ({ delimiter }) => delimiter !== undefined && line.subarray(0, delimiter.length).equals(delimiter),
    );
    return level < 0 ? undefined : level;
  }

  /** The next line that begins a part, from the body of one on. */
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

  /** The boundary that a mail program guesses where the header names none: the first line that begins with two dashes and has a header behind it. */
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

/** Where a mail begins. */
function startOf(reader: Reader): number {
  return BEFORE_MAIL.exec(reader.at(0, 1024).toString('latin1'))?.[0].length ?? 0;
}

const ENDINGS: Readonly<Record<string, string>> = { 'text/html': 'html', 'message/rfc822': 'eml' };

/** A leaf's bytes, decoded in pieces. */
function* decoded(reader: Reader, { from, to }: Leaf, encoding: string): Generator<Buffer> {
  const texts = reader.chunks(from, to);
  if (encoding.includes('base64')) yield* fromBase64(texts);
  else if (encoding.includes('quoted-printable')) yield* fromQuotedPrintable(texts);
  else yield* texts;
}

function isEncoded(encoding: string): boolean {
  return encoding.includes('base64') || encoding.includes('quoted-printable');
}

/** The soft end of a line, with the quote marks and the blank at the start of the next one. */
const SOFT_END = / \r?\n>{0,32} ?/g;
const SOFT_END_CUT = / (?:\r?|\r?\n>{0,32} ?)$/;
const SOFT_END_BYTES = 40;

/** Lines that continue in the next one, put together. */
function* unflowed(pieces: Iterable<Buffer>, { is_joined }: Headers): Generator<Buffer> {
  let held = '';
  for (const piece of pieces) {
    const text = held + piece.toString('latin1');
    // Where it ends in a line's end it is not known yet.
    held = SOFT_END_CUT.exec(text.slice(-SOFT_END_BYTES))?.[0] ?? '';
    const whole = text.slice(0, text.length - held.length).replaceAll(SOFT_END, is_joined ? '' : ' ');
    yield Buffer.from(whole, 'latin1');
  }
  if (held !== '') yield Buffer.from(held, 'latin1');
}

/** A longer part is read as a whole alone. Bytes. */
const ENDED_BYTES_MAXIMUM = 16 * 1024 ** 2;

/** A part in base64 as programs read it that end at the padding, where something follows that. */
function endedAtPadding(reader: Reader, { from, to }: Leaf): Buffer | undefined {
  if (to - from > ENDED_BYTES_MAXIMUM) return undefined;
  const padding = reader.find(PADDING, from, to);
  return padding < 0 ? undefined : upToPadding(reader.at(from, to - from));
}

/** The ways in which programs read a part: the encodings of its header, each once. */
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

async function* streamed(chunks: Iterable<Buffer>): AsyncGenerator<Buffer> {
  yield* chunks;
}

/** Decoded in one piece where it is small, else in pieces. */
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

/** The decoded parts of a mail. */
async function* mailMembers(content: Content, context: ReadContext): AsyncGenerator<Member> {
  const reader = openReader(content, context.budget);
  try {
    let is_piece = false;
    for (const leaf of new Walk(reader, reader.size).leaves(startOf(reader))) {
      if (leaf.to <= leaf.from) continue;
      yield* readings(reader, leaf, context);
      is_piece ||= leaf.headers.pieces > 1;
    }
    // Its content shows only together with the others.
    if (is_piece) throw new Unreadable('unsupported');
  } finally {
    reader.close();
  }
}

const BEGIN = Buffer.from('begin');
/** Rows of zeros aside, a larger attachment that is no text holds no encoded file. Bytes. */
const ENCODED_BYTES_MAXIMUM = 16 * 1024 ** 2;
const TEXT_BYTES = 4096;

/** Whether a text has a line that begins an encoded file. */
function holdsUuencode(reader: Reader, head: Buffer): boolean {
  if (reader.size > ENCODED_BYTES_MAXIMUM && head.subarray(0, TEXT_BYTES).includes(0)) return false;
  for (let at = reader.find(BEGIN, 0); at >= 0; at = reader.find(BEGIN, at + BEGIN.length)) {
    if ((at === 0 || reader.at(at - 1, 1)[0] === NEWLINE) && isUuencodeBegin(reader.at(at, UUENCODE_BEGIN_BYTES))) return true;
  }
  return false;
}

const YBEGIN = Buffer.from('=ybegin ');

/** Whether a text has a line that begins a file in yEnc. */
function holdsYenc(reader: Reader): boolean {
  for (let at = reader.find(YBEGIN, 0); at >= 0; at = reader.find(YBEGIN, at + YBEGIN.length)) {
    const before = at === 0 ? NEWLINE : reader.at(at - 1, 1)[0];
    if ((before === NEWLINE || before === RETURN) && isYencBegin(reader.at(at, YENC_BEGIN_BYTES))) return true;
  }
  return false;
}

/** Whether files are written in a text in one of the ways that have their own first line. */
function holdsEncoded(reader: Reader, head: Buffer): boolean {
  if (holdsUuencode(reader, head)) return true;
  return reader.size <= ENCODED_BYTES_MAXIMUM && (holdsYenc(reader) || reader.find(BINHEX_MARK, 0) >= 0);
}

const YPART = Buffer.from('\n=ypart ');

/** Files in yEnc that come in several parts, put together by their name. */
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

/** The files that are encoded in a text. */
async function* encodedMembers(content: Content, context: ReadContext): AsyncGenerator<Member> {
  const reader = openReader(content, context.budget);
  try {
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
  } finally {
    reader.close();
  }
}

const NEXT_MAIL = Buffer.from('\nFrom ');

/** Whether a mailbox begins with something else, and continues with a mail. */
function isMailboxBehind(reader: Reader, head: Buffer): boolean {
  if (head.toString('latin1', 0, 5) !== 'From ') return false;
  for (let at = reader.find(NEXT_MAIL, 0); at >= 0; at = reader.find(NEXT_MAIL, at + 1)) {
    if (MBOX_START.test(reader.at(at + 1, MBOX_START_BYTES).toString('latin1'))) return true;
  }
  return false;
}

/**
 * The mails of a mailbox (RFC 4155): each begins with a line `From `. It may be one mail in which such lines are text: encoded parts of that mail are
 * read as well. The rest of it is in the mails, and in the mailbox as it is.
 */
async function* mailboxMembers(content: Content, context: ReadContext): AsyncGenerator<Member> {
  const reader = openReader(content, context.budget);
  try {
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
  } finally {
    reader.close();
  }
}

const DELIMITER = Buffer.from('\n--');
const MIME_HEADER_BYTES = 16 * 1024;
const HEADER_LINES_BYTES = 4096;

/** Where the lines begin that describe a part of a mail, one of which stands at `at`: behind the last line before it that is no header. */
function headerStart(reader: Reader, at: number): number {
  // Behind a zero, or a line that ends as old Macs end them, nothing is known to belong to it.
  if (reader.at(at, 1)[0] !== NEWLINE) return at + 1;
  const from = Math.max(0, at - HEADER_LINES_BYTES);
  const lines = reader
    .at(from, at - from + 1)
    .toString('latin1')
    .split('\n');
  let start = at + 1;
  // The last one is empty: the place is that of the line's end before the header.
  for (const line of lines.slice(0, -1).reverse()) {
    if (!/^([!-9;-~]{1,76}[ \t]*:|[ \t]+\S)/.test(line)) break;
    start -= line.length + 1;
  }
  return Math.max(0, start);
}

/**
 * Where a mail ends that stands within something else: behind the delimiter that closes it (RFC 2046, 5.1.1), where its header names one; a part of a mail
 * before the next line that begins as delimiters do. Undefined where nothing says it.
 */
function mailEndsIn(reader: Reader): (at: number) => number | undefined {
  // Places come in their order, so that the same bytes are not searched again for each.
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
      // Of the shorter one.
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

const BINHEX_START = '(This file must be converted with BinHex';

/** Files that are written in a text in one of the ways that have their own first line: uuencode, yEnc, BinHex. */
export const encodedFiles = format({
  id: 'uuencode',
  media_type: 'text/x-uuencode',
  // The mails of a mailbox are looked at one by one.
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
