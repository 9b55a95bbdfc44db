import { describe, expect, test } from 'vitest';
import { CONTENT, read, STREAMS, streamOf } from '#test/xz-streams.ts';
import { crc64 } from './crc64.ts';

describe('a stream of xz', () => {
  test.each(Object.keys(STREAMS))('is unpacked: %s', async (name) => {
    const { unread, content, members } = await read(streamOf(name));
    expect(unread).toEqual([]);
    expect(content.equals(CONTENT)).toBe(true);
    expect(members).toBe(1);
  });

  test('may be followed by others, and by zeros', async () => {
    const bytes = Buffer.concat([
      streamOf('crc32'),
      streamOf('crc64'),
      Buffer.alloc(8),
      streamOf('several blocks'),
      Buffer.alloc(4),
    ]);
    const { unread, content } = await read(bytes);
    expect(unread).toEqual([]);
    expect(content.equals(Buffer.concat([CONTENT, CONTENT, CONTENT]))).toBe(true);
  });

  test.each(['crc64', 'several blocks'])('is pending where one byte of it is another: %s', async (name) => {
    const clean: number[] = [];
    const stream = streamOf(name);
    // The first bytes make it an xz file.
    for (let at = 6; at < stream.length; at += 5) {
      const changed = Buffer.from(stream);
      changed[at] = (changed[at] ?? 0) ^ 0x10;
      const { unread } = await read(changed);
      if (unread.length === 0) clean.push(at);
    }
    expect(clean).toEqual([]);
  });

  test('that is cut anywhere is pending, and its beginning is read', async () => {
    const stream = streamOf('crc64');
    for (let size = 13; size < stream.length; size += 7) {
      const { unread, content } = await read(stream.subarray(0, size));
      expect(unread).toContain('damaged');
      if (size > 400) expect(content.subarray(0, 500).equals(CONTENT.subarray(0, 500))).toBe(true);
    }
  });

  test('of a million small chunks needs little memory', async () => {
    // Stored chunks of one byte, of which the first empties the dictionary.
    const chunks = Buffer.alloc(4 * 200_000);
    for (let at = 0; at < chunks.length; at += 4) chunks.set([at === 0 ? 1 : 2, 0, 0, 0x61], at);
    const head = streamOf('crc32').subarray(0, 12 + 12);
    const before = process.memoryUsage().rss;
    const { unread, content } = await read(Buffer.concat([head, chunks]));
    expect(unread).toEqual(['damaged']);
    expect(content.length).toBe(200_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(128 * 1024 ** 2);
  });
});

test('computes the CRC-64 of xz', () => {
  const crc = crc64();
  crc.add(Buffer.from('1234'));
  crc.add(Buffer.from('56789'));
  // The check value of CRC-64/XZ.
  expect(crc.value().reverse().toString('hex')).toBe('995dc9bbdf1939fa');
});
