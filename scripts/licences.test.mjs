import { expect, test } from 'vitest';
import { isAllowed, licenceShown, parseExpression } from './licences.mjs';

test('reads AND before OR, parentheses, WITH and +', () => {
  expect(parseExpression('MIT')).toEqual({ id: 'MIT' });
  expect(parseExpression('A OR B AND C')).toEqual({ any: [{ id: 'A' }, { all: [{ id: 'B' }, { id: 'C' }] }] });
  expect(parseExpression('(A OR B) AND C')).toEqual({ all: [{ any: [{ id: 'A' }, { id: 'B' }] }, { id: 'C' }] });
  expect(parseExpression('GPL-2.0+ WITH Classpath-exception-2.0')).toEqual({ id: 'GPL-2.0+ WITH Classpath-exception-2.0' });
});

test.each(['', 'MIT OR', 'OR MIT', '(MIT', 'MIT)', 'MIT Apache-2.0', 'SEE LICENSE IN License.txt', 'MIT WITH', 'MIT AND (OR)'])(
  'takes %j for no expression',
  (text) => {
    expect(parseExpression(text)).toBeUndefined();
    expect(isAllowed('planted', text)).toBe(false);
  },
);

test.each([
  ['MIT', true],
  ['(MIT OR GPL-3.0-only)', true],
  ['GPL-3.0-only OR AGPL-3.0-only', false],
  ['MIT AND ISC AND BSD-3-Clause', true],
  ['MIT AND GPL-3.0-only', false],
  ['(MIT OR GPL-3.0-only) AND (ISC OR AGPL-3.0-only)', true],
  ['Apache-2.0 WITH LLVM-exception', false],
  ['UNLICENSED', false],
  ['mit', false],
])('allows %s: %s', (licence, is_allowed) => {
  expect(isAllowed('planted', licence)).toBe(is_allowed);
});

test('allows a licence that was read for its own package alone', () => {
  expect(isAllowed('7z-wasm', 'SEE LICENSE IN License.txt')).toBe(true);
  expect(isAllowed('planted', 'SEE LICENSE IN License.txt')).toBe(false);
  expect(licenceShown('7z-wasm', 'SEE LICENSE IN License.txt')).toContain('LGPL');
  expect(isAllowed('planted', undefined)).toBe(false);
});
