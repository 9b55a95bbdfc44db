import { constants, zstdCompressSync } from 'node:zlib';
import { scanEnglish } from '@palisade/contract/scan-phrases';
import { describe, expect, test } from 'vitest';
import { examinedTexts } from '#test/examined.ts';
import { noise, zip } from '#test/files.ts';

/** Reads a file, and answers what was unread and which contents were matched behind the file itself. */
async function read(bytes: Buffer) {
  const { unread, coverage, notes, texts } = await examinedTexts(bytes, { name: 'file.zst', match: () => [] });
  return {
    unread,
    contents: texts.slice(1).map((text) => Buffer.from(text, 'latin1')),
    members: coverage.members_total,
    notes: notes.map(({ phrase }) => scanEnglish(phrase)),
  };
}

const skippable = (content: Buffer, number = 0) => {
  const head = Buffer.alloc(8);
  head.writeUInt32LE(0x184d2a50 + number);
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, content]);
};
const ONE = Buffer.from('the words of the first frame, '.repeat(100));
const TWO = Buffer.from('the words of the second frame, '.repeat(100));
const checked = (content: Buffer) => zstdCompressSync(content, { params: { [constants.ZSTD_c_checksumFlag]: 1 } });
const EMPTY = zstdCompressSync(Buffer.alloc(0));

describe('frames of zstd', () => {
  test.each([
    ['one', zstdCompressSync(ONE), ONE],
    ['two, with checksums', Buffer.concat([checked(ONE), checked(TWO)]), Buffer.concat([ONE, TWO])],
    [
      'behind and before skippable ones',
      Buffer.concat([
        skippable(noise(12)),
        zstdCompressSync(ONE),
        skippable(noise(4), 15),
        zstdCompressSync(TWO),
        skippable(noise(8)),
      ]),
      Buffer.concat([ONE, TWO]),
    ],
    [
      'with empty ones between',
      Buffer.concat([EMPTY, zstdCompressSync(ONE), EMPTY, checked(Buffer.alloc(0)), zstdCompressSync(TWO), EMPTY]),
      Buffer.concat([ONE, TWO]),
    ],
    ['of noise, of many blocks', zstdCompressSync(noise(1_000_000)), noise(1_000_000)],
    ['before zeros', Buffer.concat([zstdCompressSync(ONE), Buffer.alloc(600)]), ONE],
  ])('are unpacked to one file: %s', async (_, bytes, content) => {
    const { unread, contents, members } = await read(bytes);
    expect(unread).toEqual([]);
    expect(members).toBe(1);
    expect(contents[0]?.equals(content)).toBe(true);
  });

  test('a million empty ones are read', async () => {
    const { unread } = await read(Buffer.concat([zstdCompressSync(ONE), ...Array.from({ length: 1_000_000 }, () => EMPTY)]));
    expect(unread).toEqual([]);
  });

  test('many small ones need no more memory than their content', async () => {
    const frame = zstdCompressSync(Buffer.from('a few words'));
    const before = process.memoryUsage();
    const { unread, contents } = await read(Buffer.concat(Array.from({ length: 20_000 }, () => frame)));
    const after = process.memoryUsage();
    expect(unread).toEqual([]);
    expect(contents[0]?.length).toBe(20_000 * 11);
    expect(after.external - before.external).toBeLessThan(64 * 1024 ** 2);
  });
});

describe('a zstd file is pending', () => {
  const with_dictionary = zstdCompressSync(ONE);
  // RFC 8878, 3.1.1.1.1: two bits for the bytes of a dictionary's number, here one, and a window in place of the size.
  const dictionary = Buffer.concat([
    with_dictionary.subarray(0, 4),
    Buffer.from([0x01, 0x58, 7]),
    Buffer.from([0x29, 0, 0]),
    Buffer.from('words'),
  ]);
  const window = (code: number) =>
    Buffer.concat([with_dictionary.subarray(0, 4), Buffer.from([0, code]), Buffer.from([0x29, 0, 0]), Buffer.from('words')]);
  const flipped = checked(ONE);
  flipped[flipped.length - 1] = (flipped.at(-1) ?? 0) ^ 1;
  test.each([
    ['with a dictionary', dictionary, 'unsupported', undefined],
    ['with a dictionary for the second frame', Buffer.concat([zstdCompressSync(ONE), dictionary]), 'unsupported', ONE],
    // 2^(10 + 18) bytes.
    ['with a window of 256 MiB', window(18 << 3), 'too_large', undefined],
    [
      'with a content that claims 4 GiB in one segment',
      Buffer.concat([with_dictionary.subarray(0, 4), Buffer.from([0xa0, 255, 255, 255, 255, 0x29, 0, 0]), Buffer.from('words')]),
      'too_large',
      undefined,
    ],
    ['with another checksum', flipped, 'damaged', ONE],
    ['that is cut', zstdCompressSync(noise(500_000)).subarray(0, 400_000), 'damaged', noise(300_000)],
    [
      'whose second frame is cut',
      Buffer.concat([zstdCompressSync(ONE), zstdCompressSync(noise(5000)).subarray(0, 4000)]),
      'damaged',
      ONE,
    ],
    ['whose checksum is cut', checked(ONE).subarray(0, -2), 'damaged', ONE],
    [
      'with a block of a reserved kind',
      Buffer.concat([with_dictionary.subarray(0, 4), Buffer.from([0, 0x58, 0x2f, 0, 0]), Buffer.from('words')]),
      'damaged',
      undefined,
    ],
    [
      'with a block above 128 KiB',
      Buffer.concat([with_dictionary.subarray(0, 4), Buffer.from([0, 0x58, 0x09, 0, 0xff]), noise(300_000)]),
      'damaged',
      undefined,
    ],
  ] as const)('%s', async (_, bytes, detail, beginning) => {
    const { unread, contents } = await read(bytes);
    expect(unread).toContain(detail);
    if (beginning !== undefined)
      expect(contents.some((content) => content.subarray(0, beginning.length).equals(beginning))).toBe(true);
  });

  test('with a bomb', async () => {
    expect((await read(zstdCompressSync(Buffer.alloc(100 * 1024 ** 2)))).unread).toEqual(['bomb']);
  });
});

test('a window of 128 MiB is read', async () => {
  const frame = Buffer.concat([Buffer.from('28b52ffd', 'hex'), Buffer.from([0, 17 << 3, 0x29, 0, 0]), Buffer.from('words')]);
  const { unread, contents } = await read(frame);
  expect(unread).toEqual([]);
  expect(contents[0]?.toString()).toBe('words');
});

test('a file in a skippable frame is read, of zstd and of LZ4', async () => {
  const archive = zip([{ name: 'a.txt', content: Buffer.from('hidden words') }]);
  const lz4 = Buffer.from('04224d186040820600008068656c6c6f0a00000000', 'hex');
  for (const frame of [zstdCompressSync(ONE), lz4]) {
    const { contents } = await read(Buffer.concat([frame, skippable(archive), frame]));
    expect(contents.map((content) => content.toString())).toContain('hidden words');
  }
});

test('a table of frames is not examined as a rest', async () => {
  const table = Buffer.concat([noise(3000), Buffer.from('b1ea928f', 'hex')]);
  const { unread, members } = await read(Buffer.concat([zstdCompressSync(ONE), skippable(table, 14)]));
  expect({ unread, members }).toEqual({ unread: [], members: 1 });
});
