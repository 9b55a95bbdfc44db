import { guess } from '#scanner/decompression/decompress.ts';
import { type Content, takeContent } from '#scanner/reading/content.ts';
import { JoinedPieces } from '#scanner/reading/joined-pieces.ts';
import type { Member, ReadContext } from '#scanner/reading/member.ts';
import type { Reader } from '#scanner/reading/reader.ts';
import { base85RunsOf } from './base85-runs.ts';
import { pagesOf } from './ebcdic.ts';
import { hexRowsOf, letterRowsOf } from './hex-rows.ts';
import { markupRunsOf } from './markup-runs.ts';
import { narrowTextsIn } from './narrow-texts.ts';
import { textOfRtf } from './rtf-text.ts';
import { scriptPieces, type Unevaluated } from './script-pieces.ts';
import { sqlStringsOf } from './sql-strings.ts';
import { fromBase64 } from './text-codings.ts';
import { decodedText, fromUtf7, hasLoneReturn, hasUtf7, LOOK_BYTES, type TextForm, textFormOf } from './text-encoding.ts';
import { folded } from './text-folds.ts';
import { APOSTROPHE, literalTexts, SHORT_BYTES_MAXIMUM } from './text-literals.ts';
import { textOfBody, textOfPieces, trimmed } from './text-pieces.ts';
import { rewritten } from './text-rewrites.ts';
import { addressesOf, byteLiteralsOf, escapesOf, listsOf, type Run, runsOf, splitsOf, stringsOf, wholeOf } from './text-runs.ts';
import { spelledOut, tableTexts } from './text-spellings.ts';
import { rowsOf, xxRowsOf } from './uu-rows.ts';
import { type Value, valueMembers } from './values.ts';
import { xmlTexts } from './xml-texts.ts';

/**
 * Decoded forms of a text. `text`: the same text as UTF-8, to be examined like the text itself; `view`: only to be matched with the rules;
 * `member`: bytes that are encoded in it. `is_guess`: the encoding may be accidental, so damage of the result is not damage of the file.
 */
export type TextView =
  | { kind: 'text'; content: Content; failure: unknown; is_guess?: true }
  | { kind: 'view'; bytes: Buffer }
  | ({ kind: 'unevaluated' } & Unevaluated)
  | { kind: 'member'; member: Member; is_guess?: true };

/** Larger texts are read in windows of this size, for which the smaller set of rules is used (rules.ts). Bytes. */
const WINDOW = { bytes: 16 * 1024 ** 2, overlap: 256 * 1024 } as const;
/** Maximum number of runs of a text that become members because they are texts; all programs and containers become members. Other runs are matched together. */
const TEXT_RUNS_MAXIMUM = 1000;
const HEAD_BYTES = 512;
/** A packed run that unpacks to more is not unpacked: scripts do not hold as much. Bytes. */
const INFLATED_BYTES_MAXIMUM = 16 * 1024 ** 2;

/** The caller's test whether bytes are or contain a container or a program. */
type IsFile = (bytes: Buffer) => boolean;

/** Maximum number of runs that are unpacked as raw deflate, which can only be recognised by unpacking: scripts have few, but lists of paths or checksums have many runs. */
const RAW_TRIES_MAXIMUM = 200;
/** Functions with which scripts unpack deflate without a header. */
const UNPACKS = /inflate|deflate|uncompress|saml/i;

/** Unpacks zlib or raw deflate in a script; undefined if it does not unpack, or not to text. */
function inflated(bytes: Buffer, may_be_raw: boolean, { budget }: ReadContext): Buffer | undefined {
  const has_head = bytes.length > 2 && (bytes[0] ?? 0) % 16 === 8 && bytes.readUInt16BE(0) % 31 === 0;
  if (!has_head && !may_be_raw) return undefined;
  const most = Math.min(INFLATED_BYTES_MAXIMUM, budget.memberMaximum(bytes.length));
  const answer = guess(has_head ? 'zlib' : 'deflate', bytes, budget, { most });
  if (answer.kind !== 'whole') return undefined;
  const { plain } = answer;
  budget.addUnpacked(plain.length, plain.length, bytes.length);
  return plain.length > 0 && textFormOf(plain.subarray(0, LOOK_BYTES)) !== undefined ? plain : undefined;
}

const PRINTABLE_SHARE_LEAST = 0.9;

/** Whether a run is text. Stricter than `textFormOf`, which takes some noise for text in an encoding without invalid bytes. */
function isPlainText(head: Buffer): boolean {
  const form = textFormOf(head);
  if (form === undefined || form.encoding !== 'utf-8') return form !== undefined;
  let printable = 0;
  for (const byte of head) if ((byte >= 0x20 && byte < 0x7f) || (byte >= 9 && byte <= 13)) printable += 1;
  if (printable >= head.length * PRINTABLE_SHARE_LEAST) return true;
  return isUtf8(head);
}

