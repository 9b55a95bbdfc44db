import { randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { windowsOf } from '#scanner/reading/content.ts';

const folder = mkdtempSync(join(tmpdir(), 'palisade-windows-'));
const path = join(folder, 'file');
const SIZES = { whole: 100, window: 40, overlap: 7 };

test('windows hold every run of bytes up to their overlap, are of one length, and read hardly anything twice', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20_000 }), (size) => {
      const bytes = randomBytes(size);
      writeFileSync(path, bytes);
      const windows = [...windowsOf({ path, size }, SIZES)].length;
      const lengths: number[] = [];
      const positions: number[] = [];
      for (const window of windowsOf({ path, size }, SIZES)) {
        lengths.push(window.bytes.length);
        positions.push(window.position);
        expect(window.bytes.equals(bytes.subarray(window.position, window.position + window.bytes.length))).toBe(true);
      }
      const [length = 0] = lengths;
      expect(new Set(lengths)).toEqual(new Set([length]));
      expect(positions[0]).toBe(0);
      expect((positions.at(-1) ?? 0) + length).toBe(size);
      for (const [index, position] of positions.slice(1).entries()) {
        expect(position).toBeLessThanOrEqual((positions[index] ?? 0) + length - SIZES.overlap);
      }
      if (size > SIZES.whole) expect(length).toBeGreaterThanOrEqual(SIZES.window);
      expect(length * windows).toBeLessThan(size + windows * (SIZES.overlap + 1));
    }),
    { numRuns: 100 },
  );
});
