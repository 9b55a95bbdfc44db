import type { Budget } from '#scanner/reading/limits.ts';
import { countedText, type Edition, formulaOf, rkNumber } from './biff-formula.ts';
import { keyOf, type MacroSheet, type MacroText, macroText, newSheet } from './xlm-text.ts';

// Reads the macro sheets of workbooks of Excel 5 to 2003 (MS-XLS). Macro sheets predate Visual Basic, still run in Excel, and are in the same stream as all
// other sheets.

const RECORD = {
  formula: 0x0006,
  eof: 0x000a,
  name: 0x0018,
  bof: 0x0809,
  bound_sheet: 0x0085,
  label: 0x0204,
  label_sst: 0x00fd,
  number: 0x0203,
  rk: 0x027e,
  mul_rk: 0x00bd,
  string: 0x0207,
  sst: 0x00fc,
  continued: 0x003c,
} as const;
const MACRO_SHEET = 0x0040;
const BIFF8 = 0x0600;
/** Built-in names, by the character code with which they are stored. */
const OWN_NAMES: Readonly<Record<number, string>> = {
  1: 'Auto_Open',
  2: 'Auto_Close',
  10: 'Auto_Activate',
  11: 'Auto_Deactivate',
};
const NAMES_MAXIMUM = 4096;
const TEXTS_MAXIMUM = 65_536;
const SHEETS_MAXIMUM = 4096;
/** Maximum number of cell and name records that are kept, and of their bytes. In memory, a cell takes many times its size in the file. */
const KEPT = { cells: 200_000, bytes: 16 * 1024 ** 2 } as const;

interface BiffRecord {
  type: number;
  body: Buffer;
}

/** The records of a stream in pieces; the last one may be truncated. A record is valid until the next one is requested. */
function* recordsOf(pieces: Iterable<Buffer>): Generator<BiffRecord> {
  let held: Buffer = Buffer.alloc(0);
  const recordAt = (bytes: Buffer, at: number): BiffRecord => ({
    type: bytes.readUInt16LE(at),
    body: bytes.subarray(at + 4, at + 4 + bytes.readUInt16LE(at + 2)),
  });
  for (const piece of pieces) {
    const bytes = held.length === 0 ? piece : Buffer.concat([held, piece]);
    let at = 0;
    while (at + 4 <= bytes.length && at + 4 + bytes.readUInt16LE(at + 2) <= bytes.length) {
      const record = recordAt(bytes, at);
      yield record;
      at += 4 + record.body.length;
    }
    held = bytes.subarray(at);
  }
  if (held.length >= 4) yield recordAt(held, 0);
}

/** The shared strings (MS-XLS 2.4.265) of one record. A string that continues in the next record, and those after it, are omitted. */
function sharedTexts(body: Buffer): string[] {
  const texts: string[] = [];
  for (let at = 8; at + 3 <= body.length && texts.length < TEXTS_MAXIMUM; ) {
    const count = body.readUInt16LE(at);
    const flags = body[at + 2] ?? 0;
    const runs = (flags & 8) !== 0 && at + 5 <= body.length ? body.readUInt16LE(at + 3) : 0;
    const extra_at = at + 3 + ((flags & 8) !== 0 ? 2 : 0);
    const extra = (flags & 4) !== 0 && extra_at + 4 <= body.length ? body.readUInt32LE(extra_at) : 0;
    const start = extra_at + ((flags & 4) !== 0 ? 4 : 0);
    const end = start + count * ((flags & 1) === 1 ? 2 : 1);
    if (end > body.length) break;
    texts.push(body.toString((flags & 1) === 1 ? 'utf16le' : 'latin1', start, end));
    at = end + runs * 4 + extra;
  }
  return texts;
}

/** A defined name (MS-XLS 2.4.150) with the tokens of its formula; undefined if the record is too short. */
function nameOf(body: Buffer, edition: Edition): { name: string; tokens: Buffer } | undefined {
  if (body.length < 15) return undefined;
  const is_own = (body.readUInt16LE(0) & 0x20) !== 0;
  const count = body[3] ?? 0;
  const is_wide = edition === 'biff8' && ((body[14] ?? 0) & 1) === 1;
  const start = edition === 'biff8' ? 15 : 14;
  const end = start + count * (is_wide ? 2 : 1);
  const text = body.toString(is_wide ? 'utf16le' : 'latin1', start, end);
  // A copy, because the original keeps a much larger buffer in memory.
  const tokens = Buffer.from(body.subarray(end, end + body.readUInt16LE(4)));
  return { name: is_own ? (OWN_NAMES[text.charCodeAt(0)] ?? `name ${text.charCodeAt(0)}`) : text, tokens };
}

/** Counts the kept parts of macro sheets against the limits. */
class Kept {
  is_cut = false;
  private cells = 0;
  private bytes = 0;

  /** Whether there is room for a record with this number of cells. A name counts as one cell. */
  has(cells: number, bytes: number): boolean {
    if (this.cells + cells > KEPT.cells || this.bytes + bytes > KEPT.bytes) this.is_cut = true;
    if (this.is_cut) return false;
    this.cells += cells;
    this.bytes += bytes;
    return true;
  }
}

/** Whether a stream that begins with these bytes is a workbook. */
export function isWorkbook(head: Buffer): boolean {
  return head.length >= 8 && head.readUInt16LE(0) === RECORD.bof;
}

/**
 * The macro sheets of a workbook stream as text for rules; undefined if it has none. `is_cut` means that some parts exceeded the limits. `onText` receives the
 * cell texts of other sheets, which are not kept.
 */
