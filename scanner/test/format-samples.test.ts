import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Format } from '#scanner/formats/format.ts';
import { CARVED, FORMATS } from '#scanner/formats/index.ts';
import { examined } from './examined.ts';
import { idsOf, SAMPLES_FOLDER, samplesOf } from './format-samples.ts';

// Each format has a folder of samples. A sample that is called `head` has the first bytes alone: nothing here writes such files.

const HEAD_ONLY = 'head';
const FORMATS_FOLDER = join(import.meta.dirname, '../src/formats');

const read = (name: string, bytes: Buffer) => examined(bytes, { name, password: 'palisade' });

test('every format has an id of its own, and every carving pattern', () => {
  const ids = FORMATS.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)]);
  const patterns = CARVED.map(({ id }) => id);
  expect(patterns).toEqual([...new Set(patterns)]);
  expect(patterns.filter((id) => !/^[a-z0-9-]+$/i.test(id))).toEqual([]);
});

test('every folder of samples is of a format, and every format has one', () => {
  const ids = FORMATS.map(({ id }) => id).sort();
  expect(readdirSync(SAMPLES_FOLDER).sort()).toEqual(ids);
  expect(ids.filter((id) => samplesOf(id).length === 0)).toEqual([]);
});

test('a mark is written in one place', () => {
  const sources = readdirSync(FORMATS_FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => readFileSync(join(FORMATS_FOLDER, name), 'utf8'));
  const marks = sources.flatMap((source) =>
    [...source.matchAll(/\b(?:mark|hexMark|spelled)\('([^']+)'/g)].map(([, literal = '']) => literal),
  );
  expect(marks.length).toBeGreaterThan(150);
  expect(marks.filter((literal, index) => marks.indexOf(literal) !== index)).toEqual([]);
});

const samples = FORMATS.flatMap((format) =>
  samplesOf(format.id).map(({ name, bytes }): [string, string, Format, Buffer] => [format.id, name, format, bytes]),
);

describe('a sample', () => {
  test.each(samples)('is recognised: %s, %s', (id, name, _format, bytes) => {
    expect([...idsOf(bytes, name)]).toContain(id);
  });

  test.each(samples.filter(([, , { closed }]) => closed !== undefined))(
    'of a closed format is not called clean: %s, %s',
    async (_id, name, { closed }, bytes) => {
      expect((await read(name, bytes)).unread).toContain(closed);
    },
  );

  test.each(samples.filter(([, name, { closed }]) => closed === undefined && name !== HEAD_ONLY))(
    'is read to its end: %s, %s',
    async (_id, name, _format, bytes) => {
      expect((await read(name, bytes)).unread).toEqual([]);
    },
  );
});
