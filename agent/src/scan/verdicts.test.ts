import { type BigIntStats, lstatSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { heldBytes } from '@palisade/scanner/test/held-bytes';
import { beforeEach, describe, expect, it } from 'vitest';
import { openVerdicts } from './verdicts.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'palisade-scan-'));
});

describe('clean files', () => {
  // proves: device-fault-18
  it('is remembered for very many files, with a bounded memory, and for one edition alone', async () => {
    const files = 200_000;
    const stats = lstatSync(root, { bigint: true });
    // As the walk gives them: the stats that identify a file.
    const statsOf = (index: number): BigIntStats => {
      stats.ino = BigInt(index);
      stats.size = 1_000n + BigInt(index);
      return stats;
    };
    const verdicts = await openVerdicts(root, 'engine 1');
    const before = heldBytes();
    for (let index = 0; index < files; index += 1) verdicts.remember(statsOf(index));
    await verdicts.save();
    // The agent's unit may take 1 GB.
    expect((heldBytes() - before) / files).toBeLessThan(600);
    const again = await openVerdicts(root, 'engine 1');
    expect([0, 1, files - 1].map((index) => again.isKnown(statsOf(index)))).toEqual([true, true, true]);
    expect(again.isKnown(statsOf(files))).toBe(false);
    expect((await openVerdicts(root, 'engine 2')).isKnown(statsOf(1))).toBe(false);
  });
});
