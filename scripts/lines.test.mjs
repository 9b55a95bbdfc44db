// Holds docs/lines.md: every line has its rows, and each row names a test that is there, or a measurement that was kept. What a line says of all sentences is
// held against docs/sentences.md, and what it says of the sources against them.
import { readdirSync, readFileSync } from 'node:fs';
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

const RIDDLES = /Simulated 1 beside|\bstands here\b|Is it whole\?|rules fit together|has nothing here any more/u;
const MACHINE_WORDS = /SHA-?\d|\bmembers?\b|YARA|\bhash\b|\bMIME\b/iu;
/** A colour or a mark that is chosen by looking into the words of a message. */
const TONE_BY_WORDS =
  /(?:message|detail|title|sentence|text)\??\.(?:includes|match|startsWith|search)\(\s*['"`/][^)]*(?:success|error|fail|✓)/iu;

/** @param {string} folder @returns {string[]} */
function sourcesOf(folder) {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/u.test(path) && !/\.test\.|\/fake-/u.test(path))
    .map((path) => join(folder, path));
}

test('has rows for every line, in order', () => {
  expect([...new Set(rows.map(({ point }) => point))]).toEqual(LINES);
});

test('names tests that are there', () => {
  expect(rows.flatMap((row) => missing(row).map((name) => `${row.point}: ${name}`))).toEqual([]);
});

test('none of the riddles that were found is said', () => {
  const said = readFileSync(join(ROOT, 'docs/sentences.md'), 'utf8').split('\n');
  expect(said.length).toBeGreaterThan(1_000);
  expect(said.filter((line) => RIDDLES.test(line))).toEqual([]);
  expect(RIDDLES.test('- Your rules fit together.')).toBe(true);
});

test('the first line about a file has no machine words', () => {
  const files = ['web/src/ui/scan-sentence.ts', 'web/src/features/dashboard/answer.ts'];
  const sentences = files.flatMap((path) => {
    const code = readFileSync(join(ROOT, path), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gmu, '');
    // What is put in is no word of the sentence.
    return [...code.matchAll(/'[^'\n]* [^'\n]*'|`[^`]* [^`]*`/gu)].map(([text]) => text.replaceAll(/\$\{[^}]*\}/gu, '…'));
  });
  expect(sentences.length).toBeGreaterThan(20);
  expect(sentences.filter((sentence) => MACHINE_WORDS.test(sentence))).toEqual([]);
});

test('no tone is read out of words', () => {
  const found = sourcesOf('web/src').filter((path) => TONE_BY_WORDS.test(readFileSync(join(ROOT, path), 'utf8')));
  expect(found).toEqual([]);
  expect(TONE_BY_WORDS.test("message.includes('success') ? 'good' : 'bad'")).toBe(true);
});
