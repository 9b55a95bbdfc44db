import { describe, expect, it } from 'vitest';
import { subscriptionOf } from '#api/fake-records.ts';
import { csvCell } from '#ui/csv.ts';
import { csvOf } from './subscriptions-csv.ts';

/** Reads a file as RFC 4180 has it. */
function parse(csv: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted, end] of csv.matchAll(/"((?:[^"]|"")*)"(,|\r\n)/gu)) {
    row.push((quoted ?? '').replaceAll('""', '"'));
    if (end === '\r\n') {
      rows.push(row);
      row = [];
    }
  }
  return rows;
}

describe('a cell', () => {
  it.each([
    ['Family Shield', '"Family Shield"'],
    ['', '""'],
    ['a "quoted" word', '"a ""quoted"" word"'],
    ['one, two', '"one, two"'],
    ['two\r\nlines', '"two\r\nlines"'],
    ['name@example.com', '"name@example.com"'],
    ['1 - 2', '"1 - 2"'],
  ])('%j is %s', (text, cell) => {
    expect(csvCell(text)).toBe(cell);
  });

  it.each([
    '=1+1',
    '+1',
    '-1',
    '@SUM(A1)',
    '\t=1',
    '\r=1',
    '\n=1',
    ' =1',
    '"=1"',
    "'=1'",
    '=HYPERLINK("http://evil.example","Click")',
    "=cmd|' /C calc'!A0",
    '\uFF1D1+1',
    '\u200B=1',
  ])('%j is made text, and nothing of it is lost', (text) => {
    const [[read] = []] = parse(`${csvCell(text)}\r\n`);
    expect(read?.startsWith("'")).toBe(true);
    expect(read?.replaceAll("'", '')).toBe(text.replaceAll("'", ''));
  });

  it.each([';', ',', '\t', '|'])('that another separator (%j) would split begins no formula', (separator) => {
    for (const text of [`x${separator}=1`, `x${separator} "@a"`, `x${separator}${separator}-1`]) {
      const [[read = ''] = []] = parse(`${csvCell(text)}\r\n`);
      for (const part of read.split(separator)) expect(part).not.toMatch(/^[\s"]*[=+\-@]/u);
    }
  });
});

describe('the file', () => {
  it('begins with a byte order mark, ends every line with CRLF, and has a cell for each column', () => {
    const csv = csvOf([
      subscriptionOf({ plan_name: '=2+5', price: 0.1, expires_at: null, features: ['a', '-b'], max_devices: 999 }),
      subscriptionOf({ user_username: 'Zoë, "the" one', status: 'replaced', is_premium: false }),
    ]);
    expect(csv.startsWith('\uFEFF"User email"')).toBe(true);
    expect(csv.endsWith('"\r\n')).toBe(true);
    const rows = parse(csv);
    expect(rows).toHaveLength(3);
    expect(new Set(rows.map((row) => row.length))).toEqual(new Set([14]));
    expect(rows[1]?.slice(0, 9)).toEqual([
      'maria@example.com',
      'maria',
      "'=2+5",
      '0.10',
      'USD',
      '12',
      '999',
      'Premium',
      'Active',
    ]);
    expect(rows[1]?.slice(10)).toEqual(['Never', "a; '-b", '10', '5']);
    expect(rows[2]?.[1]).toBe('Zoë, "the" one');
  });
});
