import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { runs } from './long-run.ts';
import { faultsOf, newFuzzFolder, PROCESSES, runFuzz } from './structure-fuzz-run.ts';

/** Files in all. `FUZZ_FILES` asks for more and prints the figures, `FUZZ_SEED` repeats a run. */
const FILES = runs(1_500, 4_000);
/** The same files each time, so that a run that fails was broken by what changed. Other seeds find more, on purpose. */
const SEED = 14;
const PYTHON = ['/usr/bin/python3', '/usr/local/bin/python3', '/opt/homebrew/bin/python3'].find(existsSync);

const { folder, end } = newFuzzFolder();
afterAll(end);

// proves: attack-A.1-4, security-24
test('bent containers end no process, take no memory and no time, and are never clean while their content can be read', {
  timeout: 900_000,
}, async () => {
  const asked = z.coerce.number().int().positive().optional().parse(process.env['FUZZ_FILES']);
  const seed = z.coerce.number().int().optional().parse(process.env['FUZZ_SEED']) ?? SEED;
  const files = asked ?? FILES;
  process.stdout.write(`structure fuzz: seed ${seed}, ${files} files\n`);
  const began = performance.now();
  const run = await runFuzz(seed, files, folder);
  const seconds = (performance.now() - began) / 1000;
  expect(faultsOf(run)).toEqual([]);
  expect(run.reads.length).toBe(files);

  const counts: Record<string, number> = {};
  for (const { verdict } of run.reads) {
    const [word = ''] = verdict.split(' ');
    counts[word] = (counts[word] ?? 0) + 1;
  }
  let found = 'not asked: there is no python3 on this machine';
  if (PYTHON !== undefined) {
    const script = join(import.meta.dirname, 'independent-reader.py');
    const { stdout } = await promisify(execFile)(PYTHON, [script, folder], { maxBuffer: 1024 ** 2 * 16 });
    found = stdout;
    expect(stdout, 'clean here, but another reader finds what they hold').toBe('');
  } else {
    process.stdout.write(`structure fuzz: the clean ones were ${found}\n`);
  }
  if (asked === undefined) return;
  const slowest = run.reads.toSorted((a, b) => b.ms - a.ms).slice(0, 5);
  const results = {
    when: new Date().toISOString(),
    machine: `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`,
    node: process.version,
    seed,
    files,
    processes: PROCESSES,
    seconds: Math.round(seconds),
    verdicts: counts,
    clean_files_asked_again: PYTHON === undefined ? 0 : (counts['clean'] ?? 0),
    false_clean: found === '' ? 0 : found.trim().split('\n').length,
    deaths: run.deaths.length,
    memory_over_idle_at_most_mib: Math.round(run.most_memory / 1024 ** 2),
    slowest: slowest.map(({ name, ms, size, verdict }) => ({ name, ms: Math.round(ms), bytes: size, verdict })),
  };
  process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
});
