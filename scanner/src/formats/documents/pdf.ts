import type { StatusDetail } from '@palisade/contract/antivirus';
import { format, HEAD_BYTES, spelled } from '#scanner/formats/format.ts';
import { mailKind } from '#scanner/formats/mail/mail-kind.ts';
import { type Content, isDiskError } from '#scanner/reading/content.ts';
import { JoinedPieces } from '#scanner/reading/joined-pieces.ts';
import { type Budget, LimitReached } from '#scanner/reading/limits.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import type { Range } from '#scanner/reading/ranges.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';
import { LOOK_BYTES, textFormOf } from '#scanner/text/text-encoding.ts';
import { StreamText } from './pdf-letters.ts';
import { type Lock, lockOf } from './pdf-lock.ts';
import { isOfPages, PageTexts } from './pdf-pages.ts';
import { PlainObjects } from './pdf-plain.ts';
import { packedScripts, SCRIPTS_MAXIMUM, scriptsIn } from './pdf-scripts.ts';
import { type Found, Objects, streamsOf, unfiltered, withoutEscapes } from './pdf-streams.ts';
import { claimPdf } from './pdf-structure.ts';
import { PdfStrings, textOfString } from './pdf-texts.ts';

/** The unpacked copy of a document is given in pieces of about this size. Each begins with the end of the previous one. Bytes. */
const COPY = { bytes: 8 * 1024 ** 2, overlap: 64 * 1024 } as const;
const HEADER = Buffer.from('%PDF-1.7\n');
const HEADER_WITHIN = 1024;
const ENCRYPT = Buffer.from('/Encrypt');

/** The first object of a document without a header, which viewers open as well. */
const FIRST_OBJECT = /^\s{0,64}(?:%[^\r\n]{0,200}[\r\n]{1,2}){0,4}\s{0,64}\d{1,7}\s{1,8}\d{1,5}\s{1,8}obj\s{0,64}<</;

/** Header of a file with form data only (FDF), which belongs to another document (12.7.7). */
const FORM_DATA = '%FDF-1.';

/**
 * Whether the bytes are a PDF. The header may be anywhere in the first 1,024 bytes (ISO 32000-1, Annex H, note 13). At the start of the file it may be
 * incomplete; Poppler opens such files with a warning.
 */
function isPdf(head: Buffer): boolean {
  const begins = /^\s{0,64}%PDF/.test(head.toString('latin1', 0, 68));
  return (
    begins ||
    head.toString('latin1', 0, FORM_DATA.length) === FORM_DATA ||
    head.subarray(0, HEADER_WITHIN + 5).includes('%PDF-') ||
    FIRST_OBJECT.test(head.toString('latin1', 0, HEADER_WITHIN))
  );
}

/** Whether anything but whitespace and a byte order mark precedes the header. */
function isPdfWithin(head: Buffer): boolean {
  return /[^\s\0\xef\xbb\xbf]/.test(head.toString('latin1', 0, Math.max(0, head.indexOf('%PDF'))));
}

/** Whether the trailer refers to an encryption dictionary (7.6.1). */
function isEncrypted(reader: Reader): boolean {
  for (let at = reader.find(ENCRYPT, 0); at >= 0; at = reader.find(ENCRYPT, at + ENCRYPT.length)) {
    if (/^\s*(<<|\d+\s+\d+\s+R)/.test(reader.at(at + ENCRYPT.length, 40).toString('latin1'))) return true;
  }
  return false;
}

/** Maximum number of streams that are remembered, in case a later object refers to them as files. */
const STREAMS_KEPT_MAXIMUM = 20_000;
const NAME_OVERLAP = 64;
/** Keys that refer to a file, a script or a form: of a file specification (7.11.3), an action (12.6.4.16) and the form (12.7.8). */
const NAMED_FILE = /\/(?:F|UF|DOS|Unix|Mac|JS|XFA|EF)\s{0,16}(\d{1,10})\s{1,16}\d{1,5}\s{1,16}R\b/g;
/** Related files of a file specification (7.11.4.2). */
const RELATED = /\/RF\s{0,16}<<([^>]{0,4000})>>/g;
const FORM = /\/XFA\s{0,16}\[([^\]]{0,4000})\]/g;

function* filesIn(text: string): Generator<number> {
  const plain = withoutEscapes(text);
  for (const [, number] of plain.matchAll(NAMED_FILE)) yield Number(number);
  for (const [, list = ''] of [...plain.matchAll(FORM), ...plain.matchAll(RELATED)])
    for (const [, number] of list.matchAll(/(\d{1,10})\s{1,16}\d{1,5}\s{1,16}R/g)) yield Number(number);
}

