// Holds docs/lines.md: every line has its rows, and each row names a test that is there, or a measurement that was kept.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './node-runtime.mjs';
import { missing, rowsOf } from './proofs.mjs';

const rows = rowsOf(readFileSync(join(ROOT, 'docs/lines.md'), 'utf8'), /^[1-3]\.\d+$/u);
const LINES = [
  ...Array.from({ length: 9 }, (_, index) => `1.${index + 1}`),
  ...Array.from({ length: 12 }, (_, index) => `2.${index + 1}`),
  ...Array.from({ length: 5 }, (_, index) => `3.${index + 1}`),
];

test('has rows for every line, in order', () => {
  expect([...new Set(rows.map(({ point }) => point))]).toEqual(LINES);
});

test('names tests that are there', () => {
  expect(rows.flatMap((row) => missing(row).map((name) => `${row.point}: ${name}`))).toEqual([]);
});
