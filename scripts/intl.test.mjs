// Holds that plurals, numbers, lists and dates of sentences are written by contract/src/intl.ts, so that another language needs one place.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './node-runtime.mjs';

const FOLDERS = ['contract/src', 'web/src', 'server/src', 'scanner/src', 'agent/src'];

/** The faults, the folders in which they are looked for, and the files that may have them, each with its reason. */
const FAULTS = [
  {
    name: 'a formatter of its own',
    what: /\bIntl\.\w/u,
    in: FOLDERS,
    homes: {
      'contract/src/intl.ts': 'the module',
      'contract/src/day.ts': 'arithmetic of time zones, without words',
    },
  },
  {
    name: 'a form of the machine’s locale',
    what: /\.toLocale\w*\(/u,
    in: FOLDERS,
    homes: { 'contract/src/intl.ts': 'the module' },
  },
  {
    // A column of a row is a flag: `row.sealed === 1`. The formats of files have numbers of their own.
    name: 'a plural by hand',
    what: /(?<!\brow\??\.\w+ |\b(?:is|has)_\w+ )(?:[=!]== 1|> 1)\)? \? (?:['"`<]|one\b|many\b|\(\s*[`<])|\? 's' : ''|\? '' : 's'|\bmany: string\b/u,
    in: ['contract/src', 'web/src', 'server/src', 'scanner/src/rules', 'agent/src'],
    homes: { 'contract/src/firewall-slips.ts': 'the syntax of ports' },
  },
  { name: 'a list by hand', what: /\.join\(\s*['"`],? (?:and|or) ['"`]\s*\)/u, in: FOLDERS, homes: {} },
  {
    name: 'a list for people without formatList',
    what: /\.join\(\s*['"`], ['"`]\s*\)/u,
    in: ['web/src', 'server/src/features'],
    homes: {
      'web/src/features/firewall/allowance.ts': 'the syntax of a rule’s addresses',
      'web/src/features/firewall/rule-sentence.ts': 'the syntax of a rule’s addresses',
    },
  },
  {
    name: 'digits by hand',
    what: /\.toFixed\(/u,
    in: ['web/src', 'server/src/features'],
    homes: {
      'web/src/features/subscriptions/subscriptions-csv.ts': 'a file for programs',
      'web/src/features/subscriptions/typed-price.ts': 'the value of a form field',
    },
  },
];

/** @param {string} folder @returns {string[]} */
function sourcesOf(folder) {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/u.test(path) && !/\.test\.|(?:^|\/)fake-/u.test(path))
    .map((path) => `${folder}/${path}`);
}

/** @param {string} path @param {string} source @returns {string[]} */
function faultsOf(path, source) {
  // A comment may name what the code may not use.
  const code = source.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gmu, '').replaceAll(/\n\s*/gu, ' ');
  return FAULTS.filter((fault) => fault.in.some((folder) => path.startsWith(`${folder}/`)))
    .filter(({ what, homes }) => what.test(code) && !Object.hasOwn(homes, path))
    .map(({ name }) => `${path}: ${name}`);
}

test('plurals, numbers, lists and dates are written by one module', () => {
  const sources = FOLDERS.flatMap(sourcesOf);
  expect(sources.length).toBeGreaterThan(700);
  expect(sources.flatMap((path) => faultsOf(path, readFileSync(join(ROOT, path), 'utf8')))).toEqual([]);
});

test('each exception is needed', () => {
  for (const { what, homes } of FAULTS)
    for (const path of Object.keys(homes)) expect(readFileSync(join(ROOT, path), 'utf8'), path).toMatch(what);
});

test.each([
  "new Intl.NumberFormat('en').format(count)",
  'count.toLocaleString()',
  "files === 1 ? '1 file' : many",
  'count === 1 ? one : many',
  "(files.length > 1 ? 'files' : 'file')",
  "file + (count === 1 ? '' : 's')",
  'function counted(count: number, one: string, many: string) {}',
  "names.join(' and ')",
  "names.join(', ')",
  'share.toFixed(1)',
  "reported === 1\n  ? 'A customer has reported a session.'\n  : several",
])('finds the fault in %j', (source) => {
  expect(faultsOf('web/src/ui/new.tsx', source)).not.toEqual([]);
});

test.each([
  "plural(count, { one: '1 file', other: several })",
  "row.sealed === 1 ? 'sealed' : 'no'",
  'const only = total === 1 ? uploads[0] : undefined;',
  '// Intl.NumberFormat rounds half away from zero.',
  "codes.join('\\n')",
])('finds nothing in %j', (source) => {
  expect(faultsOf('web/src/ui/new.tsx', source)).toEqual([]);
});