export function xlsMacros(
  head: Buffer,
  pieces: Iterable<Buffer>,
  budget: Budget,
  onText: (text: string) => void = () => {},
): MacroText | undefined {
  if (!isWorkbook(head)) return undefined;
  const edition: Edition = head.readUInt16LE(4) === BIFF8 ? 'biff8' : 'biff5';
  const kept = new Kept();
  const names: { name: string; tokens: Buffer }[] = [];
  const sheet_names: string[] = [];
  const sheets: MacroSheet[] = [];
  let texts: string[] = [];
  let sheet: MacroSheet | undefined;
  /** Number of substreams begun. They can be nested, as charts are in sheets. */
  let began = 0;
  let last: { row: number; column: number } | undefined;
  for (const { type, body } of recordsOf(pieces)) {
    budget.spend(body.length + 4);
    const cell = body.length >= 6 ? { row: body.readUInt16LE(0), column: body.readUInt16LE(2) } : undefined;
    switch (type) {
      case RECORD.bof:
        if (began > 0 && body.length >= 4) {
          const is_macro = body.readUInt16LE(2) === MACRO_SHEET;
          if (is_macro && sheets.length === SHEETS_MAXIMUM) kept.is_cut = true;
          sheet = is_macro && sheets.length < SHEETS_MAXIMUM ? newSheet(`${sheets.length + 1}`) : undefined;
          if (sheet !== undefined) sheets.push(sheet);
        }
        began += 1;
        break;
      case RECORD.eof:
        sheet = undefined;
        break;
      case RECORD.bound_sheet:
        // Sheet type 1 is a macro sheet.
        if (body.length > 8 && body[5] === 1 && sheet_names.length < SHEETS_MAXIMUM)
          sheet_names.push(countedText(body, 6, edition).text);
        break;
      case RECORD.name: {
        if (names.length === NAMES_MAXIMUM) kept.is_cut = true;
        const found = names.length < NAMES_MAXIMUM && kept.has(1, body.length) ? nameOf(body, edition) : undefined;
        if (found !== undefined) names.push(found);
        break;
      }
      case RECORD.sst:
        texts = sharedTexts(body);
        texts.forEach(onText);
        break;
      case RECORD.string:
        // The saved value of the formula in the previous record.
        if (sheet !== undefined && last !== undefined && body.length > 3 && kept.has(1, body.length)) {
          const is_wide = edition === 'biff8' && ((body[2] ?? 0) & 1) === 1;
          sheet.saved.set(keyOf(last), body.toString(is_wide ? 'utf16le' : 'latin1', edition === 'biff8' ? 3 : 2));
        }
        break;
      default:
        if (type === RECORD.formula) last = cell;
        if (type === RECORD.label && sheet === undefined) onText(labelOf(body, edition));
        if (sheet === undefined || cell === undefined || !CELLS.includes(type)) break;
        if (kept.has(type === RECORD.mul_rk ? Math.ceil(body.length / 6) : 1, body.length))
          takeCell(sheet, cell, { type, body }, { edition, texts, names });
    }
  }
  for (const [index, name] of sheet_names.entries()) {
    const found = sheets[index];
    if (found !== undefined) found.name = name;
  }
  const own = names.map(({ name, tokens }) => ({ name, formula: formulaOf(tokens, edition, () => undefined) }));
  const made = macroText(sheets, own, budget);
  if (made === undefined) return kept.is_cut ? { text: '', is_cut: true } : undefined;
  return { text: made.text, is_cut: made.is_cut || kept.is_cut };
}

/** Record types of cells. */
const CELLS: readonly number[] = [RECORD.label_sst, RECORD.label, RECORD.number, RECORD.rk, RECORD.mul_rk, RECORD.formula];

/** The text that is stored in a cell record itself. */
function labelOf(body: Buffer, edition: Edition): string {
  const is_wide = edition === 'biff8' && ((body[8] ?? 0) & 1) === 1;
  return body.toString(is_wide ? 'utf16le' : 'latin1', edition === 'biff8' ? 9 : 8);
}

/** Adds a cell record to a macro sheet. */
function takeCell(
  sheet: MacroSheet,
  cell: { row: number; column: number },
  { type, body }: BiffRecord,
  known: { edition: Edition; texts: readonly string[]; names: readonly { name: string }[] },
): void {
  const { edition, texts, names } = known;
  switch (type) {
    case RECORD.label_sst:
      if (body.length >= 10) sheet.cells.set(keyOf(cell), texts[body.readUInt32LE(6)] ?? '');
      break;
    case RECORD.label:
      if (body.length >= 8) sheet.cells.set(keyOf(cell), labelOf(body, edition));
      break;
    case RECORD.number:
      if (body.length >= 14) sheet.cells.set(keyOf(cell), body.readDoubleLE(6));
      break;
    case RECORD.rk:
      if (body.length >= 10) sheet.cells.set(keyOf(cell), rkNumber(body.readInt32LE(6)));
      break;
    case RECORD.mul_rk:
      for (let at = 4, column = cell.column; at + 6 <= body.length - 2; at += 6, column += 1)
        sheet.cells.set(keyOf({ row: cell.row, column }), rkNumber(body.readInt32LE(at + 2)));
      break;
    case RECORD.formula: {
      if (body.length < 22) break;
      const formula = formulaOf(body.subarray(22, 22 + body.readUInt16LE(20)), edition, (index) => names[index - 1]?.name);
      if (formula !== undefined) sheet.formulas.push({ cell, formula });
    }
  }
}