/** Numbers of the objects that uncompressed parts of the document refer to as files. */
function* filesNamedIn(reader: Reader): Generator<number> {
  let text = '';
  for (const chunk of reader.chunks(0, reader.size)) {
    text += chunk.toString('latin1');
    yield* filesIn(text);
    text = text.slice(-NAME_OVERLAP);
  }
}

/** Maximum number of texts that are also matched separately, since a field may contain a complete test file. */
const ALONE_MAXIMUM = 500;
/** Texts are joined into members of about this size. Bytes. */
const TEXTS_BYTES = 1024 ** 2;
const NEWLINE = Buffer.from('\n');

/** The texts of the document's strings, each as a value and all as lines of joined texts. */
class Texts {
  private readonly lines = new JoinedPieces(NEWLINE);
  private alone = 0;
  private readonly budget: ReadContext['budget'];

  constructor(budget: ReadContext['budget']) {
    this.budget = budget;
  }

  *add(strings: Iterable<Buffer>): Generator<Member> {
    for (const string of strings) {
      const text = textOfString(string);
      if (text === undefined) continue;
      this.budget.addUnpacked(text.length, text.length, string.length);
      this.lines.add(text);
      this.alone += 1;
      if (this.alone <= ALONE_MAXIMUM)
        yield { name: 'value', kind: 'alone', read: () => ({ content: { size: text.length, bytes: text } }) };
      if (this.lines.length >= TEXTS_BYTES) yield* this.end();
    }
  }

  *end(): Generator<Member> {
    if (this.lines.length === 0) return;
    const bytes = this.lines.take();
    yield { name: 'values', read: () => ({ content: { size: bytes.length, bytes } }) };
  }
}

/** Maximum size of a text stream that counts as a value. Bytes. */
const VALUE_BYTES_MAXIMUM = 64 * 1024;

/** Ranges between streams are read in pieces of this size, which limits memory for damaged documents. Bytes. */
const BETWEEN_BYTES = 1024 ** 2;

/** The bytes between the streams of a document. */
function* between(reader: Reader, streams: readonly Range[]): Generator<Buffer> {
  let at = 0;
  for (const { start, end } of [...streams, { start: reader.size, end: reader.size }]) {
    for (; at < start; at += BETWEEN_BYTES) yield reader.at(at, Math.min(BETWEEN_BYTES, start - at));
    at = Math.max(end, Math.min(at, start));
  }
}

function openedBy(lock: Lock): (value: Buffer, number: number | undefined) => Buffer {
  return (value, number) => Buffer.concat([...lock.opened([value], { number, dictionary: '' })]);
}

/** The decrypted strings between the streams of a document. */
function* stringsBetween(reader: Reader, streams: readonly Range[], lock: Lock | undefined): Generator<Buffer> {
  let at = 0;
  for (const { start, end } of [...streams, { start: reader.size, end: reader.size }]) {
    const strings = new PdfStrings();
    const pieces = at < start ? reader.chunks(at, start) : [];
    const plain = ({ bytes, number }: { bytes: Buffer; number: number | undefined }) =>
      lock === undefined ? bytes : Buffer.concat([...lock.opened([bytes], { number, dictionary: '' })]);
    for (const piece of pieces) yield* strings.push(piece).map(plain);
    yield* strings.end().map(plain);
    at = Math.max(at, end);
  }
}

/** Reads at least `least` bytes of a stream, if it has as many. `all` gives the whole stream from its start. */
async function peeked(
  pieces: AsyncIterable<Buffer>,
  least: number,
): Promise<{ head: Buffer; all: AsyncGenerator<Buffer>; failure: unknown }> {
  const iterator = pieces[Symbol.asyncIterator]();
  const first: Buffer[] = [];
  let failure: unknown;
  try {
    for (let bytes = 0; bytes < least; ) {
      const next = await iterator.next();
      if (next.done) break;
      first.push(next.value);
      bytes += next.value.length;
    }
  } catch (error) {
    failure = error;
  }
  async function* all(): AsyncGenerator<Buffer> {
    yield* first;
    if (failure !== undefined) throw failure;
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value;
  }
  return { head: Buffer.concat(first), all: all(), failure };
}

/** The document with its streams unpacked, in overlapping pieces. */
class Copy {
  private pieces: Buffer[] = [HEADER];
  /** Bytes added since the last view. */
  bytes = 0;

  add(piece: Buffer, counted = piece.length): void {
    this.pieces.push(piece);
    this.bytes += counted;
  }

  /** The current piece as a member; the next piece begins. Its bytes were counted when they were added. */
  view(): Member {
    const bytes = Buffer.concat(this.pieces);
    this.pieces = [HEADER, Buffer.from(bytes.subarray(-COPY.overlap))];
    this.bytes = 0;
    return { name: 'unpacked streams', kind: 'view', read: () => ({ content: { size: bytes.length, bytes } }) };
  }
}

