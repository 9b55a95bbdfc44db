import { describe, expect, test } from 'vitest';
import { examined } from '#test/examined.ts';
import { noise } from '#test/files.ts';
import { findProgram, openWriters } from '#test/grammar/writers.ts';
import { needing } from '#test/needs.ts';
import { CONTENT, read, streamOf } from '#test/xz-streams.ts';

describe('a stream of xz', () => {
  test.each(['crc64', 'crc32', 'sha256', 'no check', 'several blocks', 'blocks with their sizes', 'delta'])(
    'is pending wherever one byte of it is another: %s',
    async (name) => {
      const clean: number[] = [];
      const stream = streamOf(name);
      // The first bytes make it an xz file.
      for (let at = 6; at < stream.length; at += 1) {
        const changed = Buffer.from(stream);
        changed[at] = (changed[at] ?? 0) ^ 0x10;
        const { unread, content } = await read(changed);
        const has_no_check = name === 'no check' && content.length === CONTENT.length;
        if (unread.length === 0 && !has_no_check) clean.push(at);
      }
      expect(clean).toEqual([]);
    },
  );
});

needing('xz', findProgram('xz') !== undefined).test(
  'contents of every kind come out as they went in',
  { timeout: 300_000 },
  async () => {
    const writers = openWriters();
    try {
      const words = Buffer.from(
        Array.from({ length: 60_000 }, (_, index) => `${(index * 7919) % 1013} words ${index % 17}\n`).join(''),
      );
      const contents = [
        words,
        noise(300_000),
        // Longer than the window of all levels but the last.
        Buffer.alloc(10_000_000),
        Buffer.concat([words, noise(100_000), words, Buffer.alloc(500_000), words.subarray(12_345)]),
        Buffer.concat(
          Array.from({ length: 8 }, (_, index) => Buffer.concat([noise(400_000, 9), words.subarray(0, index * 1000)])),
        ),
      ];
      const kinds = [
        ['-0'],
        ['-6'],
        ['-9e'],
        ['--lzma2=preset=3,lc=0,lp=4,pb=4,dict=4KiB'],
        ['--lzma2=preset=6,lc=4,lp=0,pb=1,dict=100MiB'],
        ['--block-size=65536'],
      ];
      for (const [index, content] of contents.entries())
        for (const options of kinds) {
          const packed = await writers.run('xz', ['-c', '-T1', ...options], {}, undefined, content);
          let whole: Buffer | undefined;
          const match = (bytes: Buffer) => {
            if (bytes.length === content.length && bytes.equals(content)) whole = bytes;
            return [];
          };
          const limits = { ratio: 10_000, ratio_floor_bytes: 1024 ** 3 };
          const { unread } = await examined(packed, { name: 'a.xz', match, limits });
          expect({ index, options, unread, is_whole: whole !== undefined }).toEqual({
            index,
            options,
            unread: [],
            is_whole: true,
          });
        }
    } finally {
      writers.close();
    }
  },
);
