// A module of Visual Basic keeps its compiled form before its packed source, and Office runs that form if its own version made it. An author who removes the source, or
// replaces it ("stomping"), shows readers nothing or a lie. The compiled form is not documented (MS-OVBA 2.3.4.3 calls it a cache); only its table of lines and the
// texts in them are read here, as known from disassemblers. Version 5 is the one of Office 97, version 3 of Excel 5 and 95.

const MODULE = {
  begin: 0x1601,
  table_from: 0x19,
  table_after: 0x3c,
  magic: 0xcafe,
  head_bytes: 6,
  line_bytes: 12,
  gap_bytes: 10,
} as const;
/** The layout before the table's place in a module of version 5: counted structures, of so many bytes an item, with fixed ones between them. */
const OLD = { first: 11, behind_first: 64, item_bytes: 16, behind_third: 6, behind_last: 77 } as const;
/** "Push this text": since version 6 (of 32 and of 64 bits), and of version 5. */
const PUSH_TEXT: readonly number[] = [0xb6, 0xb9];
const OLD_PUSH_TEXT: readonly number[] = [0xae];
/** Shorter ones stand among the numbers by chance. Characters. */
const TEXT_LEAST = 6;
const TEXTS_MAXIMUM = 2000;
/** The stream of a project that says by which version it was compiled: its mark, and the first version of Visual Basic 6. */
const PROJECT = { mark: 0x61cc, sixth: 0x6b } as const;

/** The compiled form of a module: the lines that are not empty, and texts in them. */
interface Compiled {
  lines: number;
  texts: string[];
}

/**
 * Numbers of a module: programs for old Macs wrote the higher byte first, which its second number shows. Numbers outside of the
 * module are 0.
 */
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

/** Where the table of lines stands in a module of version 5. */
function oldTable({ word, long }: Numbers): number {
  const behind = (at: number) => at + 4 + long(at);
  const third = behind(OLD.first) + OLD.behind_first;
  const last = behind(third + 2 + word(third) * OLD.item_bytes) + OLD.behind_third;
  return long(behind(last) + OLD.behind_last) + MODULE.table_after;
}

/** Whether a stream begins as a compiled module does. */
export function isModule(stream: Buffer): boolean {
  return stream.length >= 4 && stream.readUInt16LE(0) === MODULE.begin;
}

/** Whether the stream `_VBA_PROJECT` says that its modules were compiled before Visual Basic 6. */
export function isOldProject(head: Buffer): boolean {
  if (head.length < 4 || head.readUInt16LE(0) !== PROJECT.mark) return false;
  return Math.min(head.readUInt16LE(2), head.readUInt16BE(2)) < PROJECT.sixth;
}

/** Undefined for a stream that is no compiled module, or one whose table is nowhere to be found. */
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

/** Lines of a source beside those that Office writes before it and people never see. */
const isCode = (line: string) => line.trim() !== '' && !/^Attribute VB_/i.test(line);

/**
 * Hidden code of a module, which its source does not show: the source is `missing`, or it `differs`, or it is compiled in a way that cannot be read here (`unknown`,
 * for modules of an old project alone). Undefined where the source and the compiled texts agree, and where there is no compiled form. `sources` are those in the
 * stream, unpacked.
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
