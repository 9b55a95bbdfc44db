import { expect, test } from 'vitest';
import { folded } from './text-folds.ts';

const shown = (text: string) => folded(Buffer.from(text)).bytes.toString('latin1');

/** Marks that HTML has names for, by their names (WHATWG, named character references). */
const NAMES: readonly [string, string][] = [
  ['\\', 'bsol'],
  ['_', 'lowbar'],
  ['_', 'UnderBar'],
  ['`', 'grave'],
  ['`', 'DiacriticalGrave'],
  ['{', 'lbrace'],
  ['{', 'lcub'],
  ['}', 'rcub'],
  ['|', 'verbar'],
  ['|', 'VerticalLine'],
  ['*', 'midast'],
  ['@', 'commat'],
  ['^', 'Hat'],
  ['fj', 'fjlig'],
  ['&', 'AMP'],
  ['(', 'lpar'],
  ['.', 'period'],
];

test.each(NAMES)('reads %s where it is written as &%s;', (mark, name) => {
  expect(shown(`<a href="x&${name};y">`)).toBe(`<a href="x${mark}y">`);
});

test('leaves names that stand for no mark as they are', () => {
  expect(shown('<a title="caf&eacute;">')).toContain('&eacute;');
  expect(shown('<a href="?a=1&notaname=2">')).toContain('&notaname');
});
