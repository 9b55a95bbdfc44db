import { expect, test } from 'vitest';
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAXIMUM } from './constants.ts';
import { pageQuerySchema } from './fields.ts';

test('a page has at least one row, and at most its maximum', () => {
  const accepts = (limit: number) => pageQuerySchema.safeParse({ limit: String(limit) }).success;
  expect([0, 1, PAGE_SIZE_MAXIMUM, PAGE_SIZE_MAXIMUM + 1].map(accepts)).toEqual([false, true, true, false]);
  expect(pageQuerySchema.parse({})).toEqual({ limit: PAGE_SIZE_DEFAULT });
});
