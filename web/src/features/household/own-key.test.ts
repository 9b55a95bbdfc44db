import { expect, it } from 'vitest';
import { ownKeyOf } from './own-key.ts';

it('keeps one key for each page, which the server takes', () => {
  const own = ownKeyOf('page');
  expect(own).toMatch(/^[a-z2-7]{26}$/u);
  expect(ownKeyOf('page')).toBe(own);
  expect(ownKeyOf('other')).not.toBe(own);
});
