// Holds the documents to their length: what is not read is not kept.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './node-runtime.mjs';
import { projectFiles } from './project-files.mjs';

/** Words of all Markdown in the repository. */
const ALL_MAXIMUM = 28_000;
/** @type {Readonly<Record<string, number>>} */
const MAXIMUM = {
  'README.md': 700,
  'SECURITY.md': 4_000,
  'docs/architecture.md': 1_500,
  'docs/how-it-works.md': 1_500,
  'docs/operating.md': 3_000,
};
const GLOSSARY_ROWS_MAXIMUM = 60;

const wordsOf = (/** @type {string} */ text) => text.split(/\s+/).filter((word) => word !== '').length;
/** Documents over their own limit, with their words. @param {Readonly<Record<string, string>>} texts */
const tooLong = (texts) =>
  Object.entries(MAXIMUM)
    .filter(([path, most]) => wordsOf(texts[path] ?? '') > most)
    .map(([path, most]) => `${path}: ${wordsOf(texts[path] ?? '')} of ${most}`);

const texts = Object.fromEntries(projectFiles('*.md').map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));

test('all Markdown together has at most 28,000 words', () => {
  expect(Object.keys(texts).length).toBeGreaterThan(20);
  expect(Object.values(texts).reduce((sum, text) => sum + wordsOf(text), 0)).toBeLessThanOrEqual(ALL_MAXIMUM);
});

test('documents keep their own limits', () => {
  expect(Object.keys(MAXIMUM).filter((path) => wordsOf(texts[path] ?? '') < 100)).toEqual([]);
  expect(tooLong(texts)).toEqual([]);
  expect(tooLong({ ...texts, 'README.md': 'word '.repeat(701) })).toEqual(['README.md: 701 of 700']);
});

test('the glossary has at most 60 terms, in order, each with a place that exists', () => {
  const rows = [...(texts['docs/glossary.md'] ?? '').matchAll(/^\| (?!term|---)(.+?) \| (.+) \| (.+) \|$/gm)].map(
    ([, term = '', , where = '']) => ({ term, where }),
  );
  expect(rows.length).toBeGreaterThan(40);
  expect(rows.length).toBeLessThanOrEqual(GLOSSARY_ROWS_MAXIMUM);
  const terms = rows.map(({ term }) => term);
  expect(terms).toEqual(terms.toSorted((one, other) => one.localeCompare(other, 'en')));
  const places = rows.map(({ term, where }) => ({ term, path: /^`([\w./-]+)`$/.exec(where)?.[1] ?? 'no place' }));
  expect(places.filter(({ path }) => !existsSync(join(ROOT, path)))).toEqual([]);
});
