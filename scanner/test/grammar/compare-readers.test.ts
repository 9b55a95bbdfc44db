import { expect } from 'vitest';
import { needing } from '#test/needs.ts';
import { compareReaders } from './compare-readers.ts';
import { findProgram } from './writers.ts';

/** A sample beside the deep gate's comparisons: another seed, so that both together compare more. */
const FILES = 30;
const HARMLESS_FILES = 10;
const SEED = 5;

needing('other readers', findProgram('python3') !== undefined).test(
  'a sample of generated files is found, or pending, wherever another program takes out what they hold',
  { timeout: 120_000 },
  async () => {
    const comparison = await compareReaders({ seed: SEED, count: FILES, harmless_count: HARMLESS_FILES });
    expect(comparison.files).toBe(FILES);
    expect(comparison.silently_missed).toEqual([]);
    expect(comparison.harmless.infected).toEqual([]);
    expect(comparison.harmless.pending_though_opened).toEqual([]);
    expect(comparison.infected).toBeGreaterThan(FILES * 0.6);
  },
);
