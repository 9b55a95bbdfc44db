import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { needing } from '#test/needs.ts';
import { type Comparison, compareReaders } from './compare-readers.ts';
import { findProgram } from './writers.ts';

// node scanner/test/grammar/compare.ts reads more of them, and keeps its finds.

/** The same files each time, so that a run that fails was broken by what changed. `COMPARE_SEED` finds others, on purpose. */
const SEED = 11;
const FILES = 300;
const HARMLESS_FILES = 80;

const python = findProgram('python3');
if (python === undefined) process.stdout.write('skipped: there is no python3 on this machine to compare the readers with\n');

needing('other readers', python !== undefined).describe(
  'generated files, beside programs that know nothing of our readers',
  () => {
    let comparison: Comparison;
    beforeAll(async () => {
      const seed = z.coerce.number().int().optional().parse(process.env['COMPARE_SEED']) ?? SEED;
      comparison = await compareReaders({ seed, count: FILES, harmless_count: HARMLESS_FILES });
      const { missing_programs, asked, opened } = comparison;
      process.stdout.write(`generated files: seed ${seed}; of ${asked} that were not found here, others open ${opened}\n`);
      if (missing_programs.length > 0) process.stdout.write(`not generated: what needs ${missing_programs.join(', ')}\n`);
    }, 600_000);

    test('are found or pending wherever another program unpacks them', () => {
      expect(comparison.files).toBe(FILES);
      expect(comparison.silently_missed).toEqual([]);
    });

    test('are clean when they are whole and hold nothing', () => {
      expect(comparison.harmless.infected).toEqual([]);
      expect(comparison.harmless.pending_though_opened).toEqual([]);
    });

    test('are found more often than not, so that a reader that says pending of everything does not pass', () => {
      expect(comparison.infected).toBeGreaterThan(FILES * 0.6);
    });
  },
);
