import { workTime } from '@palisade/scanner/test/processor-time';
import { expect, test } from 'vitest';
import { csvLine } from './csv.ts';

test.each([
  ['=cmd', "'=cmd"],
  [' "+1', '\' ""+1'],
  ['a;=b', "a;'=b"],
  ['a\t "-b', 'a\t ""\'-b'],
  ['a,=b|@c', "a,'=b|'@c"],
  ['a\n\n＝b', "a\n\n'＝b"],
  ['a = b', 'a = b'],
  ['a;==b', "a;'==b"],
  ['\ta', "'\ta"],
])('no spreadsheet takes %j for a formula', (text, cell) => {
  expect(csvLine([text])).toBe(`"${cell}"\r\n`);
});

// A path on a device has 4,096 characters, and each entry of the log that names one is a line of a person's file: quadratic, 100 ms each.
test.each(['\t', '\r\n', ' ', ';', ';\t', '"', '\t='])(
  'a cell of %j alone is written in a time that grows with its length',
  async (part) => {
    const text = part.repeat(200_000);
    const seconds = await workTime(() => expect(csvLine([text]).length).toBeGreaterThanOrEqual(text.length));
    expect(seconds).toBeLessThan(4);
  },
);