/** Whether bytes are valid UTF-8; the last character may be cut. */
function isUtf8(bytes: Buffer): boolean {
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at] ?? 0;
    const length =
      first < 0x80
        ? 1
        : first >= 0xc2 && first < 0xe0
          ? 2
          : first >= 0xe0 && first < 0xf0
            ? 3
            : first >= 0xf0 && first < 0xf5
              ? 4
              : 0;
    if (length === 0) return false;
    for (let next = at + 1; next < at + length && next < bytes.length; next += 1) {
      if (((bytes[next] ?? 0) & 0xc0) !== 0x80) return false;
    }
    at += length;
  }
  return true;
}

function memberOf(name: string, bytes: Buffer): TextView {
  return { kind: 'member', member: { name, kind: 'written', read: () => ({ content: { size: bytes.length, bytes } }) } };
}

/** Yields the runs of a text: files, texts and packed texts as members, the others together as a view. */
function* ofRuns(runs: Iterable<Run>, text: Buffer, offset: number, context: ReadContext, isFile: IsFile): Generator<TextView> {
  const { budget } = context;
  let may_be_raw: boolean | undefined;
  let tries = 0;
  const others = new JoinedPieces();
  let texts = 0;
  for (const { how, start, end, bytes } of runs) {
    budget.spend(end - start);
    budget.addUnpacked(bytes.length, bytes.length, end - start);
    const head = bytes.subarray(0, HEAD_BYTES);
    const name = `${how} at ${offset + start}`;
    may_be_raw ??= UNPACKS.test(text.toString('latin1'));
    tries += may_be_raw ? 1 : 0;
    const plain = how === 'numbers' ? undefined : inflated(bytes, may_be_raw && tries <= RAW_TRIES_MAXIMUM, context);
    if (plain !== undefined) yield memberOf(`${name}, unpacked`, plain);
    else if (isFile(bytes)) yield memberOf(name, bytes);
    else if (isPlainText(head) && texts < TEXT_RUNS_MAXIMUM) {
      texts += 1;
      yield memberOf(name, bytes);
    } else others.add(bytes);
    if (others.length > SHORT_BYTES_MAXIMUM) yield { kind: 'view', bytes: others.take() };
  }
  if (others.length > 0) yield { kind: 'view', bytes: others.take() };
}

