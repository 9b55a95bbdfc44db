import { type ChildProcess, execFile, fork } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';

/**
 * Files in all. `FUZZ_FILES` asks for more and keeps the figures in bench/results/fuzz.json, `FUZZ_SEED` repeats a run.
 */
const FILES = 20_000;
/** The same files each time, so that a run that fails was broken by what changed. Other seeds find more, on purpose. */
const SEED = 14;
const PROCESSES = 2;
/** Over what the process holds when it has read each container once. Bytes. */
const MEMORY_MAXIMUM = 300 * 1024 ** 2;
/** A file that takes longer than the time limit for small ones hangs. ms. */
const PATIENCE_MS = 30_000;
const WATCH_EVERY_MS = 100;
const PYTHON = ['/usr/bin/python3', '/usr/local/bin/python3', '/opt/homebrew/bin/python3'].find(existsSync);
const RESULTS = new URL('../../bench/results/fuzz.json', import.meta.url);

const answerSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready'), idle: z.number(), missed: z.array(z.string()) }),
  z.object({ kind: z.literal('begun'), index: z.int() }),
  z.object({
    kind: z.literal('read'),
    index: z.int(),
    name: z.string(),
    verdict: z.string(),
    ms: z.number(),
    size: z.int(),
    now: z.number(),
    peak: z.number(),
  }),
  z.object({ kind: z.literal('done') }),
]);
type Read = Extract<z.infer<typeof answerSchema>, { kind: 'read' }>;

interface Run {
  reads: Read[];
  /** Containers in which nothing was found before anybody bent them. */
  missed: string[];
  /** Cause of a process's end: the number of the file, and the kind. */
  deaths: string[];
  /** More memory than the process may have beside what it held at first. */
  over: string[];
  most_memory: number;
}

const folder = mkdtempSync(join(tmpdir(), 'palisade-structure-'));
const children = new Set<ChildProcess>();
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/** Memory of a process now, where the kernel says so. Bytes. */
function residentBytes(pid: number | undefined): number {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** Every `PROCESSES`th file from `from` on, in one process; a new one continues behind a file that ended it. */
async function readAll(order: { seed: number; from: number; to: number }, run: Run): Promise<void> {
  let from = order.from;
  while (from < order.to) {
    const child = fork(new URL('./structure-fuzz-process.ts', import.meta.url), [], {
      serialization: 'advanced',
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    children.add(child);
    let current = from;
    let since = performance.now();
    let idle = Number.POSITIVE_INFINITY;
    let is_done = false;
    let why = 'died';
    const end = (reason: string) => {
      why = reason;
      child.kill('SIGKILL');
    };
    const watch = setInterval(() => {
      if (residentBytes(child.pid) - idle > 2 * MEMORY_MAXIMUM) end('took the memory');
      if (performance.now() - since > PATIENCE_MS + (idle === Number.POSITIVE_INFINITY ? PATIENCE_MS : 0)) end('hung');
    }, WATCH_EVERY_MS);
    child.on('message', (message) => {
      const answer = answerSchema.parse(message);
      since = performance.now();
      switch (answer.kind) {
        case 'ready':
          idle = answer.idle;
          run.missed.push(...answer.missed);
          break;
        case 'begun':
          current = answer.index;
          break;
        case 'read':
          run.reads.push(answer);
          run.most_memory = Math.max(run.most_memory, answer.peak - idle);
          if (answer.peak - idle > MEMORY_MAXIMUM) run.over.push(`${answer.index} (${answer.name}): ${answer.peak - idle} bytes`);
          break;
        case 'done':
          is_done = true;
          child.disconnect();
          break;
      }
    });
    child.send({ ...order, from, step: PROCESSES, folder });
    await new Promise<void>((resolve) => child.once('exit', () => resolve()));
    clearInterval(watch);
    children.delete(child);
    if (is_done) return;
    run.deaths.push(`${current} ${why}`);
    from = current + PROCESSES;
  }
}

// proves: attack-A.1-4, security-24
test('bent containers end no process, take no memory and no time, and are never clean while what they hold can be read', {
  timeout: 900_000,
}, async () => {
  const asked = z.coerce.number().int().positive().optional().parse(process.env['FUZZ_FILES']);
  const seed = z.coerce.number().int().optional().parse(process.env['FUZZ_SEED']) ?? SEED;
  const files = asked ?? FILES;
  process.stdout.write(`structure fuzz: seed ${seed}, ${files} files\n`);
  const run: Run = { reads: [], missed: [], deaths: [], over: [], most_memory: 0 };
  const began = performance.now();
  await Promise.all(Array.from({ length: PROCESSES }, (_, from) => readAll({ seed, from, to: files }, run)));
  const seconds = (performance.now() - began) / 1000;

  expect(run.missed).toEqual([]);
  expect(run.deaths).toEqual([]);
  expect(run.over).toEqual([]);
  const thrown = run.reads.filter(({ verdict }) => verdict.startsWith('thrown'));
  expect(thrown.map(({ index, name, verdict }) => `${index} ${name} ${verdict}`)).toEqual([]);
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
  writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`);
});
