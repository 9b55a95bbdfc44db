// Holds docs/attacks.md: every point from A.1 to E.8 has its rows, and each row names a test that is there, or a measurement that was kept.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './node-runtime.mjs';
import { missing, rowsOf } from './proofs.mjs';

const text = readFileSync(join(ROOT, 'docs/attacks.md'), 'utf8');
const POINTS = [
  ...Array.from({ length: 5 }, (_, index) => `A.${index + 1}`),
  ...Array.from({ length: 9 }, (_, index) => `B.${index + 6}`),
  ...Array.from({ length: 4 }, (_, index) => `C.${index + 15}`),
  ...Array.from({ length: 6 }, (_, index) => `D.${index + 19}`),
  ...Array.from({ length: 8 }, (_, index) => `E.${index + 1}`),
];

const rows = rowsOf(text, /^[A-E]\.\d+$/u);

test('has rows for every point, in order', () => {
  expect([...new Set(rows.map(({ point }) => point))]).toEqual(POINTS);
  expect(rows.length).toBeGreaterThan(60);
});

test('names tests that are there', () => {
  expect(rows.flatMap((row) => missing(row).map((name) => `${row.point}: ${name}`))).toEqual([]);
});

test('the check bites', () => {
  const own = '[attacks.test.mjs](../scripts/attacks.test.mjs)';
  expect(missing({ shown: `${own}: *the check bites*` })).toEqual([]);
  expect(missing({ shown: `${own}: *a test of that name*, *has rows for every point, in order*` })).toEqual([
    'a test of that name',
  ]);
  expect(missing({ shown: '[x](../scripts/no-such.test.mjs): *the check bites*' })).toHaveLength(2);
  expect(missing({ shown: `${own}: *rows.flatMap*` })).toEqual(['rows.flatMap']);
  expect(missing({ shown: `${own}` })).toEqual(['nothing']);
  expect(missing({ shown: 'We thought of it' })).toEqual(['nothing']);
});
