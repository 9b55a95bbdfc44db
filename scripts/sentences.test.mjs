// Checks the list of sentences: it collects every kind of text for people, and no sentence of the product breaks the rules below.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './node-runtime.mjs';
import { allSentences, sentencesOf } from './sentences.mjs';

const RIDDLES = /Simulated 1 beside|\bstands here\b|Is it whole\?|rules fit together|has nothing here any more/u;
const MACHINE_WORDS = /SHA-?\d|\bmembers?\b|YARA|\bhash\b|\bMIME\b/iu;
/** A colour or a mark that is chosen by looking into the words of a message. */
const TONE_BY_WORDS =
  /(?:message|detail|title|sentence|text)\??\.(?:includes|match|startsWith|search)\(\s*['"`/][^)]*(?:success|error|fail|✓)/iu;

const said = allSentences().flatMap(({ path, sentences }) => sentences.map((sentence) => ({ path, sentence })));

/** @param {string} folder @returns {string[]} */
function sourcesOf(folder) {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/u.test(path) && !/\.test\.|\/fake-/u.test(path))
    .map((path) => join(folder, path));
}

test('collects literals, templates, sums, attributes and elements, and leaves out text for machines', () => {
  const source = `
    import { x } from './The name of a file';
    const a = 'A plain sentence.';
    const b = \`A file of \${size} bytes.\`;
    const c = 'The first half ' + 'and the second half.';
    const d = <p title="A title to read">Rules of <b>{name}</b> are stored. <button>Save</button></p>;
    const e = <svg className="Not for people" viewBox="Not for people" />;
    logger.warn('A line of the log.');
    const f = { method: 'GET', summary: 'A line of the API description.', detail: 'A detail to read.' };
    const h = { summary: 'A summary to read.', body: 'The first line.\\n\\n- The second line.' };
    const g = 'some_code';
    const i = { english: 'The name {name} is taken.' };
  `;
  expect(sentencesOf('fixture.tsx', source)).toEqual([
    'A plain sentence.',
    'A file of … bytes.',
    'The first half and the second half.',
    'Rules of … are stored. …',
    'Save',
    'A title to read',
    'A detail to read.',
    'A summary to read.',
    'The first line.',
    'The second line.',
    'The name … is taken.',
  ]);
});

test.each([
  ['web', 'Sign in'],
  ['contract', 'Enter an IP address like 192.168.1.10, not a host name: …'],
  ['server', 'This account is disabled. Ask support: ….'],
  ['scanner', 'it does not find the EICAR test file: its signatures are missing'],
])('collects the sentences of %s', (workspace, sentence) => {
  expect(said.length).toBeGreaterThan(4_000);
  expect(said.filter(({ path }) => path.startsWith(workspace)).map((one) => one.sentence)).toContain(sentence);
});

// proves: product-2.12-1
test('no sentence is one of the riddles that readers found', () => {
  expect(said.filter(({ sentence }) => RIDDLES.test(sentence))).toEqual([]);
  expect(RIDDLES.test('Your rules fit together.')).toBe(true);
});

// proves: product-2.12-2
test('the first line about a file has no machine words', () => {
  const files = ['web/src/domain/scan/scan-sentence.ts', 'server/src/features/posture/posture.phrases.ts'];
  const sentences = files.flatMap((path) => {
    const code = readFileSync(join(ROOT, path), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gmu, '');
    // An inserted value is not a word of the sentence.
    return [...code.matchAll(/'[^'\n]* [^'\n]*'|`[^`]* [^`]*`/gu)].map(([text]) => text.replaceAll(/\$\{[^}]*\}/gu, '…'));
  });
  expect(sentences.length).toBeGreaterThan(20);
  expect(sentences.filter((sentence) => MACHINE_WORDS.test(sentence))).toEqual([]);
});

// proves: product-3.5-1
test('no tone is derived from words', () => {
  const found = sourcesOf('web/src').filter((path) => TONE_BY_WORDS.test(readFileSync(join(ROOT, path), 'utf8')));
  expect(found).toEqual([]);
  expect(TONE_BY_WORDS.test("message.includes('success') ? 'good' : 'bad'")).toBe(true);
});
