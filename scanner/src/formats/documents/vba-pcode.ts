// A VBA module stores its compiled code before its compressed source, and Office runs the compiled code if the same Office version made it. Removing or
// replacing the source ("stomping") hides the code from readers. The compiled form is undocumented (MS-OVBA 2.3.4.3 calls it a cache); only its line table and
// strings are read here, as known from disassemblers. Version 5 belongs to Office 97, version 3 to Excel 5 and 95.

const MODULE = {
  begin: 0x1601,
  table_from: 0x19,
  table_after: 0x3c,
  magic: 0xcafe,
  head_bytes: 6,
  line_bytes: 12,
  gap_bytes: 10,
} as const;
/** Layout of a version 5 module before the position of its line table: counted arrays with items of `item_bytes`, and fixed structures between them. Bytes. */
const OLD = { first: 11, behind_first: 64, item_bytes: 16, behind_third: 6, behind_last: 77 } as const;
/** Opcodes that push a string: of version 6 and later (32-bit and 64-bit), and of version 5. */
const PUSH_TEXT: readonly number[] = [0xb6, 0xb9];
const OLD_PUSH_TEXT: readonly number[] = [0xae];
/** Minimum length of a string; shorter ones occur in other data by chance. Characters. */
const TEXT_LEAST = 6;
const TEXTS_MAXIMUM = 2000;
/** Magic of the stream `_VBA_PROJECT`, and the first version number of Visual Basic 6. */
const PROJECT = { mark: 0x61cc, sixth: 0x6b } as const;

/** The compiled form of a module: the number of non-empty lines, and the strings in them. */
interface Compiled {
  lines: number;
  texts: string[];
}

/** Reads numbers of a module. Old Mac versions wrote them in big-endian order, which the second number shows. Numbers outside the module are 0. */
interface Numbers {
  word(at: number): number;
  long(at: number): number;
}

function numbersOf(stream: Buffer): Numbers {
  const is_big = stream.length >= 4 && stream.readUInt16LE(2) > 0xff;
  const isIn = (at: number, bytes: number) => at >= 0 && at + bytes <= stream.length;
  return {
    word: (at) => (!isIn(at, 2) ? 0 : is_big ? stream.readUInt16BE(at) : stream.readUInt16LE(at)),
    long: (at) => (!isIn(at, 4) ? 0 : is_big ? stream.readUInt32BE(at) : stream.readUInt32LE(at)),
  };
}

function* textsIn(code: Buffer, { word }: Numbers, start: number, push: readonly number[]): Generator<string> {
  for (let at = 0; at + 4 <= code.length; at += 2) {
    if (!push.includes(word(start + at))) continue;
    const length = word(start + at + 2);
    const text = code.subarray(at + 4, at + 4 + length);
    if (length < TEXT_LEAST || text.length < length || text.some((byte) => byte < 0x20 && byte !== 9)) continue;
    yield text.toString('latin1');
    at += 2 + length + (length % 2);
  }
}

/** Position of the line table in a version 5 module. */
function oldTable({ word, long }: Numbers): number {
  const behind = (at: number) => at + 4 + long(at);
  const third = behind(OLD.first) + OLD.behind_first;
  const last = behind(third + 2 + word(third) * OLD.item_bytes) + OLD.behind_third;
  return long(behind(last) + OLD.behind_last) + MODULE.table_after;
}

/** Whether a stream begins like a compiled module. */
export function isModule(stream: Buffer): boolean {
  return stream.length >= 4 && stream.readUInt16LE(0) === MODULE.begin;
}

/** Whether the stream `_VBA_PROJECT` states that the modules were compiled before Visual Basic 6. */
export function isOldProject(head: Buffer): boolean {
  if (head.length < 4 || head.readUInt16LE(0) !== PROJECT.mark) return false;
  return Math.min(head.readUInt16LE(2), head.readUInt16BE(2)) < PROJECT.sixth;
}

/** Reads the compiled form; undefined if the stream is not a compiled module or its line table is not found. */
function compiledOf(stream: Buffer): Compiled | undefined {
  if (stream.length < 0x60 || !isModule(stream)) return undefined;
  const numbers = numbersOf(stream);
  const { word, long } = numbers;
  for (const { table, push } of [
    { table: long(MODULE.table_from) + MODULE.table_after, push: PUSH_TEXT },
    { table: oldTable(numbers), push: OLD_PUSH_TEXT },
  ]) {
    if (word(table) !== MODULE.magic || table + MODULE.head_bytes > stream.length) continue;
    const count = word(table + 4);
    const first = table + MODULE.head_bytes;
    const code_at = first + count * MODULE.line_bytes + MODULE.gap_bytes;
    const compiled: Compiled = { lines: 0, texts: [] };
    for (let line = 0; line < count && first + (line + 1) * MODULE.line_bytes <= stream.length; line += 1) {
      const at = first + line * MODULE.line_bytes;
      const length = word(at + 4);
      const start = code_at + long(at + 8);
      if (length === 0 || start + length > stream.length) continue;
      compiled.lines += 1;
      if (compiled.texts.length < TEXTS_MAXIMUM)
        compiled.texts.push(...textsIn(stream.subarray(start, start + length), numbers, start, push));
    }
    return compiled;
  }
  return undefined;
}

/** Whether a source line is code. Office adds `Attribute VB_` lines that users do not see. */
const isCode = (line: string) => line.trim() !== '' && !/^Attribute VB_/i.test(line);

/**
 * Compiled code that the source does not show: the source is `missing`, it `differs`, or the compiled form cannot be read (`unknown`, only for modules of old
 * projects). Undefined if all compiled strings occur in the source or there is no compiled form. `sources` are the unpacked sources of the stream.
 */
export function hiddenCode(
  stream: Buffer,
  sources: readonly Buffer[],
  is_old: boolean,
): { source: 'missing' | 'differs' | 'unknown'; texts: string[] } | undefined {
  const compiled = compiledOf(stream);
  if (compiled === undefined && is_old && isModule(stream)) return { source: 'unknown', texts: [] };
  if (compiled === undefined || compiled.lines === 0) return undefined;
  const source = sources.map((bytes) => bytes.toString('latin1')).join('\n');
  if (!source.split(/[\r\n]+/).some(isCode)) return { source: 'missing', texts: compiled.texts };
  const untold = compiled.texts.filter((text) => !source.includes(text.replaceAll('"', '""')));
  return untold.length > 0 ? { source: 'differs', texts: compiled.texts } : undefined;
}