/** A script that is stored as the string of an object, decrypted if the document is encrypted. */
function scriptOf(objects: Objects, number: number, lock: Lock | undefined): Buffer | undefined {
  const script = objects.string(number);
  if (script === undefined || lock === undefined) return script;
  return Buffer.concat([...lock.opened([script], { number, dictionary: '' })]);
}

function* pageMembers(pages: PageTexts, packed_bytes: number, budget: Budget): Generator<Member> {
  for (const text of pages.texts()) {
    budget.spend(text.length);
    budget.addUnpacked(text.length, text.length, packed_bytes);
    yield { name: 'text of the pages', kind: 'alone', read: () => ({ content: { size: text.length, bytes: text } }) };
  }
}

/**
 * The document with its streams unpacked, as one member that rules match like any other PDF, and each attached file as a member: declared files, and streams
 * that `isFile` recognises by their first `head_bytes` bytes. @throws Unreadable `encrypted` if its streams cannot be decrypted, and at the end for other
 * unread parts.
 */
async function* pdfMembers(
  content: Content,
  context: ReadContext,
  { head_bytes, isFile }: { head_bytes: number; isFile: (head: Buffer) => boolean },
): AsyncGenerator<Member> {
  const { budget } = context;
  const reader = openReader(content, budget);
  const unread = new Set<StatusDetail>();
  const copy = new Copy();
  const objects = new Objects(reader);
  const named = new Set<number>();
  /** Streams that were not given as files, in case a later object refers to them as files. */
  const others = new Map<number, Found>();
  const ranges: Range[] = [];
  const texts = new Texts(budget);
  const plain_objects = new PlainObjects();
  const pages = new PageTexts();
  /** Handles the text of a stream: searches text (`own`) for encoded data and adds it to the values, or adds page content to the pages. */
  function* ofText(own: StreamText | undefined, page: StreamText | undefined): Generator<Member> {
    if (own !== undefined) yield* own.end(isFile);
    if (page !== undefined) pages.add(page.text());
    else if (own !== undefined && own.bytes <= VALUE_BYTES_MAXIMUM) yield* texts.add([own.text()]);
  }
  let scripts = 0;
  const scriptMember = (bytes: Buffer): Member => {
    scripts += 1;
    budget.addUnpacked(bytes.length, bytes.length, bytes.length);
    return { name: `packed script ${scripts}`, read: () => ({ content: { size: bytes.length, bytes } }) };
  };
  try {
    const lock = isEncrypted(reader) ? lockOf(reader) : undefined;
    if (isEncrypted(reader) && lock === undefined) throw new Unreadable('encrypted');
    for (const number of filesNamedIn(reader)) named.add(number);
    yield* scriptsIn(reader, lock);
    for (const found of streamsOf(reader)) {
      const { number, dictionary, start, end, is_cut } = found;
      ranges.push({ start, end });
      const packed_bytes = end - start;
      const { pieces, is_changed, unread: closed, is_guess } = unfiltered(reader, found, objects, lock, context);
      const { head, all, failure } = await peeked(pieces, head_bytes);
      if (failure instanceof LimitReached || isDiskError(failure)) throw failure;
      if (closed !== undefined) unread.add(closed);
      if (is_cut) unread.add('damaged');
      const is_named = number !== undefined && named.has(number);
      if (head.length > 0 && (is_named || /\/EmbeddedFile\b/.test(dictionary) || isFile(head))) {
        yield { name: 'attached file', read: () => ({ stream: all, packed_bytes }) };
        continue;
      }
      if (number !== undefined && others.size < STREAMS_KEPT_MAXIMUM) others.set(number, found);
      const own = textFormOf(head.subarray(0, LOOK_BYTES)) === undefined ? undefined : new StreamText();
      // With two-byte codes, a page does not look like text.
      const page = isOfPages(head) ? (own ?? new StreamText()) : undefined;
      if (!is_changed) {
        const kept = own ?? page;
        if (kept === undefined) continue;
        for await (const piece of all) kept.add(piece);
        yield* ofText(own, page);
        continue;
      }
      copy.add(Buffer.from(`${dictionary}stream\n`, 'latin1'), dictionary.length);
      let plain_bytes = 0;
      const is_list = /\/ObjStm\b/.test(dictionary);
      let text = '';
      const strings = new PdfStrings();
      const bytesOf = ({ bytes }: { bytes: Buffer }) => bytes;
      try {
        for await (const piece of all) {
          plain_bytes += piece.length;
          budget.addUnpacked(piece.length, plain_bytes, packed_bytes);
          copy.add(piece);
          (own ?? page)?.add(piece);
          if (is_list) {
            const listed = piece.toString('latin1');
            for (const file of filesIn(text + listed)) named.add(file);
            if (scripts < SCRIPTS_MAXIMUM) for (const script of packedScripts(listed)) yield scriptMember(script);
            text = listed.slice(-NAME_OVERLAP);
            yield* texts.add(strings.push(piece).map(bytesOf));
            plain_objects.add(piece);
          }
          if (copy.bytes >= COPY.bytes) yield copy.view();
        }
      } catch (error) {
        if (error instanceof LimitReached || isDiskError(error)) throw error;
        if (packed_bytes > 0 && !is_guess) unread.add('damaged');
      }
      yield* ofText(own, page);
      yield* texts.add(strings.end().map(bytesOf));
      copy.add(Buffer.from('\nendstream\nendobj\n'), 0);
    }
    // References in object streams become known only after the streams were read.
    for (const number of named) {
      const found = others.get(number);
      if (found === undefined) {
        const script = scripts < SCRIPTS_MAXIMUM ? scriptOf(objects, number, lock) : undefined;
        if (script !== undefined) yield scriptMember(script);
        continue;
      }
      const { pieces } = unfiltered(reader, found, objects, lock, context);
      yield { name: 'attached file', read: () => ({ stream: pieces, packed_bytes: found.end - found.start }) };
    }
    for (const bytes of between(reader, ranges)) plain_objects.add(bytes, lock && openedBy(lock));
    if (plain_objects.is_changed) {
      const plain = plain_objects.bytes();
      budget.addUnpacked(plain.length, plain.length, plain.length);
      copy.add(plain);
    }
    if (copy.bytes > 0) yield copy.view();
    yield* texts.add(stringsBetween(reader, ranges, lock));
    yield* texts.end();
    yield* pageMembers(pages, reader.size, budget);
    claimPdf(reader, ranges, context.claim);
    for (const detail of unread) throw new Unreadable(detail);
  } catch (error) {
    // The bytes before the limit are matched as well.
    if (error instanceof LimitReached && copy.bytes > 0) yield copy.view();
    throw error;
  } finally {
    reader.close();
  }
}

