import { expect, it } from 'vitest';
import { endsSoon } from './plan-words.ts';

it.each([
  ['2026-12-31T00:00:00Z', true],
  ['2027-02-28T00:00:00Z', false],
  [null, false],
])('knows whether the end %s is near', (expires_at, isSoon) => {
  expect(endsSoon(expires_at, Date.parse('2026-11-30T00:00:00Z'))).toBe(isSoon);
});
