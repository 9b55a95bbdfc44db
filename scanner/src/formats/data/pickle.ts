import { format, withBits } from '#scanner/formats/format.ts';
import type { Content } from '#scanner/reading/content.ts';
import type { Member, ReadContext } from '#scanner/reading/member.ts';
import type { Reader } from '#scanner/reading/reader.ts';
import { membersOfValues, type Value } from '#scanner/text/values.ts';
import { arrayValues, bytesOf, type Layout, layoutFrom } from './numpy.ts';

// Python pickles of all protocols (Lib/pickletools.py). The program is never run; the values of text and bytes are extracted in order. Protocols 0 to 2 store
// bytes as text with one character for each byte.

/** Opcodes with an argument of fixed size, and that size. Bytes. */
const FIXED_ARGUMENTS: ReadonlyMap<number, number> = new Map([
  ...[...'Kqh\x80\x82'].map((code): [number, number] => [code.charCodeAt(0), 1]),
  ...[...'M\x83'].map((code): [number, number] => [code.charCodeAt(0), 2]),
  ...[...'Jrj\x84'].map((code): [number, number] => [code.charCodeAt(0), 4]),
  ...[...'G\x95'].map((code): [number, number] => [code.charCodeAt(0), 8]),
]);
/** Opcodes with a value after its length, and the size of the length field. Bytes. */
const VALUES: ReadonlyMap<number, number> = new Map([
  ...[...'UC\x8c\x8a'].map((code): [number, number] => [code.charCodeAt(0), 1]),
  ...[...'TBX\x8b'].map((code): [number, number] => [code.charCodeAt(0), 4]),
  ...[...'\x8d\x8e\x96'].map((code): [number, number] => [code.charCodeAt(0), 8]),
]);
/** Opcodes with arguments that are lines, the number of lines, and the form of a line. */
const LINES: ReadonlyMap<number, { count: number; line: RegExp }> = new Map(
  (
    [
      ['I', 1, /^-?\d{1,20}$/],
      ['L', 1, /^-?\d{1,4096}L?$/],
      ['F', 1, /^[-+.\deEnaif]{1,40}$/],
      ['S', 1, /^(?:'.*'|".*")$/s],
      ['V', 1, /^/],
      ['g', 1, /^\d{1,9}$/],
      ['p', 1, /^\d{1,9}$/],
      ['P', 1, /^/],
      ['c', 2, /^[A-Za-z_][\w.]{0,200}$/],
      ['i', 2, /^[A-Za-z_][\w.]{0,200}$/],
    ] as const
  ).map(([code, count, line]) => [code.charCodeAt(0), { count, line }]),
);
/** Opcodes without an argument. */
const ALONE: ReadonlySet<number> = new Set(
  Buffer.from('(.012NRQabdelostu)]}\x81\x85\x86\x87\x88\x89\x8f\x90\x91\x92\x93\x94\x97\x98', 'latin1'),
);
const FIRST_OPCODES = Buffer.from(']})(cXUCBT', 'latin1');
/** First opcodes of a pickle of protocol 0 or 1, which have no magic. */
const FIRST_BARE = Buffer.from('](}cVSUXT)', 'latin1');
/** Opcodes of a global name, and those that store into the first slots of the memo. Every longer pickle has one of them. */
const NAMES = Buffer.from('ci');
const FIRST_PLACE = /^p[01]\n/;
const ANY_PLACE = Buffer.from('pqr');
const OPCODES_LEAST = 3;
const OPCODES_LOOKED_AT = 40;
const STOP = 0x2e;
const NEWLINE = 0x0a;
const NEWLINES = Buffer.from('\n');
/** Longer values are not decoded; their bytes are examined as they are. Bytes. */
const VALUE_BYTES_MAXIMUM = 16 * 1024 ** 2;

/** Maximum nesting of arrays of objects. */
const DEPTH_MAXIMUM = 4;

/** Whether the bytes are a sequence of valid opcodes of protocol 0 or 1, which have no magic. */
function isBare(head: Buffer): boolean {
  if (!FIRST_BARE.includes(head[0] ?? 0)) return false;
  let is_telling = false;
  for (let at = 0, opcodes = 1; at < head.length; opcodes += 1) {
    const code = head[at] ?? 0;
    if (ANY_PLACE.includes(code) && !is_telling) {
      const is_first = code === 0x70 ? FIRST_PLACE.test(head.toString('latin1', at, at + 3)) : (head[at + 1] ?? 2) < 2;
      if (!is_first) return false;
    }
    is_telling ||= NAMES.includes(code) || ANY_PLACE.includes(code);
    if (code === STOP) return opcodes >= OPCODES_LEAST && is_telling;
    if (opcodes === OPCODES_LOOKED_AT) return is_telling;
    const lines = LINES.get(code);
    const length_bytes = VALUES.get(code);
    const fixed = FIXED_ARGUMENTS.get(code);
    at += 1;
    if (lines !== undefined) {
      for (let count = 0; count < lines.count; count += 1) {
        const end = head.indexOf(NEWLINE, at);
        // A long text may extend past the examined bytes.
        if (end < 0) return is_telling && opcodes >= OPCODES_LEAST;
        if (!lines.line.test(head.toString('latin1', at, end))) return false;
        at = end + 1;
      }
    } else if (length_bytes !== undefined) {
      if (at + length_bytes > head.length) return false;
      const size = head.readUIntLE(at, Math.min(6, length_bytes));
      at += length_bytes + size;
      if (at > head.length) return is_telling && opcodes >= OPCODES_LEAST;
    } else if (fixed !== undefined) at += fixed;
    else if (!ALONE.has(code)) return false;
  }
  return false;
}

