import { describe, expect, test } from 'vitest';
import { circlesOf, importsOfSources, namesOfImports } from './circles.mjs';

/** @param {Record<string, string[]>} imports */
const circles = (imports) => circlesOf(new Map(Object.entries(imports)));

describe('files of a build that import each other', () => {
  test('in one direction are no circle', () => {
    expect(circles({ main: ['kit', 'router'], router: ['kit'], kit: [] })).toEqual([]);
  });

  test('are named, each circle once', () => {
    expect(circles({ main: ['shell', 'kit'], shell: ['kit', 'menu'], menu: ['shell'], kit: [] })).toEqual([
      ['shell', 'menu', 'shell'],
    ]);
  });

  test('are found over files between them, and two circles are two', () => {
    expect(circles({ a: ['b'], b: ['c'], c: ['a', 'd'], d: ['e'], e: ['d'] })).toEqual([
      ['a', 'b', 'c', 'a'],
      ['d', 'e', 'd'],
    ]);
  });

  test('may import themselves only as a circle of one', () => {
    expect(circles({ a: ['a'] })).toEqual([['a', 'a']]);
  });

  test('that are not of the build, as a package of the browser, end a way', () => {
    expect(circles({ a: ['https://elsewhere.example/kit.js'] })).toEqual([]);
  });
});

describe('the sources', () => {
  test('have no circle, those of types among them', () => {
    const imports = importsOfSources();
    expect(imports.get('scanner/src/walk/examine.ts')).toContain('scanner/src/reading/member.ts');
    expect(imports.get('server/src/app.ts')?.filter((file) => file.startsWith('contract/src/'))).not.toEqual([]);
    expect(circlesOf(imports)).toEqual([]);
  });

  test('import types and exports of other files; an import in a function comes later', () => {
    const code = `
      import { one } from './one.ts';
      import type { Two } from './two.ts';
      import { type Three } from './three.ts';
      export { four } from './four.ts';
      export type * from './five.ts';
      export const six = async () => [one, await import('./six.ts')];
      export type All = Two | Three;`;
    expect(namesOfImports('planted.ts', code)).toEqual(['./one.ts', './two.ts', './three.ts', './four.ts', './five.ts']);
  });
});
