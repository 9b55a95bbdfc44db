import { describe, expect, test } from 'vitest';
import { noise } from '#test/files.ts';
import { superblockFile, withMinixMagic } from '#test/minix-superblocks.ts';
import { isMinix } from './minix.ts';

/** Superblocks that mkfs.minix 2.38 (util-linux) wrote, with its arguments and the bytes of the file. */
const WRITTEN: readonly [string, string][] = [
  ['-1, 10240', '20000a000100010005000000001c08108f130100000000000000000000000000'],
  ['-1, 102400', '400064000100010006000000001c08108f130100000000000000000000000000'],
  ['-1 -n 14, 1234567', 'a001b5040100010011000000001c08107f130100000000000000000000000000'],
  ['-1, 65536000', '605300fa03000800a8020000001c08108f130100000000000000000000000000'],
  ['-1 -i 65535, 40000000', 'ffff9698080005000f080000001c08108f130100000000000000000000000000'],
  ['-2 -n 14, 777777', '000100000100010014000000ffffff7f68240100f70200000000000000000000'],
  ['-2, 1048576', '60010000010001001a000000ffffff7f78240100000400000000000000000000'],
  ['-2 -i 8191, 8388608', '002000000200010005020000ffffff7f78240100002000000000000000000000'],
  ['-2, 3000000000', 'ffff00000800660170110000ffffff7f7824010017b42c000000000000000000'],
  ['-3, 1048576', '600100000000010001001a0000000000ffffff7f000400005a4d000000040000'],
  ['-3 -i 5000, 9000000', '901300000000010002003e0100000000ffffff7f552200005a4d000000040000'],
  ['-3, 99999999', '307f0000000004000c00050800000000ffffff7f787d01005a4d000000040000'],
];

/** The widths of the fields, in their order. */
const OLD_WIDTHS = [2, 2, 2, 2, 2, 2, 4, 2, 2, 4];
const THIRD_WIDTHS = [4, 2, 2, 2, 2, 2, 2, 4, 4, 2, 2, 2];

/** The same superblock as a processor of the other byte order writes it. */
function swapped(superblock: Buffer, widths: readonly number[]): Buffer {
  const copy = Buffer.from(superblock);
  let at = 0;
  for (const width of widths) {
    copy.subarray(at, at + width).reverse();
    at += width;
  }
  return copy;
}

describe('a superblock of mkfs.minix is recognised', () => {
  test.each(WRITTEN)('%s', (options, hex) => {
    const superblock = Buffer.from(hex, 'hex');
    expect(isMinix(superblockFile(superblock))).toBe(true);
    expect(isMinix(superblockFile(swapped(superblock, options.startsWith('-3') ? THIRD_WIDTHS : OLD_WIDTHS)))).toBe(true);
  });

  test.each(WRITTEN)('and not with another first zone, or a map of another size: %s', (options, hex) => {
    const maps_at = options.startsWith('-3') ? 6 : 4;
    for (const [at, more] of [
      [maps_at, 3],
      [maps_at + 2, 3],
      [maps_at + 4, 1],
      [maps_at + 6, 9],
    ] as const) {
      const superblock = Buffer.from(hex, 'hex');
      superblock.writeUInt16LE(superblock.readUInt16LE(at) + more, at);
      expect(isMinix(superblockFile(superblock))).toBe(false);
    }
  });
});

test('noise with the magic of MINIX is not recognised', () => {
  const bytes = noise(32 * 50_000, 35);
  const recognised: string[] = [];
  for (let at = 0; at < bytes.length; at += 32)
    for (const file of withMinixMagic(bytes.subarray(at, at + 32)))
      if (isMinix(file)) recognised.push(bytes.toString('hex', at, at + 32));
  expect(recognised).toEqual([]);
});
