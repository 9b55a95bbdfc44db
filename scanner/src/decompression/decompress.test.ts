import { deflateRawSync, deflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { Budget, LimitReached, SCAN_LIMITS } from '#scanner/reading/limits.ts';
import { eventually } from '#test/eventually.ts';
import { noise } from '#test/files.ts';
import { heldBytes } from '#test/held-bytes.ts';
import { beginsStream, decompress, decompressed, guess, unpackedLz4, unsnapped } from './decompress.ts';

const MIB = 1024 ** 2;
const budget = (bytes = 16 * MIB) => new Budget({ ...SCAN_LIMITS, time_ms: Number.POSITIVE_INFINITY }, bytes);
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

  test('closes a decoder whose stream ends before its bytes do, and where they come from', async () => {
    let is_closed = false;
    const packed = Buffer.concat([deflateRawSync(TEXT), noise(MIB)]);
    function* source() {
      try {
        for (;;) yield packed;
      } finally {
        is_closed = true;
      }
    }
    const plain: Buffer[] = [];
    let read = 0;
    const ended = (bytes: number) => {
      read = bytes;
    };
    for await (const chunk of decompressed('deflate', source(), budget(), { ended })) plain.push(chunk);
    expect([Buffer.concat(plain).equals(TEXT), read]).toEqual([true, packed.length - MIB]);
    await eventually(() => expect(is_closed).toBe(true));
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
