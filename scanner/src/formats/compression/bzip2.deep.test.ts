import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { Budget, SCAN_LIMITS } from '#scanner/reading/limits.ts';
import { openReader } from '#scanner/reading/reader.ts';
import { examine } from '#scanner/walk/examine.ts';
import { CONTENTS, DAMAGED, madeStream, plainOf, streamOf, UNUSUAL, unpacked } from '#test/bzip2-streams.ts';
import { noise } from '#test/files.ts';
import { findProgram, openWriters } from '#test/grammar/writers.ts';
import { needing } from '#test/needs.ts';
import { bzip2Streams } from './bzip2.ts';

const MIB = 1024 ** 2;
const python = needing('other readers', findProgram('python3') !== undefined);
const COMPRESS = 'import bz2, sys; sys.stdout.buffer.write(bz2.compress(sys.stdin.buffer.read(), int(sys.argv[1])))';
/** For each line, a stream, whether libbz2 unpacks it, and what it gives. A little at a time, so that it gives something before it fails. */
const DECOMPRESS = `
import base64, bz2, json, sys
for line in sys.stdin:
    packed, plain, reader = base64.b64decode(line), b'', bz2.BZ2Decompressor()
    try:
        while not reader.eof:
            piece = reader.decompress(packed, 1 if len(plain) < 3000 else 100_000)
            packed = b''
            if not piece and reader.needs_input: break
            plain += piece
    except OSError: pass
    print(json.dumps({'is_whole': reader.eof, 'plain': base64.b64encode(plain).decode()}))
`;
const answerSchema = z.object({ is_whole: z.boolean(), plain: z.base64() });

async function withWriters(
  run: (python3: (code: string, args: readonly string[], input: Buffer) => Promise<Buffer>) => Promise<void>,
) {
  const writers = openWriters();
  try {
    await run((code, args, input) => writers.run('python3', ['-c', code, ...args], {}, undefined, input));
  } finally {
    writers.close();
  }
}

python.test('contents of every kind come out as they went in', { timeout: 300_000 }, async () => {
  const words = Buffer.from(
    Array.from({ length: 90_000 }, (_, index) => `${(index * 7919) % 1013} words ${index % 17}\n`).join(''),
  );
  const runs = Array.from({ length: 600 }, (_, index) => Buffer.alloc(index + 1, (index * 7) % 5));
  const contents = [
    Buffer.alloc(0),
    Buffer.from('a'),
    words,
    noise(2 * MIB),
    Buffer.concat(runs),
    Buffer.alloc(40_000_000),
    Buffer.alloc(300_000, Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))),
    Buffer.concat([words, noise(100_000), Buffer.alloc(500_000), words.subarray(12_345)]),
  ];
  await withWriters(async (python3) => {
    for (const [index, content] of contents.entries())
      for (const level of ['1', '4', '9']) {
        const packed = await python3(COMPRESS, [level], content);
        let is_whole = content.length === 0;
        const match = (bytes: Buffer) => {
          is_whole ||= bytes.length === content.length && bytes.equals(content);
          return [];
        };
        const limits = { ...SCAN_LIMITS, ratio: 1_000_000, ratio_floor_bytes: 1024 ** 3 };
        const folder = join(tmpdir(), `palisade-bzip2-${process.pid}`);
        const { unread } = await examine({ bytes: packed, size: packed.length, name: 'a.bz2' }, { match, limits, folder });
        expect({ index, level, unread, is_whole }).toEqual({ index, level, unread: [], is_whole: true });
      }
  });
});

python.test('changed streams are unpacked as by libbz2', { timeout: 300_000 }, async () => {
  const streams = [
    ...Object.keys(CONTENTS).map(streamOf),
    // Large contents would be sent to and fro as text.
    ...Object.values(UNUSUAL).flatMap((blocks) => (plainOf(blocks).length < MIB ? [madeStream(blocks)] : [])),
    ...Object.values(DAMAGED).map(({ block }) => madeStream([block])),
  ];
  let state = 7;
  const next = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
  // Half of the changes are in the head of the first block, where its trees are.
  const changed = streams.flatMap((stream) =>
    Array.from({ length: 250 }, (_, index) => {
      const bytes = Buffer.from(stream);
      for (let count = next(4); count > 0; count -= 1) {
        const at = 4 + next(Math.min(bytes.length - 4, index % 2 === 0 ? 60 : bytes.length));
        bytes[at] = (bytes[at] ?? 0) ^ (1 << next(8));
      }
      return bytes;
    }),
  );
  let given = 0;
  await withWriters(async (python3) => {
    const lines = changed.map((bytes) => bytes.toString('base64')).join('\n');
    const answers = (await python3(DECOMPRESS, [], Buffer.from(lines))).toString().trim().split('\n');
    expect(answers.length).toBe(changed.length);
    for (const [index, bytes] of changed.entries()) {
      const theirs = answerSchema.parse(JSON.parse(answers[index] ?? ''));
      const plain = Buffer.from(theirs.plain, 'base64');
      const { content, failure } = unpacked(bytes);
      const stream = bytes.toString('hex');
      expect({ stream, is_whole: failure === undefined }).toEqual({ stream, is_whole: theirs.is_whole });
      // Before it fails, libbz2 leaves out the last byte, or gives more of a run that has no number.
      const common = theirs.is_whole ? Math.max(content.length, plain.length) : Math.min(content.length, plain.length);
      expect({ stream, is_same: content.subarray(0, common).equals(plain.subarray(0, common)) }).toEqual({
        stream,
        is_same: true,
      });
      if (plain.length > 0) given += 1;
    }
  });
  expect(given).toBeGreaterThan(500);
});

python.test('a large file is read from the disk in pieces', { timeout: 300_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-bzip2-'));
  try {
    const path = join(folder, 'a.bz2');
    const content = noise(24 * MIB);
    const expected = crc32(content);
    await withWriters(async (python3) => writeFileSync(path, await python3(COMPRESS, ['9'], content)));
    const { size } = statSync(path);
    const before = process.memoryUsage().rss;
    const reader = openReader({ path, size }, new Budget(SCAN_LIMITS, size));
    let bytes = 0;
    let crc = 0;
    try {
      for (const piece of bzip2Streams(
        (at, length) => reader.at(at, length),
        reader.budget,
        () => {},
      )) {
        bytes += piece.length;
        crc = crc32(piece, crc);
      }
    } finally {
      reader.close();
    }
    expect({ bytes, crc }).toEqual({ bytes: content.length, crc: expected });
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * MIB);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('every change of one bit gives the same, or is damaged', { timeout: 120_000 }, () => {
  const others: string[] = [];
  for (const [name, content] of Object.entries(CONTENTS)) {
    const stream = streamOf(name);
    for (let bit = 0; bit < 8 * stream.length; bit += content.length > 10_000 ? 11 : 1) {
      const changed = Buffer.from(stream);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const { content: given, failure } = unpacked(changed);
      if (failure === undefined && !given.equals(content)) others.push(`${name}, bit ${bit}`);
    }
  }
  expect(others).toEqual([]);
});
