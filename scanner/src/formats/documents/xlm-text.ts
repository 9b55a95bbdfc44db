import type { Budget } from '#scanner/reading/limits.ts';
import { type Cell, cellName, type Formula, knownOf, printed, type ValueAt } from './xlm-formula.ts';
import { parseFormula } from './xlm-parse.ts';

// Prints macro sheets as text for rules: one line for each formula, with known values inserted.

/** First line of the text. */
const TITLE = 'Excel 4 macro sheets';
/** Maximum length of the text; a longer text is cut, which `is_cut` reports. Characters. */
const TEXT_MAXIMUM = 2 * 1024 ** 2;
/** Maximum depth of cells that refer to other cells. */
const CHAIN_MAXIMUM = 32;

export interface MacroSheet {
  name: string;
  cells: Map<string, string | number | boolean>;
  /** Values of formulas when the workbook was saved. */
  saved: Map<string, string | number | boolean>;
  formulas: { cell: Cell; formula: Formula }[];
}

export function newSheet(name: string): MacroSheet {
  return { name, cells: new Map(), saved: new Map(), formulas: [] };
}

/** Key of a cell in the maps of a sheet. */
export function keyOf({ row, column }: Cell): string {
  return `${row},${column}`;
}

/** Looks up the values of cells. Each formula is evaluated once. */
function lookUp(sheets: readonly MacroSheet[], sheet: MacroSheet): ValueAt {
  const formulas = new Map(sheets.map((one) => [one, new Map(one.formulas.map(({ cell, formula }) => [keyOf(cell), formula]))]));
  const known = new Map<string, string | number | boolean | undefined>();
  let chain = 0;
  const valueAt: ValueAt = (cell, name) => {
    const place = name === undefined ? sheet : (sheets.find((one) => one.name === name) ?? sheet);
    const key = keyOf(cell);
    const own = place.cells.get(key);
    if (own !== undefined) return own;
    const full_key = `${place.name}!${key}`;
    if (known.has(full_key) || chain > CHAIN_MAXIMUM) return known.get(full_key);
    // A circular reference gets the saved value.
    known.set(full_key, place.saved.get(key));
    const formula = formulas.get(place)?.get(key);
    if (formula === undefined) return known.get(full_key);
    chain += 1;
    const value = knownOf(formula, valueAt) ?? place.saved.get(key);
    chain -= 1;
    known.set(full_key, value);
    return value;
  };
  return valueAt;
}

/** The formula that another formula writes into a cell to be run: FORMULA("=EXEC(...)", B1). */
function written(formula: Formula, valueAt: ValueAt): string | undefined {
  if (formula.kind !== 'call' || !/^FORMULA(\.FILL|\.ARRAY)?$/.test(formula.name)) return undefined;
  const [first] = formula.parts;
  const text = first === undefined ? undefined : knownOf(first, valueAt);
  return typeof text === 'string' && text.startsWith('=') ? printed(parseFormula(text.slice(1)), valueAt) : undefined;
}

/** Text of the macro sheets. `is_cut` means that it was truncated. */
export interface MacroText {
  text: string;
  is_cut: boolean;
}

/** The text of the macro sheets and defined names of a workbook; undefined if no sheet has a formula. Excel runs names that begin with Auto_ automatically. */
export function macroText(
  sheets: readonly MacroSheet[],
  names: readonly { name: string; formula: Formula | undefined }[],
  budget: Budget,
): MacroText | undefined {
  if (!sheets.some(({ formulas }) => formulas.length > 0)) return undefined;
  const lines = [TITLE];
  let length = 0;
  const say = (line: string): boolean => {
    lines.push(line.replaceAll(/[\r\n]+/g, ' '));
    length += line.length;
    budget.spend(line.length);
    return length < TEXT_MAXIMUM;
  };
  const nowhere: ValueAt = () => undefined;
  for (const { name, formula } of names) {
    const plain = name.replace(/^_xlnm\./i, '');
    if (!say(`${plain}: =${formula === undefined ? '' : printed(formula, nowhere)}`))
      return { text: lines.join('\n'), is_cut: true };
  }
  for (const sheet of sheets) {
    say(`[${sheet.name}]`);
    const valueAt = lookUp(sheets, sheet);
    for (const { cell, formula } of sheet.formulas) {
      if (!say(`${cellName(cell)}: =${printed(formula, valueAt)}`)) return { text: lines.join('\n'), is_cut: true };
      const inner = written(formula, valueAt);
      if (inner !== undefined && !say(`${cellName(cell)} writes: =${inner}`)) return { text: lines.join('\n'), is_cut: true };
    }
  }
  return { text: `${lines.join('\n')}\n`, is_cut: false };
}
