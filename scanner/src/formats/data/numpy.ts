import { format, withBits } from '#scanner/formats/format.ts';
import type { Content } from '#scanner/reading/content.ts';
import { JoinedPieces } from '#scanner/reading/joined-pieces.ts';
import { type Member, type ReadContext, Unreadable } from '#scanner/reading/member.ts';
import { openReader, type Reader } from '#scanner/reading/reader.ts';
import { decodedText } from '#scanner/text/text-encoding.ts';
import { VALUE_LEAST, type Value, valueMembers } from '#scanner/text/values.ts';

// Arrays saved by numpy (NEP 1, numpy/lib/format.py): a header with the element type as a Python literal, then the elements.

const MAGIC = Buffer.from('934e554d5059', 'hex');
const HEAD_BYTES_MAXIMUM = 64 * 1024;
/** Elements of larger arrays are not decoded; their bytes are examined as they are. Bytes. */
const ARRAY_BYTES_MAXIMUM = 16 * 1024 ** 2;
const FIELDS_MAXIMUM = 200;

/** The type of an element, or one field of a record. `order` is the byte order: `<`, `>`, or neither. `size` is in bytes. */
interface Field {
  order: string;
  kind: string;
  size: number;
  count: number;
}

export interface Layout {
  fields: Field[];
  shape: number[];
  is_fortran: boolean;
}

export function isNumpy(head: Buffer): boolean {
  return head.length > 10 && head.subarray(0, MAGIC.length).equals(MAGIC) && [1, 2, 3].includes(head[6] ?? 0);
}

const product = (numbers: readonly number[]) => numbers.reduce((all, one) => all * one, 1);
const numbersIn = (text: string) => (text.match(/\d{1,15}/g) ?? []).slice(0, 32).map(Number);

/** A field from numpy's type code, which is a letter and a number. `U4` means four characters of four bytes. */
function fieldOf(order: string, kind: string, number: string, count: number): Field {
  return { order, kind, size: Number(number || 1) * (kind === 'U' ? 4 : 1), count };
}

