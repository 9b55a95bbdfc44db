// Holds the documents: the README is short, every setting is described, every decision is in the index, every link leads somewhere, and nothing names a document that is not here.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { decisions, INDEX, indexOf } from './decisions.mjs';
import { ROOT } from './node-runtime.mjs';

const read = (/** @type {string} */ path) => readFileSync(join(ROOT, path), 'utf8');
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .filter((path) => path !== '' && existsSync(join(ROOT, path)));
const documents = files.filter((path) => path.endsWith('.md'));

const wordsOf = (/** @type {string} */ text) => text.split(/\s+/).filter((word) => word !== '').length;
const anchorsOf = (/** @type {string} */ text) =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
/** The names of the environment variables that a file of the server parses. @param {string} source */
const settingsOf = (source) => [...source.matchAll(/^ {2}([A-Z][A-Z_]+): /gm)].map(([, name = '']) => name);

/** Links of a document that lead nowhere. @param {string} path @param {string} text */
function deadLinks(path, text) {
  // Code names addresses that are examples.
  const prose = text.replaceAll(/```.*?```/gs, '').replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [file = '', anchor] = target.split('#');
      const to = file === '' ? join(ROOT, path) : join(ROOT, dirname(path), file);
      if (!existsSync(to)) return true;
      return anchor !== undefined && to.endsWith('.md') && !anchorsOf(readFileSync(to, 'utf8')).includes(anchor);
    })
    .map((target) => `${path}: ${target}`);
}

/** Words for documents of whoever planned this, and for places of one machine. */
const OUTSIDE =
  /(?<![\w-])(?:SPEC|DESIGN|STYLE|foundation|devices|remote|monitor|desk)\.md\b|\bSPEC section\b|\/work\/(?:shared|wt|main)\b/;

describe('the documents', () => {
  test('begin with a README of at most 700 words', () => {
    expect(wordsOf(read('README.md'))).toBeLessThanOrEqual(700);
  });

  test('describe every setting', () => {
    const names = ['settings', 'secret-files'].flatMap((name) => settingsOf(read(`server/src/platform/${name}.ts`)));
    expect(names.length).toBeGreaterThan(40);
    const operating = read('docs/operating.md');
    expect(names.filter((name) => !operating.includes(`\`${name}\``))).toEqual([]);
  });

  test('give every decision a status, and the index names each: if not, run node scripts/decisions.mjs', () => {
    const all = decisions();
    expect(all.filter(({ text, whole }) => text !== whole).map(({ name }) => name)).toEqual([]);
    expect(readFileSync(INDEX, 'utf8')).toBe(indexOf(all));
  });

  test('have statuses that say what counts', () => {
    expect(decisions().filter(({ status }) => !/^(in force|overtaken by \[\d+\])/.test(status))).toEqual([]);
  });

  test.each(documents)('%s links to what is there', (path) => {
    expect(deadLinks(path, read(path))).toEqual([]);
  });

  test('are all that the repository refers to', () => {
    const text = files.filter((path) => /\.(md|ts|tsx|mjs|css|yaml|yml|conf|service|json)$/.test(path));
    expect(text.length).toBeGreaterThan(300);
    const own = 'scripts/documents.test.mjs';
    expect(text.filter((path) => path !== own && path !== 'package-lock.json' && OUTSIDE.test(read(path)))).toEqual([]);
  });

  test('bite', () => {
    expect(deadLinks('docs/x.md', '[a](nothing.md) [b](../README.md#no-such-part) [c](../README.md#limits)')).toHaveLength(2);
    expect(OUTSIDE.test('as SPEC.md says')).toBe(true);
    expect(settingsOf('  PORT: z.string(),\n')).toEqual(['PORT']);
  });
});
