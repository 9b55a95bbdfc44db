import { expect, test } from 'vitest';
import { describeSize } from './size-words.ts';

test('a size is written as people write it', () => {
  expect([500, 3 * 1024 ** 2, 1536 * 1024 ** 2, 2 * 1024 ** 3].map(describeSize)).toEqual([
    '500 bytes',
    '3 MB',
    '1.5 GB',
    '2 GB',
  ]);
});
