import { expect, test } from 'vitest';
import { readTypedNumber } from './typed-number.ts';

test.each([
  ['9,99', 9.99],
  ['9.99', 9.99],
  ['0,5', 0.5],
  ['0.500', 0.5],
  ['12', 12],
  ['1234', 1234],
  ['1234,5', 1234.5],
  ['1,234.50', 1234.5],
  ['1.234,50', 1234.5],
  ['1.234.567', 1_234_567],
  ['1,234,567.8', 1_234_567.8],
  ['1 234,50', 1234.5],
  ['1\u202f234,50', 1234.5],
  ["1'234.50", 1234.5],
  ['$9.99', 9.99],
  ['9,99 $', 9.99],
  ['US$ 9.99', 9.99],
  ['９，９９', 9.99],
  [',99', 0.99],
  ['9,', 9],
  ['1234.567', 1234.567],
])('%j is the number %d', (typed, value) => {
  expect(readTypedNumber(typed)).toEqual({ kind: 'number', value });
});

test.each([
  ['1.234', 1234, 1.234],
  ['1,234', 1234, 1.234],
  ['9.999', 9999, 9.999],
])('%j may be %d or %d', (typed, whole, decimal) => {
  expect(readTypedNumber(typed)).toEqual({ kind: 'ambiguous', whole, decimal });
});

test.each(['1,2,3', '1.23.456', '1e3', '-5', 'abc', '1,234,56', '1 23', '.', '9.99.', '1,234.567,8', '--'])(
  '%j is no number',
  (typed) => {
    expect(readTypedNumber(typed)).toEqual({ kind: 'invalid' });
  },
);

test.each(['', ' ', '$'])('%j is empty', (typed) => {
  expect(readTypedNumber(typed)).toEqual({ kind: 'empty' });
});
