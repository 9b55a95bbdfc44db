// Checks the documents: every setting is described, every topic of decisions is in the index, every link leads somewhere, and nothing names a document that does not exist.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from './node-runtime.mjs';
import { projectFiles } from './project-files.mjs';

const read = (/** @type {string} */ path) => readFileSync(join(ROOT, path), 'utf8');
const own = 'scripts/documents.test.mjs';
const files = projectFiles();
const documents = files.filter((path) => path.endsWith('.md'));

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

/** Documents under docs/ that a file names and that do not exist, or lack the named section. @param {string} path @param {string} text */
function missingDocuments(path, text) {
  return [...text.matchAll(/(?<![\w./-])(docs\/[\w/-]+)(\.md)?(?:#([\w-]+))?/g)]
    .filter(([, name = '', ending, anchor]) => {
      // Without an ending it is a folder, or a decision by its old number.
      if (ending === undefined) return /\/\d/.test(name);
      const file = join(ROOT, `${name}.md`);
      return !existsSync(file) || (anchor !== undefined && !anchorsOf(readFileSync(file, 'utf8')).includes(anchor));
    })
    .map(([named]) => `${path}: ${named}`);
}

/** Words for documents of whoever planned this, and for places of one machine. */
const OUTSIDE =
  /(?<![\w-]|decisions\/)(?:SPEC|DESIGN|STYLE|foundation|devices|remote|monitor|desk)\.md\b|\bSPEC section\b|\/work\/(?:shared|wt|main)\b/;

describe('the documents', () => {
  test('describe every setting', () => {
    const names = ['settings', 'secret-files'].flatMap((name) => settingsOf(read(`server/src/platform/${name}.ts`)));
    expect(names.length).toBeGreaterThan(40);
    const operating = read('docs/operating.md');
    expect(names.filter((name) => !operating.includes(`\`${name}\``))).toEqual([]);
  });

  test('list every topic of decisions once in their index', () => {
    const index = read('docs/decisions/README.md');
    const listed = [...index.matchAll(/^\| \[([a-z-]+)\]\(\1\.md\) \| .+ \|$/gm)].map(([, name]) => `docs/decisions/${name}.md`);
    const pages = documents.filter((path) => path.startsWith('docs/decisions/') && path !== 'docs/decisions/README.md');
    expect(pages.length).toBeGreaterThan(10);
    expect(listed.toSorted()).toEqual(pages.toSorted());
  });

  test.each(documents.filter((path) => path.startsWith('docs/decisions/')))('%s has each anchor once', (path) => {
    const anchors = anchorsOf(read(path));
    expect(anchors.filter((anchor, at) => anchors.indexOf(anchor) !== at)).toEqual([]);
  });

  test('are there where a comment or a message names one', () => {
    const text = files.filter(
      (path) => /\.(ts|tsx|mjs|css|yaml|yml|service|py)$|(?:^|\/)palisade-agent$/.test(path) && path !== own,
    );
    expect(text.flatMap((path) => missingDocuments(path, read(path)))).toEqual([]);
  });

  test.each(documents)('%s links to what is there', (path) => {
    expect(deadLinks(path, read(path))).toEqual([]);
  });

  test('name benches that are there', () => {
    const commands = [...read('docs/measured.md').matchAll(/`node (bench\/[\w-]+\.ts)/g)].map(([, path = '']) => path);
    expect(commands.length).toBeGreaterThan(5);
    expect(commands.filter((path) => !files.includes(path))).toEqual([]);
  });

  test('are all that the repository refers to', () => {
    const text = files.filter(
      (path) => /\.(md|ts|tsx|mjs|css|yaml|yml|conf|service|json)$/.test(path) && !path.startsWith('docs/decisions/'),
    );
    expect(text.length).toBeGreaterThan(300);
    expect(text.filter((path) => path !== own && path !== 'package-lock.json' && OUTSIDE.test(read(path)))).toEqual([]);
  });

  test('bite', () => {
    expect(deadLinks('docs/x.md', '[a](nothing.md) [b](../README.md#no-such-part) [c](../README.md#limits)')).toHaveLength(2);
    expect(
      missingDocuments('x.ts', 'docs/nothing.md docs/decisions/0081 docs/decisions/web.md docs/decisions/web.md#no'),
    ).toHaveLength(3);
    expect(OUTSIDE.test('as SPEC.md says')).toBe(true);
    expect(settingsOf('  PORT: z.string(),\n')).toEqual(['PORT']);
  });
});
