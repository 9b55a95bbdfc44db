// A module of Visual Basic keeps what it was compiled to before its packed source, and Office runs that as long as its own version made it. Who takes the source away, or
// puts another in its place ("stomping"), shows readers nothing or a lie. The compiled form is not documented (MS-OVBA 2.3.4.3 calls it a cache); what is
// read here are its table of lines and the texts in them, as tools that take it apart know them.

const MODULE = {
  begin: 0x1601,
  table_from: 0x19,
  table_after: 0x3c,
  magic: 0xcafe,
  head_bytes: 6,
  line_bytes: 12,
  gap_bytes: 10,
} as const;
/** "Push this text": of versions of 32 and of 64 bits. */
const PUSH_TEXT: readonly number[] = [0xb6, 0xb9];
/** Shorter ones stand among the numbers by chance. Characters. */
const TEXT_LEAST = 6;
const TEXTS_MAXIMUM = 2000;

/** The compiled form of a module: the lines that are not empty, and texts in them. */
interface Compiled {
  lines: number;
  texts: string[];
}

function* textsIn(code: Buffer): Generator<string> {
  for (let at = 0; at + 4 <= code.length; at += 2) {
    if (!PUSH_TEXT.includes(code.readUInt16LE(at))) continue;
    const length = code.readUInt16LE(at + 2);
    const text = code.subarray(at + 4, at + 4 + length);
    if (length < TEXT_LEAST || text.length < length || text.some((byte) => byte < 0x20 && byte !== 9)) continue;
    yield text.toString('latin1');
    at += 2 + length + (length % 2);
  }
}

/** Undefined for a stream that is no compiled module. */
function compiledOf(stream: Buffer): Compiled | undefined {
  if (stream.length < 0x60 || stream.readUInt16LE(0) !== MODULE.begin) return undefined;
  const table = stream.readUInt32LE(MODULE.table_from) + MODULE.table_after;
  if (table + MODULE.head_bytes > stream.length || stream.readUInt16LE(table) !== MODULE.magic) return undefined;
  const count = stream.readUInt16LE(table + 4);
  const first = table + MODULE.head_bytes;
  const code_at = first + count * MODULE.line_bytes + MODULE.gap_bytes;
  const compiled: Compiled = { lines: 0, texts: [] };
  for (let line = 0; line < count && first + (line + 1) * MODULE.line_bytes <= stream.length; line += 1) {
    const at = first + line * MODULE.line_bytes;
    const length = stream.readUInt16LE(at + 4);
    const start = code_at + stream.readUInt32LE(at + 8);
    if (length === 0 || start + length > stream.length) continue;
    compiled.lines += 1;
    if (compiled.texts.length < TEXTS_MAXIMUM) compiled.texts.push(...textsIn(stream.subarray(start, start + length)));
  }
  return compiled;
}

/** Lines of a source beside those that Office writes before it and people never see. */
const isCode = (line: string) => line.trim() !== '' && !/^Attribute VB_/i.test(line);

/**
 * What a module runs although its source does not show it: the source is `missing`, or it `differs`. Undefined where the source tells the truth, as far as
 * its texts do, and where nothing is compiled. `sources` are those in the stream, unpacked.
 */
export function hiddenCode(
  stream: Buffer,
  sources: readonly Buffer[],
): { source: 'missing' | 'differs'; texts: string[] } | undefined {
  const compiled = compiledOf(stream);
  if (compiled === undefined || compiled.lines === 0) return undefined;
  const source = sources.map((bytes) => bytes.toString('latin1')).join('\n');
  if (!source.split(/[\r\n]+/).some(isCode)) return { source: 'missing', texts: compiled.texts };
  const untold = compiled.texts.filter((text) => !source.includes(text.replaceAll('"', '""')));
  return untold.length > 0 ? { source: 'differs', texts: compiled.texts } : undefined;
}
