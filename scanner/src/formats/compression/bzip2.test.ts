import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { Budget, LimitReached, SCAN_LIMITS } from '#scanner/reading/limits.ts';
import { CONTENTS, DAMAGED, LONGEST_BLOCK, madeStream, plainOf, read, streamOf, UNUSUAL, unpacked } from '#test/bzip2-streams.ts';
import { zip } from '#test/files.ts';
import { bzip2Streams } from './bzip2.ts';

const TEXT = CONTENTS['a text'] ?? Buffer.alloc(0);
const ONE_BYTE = streamOf('one byte');
const SEVERAL_BLOCKS = streamOf('several blocks');
const SEVERAL = CONTENTS['several blocks'] ?? Buffer.alloc(0);

describe('a stream of bzip2', () => {
  test.each(Object.entries(CONTENTS))('is unpacked: %s', async (name, content) => {
    const stream = streamOf(name);
    expect(unpacked(stream)).toEqual({ content, end: stream.length, failure: undefined });
    const { unread, contents, members } = await read(stream);
    expect({ unread, members }).toEqual({ unread: [], members: 1 });
    expect(contents[0] ?? Buffer.alloc(0)).toEqual(content);
  });

  test('may be followed by others, of which some are empty', async () => {
    const { unread, contents, members } = await read(
      Buffer.concat([streamOf('nothing'), streamOf('a text'), streamOf('nothing'), SEVERAL_BLOCKS]),
    );
    expect({ unread, members }).toEqual({ unread: [], members: 1 });
    expect(contents[0]?.equals(Buffer.concat([TEXT, SEVERAL]))).toBe(true);
  });

  test('ends before zeros, and another stream behind them is a file of its own', async () => {
    const { unread, contents } = await read(Buffer.concat([streamOf('a text'), Buffer.alloc(5000), streamOf('all letters')]));
    expect(unread).toEqual([]);
    expect(contents[0]?.equals(TEXT)).toBe(true);
    expect(contents.some((content) => content.equals(CONTENTS['all letters'] ?? TEXT))).toBe(true);
  });

  test('that begins behind another, and is none, is pending', async () => {
    const { unread, contents } = await read(Buffer.concat([streamOf('a text'), Buffer.from('BZh9 is how it starts')]));
    expect(unread).toEqual(['damaged']);
    expect(contents[0]?.equals(TEXT)).toBe(true);
  });

  test.each(['one byte', 'runs'])('gives the same, or is damaged, where one bit of it is another: %s', (name) => {
    const stream = streamOf(name);
    const others: number[] = [];
    let damaged = 0;
    for (let bit = 0; bit < 8 * stream.length; bit += 1) {
      const changed = Buffer.from(stream);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const { content, failure } = unpacked(changed);
      if (failure !== undefined) damaged += 1;
      else if (!content.equals(CONTENTS[name] ?? TEXT)) others.push(bit);
    }
    expect(others).toEqual([]);
    // Only the size of a block may be another one, and bits between streams.
    expect(damaged).toBeGreaterThan(8 * stream.length - 16);
  });

  test('that is cut anywhere is pending, and its whole blocks are read', async () => {
    let blocks = 0;
    for (let size = 10; size < SEVERAL_BLOCKS.length; size += 9) {
      const { content, failure } = unpacked(SEVERAL_BLOCKS.subarray(0, size));
      expect(failure).toMatchObject({ detail: 'damaged' });
      expect(content.equals(SEVERAL.subarray(0, content.length))).toBe(true);
      blocks = Math.max(blocks, Math.ceil(content.length / 100_000));
    }
    expect(blocks).toBe(3);
    expect((await read(SEVERAL_BLOCKS.subarray(0, 500))).unread).toContain('damaged');
  });
});

describe('a block of bzip2', () => {
  test.each(Object.entries(UNUSUAL))('is unpacked: %s', (_, blocks) => {
    const { content, failure } = unpacked(madeStream(blocks));
    expect(failure).toBeUndefined();
    expect(content.equals(plainOf(blocks))).toBe(true);
  });

  test.each(Object.entries(DAMAGED))('is damaged: %s', async (_, { block, given = Buffer.alloc(0) }) => {
    const stream = madeStream([block]);
    expect(unpacked(stream)).toMatchObject({ content: given, failure: { detail: 'damaged' } });
    expect((await read(stream)).unread).toEqual(['damaged']);
  });

  test('with a wrong checksum is given, and so are those behind it', () => {
    const [block] = UNUSUAL['an even tree'] ?? [];
    if (block === undefined) throw new Error('There is no such block.');
    expect(unpacked(madeStream([{ ...block, crc: 1 }, block]))).toMatchObject({
      content: Buffer.concat([block.plain, block.plain]),
      failure: { detail: 'damaged' },
    });
    expect(unpacked(madeStream([block], { crc: 1 }))).toMatchObject({ content: block.plain, failure: { detail: 'damaged' } });
  });
});

