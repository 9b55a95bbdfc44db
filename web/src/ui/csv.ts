import { saveFile } from './save-file.ts';

/** Without it, Excel reads the file in the computer's legacy code page. */
const BYTE_ORDER_MARK = '\uFEFF';

// OWASP, "CSV Injection": characters that start a formula in a spreadsheet, including full-width forms, and after quotes and spaces.
const FORMULA_AT_START = /^[\s"'\uFEFF\u200B]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/u;
const CONTROL_AT_START = /^[\t\r\n]/u;
// Spreadsheets with another separator (";" in much of Europe) split the cell there, and the next cell may start a formula.
const FORMULA_AFTER_SEPARATOR = /([;,\t\r\n|]["'\s]*)(?=[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/gu;

/** One quoted cell by RFC 4180 that no spreadsheet executes: an apostrophe turns a formula into text. */
export function csvCell(text: string): string {
  const apart = text.replace(FORMULA_AFTER_SEPARATOR, "$1'");
  const safe = FORMULA_AT_START.test(apart) || CONTROL_AT_START.test(apart) ? `'${apart}` : apart;
  return `"${safe.replaceAll('"', '""')}"`;
}

/** A file for spreadsheets: RFC 4180 with CRLF, in UTF-8 with a byte order mark. */
export function csvTable(rows: readonly (readonly string[])[]): string {
  return BYTE_ORDER_MARK + rows.map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('');
}

/** Makes the browser save the file. */
export function downloadCsv(name: string, content: string): void {
  saveFile(name, new Blob([content], { type: 'text/csv;charset=utf-8' }));
}
