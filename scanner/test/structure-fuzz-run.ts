import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';

// Reads bent containers in processes of their own, and counts what becomes of the processes and the files.

export const PROCESSES = 2;
/** Beyond the memory of the process when it has read each container once. Bytes. */
const MEMORY_MAXIMUM = 300 * 1024 ** 2;
/** A file that takes longer than the time limit for small ones hangs. ms. */
const PATIENCE_MS = 30_000;
const WATCH_EVERY_MS = 100;

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

export interface FuzzRun {
  reads: Read[];
  /** Containers without a finding before they were bent. */
  missed: string[];
  /** Cause of a process's end: the number of the file, and the kind. */
  deaths: string[];
  /** More memory than the process may have beside its first state. */
  over: string[];
  most_memory: number;
}

/** Memory of a process now, where the kernel says so. Bytes. */
function residentBytes(pid: number | undefined): number {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** Reads every `PROCESSES`th file from `from` on, in one process; a new one continues behind a file that ended it. */
async function readShare(
  order: { seed: number; from: number; to: number; folder: string; reads_seeds: boolean },
  children: Set<ChildProcess>,
  run: FuzzRun,
): Promise<void> {
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
    child.send({ ...order, from, step: PROCESSES });
    await new Promise<void>((resolve) => child.once('exit', () => resolve()));
    clearInterval(watch);
    children.delete(child);
    if (is_done) return;
    run.deaths.push(`${current} ${why}`);
    from = current + PROCESSES;
  }
}

/**
 * Makes and reads `files` files of a seed, after the containers as they are where `reads_seeds` says so. The clean ones stay in `folder` for another program.
 */
export async function runFuzz(seed: number, files: number, folder: string, reads_seeds = true): Promise<FuzzRun> {
  const run: FuzzRun = { reads: [], missed: [], deaths: [], over: [], most_memory: 0 };
  const children = new Set<ChildProcess>();
  try {
    const shares = Array.from({ length: PROCESSES }, (_, from) =>
      readShare({ seed, from, to: files, folder, reads_seeds }, children, run),
    );
    await Promise.all(shares);
  } finally {
    for (const child of children) child.kill('SIGKILL');
  }
  return run;
}

/** A folder for the clean files, which `end` removes. */
export function newFuzzFolder(): { folder: string; end: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-structure-'));
  return { folder, end: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Faults for any seed: containers unread before they were bent, ended processes, too much memory, errors. In words, with the number of the file. */
export function faultsOf({ missed, deaths, over, reads }: FuzzRun): string[] {
  const thrown = reads.filter(({ verdict }) => verdict.startsWith('thrown'));
  return [...missed, ...deaths, ...over, ...thrown.map(({ index, name, verdict }) => `${index} ${name} ${verdict}`)];
}