export function isPickle(head: Buffer): boolean {
  const [mark, protocol = 0, first = 0] = head;
  if (mark !== 0x80 || head.length < 12) return head.length >= 12 && isBare(head);
  // Protocols 4 and 5 begin with a frame and its length, protocols 2 and 3 with a value, list or name.
  return protocol === 4 || protocol === 5
    ? first === 0x95 && head.readUInt32LE(7) === 0
    : (protocol === 2 || protocol === 3) && FIRST_OPCODES.includes(first);
}

const ESCAPES: ReadonlyMap<string, string> = new Map(
  Object.entries({ n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', v: '\v', a: '\x07' }),
);

/** Decodes a string literal of Python 2, with its quotation marks and backslash escapes. */
function ofLiteral(line: string): Buffer {
  const plain = line
    .slice(1, -1)
    .replaceAll(/\\(?:x([0-9a-f]{2})|([0-7]{1,3})|([\s\S]))/gi, (_, hex?: string, octal?: string, one: string = ''): string =>
      hex === undefined && octal === undefined
        ? (ESCAPES.get(one) ?? one)
        : String.fromCharCode(Number.parseInt(hex ?? octal ?? '', hex === undefined ? 8 : 16) & 0xff),
    );
  return Buffer.from(plain, 'latin1');
}

/** Decodes text of protocol 0: the first 256 characters are stored as they are, other characters and line ends as escapes. */
function ofEscapes(line: string): string {
  return line.replaceAll(/\\u([0-9a-f]{4})|\\U([0-9a-f]{8})/gi, (whole, four?: string, eight?: string) => {
    const code = Number.parseInt(four ?? eight ?? '', 16);
    return code < 0x110000 ? String.fromCodePoint(code) : whole;
  });
}

/** Possible contents of a text value: text, or bytes stored as characters. */
function* ofText(text: string): Generator<Value> {
  let highest = 0;
  let controls = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > highest) highest = code;
    if (code < 9) controls += 1;
  }
  const is_letters = highest < 0x80 && controls === 0;
  if (highest < 0x100) yield { bytes: Buffer.from(text, 'latin1'), is_text: is_letters };
  if (highest >= 0x100 || (highest >= 0x80 && controls === 0)) yield { bytes: Buffer.from(text, 'utf8'), is_text: true };
}

function isText(bytes: Buffer): boolean {
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte < 9 || byte >= 0x80) return false;
  }
  return true;
}

const TEXT_CODES = Buffer.from('X\x8c\x8d', 'latin1');
const NUMBER_CODES = Buffer.from('\x8a\x8b', 'latin1');

/** Collects the description of an array whose elements follow it (joblib/numpy_pickle.py). */
class Wrapped {
  private is_begun = false;
  private key = '';
  private shape: number[] = [];
  private kind = '';
  private order = '';

  text(text: string): void {
    if (text === 'NumpyArrayWrapper') {
      this.is_begun = true;
      [this.shape, this.kind, this.order] = [[], '', ''];
    }
    if (!this.is_begun) return;
    if (/^(?:shape|order|dtype|allow_mmap|subclass)$/.test(text)) this.key = text;
    else if (this.key === 'dtype' && /^[a-zA-Z?]\d{1,9}$/.test(text)) this.kind ||= text;
    else if (this.key === 'dtype' && /^[<>|=]$/.test(text)) this.order = text;
  }

  number(number: number): void {
    if (this.is_begun && this.key === 'shape' && this.shape.length < 32) this.shape.push(number);
  }

  /** The layout of the array, if the description is complete. */
  take(): Layout | undefined {
    // `allow_mmap` is the last key of the description; the array follows it.
    if (!this.is_begun || this.key !== 'allow_mmap') return undefined;
    this.is_begun = false;
    this.key = '';
    return layoutFrom(this.kind, this.order, this.shape);
  }
}

const ALIGNED_BYTES = 16;
const PADDING = 0xff;