describe('the budget', () => {
  test('is charged for unpacked bytes before they are made', () => {
    // 46 bytes make 46 MB.
    const stream = madeStream(new Array(4).fill(LONGEST_BLOCK), { level: 9 });
    expect(stream.length).toBeLessThan(200);
    const budget = new Budget(SCAN_LIMITS, stream.length);
    let bytes = 0;
    const attack = () => {
      for (const piece of bzip2Streams(
        (at, length) => stream.subarray(at, at + length),
        budget,
        () => {},
      ))
        bytes += piece.length;
    };
    expect(attack).toThrow(LimitReached);
    expect(bytes).toBeGreaterThan(40 * 1024 ** 2);
    expect(bytes).toBeLessThan(budget.work);
  });

  test('is charged for each block, and small ones need little memory', async () => {
    const streams = 20_000;
    const bytes = Buffer.alloc(streams * ONE_BYTE.length, ONE_BYTE);
    const budget = new Budget(SCAN_LIMITS, bytes.length);
    expect(unpacked(bytes, budget).content.length).toBe(streams);
    expect(budget.work).toBeGreaterThan(1000 * streams);
    const before = process.memoryUsage().rss;
    const { unread, contents } = await read(bytes);
    expect(unread).toEqual([]);
    expect(contents[0]?.equals(Buffer.alloc(streams, 'a'))).toBe(true);
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 ** 2);
  });

  test('is charged for a large content, which is read in pieces', () => {
    const times = 120;
    const size = times * SEVERAL_BLOCKS.length;
    const budget = new Budget(SCAN_LIMITS, size);
    let read_bytes = 0;
    let largest = 0;
    // The content lies nowhere: it is one stream again and again.
    const readAt = (at: number, length: number) => {
      const piece = Buffer.alloc(Math.max(0, Math.min(length, size - at)));
      for (let to = 0; to < piece.length; ) to += SEVERAL_BLOCKS.copy(piece, to, (at + to) % SEVERAL_BLOCKS.length);
      read_bytes += piece.length;
      largest = Math.max(largest, piece.length);
      budget.spend(piece.length);
      return piece;
    };
    let bytes = 0;
    let crc = 0;
    for (const piece of bzip2Streams(readAt, budget, () => {})) {
      bytes += piece.length;
      crc = crc32(piece, crc);
      largest = Math.max(largest, piece.length);
      budget.addUnpacked(piece.length, 0, size);
    }
    expect(bytes).toBe(times * SEVERAL.length);
    let expected = 0;
    for (let time = 0; time < times; time += 1) expected = crc32(SEVERAL, expected);
    expect(crc).toBe(expected);
    expect(largest).toBeLessThanOrEqual(256 * 1024);
    expect(read_bytes).toBeLessThan(1.1 * size);
    expect(budget.work).toBeGreaterThan(bytes + read_bytes);
  });
});

describe('a member of a zip by bzip2', () => {
  function zipOf(packed: Buffer, content: Buffer): Buffer {
    const archive = zip([{ name: 'a.txt', content: packed, method: 12, claims: content.length }]);
    for (const at of [14, archive.lastIndexOf('PK\x01\x02', undefined, 'latin1') + 16]) archive.writeUInt32LE(crc32(content), at);
    return archive;
  }

  test('is unpacked', async () => {
    const { unread, contents } = await read(zipOf(SEVERAL_BLOCKS, SEVERAL));
    expect(unread).toEqual([]);
    expect(contents[0]?.equals(SEVERAL)).toBe(true);
  });

  test.each<[string, Buffer, Buffer]>([
    ['that is cut', SEVERAL_BLOCKS.subarray(0, -20), SEVERAL],
    ['with bytes behind its end', Buffer.concat([SEVERAL_BLOCKS, Buffer.from('hidden')]), SEVERAL],
    ['with another content than its headers tell', SEVERAL_BLOCKS, TEXT],
    ['of other bytes', TEXT, TEXT],
  ])('is pending: one %s', async (_, packed, content) => {
    expect((await read(zipOf(packed, content))).unread).toEqual(['damaged']);
  });
});
