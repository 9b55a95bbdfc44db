// Holds docs/faults.md: each row names a test that is there.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './node-runtime.mjs';
import { missing } from './proofs.mjs';

const text = readFileSync(join(ROOT, 'docs/faults.md'), 'utf8');
const rows = [...text.matchAll(/^\| (fault|trap|hostile agent|hostile server) \| (.*?) \| (.*) \|$/gmu)].map(
  ([, kind = '', what = '', shown = '']) => ({ kind, what, shown }),
);

test('has a row for every fault, every trap and what hostile sides say', () => {
  const counts = ['fault', 'trap', 'hostile agent', 'hostile server'].map(
    (kind) => rows.filter((row) => row.kind === kind).length,
  );
  expect(counts).toEqual([22, 10, 7, 7]);
});

test('names tests that are there', () => {
  expect(rows.flatMap((row) => missing(row).map((name) => `${row.what}: ${name}`))).toEqual([]);
});