const SIMPLE = /['"]descr['"]:\s{0,4}['"]([<>|=]?)([a-zA-Z?])(\d{0,9})(?:\[\w{1,8}\])?['"]/;
const FIELD =
  /\(\s{0,4}(?:['"][^'"\n]{0,200}['"]|\([^()\n]{0,400}\)),\s{0,4}['"]([<>|=]?)([a-zA-Z?])(\d{0,9})(?:\[\w{1,8}\])?['"](?:,\s{0,4}\(([\d, ]{0,200})\))?\s{0,4}\)/g;

/** Parses the header of an array; undefined for an unknown form. */
function layoutOf(head: string): Layout | undefined {
  const shape = /['"]shape['"]:\s{0,4}\(([\d, L]{0,400})\)/.exec(head)?.[1];
  if (shape === undefined) return undefined;
  const is_fortran = /['"]fortran_order['"]:\s{0,4}True/.test(head);
  const [, order = '', kind, number = ''] = SIMPLE.exec(head) ?? [];
  const list = head.slice(0, head.search(/['"]fortran_order['"]/) >>> 0);
  const fields =
    kind === undefined
      ? [...list.matchAll(FIELD)].map(([, one = '', letter = '', size = '', many]) =>
          fieldOf(one, letter, size, many === undefined ? 1 : product(numbersIn(many))),
        )
      : [fieldOf(order, kind, number, 1)];
  return fields.length === 0 || fields.length > FIELDS_MAXIMUM ? undefined : { fields, shape: numbersIn(shape), is_fortran };
}

/** Type codes of numbers, and type codes of bytes. */
const NUMBERS = 'iufbB?';
const BYTES = 'SaV';
/** Short elements are joined as lines of text, which is given in parts of this size. Bytes. */
const LINES_BYTES = 64 * 1024;
const NEWLINE = Buffer.from('\n');

function numberAt(bytes: Buffer, at: number, { kind, size, order }: Field): number | undefined {
  const little = order !== '>';
  if (kind === 'f') {
    if (size === 8) return little ? bytes.readDoubleLE(at) : bytes.readDoubleBE(at);
    if (size === 4) return little ? bytes.readFloatLE(at) : bytes.readFloatBE(at);
    return undefined;
  }
  if (size > 6 && size !== 8) return undefined;
  // A value below 256 fits into the lower six bytes, so the upper two must be zero.
  if (size === 8) {
    const high = little ? bytes.readUInt16LE(at + 6) : bytes.readUInt16BE(at);
    return high === 0 ? (little ? bytes.readUIntLE(at, 6) : bytes.readUIntBE(at + 2, 6)) : undefined;
  }
  return little ? bytes.readUIntLE(at, size) : bytes.readUIntBE(at, size);
}

/** Converts numbers from 0 to 255 to bytes; undefined if any number is outside this range. */
function bytesOfNumbers(bytes: Buffer, field: Field, count: number): Buffer | undefined {
  const plain = Buffer.allocUnsafe(count);
  for (let index = 0; index < count; index += 1) {
    const number = numberAt(bytes, index * field.size, field);
    if (number === undefined || !Number.isInteger(number) || number < 0 || number > 255) return undefined;
    plain[index] = number;
  }
  return plain;
}

/** Reorders the bytes of a matrix from columns to rows; undefined if there are not two dimensions. */
function turned(bytes: Buffer, shape: readonly number[]): Buffer | undefined {
  const [rows = 0, columns = 0] = shape;
  if (shape.length !== 2 || rows * columns !== bytes.length) return undefined;
  const plain = Buffer.allocUnsafe(bytes.length);
  for (let row = 0; row < rows; row += 1)
    for (let column = 0; column < columns; column += 1) plain[row * columns + column] = bytes[column * rows + row] ?? 0;
  return plain;
}

function trimmed(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  return bytes.subarray(0, end);
}

/** Converts UTF-32 text to UTF-8, without the zeros of its padding. */
function widened(bytes: Buffer, order: string): Buffer {
  let end = bytes.length;
  while (end >= 4 && bytes.readUInt32LE(end - 4) === 0) end -= 4;
  return Buffer.concat([
    ...decodedText([bytes.subarray(0, end)], { encoding: order === '>' ? 'utf-32be' : 'utf-32le', mark_bytes: 0 }),
  ]);
}

function isPlain(bytes: Buffer): boolean {
  for (let at = 0; at < bytes.length; at += 1) if ((bytes[at] ?? 0) < 9) return false;
  return true;
}

/** Decodes the elements of an array in memory. */
export function* arrayValues(bytes: Buffer, { fields, shape, is_fortran }: Layout): Generator<Value> {
  const record_bytes = fields.reduce((sum, { size, count }) => sum + size * count, 0);
  const records = Math.min(product(shape), record_bytes > 0 ? Math.floor(bytes.length / record_bytes) : 0);
  const [only] = fields;
  if (fields.length === 1 && only !== undefined && only.count === 1 && NUMBERS.includes(only.kind)) {
    const plain = only.size === 1 ? bytes.subarray(0, records) : bytesOfNumbers(bytes, only, records);
    if (plain === undefined || plain.length < VALUE_LEAST) return;
    yield { bytes: plain, is_text: false };
    const other = is_fortran ? turned(plain, shape) : undefined;
    if (other !== undefined) yield { bytes: other, is_text: false };
    return;
  }
  const lines = new JoinedPieces(NEWLINE);
  for (let record = 0; record < records; record += 1) {
    let at = record * record_bytes;
    for (const { kind, size, count, order } of fields) {
      for (let element = 0; element < count && size > 0 && kind !== 'O'; element += 1) {
        const value = bytes.subarray(at + element * size, at + (element + 1) * size);
        const is_wide = kind === 'U';
        if (!is_wide && !BYTES.includes(kind)) break;
        const plain = is_wide ? widened(value, order) : trimmed(value);
        const is_text = is_wide || (kind !== 'V' && isPlain(plain));
        if (!is_text || size >= VALUE_LEAST * (is_wide ? 4 : 1)) {
          yield { bytes: plain, is_text };
          continue;
        }
        lines.add(plain);
        if (lines.length >= LINES_BYTES) yield { bytes: lines.take(), is_text: true };
      }
      at += size * count;
    }
  }
  if (lines.length > 0) yield { bytes: lines.take(), is_text: true };
}

/** The layout of an array that another file describes: its type code, byte order and shape. */
export function layoutFrom(kind: string, order: string, shape: number[]): Layout | undefined {
  const [, letter, number = ''] = /^([a-zA-Z?])(\d{1,9})$/.exec(kind) ?? [];
  if (letter === undefined) return undefined;
  return { fields: [fieldOf(order, letter, number, 1)], shape, is_fortran: false };
}

/** The claimed size of an array. Bytes. */
export function bytesOf({ fields, shape }: Layout): number {
  const bytes = product(shape) * fields.reduce((sum, { size, count }) => sum + size * count, 0);
  return Number.isNaN(bytes) ? 0 : bytes;
}

/** The start of the elements, and their layout. */
function arrayIn(reader: Reader): { start: number; layout: Layout | undefined } {
  const head = reader.at(0, 12);
  const is_first = head[6] === 1;
  if (head.length < 12) throw new Unreadable('damaged');
  const from = is_first ? 10 : 12;
  const size = is_first ? head.readUInt16LE(8) : head.readUInt32LE(8);
  if (from + size > reader.size) throw new Unreadable('damaged');
  return { start: from + size, layout: layoutOf(reader.at(from, Math.min(size, HEAD_BYTES_MAXIMUM)).toString('latin1')) };
}

/** The elements of an array. Texts and byte strings are separate values. An array of objects is a pickle, which is recognised after the header. */
async function* numpyMembers(content: Content, context: ReadContext, isFile: (bytes: Buffer) => boolean): AsyncGenerator<Member> {
  using reader = openReader(content, context.budget);
  const { start, layout } = arrayIn(reader);
  context.claim(0, start);
  if (layout === undefined || layout.fields.some(({ kind }) => kind === 'O')) return;
  const size = Math.min(bytesOf(layout), reader.size - start);
  if (size > ARRAY_BYTES_MAXIMUM) return;
  yield* valueMembers(arrayValues(Buffer.from(reader.at(start, size)), layout), context, isFile);
  context.claim(start, start + size);
}

export const numpy = format({
  id: 'numpy',
  media_type: 'application/x-numpy-array',
  recognise: withBits(50, isNumpy),
  limits: null,
  open: (content, context) => numpyMembers(content, context, context.isFile),
});