const PDF_START = '%PDF';
const PDF_FIRST = /^\s{0,64}%(?:PDF|FDF)/;

/** Maximum distance between the header and the first object (ISO 32000-1, 7.5.3). Bytes. */
const NEAR_OBJECT_WITHIN = 16 * 1024;
const NEAR_OBJECT = /[\s\0]\d{1,10}[\s\0]{1,20}\d{1,5}[\s\0]{1,20}obj/;

/** Whether a version and an object follow the header. Programs that process PDF contain the header alone. */
function provesPdf(reader: Reader, at: number): boolean {
  const head = reader.at(at, NEAR_OBJECT_WITHIN).toString('latin1');
  return /^%PDF-\d\.\d/.test(head) && NEAR_OBJECT.test(head);
}

/** Whether the bytes are a PDF. A header within the first bytes of a mail belongs to an attachment, so it does not count. */
function isDocument(head: Buffer): boolean {
  return isPdf(head) && (PDF_FIRST.test(head.toString('latin1', 0, 68)) || mailKind(head) === undefined);
}

const late = { isLate: (head: Buffer) => head.toString('latin1', 0, PDF_START.length) !== PDF_START, carved_as: 'pdf' };

export const pdf = format({
  id: 'pdf',
  media_type: 'application/pdf',
  recognise: (head) => (isDocument(head) && !isPdfWithin(head) ? 32 : 0),
  carve: [{ pattern: spelled(`${PDF_START}-`), proves: provesPdf, is_endless: true }],
  late,
  limits: 'Documents behind a password are not read, except those that open without one.',
  open: (content, context) => pdfMembers(content, context, { head_bytes: HEAD_BYTES, isFile: context.isContainerHead }),
});

/** A PDF whose header follows other data. It may be part of that data. */
export const pdfWithin = format({
  id: 'pdf-within',
  media_type: 'application/pdf',
  recognise: (head) => (isDocument(head) && isPdfWithin(head) ? 32 : 0),
  traits: { is_beside: true, reads_beside: ['pdf'] },
  late,
  limits: null,
  open: pdf.open,
});

/** A PDF that begins within the first bytes of a mail. */
export const pdfInMail = format({
  id: 'pdf-in-mail',
  media_type: 'application/pdf',
  recogniseBeside: ({ head, first }) => (first?.format.traits.is_mail === true && isPdf(head) ? 32 : 0),
  late,
  limits: null,
  open: pdf.open,
});
