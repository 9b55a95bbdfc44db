import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, readSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HEAD_BYTES } from '#scanner/formats/format.ts';
import { noise } from '#test/files.ts';
import { idsOf } from '#test/format-samples.ts';
import { findProgram } from '#test/grammar/writers.ts';
import { withMinixMagic } from '#test/minix-superblocks.ts';
import { needing } from '#test/needs.ts';
import { isMinix } from './minix.ts';

/** The first bytes of a file, by which formats are recognised. */
function headOf(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(HEAD_BYTES);
    return bytes.subarray(0, readSync(file, bytes, 0, HEAD_BYTES, 0));
  } finally {
    closeSync(file);
  }
}

const mkfs = findProgram('mkfs.minix');

needing('mkfs.minix', mkfs !== undefined).test('images of every version, size and number of inodes are recognised', () => {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-minix-'));
  const path = join(folder, 'image');
  try {
    let made = 0;
    for (const version of ['-1', '-2', '-3'])
      for (const size of [20_480, 65_535, 100_001, 1_048_576, 3_333_333, 8_388_609, 50_000_000])
        for (const more of [[], ['-n', '14'], ['-i', '100'], ['-i', '8191'], ['-i', '20000']]) {
          writeFileSync(path, '');
          truncateSync(path, size);
          try {
            execFileSync(mkfs ?? '', [version, ...more, path], { stdio: 'ignore' });
          } catch {
            // So many inodes have no room, or version 3 has no short names.
            continue;
          }
          made += 1;
          expect(isMinix(headOf(path)), `${version} ${size} ${more.join(' ')}`).toBe(true);
          if (size < 200_000) expect([...idsOf(readFileSync(path), 'image')]).toContain('minix');
        }
    expect(made).toBeGreaterThan(70);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('a million random superblocks with a right magic are not recognised', () => {
  let recognised = 0;
  for (let round = 0; round < 10; round += 1) {
    const bytes = noise(32 * 10_000, 1000 + round);
    for (let at = 0; at < bytes.length; at += 32)
      for (const file of withMinixMagic(bytes.subarray(at, at + 32))) recognised += Number(isMinix(file));
  }
  expect(recognised).toBe(0);
});
