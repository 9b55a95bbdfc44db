import { readFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { unsnapped } from '#scanner/decompression/decompress.ts';
import { Budget, SCAN_LIMITS } from '#scanner/reading/limits.ts';
import { examined } from '#test/examined.ts';

const readNamed = (bytes: Buffer) => examined(bytes, { name: '000005.ldb' });

// Tables of LevelDB that plyvel 1.5 (LevelDB 1.23) wrote around EICAR, or a line of a shell, and streams of blocks that snappyjs packed; each byte masked, so that no scanner takes the repository for malware.

const MASK = 0x5a;
const files = z
  .record(z.string(), z.base64())
  .parse(JSON.parse(readFileSync(new URL('../../../test/tables.json', import.meta.url), 'utf8')));
const TABLES = Object.entries(files).map(([name, masked]): [string, Buffer] => [
  name,
  inflateSync(Buffer.from(masked, 'base64').map((byte) => byte ^ MASK)),
]);

const FOOTER_BYTES = 48;
/** A table whose index has one block, which has so many bytes. */
function tableOf(block: Buffer, packing: number): Buffer {
  const varint = (value: number) => {
    const bytes: number[] = [];
    let left = value;
    for (; left >= 0x80; left = Math.floor(left / 128)) bytes.push((left % 128) | 0x80);
    return Buffer.from([...bytes, left]);
  };
  const trailer = (kind: number) => Buffer.from([kind, 0, 0, 0, 0]);
  const data = Buffer.concat([block, trailer(packing)]);
  const handle = Buffer.concat([varint(0), varint(block.length)]);
  const entry = Buffer.concat([varint(0), varint(1), varint(handle.length), Buffer.from('k'), handle]);
  const index = Buffer.concat([entry, Buffer.from('0000000001000000', 'hex')]);
  const footer = Buffer.alloc(FOOTER_BYTES);
  Buffer.concat([varint(0), varint(block.length), varint(data.length), varint(index.length)]).copy(footer);
  Buffer.from('57fb808b247547db', 'hex').copy(footer, FOOTER_BYTES - 8);
  return Buffer.concat([data, index, trailer(0), footer]);
}

describe('output of LevelDB and Snappy', () => {
  test.each(TABLES)('is read: %s', async (_, bytes) => {
    const { threat, unread } = await readNamed(bytes);
    expect(threat).toMatch(/EICAR|Shell/);
    expect(unread).toEqual([]);
  });

  test('is pending when it is cut, or packed in an unknown way', async () => {
    const [, [, whole] = ['', Buffer.alloc(0)]] = TABLES;
    const damaged = Buffer.from(whole);
    damaged.fill(0xff, 10, 200);
    expect((await readNamed(damaged)).unread).toContain('damaged');
    expect((await readNamed(tableOf(Buffer.alloc(100, 7), 9))).unread).toContain('unsupported');
  });
});

describe('a block that lies', () => {
  test.each([
    ['claims more than it can hold', 'ffffffff0f00'],
    ['copies from before its beginning', '0a000105'],
    ['copies from nowhere', '0a04414200'],
    ['is cut in a literal', '0af0'],
    ['ends too soon', '0a0041'],
    ['never ends its length', 'ffffffffffffffffffffff'],
  ])('is damaged: it %s', (_, hex) => {
    expect(() => unsnapped(Buffer.from(hex, 'hex'), new Budget(SCAN_LIMITS, 1024), 1024)).toThrow('damaged');
  });

  test('that claims more than a block may have is given no room for it', () => {
    const packed = Buffer.concat([Buffer.from('80808001', 'hex'), Buffer.alloc(100_000)]);
    expect(() => unsnapped(packed, new Budget(SCAN_LIMITS, packed.length), 65_536)).toThrow('too_large');
  });

  test('costs no more than its budget where keys grow without an end', async () => {
    // Each entry shares all of the key before it, and adds a byte.
    const entries: Buffer[] = [];
    for (let length = 0; length < 6_000; length += 1) {
      const shared =
        length < 0x80
          ? [length]
          : length < 0x4000
            ? [(length & 0x7f) | 0x80, length >> 7]
            : [(length & 0x7f) | 0x80, ((length >> 7) & 0x7f) | 0x80, length >> 14];
      entries.push(Buffer.from([...shared, 1, 0, 0x41]));
    }
    const block = Buffer.concat([...entries, Buffer.from('0000000001000000', 'hex')]);
    const { threat, unread } = await examined(tableOf(block, 0), {
      name: '000005.ldb',
      limits: { ratio_floor_bytes: 1024 ** 2 },
    });
    expect(threat).toBe(null);
    // With the slower engine its time ends before its bytes.
    expect(['bomb', 'time_limit']).toContain(unread.join());
  });
});