/** The start of the elements. Newer versions store a padding length in one byte, followed by the padding. */
function arrayStart(reader: Reader, at: number): number {
  const head = reader.at(at, 1 + ALIGNED_BYTES);
  const count = head[0] ?? 0;
  const filling = head.subarray(1, 1 + count);
  return count > 0 &&
    count <= ALIGNED_BYTES &&
    (at + 1 + count) % ALIGNED_BYTES === 0 &&
    filling.every((byte) => byte === PADDING)
    ? at + 1 + count
    : at;
}

/** The values of a pickle that begins at 0. `known` receives the ranges that belong to it. */
function* valuesIn(reader: Reader, known: (start: number, end: number) => void, depth = 0): Generator<Value> {
  const wrapped = new Wrapped();
  for (let at = 0; at < reader.size; ) {
    const head = reader.at(at, 9);
    const [code = 0] = head;
    const length_bytes = VALUES.get(code);
    const lines = LINES.get(code);
    let after = at + 1 + (FIXED_ARGUMENTS.get(code) ?? 0);
    if (length_bytes !== undefined) {
      if (head.length <= length_bytes) return;
      const start = at + 1 + length_bytes;
      after = start + head.readUIntLE(1, Math.min(6, length_bytes));
      if (after > reader.size) return;
      if (after - start <= VALUE_BYTES_MAXIMUM && !NUMBER_CODES.includes(code)) {
        const bytes = Buffer.from(reader.at(start, after - start));
        if (TEXT_CODES.includes(code)) {
          const text = bytes.toString('utf8');
          wrapped.text(text);
          yield* ofText(text);
        } else yield { bytes, is_text: isText(bytes) };
        known(at, after);
      }
    } else if (lines !== undefined) {
      for (let count = 0; count < lines.count; count += 1) {
        const end = reader.find(NEWLINES, after);
        if (end < 0 || end - after > VALUE_BYTES_MAXIMUM) return;
        const line = reader.at(after, end - after).toString('latin1');
        if (!lines.line.test(line)) return;
        after = end + 1;
        if (code === 0x53) {
          const bytes = ofLiteral(line);
          yield { bytes, is_text: isText(bytes) };
        } else if (code === 0x56) yield* ofText(ofEscapes(line));
        else if (code === 0x63) wrapped.text(line);
      }
    } else if (!ALONE.has(code) && !FIXED_ARGUMENTS.has(code)) return;
    if (code === 0x4b || code === 0x4d) wrapped.number(head.readUIntLE(1, code - 0x4a > 2 ? 2 : 1));
    else if (code === 0x4a && head.length >= 5) wrapped.number(head.readUInt32LE(1));
    known(at, after);
    if (code === STOP) return;
    const layout = code === 0x62 ? wrapped.take() : undefined;
    at = after;
    if (layout === undefined) continue;
    const start = arrayStart(reader, at);
    // An array of objects is another pickle, which begins here.
    if (layout.fields[0]?.kind === 'O') {
      if (depth === DEPTH_MAXIMUM) return;
      at = yield* within(reader, start, known, depth + 1);
      continue;
    }
    const size = bytesOf(layout);
    if (!(start + size <= reader.size)) return;
    if (size <= VALUE_BYTES_MAXIMUM) {
      yield* arrayValues(Buffer.from(reader.at(start, size)), layout);
      known(at, start + size);
    }
    at = start + size;
  }
}

/** The values of a pickle inside another one. Returns its end. */
function* within(
  reader: Reader,
  start: number,
  known: (start: number, end: number) => void,
  depth: number,
): Generator<Value, number> {
  let end = start;
  const part: Reader = {
    ...reader,
    size: reader.size - start,
    at: (position, length) => reader.at(start + position, length),
    find(needle, from, to) {
      const found = reader.find(needle, start + from, to === undefined ? undefined : start + to);
      return found < 0 ? found : found - start;
    },
  };
  const note = (from: number, to: number) => {
    known(start + from, start + to);
    end = Math.max(end, start + to);
  };
  yield* valuesIn(part, note, depth);
  return end;
}

/** The values of a pickle as members. Bytes after its end are not claimed. */
function pickleMembers(content: Content, context: ReadContext, isFile: (bytes: Buffer) => boolean): AsyncGenerator<Member> {
  return membersOfValues(content, context, isFile, (reader) => valuesIn(reader, context.claim));
}

export const pickle = format({
  id: 'pickle',
  media_type: 'application/x-python-pickle',
  recognise: withBits(24, isPickle),
  // A pickle of protocol 0 is text, and base64 text may look like one.
  traits: { is_text: true },
  limits: 'Bytes of the protocols 0 to 2 that a call puts together are not read.',
  open: (content, context) => pickleMembers(content, context, context.isFile),
});
