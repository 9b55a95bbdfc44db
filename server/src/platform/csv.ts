/** Without it, Excel reads the file in the machine's legacy code page. */
export const BYTE_ORDER_MARK = '\uFEFF';

// OWASP, "CSV Injection": characters that begin a formula in a spreadsheet, also in full width, after quotes and blanks, and after another separator.
const FORMULA_AT_START = /^[\s"'\uFEFF\u200B]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/u;
const CONTROL_AT_START = /^[\t\r\n]/u;
// The expression looks back from the sign over the blanks before it: matching forwards would take quadratic time on a text of blanks.
const FORMULA_AFTER_SEPARATOR = /(?=[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])(?<=[;,\t\r\n|]["'\s]*)/gu;

function csvCell(text: string): string {
  const apart = text.replace(FORMULA_AFTER_SEPARATOR, "'");
  const safe = FORMULA_AT_START.test(apart) || CONTROL_AT_START.test(apart) ? `'${apart}` : apart;
  return `"${safe.replaceAll('"', '""')}"`;
}

/** One line by RFC 4180 with its CRLF; every cell is quoted, and formulas are disarmed. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}
