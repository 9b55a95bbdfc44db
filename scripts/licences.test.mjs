import { expect, test } from 'vitest';
import { isAllowed, licenceShown } from './licences.mjs';

test.each([
  ['MIT', true],
  ['(MIT OR GPL-3.0-only)', true],
  ['GPL-3.0-only OR AGPL-3.0-only', false],
  ['MIT AND ISC AND BSD-3-Clause', true],
  ['MIT AND GPL-3.0-only', false],
  ['(MIT OR GPL-3.0-only) AND (ISC OR AGPL-3.0-only)', false],
  ['GPL-3.0-only AND (ISC OR MIT)', false],
  ['GPL-3.0-only OR MIT AND ISC', true],
  ['', false],
  ['(MIT', false],
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
