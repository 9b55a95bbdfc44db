import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { noise } from '#test/files.ts';
import { beginsTables } from './zlib-within.ts';

const WORDS = 'the quick brown fox jumps over the lazy dog and runs away from it, '.repeat(40);

describe('tables of a block', () => {
  test.each(Array.from({ length: 60 }, (_, index) => index))('begin where zlib writes some: %i', (index) => {
    const content = Buffer.concat([Buffer.from(WORDS.slice(index, 200 + index * 40)), noise(index * 20, index + 1)]);
    for (const level of [1, 6, 9]) {
      const packed = deflateRawSync(content, { level });
      const kind = ((packed[0] ?? 0) >> 1) & 3;
      if (kind === 2) expect(beginsTables(packed, 0)).toBe(true);
    }
  });

  test('begin nowhere where zlib refuses none: what it reads further is not left out', () => {
    const bytes = noise(200_000, 5);
    let refused = 0;
    for (let at = 0; at + 400 < bytes.length; at += 1) {
      if ((((bytes[at] ?? 0) >> 1) & 3) !== 2) continue;
      if (beginsTables(bytes, at)) continue;
      refused += 1;
      // One of 50 is asked of zlib, which takes longer.
      if (refused % 50 === 0)
        expect(() => inflateRawSync(bytes.subarray(at, at + 400))).toThrow(/invalid (code lengths set|bit length)|too many/u);
    }
    expect(refused).toBeGreaterThan(45_000);
  });
});
