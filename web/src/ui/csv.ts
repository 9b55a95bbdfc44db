import { saveFile } from './save-file.ts';

/** Excel takes a file without it for one in the machine's old code page. */
const BYTE_ORDER_MARK = '\uFEFF';

// OWASP, "CSV Injection": what a spreadsheet takes for the start of a formula, also in full width, also after quotes and blanks.
const FORMULA_AT_START = /^[\s"'\uFEFF\u200B]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/u;
const CONTROL_AT_START = /^[\t\r\n]/u;
// Where another separator is the custom (";" in much of Europe), a cell that holds one is split, and its rest is a cell of its own.
const FORMULA_AFTER_SEPARATOR = /([;,\t\r\n|]["'\s]*)(?=[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/gu;

/** One cell by RFC 4180, always in quotes, that no spreadsheet executes: an apostrophe makes text of what would be a formula. */
export function csvCell(text: string): string {
  const apart = text.replace(FORMULA_AFTER_SEPARATOR, "$1'");
  const safe = FORMULA_AT_START.test(apart) || CONTROL_AT_START.test(apart) ? `'${apart}` : apart;
  return `"${safe.replaceAll('"', '""')}"`;
}

/** A file for spreadsheets: RFC 4180 with CRLF, in UTF-8 with a byte order mark. */
export function csvTable(rows: readonly (readonly string[])[]): string {
  return BYTE_ORDER_MARK + rows.map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('');
}

/** Has the browser save the file. */
export function downloadCsv(name: string, content: string): void {
  saveFile(name, new Blob([content], { type: 'text/csv;charset=utf-8' }));
}
