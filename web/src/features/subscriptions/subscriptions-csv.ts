import type { Subscription } from '@palisade/contract/subscription';
import { describeType } from './plan-words.ts';
import { STATUS_LABELS } from './subscription-view.ts';

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

const HEADER = [
  'User email',
  'Username',
  'Plan',
  'Price',
  'Currency',
  'Duration (months)',
  'Max devices',
  'Type',
  'Status',
  'Starts (UTC)',
  'Expires (UTC)',
  'Features',
];

/** A file for spreadsheets: RFC 4180 with CRLF, in UTF-8 with a byte order mark. */
export function csvOf(subscriptions: readonly Subscription[]): string {
  const rows = subscriptions.map((row) => [
    row.user_email,
    row.user_username,
    row.plan_name,
    row.price.toFixed(2),
    row.currency,
    String(row.duration_months),
    String(row.max_devices),
    describeType(row.is_premium),
    STATUS_LABELS[row.status],
    row.starts_at,
    row.expires_at ?? 'Never',
    row.features.join('; '),
  ]);
  return BYTE_ORDER_MARK + [HEADER, ...rows].map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('');
}

/** Has the browser save the file. */
export function downloadCsv(name: string, content: string): void {
  const address = URL.createObjectURL(new Blob([content], { type: 'text/csv;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
