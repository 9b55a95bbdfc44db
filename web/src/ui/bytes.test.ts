import { expect, it } from 'vitest';
import { describeBytes } from './bytes.ts';

it.each([
  [0, '0 B'],
  [68, '68 B'],
  [1023, '1023 B'],
  [1024, '1 KB'],
  [1536, '1.5 KB'],
  [1_288_490_188, '1.2 GB'],
  [2 * 1024 ** 3, '2 GB'],
  [1024 ** 3 - 1, '1 GB'],
])('%i bytes are %s', (bytes, text) => {
  expect(describeBytes(bytes)).toBe(text);
});