const GOES_ON = /^["'][ \t\r\n_]{0,16}[+&.]/;
const WENT_ON = /[+&.][ \t\r\n_]{0,16}["']$/;

/** Runs that are complete. A run in a literal that is concatenated with another is only a part, and is found in the folded text. */
function* wholeRuns(text: Buffer): Generator<Run> {
  for (const run of runsOf(text)) {
    const is_piece =
      GOES_ON.test(text.toString('latin1', run.end, run.end + 20)) ||
      WENT_ON.test(text.toString('latin1', Math.max(0, run.start - 20), run.start));
    if (!is_piece) yield run;
  }
}

/** Runs that extend over a join of literals: the others were found in the original text. */
function* joined(text: Buffer, joins: readonly number[]): Generator<Run> {
  let next = 0;
  for (const run of runsOf(text)) {
    while (next < joins.length && (joins[next] ?? 0) <= run.start) next += 1;
    if ((joins[next] ?? text.length) < run.end) yield run;
  }
}

/** Yields the texts and files that `rewritten` finds in a text. */
function* ofRewritten(text: Buffer, from: number, context: ReadContext, isFile: IsFile): Generator<TextView> {
  const { texts, bytes, files } = rewritten(text);
  for (const file of files) {
    context.budget.addUnpacked(file.length, file.length, text.length);
    yield memberOf(`listing at ${from}`, file);
  }
  for (const one of texts) {
    context.budget.addUnpacked(one.length, one.length, text.length);
    yield { kind: 'view', bytes: one };
    yield* ofRuns(runsOf(one), text, from, context, isFile);
    yield* ofRuns(listsOf(one), text, from, context, isFile);
    const fold = folded(one);
    if (fold.is_telling) yield { kind: 'view', bytes: fold.bytes };
  }
  const runs: Run[] = [];
  for (const one of bytes) {
    // A text that is literally in the outer text was decoded with it. It is only matched alone, because a rule may recognise its first bytes.
    if (text.includes(one) && isPlainText(one.subarray(0, HEAD_BYTES)) && !isFile(one)) yield { kind: 'view', bytes: one };
    else runs.push({ how: 'literal', start: 0, end: one.length, bytes: one });
  }
  for (const view of ofRuns(runs, text, from, context, isFile)) yield view.kind === 'member' ? { ...view, is_guess: true } : view;
}

/** Maximum number of quoted texts that are matched alone; the others are matched together. */
const LITERALS_MAXIMUM = 1000;
const LINE_IN_LITERAL = Buffer.from('\\n');

/** Yields quoted texts and texts of XML, which may become files. They are only matched, since there may be thousands. */
function* ofLiterals(text: Buffer, { budget }: ReadContext): Generator<TextView> {
  budget.spend(2 * text.length);
  const others = new JoinedPieces();
  let count = 0;
  function* all(): Generator<Buffer> {
    yield* literalTexts(text);
    if (text.includes(LINE_IN_LITERAL)) yield* literalTexts(text, APOSTROPHE);
    yield* xmlTexts(text);
  }
  for (const bytes of all()) {
    budget.addUnpacked(bytes.length, bytes.length, text.length);
    count += 1;
    if (count <= LITERALS_MAXIMUM) yield { kind: 'view', bytes };
    else others.add(bytes);
    if (others.length > SHORT_BYTES_MAXIMUM) yield { kind: 'view', bytes: others.take() };
  }
  if (others.length > 0) yield { kind: 'view', bytes: others.take() };
}

const RTF = /^\s{0,8}\{\\rt/;

/** Yields the plain text of a document, and the files that are encoded in it. */
function* ofPieces(pieces: Buffer, text: Buffer, from: number, context: ReadContext, isFile: IsFile): Generator<TextView> {
  context.budget.spend(text.length);
  context.budget.addUnpacked(pieces.length, pieces.length, text.length);
  yield { kind: 'view', bytes: pieces };
  const alone = trimmed(pieces);
  if (alone.length < pieces.length) yield { kind: 'view', bytes: alone };
  yield* ofRuns(runsOf(pieces), text, from, context, isFile);
}

/** Whether a large text seems to be base64 alone. It is then decoded as one stream. */
function isAllBase64(head: Buffer, size: number): boolean {
  return size > WINDOW.bytes && head.length > 0 && /^[A-Za-z0-9+/\r\n]+$/.test(head.toString('latin1'));
}

/** Values of a database dump. */
function* sqlValues(text: Buffer): Generator<Value> {
  for (const { bytes } of sqlStringsOf(text)) yield { bytes, is_text: isPlainText(bytes.subarray(0, HEAD_BYTES)) };
}

async function* streamed(pieces: Iterable<Buffer>): AsyncGenerator<Buffer> {
  yield* pieces;
}

/** Yields the texts that a script hides and runs. */
function* ofScript(text: Buffer, { budget }: ReadContext): Generator<TextView, Unevaluated | undefined> {
  const pieces = scriptPieces(text, budget);
  for (let piece = pieces.next(); ; piece = pieces.next()) {
    if (piece.done === true) return piece.value;
    budget.addUnpacked(piece.value.length, piece.value.length, text.length);
    yield { kind: 'view', bytes: piece.value };
  }
}

/** A shorter run of base85 may be an accident. Bytes. */
const FILE85_LEAST = 1024;

/** Yields the runs unchanged, and adds long ones to `kept`. */
function* noted(runs: Iterable<Run>, kept: Run[]): Generator<Run> {
  for (const run of runs) {
    if (run.bytes.length >= FILE85_LEAST) kept.push(run);
    yield run;
  }
}

/** Replaces runs in a text with blanks: base85 may look like shifted sequences of UTF-7. */
function without(text: Buffer, runs: readonly Run[]): Buffer {
  if (runs.length === 0) return text;
  const rest = Buffer.from(text);
  for (const { start, end } of runs) rest.fill(0x20, start, end);
  return rest;
}

async function* windowViews(reader: Reader, start: number, context: ReadContext, isFile: IsFile): AsyncGenerator<TextView> {
  const { budget } = context;
  const isSomething = (bytes: Buffer) => {
    budget.spend(bytes.length);
    return isPlainText(bytes.subarray(0, HEAD_BYTES)) || inflated(bytes, false, context) !== undefined || isFile(bytes);
  };
  for (let from = start; ; from += WINDOW.bytes - WINDOW.overlap) {
    const text = reader.at(from, WINDOW.bytes);
    const is_last = from + text.length >= reader.size;
    // Windows that are not text are skipped.
    if (textFormOf(text.subarray(0, LOOK_BYTES)) !== undefined) {
      const fold = folded(text);
      const runs = fold.joins.length > 0 ? wholeRuns(text) : runsOf(text);
      yield* ofRuns(runs, text, from, context, isFile);
      yield* ofRuns(listsOf(text), text, from, context, isFile);
      yield* ofRuns(splitsOf(text), text, from, context, isFile);
      yield* ofRuns(rowsOf(text), text, from, context, isFile);
      yield* ofRuns(xxRowsOf(text), text, from, context, isFile);
      for (const more of [stringsOf, byteLiteralsOf, wholeOf]) yield* ofRuns(more(text), text, from, context, isFile);
      yield* ofLiterals(text, context);
      const files85: Run[] = [];
      yield* ofRuns(noted(base85RunsOf(text, isSomething), files85), text, from, context, isFile);
      yield* ofRuns(addressesOf(text), text, from, context, isFile);
      yield* ofRuns(markupRunsOf(text, isSomething), text, from, context, isFile);
      for (const more of [hexRowsOf, letterRowsOf]) yield* ofRuns(more(text), text, from, context, isFile);
      for (const member of valueMembers(sqlValues(text), context, isFile)) yield { kind: 'member', member };
      budget.spend(8 * text.length);
      for (const pieces of [textOfPieces(text), textOfBody(text)])
        if (pieces !== undefined) yield* ofPieces(pieces, text, from, context, isFile);
      for (const bytes of tableTexts(text)) yield { kind: 'view', bytes };
      for (const spelled of spelledOut(text)) yield* ofPieces(spelled, text, from, context, isFile);
      if (RTF.test(text.toString('latin1', 0, 16)))
        for (const part of ['all', 'body'] as const) yield* ofPieces(textOfRtf(text, part), text, from, context, isFile);
      const rest = without(text, files85);
      if (hasUtf7(rest)) {
        const bytes = fromUtf7(rest);
        budget.addUnpacked(bytes.length, bytes.length, text.length);
        yield { kind: 'text', content: { size: bytes.length, bytes }, failure: undefined, is_guess: true };
      }
      yield* ofRewritten(text, from, context, isFile);
      const unevaluated = yield* ofScript(text, context);
      if (unevaluated !== undefined) yield { kind: 'unevaluated', ...unevaluated };
      if (fold.is_telling) {
        yield* ofRuns(escapesOf(text), text, from, context, isFile);
        budget.addUnpacked(fold.bytes.length, fold.bytes.length, text.length);
        yield { kind: 'view', bytes: fold.bytes };
        if (fold.joins.length > 0) yield* ofRuns(joined(fold.bytes, fold.joins), text, from, context, isFile);
      }
    }
    if (is_last) return;
  }
}

/** Whether the text must be converted for the rules, which expect UTF-8 and line feeds. */
function isForeign(reader: Reader, { encoding }: TextForm): boolean {
  if (encoding !== 'utf-8') return true;
  let held: Buffer = Buffer.alloc(0);
  for (const chunk of reader.chunks(0, reader.size)) {
    if (hasLoneReturn(held.length === 0 ? chunk.subarray(0, -1) : Buffer.concat([held, chunk.subarray(0, -1)]))) return true;
    // The last byte is checked with the next chunk.
    held = chunk.subarray(-1);
  }
  return hasLoneReturn(held);
}

/** Possible forms of a text: an EBCDIC text may be in one of several code pages. */
function waysOf(reader: Reader, form: TextForm): TextForm[] {
  return form.encoding === 'ebcdic'
    ? pagesOf(reader.chunks(0, reader.size), reader.size).map((page) => ({ ...form, page }))
    : [form];
}

/**
 * The views of a content that looks like text; none for other content. `is_taken`: a reader parses the text, for example as mail; it is then only
 * converted if it is not UTF-8.
 */
export async function* textViews(
  reader: Reader,
  context: ReadContext,
  { is_taken, isFile }: { is_taken: boolean; isFile: IsFile },
): AsyncGenerator<TextView> {
  const { budget } = context;
  const head = reader.at(0, LOOK_BYTES);
  const form = textFormOf(head);
  if (form === undefined) return;
  if (isForeign(reader, form)) {
    for (const one of waysOf(reader, form)) {
      let bytes = 0;
      const taken = await takeContent(streamed(decodedText(reader.chunks(0, reader.size), one)), context.path, (more) => {
        bytes += more;
        budget.addUnpacked(more, bytes, reader.size);
      });
      yield { kind: 'text', ...taken };
    }
    if (form.encoding.startsWith('utf-16') || form.encoding.startsWith('utf-32')) {
      const narrow = narrowTextsIn(reader.at(0, WINDOW.bytes));
      budget.spend(Math.min(reader.size, WINDOW.bytes));
      if (narrow !== undefined) {
        budget.addUnpacked(narrow.length, narrow.length, reader.size);
        yield memberOf('letters of one byte', narrow);
      }
    }
    return;
  }
  if (is_taken) return;
  if (isAllBase64(head, reader.size)) {
    const stream = streamed(fromBase64(reader.chunks(0, reader.size)));
    yield { kind: 'member', member: { name: 'base64 at 0', read: () => ({ stream, packed_bytes: reader.size }) } };
    return;
  }
  yield* windowViews(reader, form.mark_bytes, context, isFile);
}
