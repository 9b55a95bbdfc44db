import { afterAll, expect, test } from 'vitest';
import { faultsOf, newFuzzFolder, runFuzz } from './structure-fuzz-run.ts';

/** A sample beside the deep gate's files: another seed, so that both together read more. */
const FILES = 60;
const SEED = 3;

const { folder, end } = newFuzzFolder();
afterAll(end);

test('a sample of bent containers ends no process and takes no memory', { timeout: 120_000 }, async () => {
  const run = await runFuzz(SEED, FILES, folder, false);
  expect(faultsOf(run)).toEqual([]);
  expect(run.reads.length).toBe(FILES);
  expect(run.reads.filter(({ verdict }) => verdict.startsWith('infected')).length).toBeGreaterThan(0);
});
