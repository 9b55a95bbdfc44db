// Holds docs/support.md: each row names a test that is there, or a measurement that was kept.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './node-runtime.mjs';
import { missing } from './proofs.mjs';

const KINDS = ['customer', 'staff', 'scale', 'fault', 'bad input'];
const text = readFileSync(join(ROOT, 'docs/support.md'), 'utf8');
const rows = [...text.matchAll(/^\| (customer|staff|scale|fault|bad input) \| (.*?) \| (.*) \|$/gmu)].map(
  ([, kind = '', what = '', shown = '']) => ({ kind, what, shown }),
);

test('has a row for every sentence, every fault and every bad input', () => {
  expect(KINDS.map((kind) => rows.filter((row) => row.kind === kind).length)).toEqual([30, 29, 11, 11, 15]);
});

test('names tests that are there', () => {
  expect(rows.flatMap((row) => missing(row).map((name) => `${row.what}: ${name}`))).toEqual([]);
});
