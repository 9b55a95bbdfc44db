import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { deflateRawSync, deflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { Budget, LimitReached, SCAN_LIMITS } from '#scanner/walk/limits.ts';
import { noise } from '#test/files.ts';
import { beginsStream, decompress, decompressed, guess, unpackedLz4, unpackedLzf, unsnapped } from './decompress.ts';

const MIB = 1024 ** 2;
const budget = (bytes = 16 * MIB) => new Budget({ ...SCAN_LIMITS, time_ms: Number.POSITIVE_INFINITY }, bytes);
setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');

/** Bytes on the heap after a full collection. */
function heldBytes(): number {
  if (typeof collect === 'function') collect();
  return process.memoryUsage().heapUsed;
}

const TEXT = Buffer.from('some words, '.repeat(100));

describe('decompression', () => {
  test("answers a stream's kind, and how many of the bytes belong to it", () => {
    const packed = deflateSync(TEXT);
    expect(decompress('zlib', Buffer.concat([packed, noise(50)]), budget(), { most: MIB })).toEqual({
      kind: 'whole',
      plain: TEXT,
      read: packed.length,
    });
    expect(decompress('zlib', packed.subarray(0, 20), budget(), { most: MIB })).toEqual({ kind: 'cut' });
    expect(decompress('zlib', packed, budget(), { most: 100 })).toEqual({ kind: 'large' });
    expect(decompress('zlib', noise(50), budget(), { most: MIB })).toEqual({ kind: 'none' });
    expect(guess('deflate', deflateRawSync(Buffer.alloc(2 * MIB)), budget(), { most: 4 * MIB })).toMatchObject({ kind: 'whole' });
    expect(beginsStream('zlib', packed.subarray(0, 30), budget())).toBe(true);
  });

  test.each<[string, (to: Budget) => unknown]>([
    ['a stream that is whole', (to) => decompress('zlib', deflateSync(TEXT), to, { most: MIB })],
    ['a guess that fails', (to) => guess('deflate', noise(500), to, { most: MIB })],
    ['a look at a beginning', (to) => beginsStream('zlib', noise(500), to)],
    ['a block of LZ4 that is none', (to) => expect(() => unpackedLz4(noise(500), to, 1000)).toThrow()],
    ['a block of Snappy that is none', (to) => expect(() => unsnapped(noise(500), to, 1000)).toThrow()],
    ['LZF that is none', (to) => unpackedLzf(noise(500), to, 1000)],
  ])('charges %s', (_, attempt) => {
    const to = budget();
    attempt(to);
    expect(to.work).toBeGreaterThan(400);
  });

  test('charges a stream in pieces as it comes', async () => {
    const to = budget();
    for await (const _ of decompressed('deflate', [deflateRawSync(Buffer.alloc(4 * MIB))], to));
    expect(to.work).toBeGreaterThan(4 * MIB);
  });

  test('ends when the budget is used up, and keeps no failed decoder', () => {
    // Behind a head of zlib an invalid block: each fails, and Node would keep each decoder until the event loop turns.
    const none = Buffer.concat([Buffer.from([0x78, 0x9c, 0xff]), noise(60)]);
    const to = budget(MIB);
    const before = heldBytes();
    let attempts = 0;
    const attack = () => {
      for (; attempts < 1_000_000; attempts += 1) guess('zlib', none, to, { most: 16 * MIB });
    };
    expect(attack).toThrow(LimitReached);
    expect(attempts).toBeGreaterThan(1000);
    // A decoder holds 2 KB.
    expect(heldBytes() - before).toBeLessThan(512 * attempts);
  });
});
