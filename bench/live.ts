// Measures how long the server's event loop is held up while four files of 100 MB are uploaded and scanned, and how long another person's small file takes meanwhile, beside an idle server.
// No bar of its own; the event loop's bar of 50 ms is in scanner.ts. Prints a table and keeps results/live.json. Needs npm start once (for the build).
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, openAsBlob, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { scanSchema } from '@palisade/contract/antivirus';
import { z } from 'zod';
import { describeMachine, median, RESULTS, startServer } from './server.ts';

const BIG_BYTES = 100 * 1024 ** 2;
const BIG_FILES = 4;
const SMALL_BYTES = 4096;
const SMALL_RUNS = 60;

const folder = mkdtempSync(join(tmpdir(), 'palisade-bench-'));
const gapFile = join(folder, 'event-loop.json');
const [load_before = 0] = loadavg();
const server = await startServer(undefined, {
  NODE_OPTIONS: `--import=${fileURLToPath(new URL('./event-loop.ts', import.meta.url))}`,
  EVENT_LOOP_FILE: gapFile,
});

async function scan(token: string, content: Blob): Promise<number> {
  const form = new FormData();
  form.append('file', content, 'file.bin');
  const began = performance.now();
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${server.url}/api/antivirus/scan`, { method: 'POST', body: form, headers });
  const record = scanSchema.parse(await answer.json());
  if (record.scan_status !== 'clean') throw new Error(`expected a clean file, got ${record.scan_status} ${record.status_detail}`);
  return performance.now() - began;
}

/** The longest gap since it was asked last. */
async function eventLoopGap(): Promise<{ max_ms: number; p99_ms: number }> {
  rmSync(gapFile, { force: true });
  process.kill(server.pid, 'SIGUSR2');
  while (!existsSync(gapFile) || readFileSync(gapFile, 'utf8') === '') await pause(5);
  return z.object({ max_ms: z.number(), p99_ms: z.number() }).parse(JSON.parse(readFileSync(gapFile, 'utf8')));
}

async function smallScans(token: string, goesOn: (runs: number) => boolean): Promise<number[]> {
  const times: number[] = [];
  while (goesOn(times.length)) times.push(await scan(token, new Blob([new Uint8Array(randomBytes(SMALL_BYTES))])));
  return times;
}

try {
  const [owner, guest] = [await server.signIn('owner'), await server.signIn('guest')];
  await smallScans(guest.token, (runs) => runs < 10);
  // The start of the server does not count.
  await eventLoopGap();
  const alone = await smallScans(guest.token, (runs) => runs < SMALL_RUNS);
  const idle = await eventLoopGap();
  const files = Array.from({ length: BIG_FILES }, (_, index) => join(folder, `${index}.bin`));
  for (const path of files) writeFileSync(path, randomBytes(BIG_BYTES));
  await eventLoopGap();
  let left = BIG_FILES;
  const bigs = files.map(async (path) => {
    const content = await openAsBlob(path);
    const took = await scan(owner.token, content);
    left -= 1;
    return took;
  });
  const meanwhile = await smallScans(guest.token, () => left > 0);
  const big_ms = median(await Promise.all(bigs));
  const busy = await eventLoopGap();
  const results = {
    event_loop_gap_idle_ms: idle.max_ms,
    event_loop_gap_four_big_ms: busy.max_ms,
    event_loop_p99_four_big_ms: busy.p99_ms,
    small_alone_ms: median(alone),
    small_meanwhile_ms: median(meanwhile),
    small_meanwhile_worst_ms: Math.max(...meanwhile),
    small_meanwhile_runs: meanwhile.length,
    big_ms,
  };
  mkdirSync(RESULTS, { recursive: true });
  const kept = {
    what: 'event loop of the server, and a file of 4 KB of somebody else, while four files of 100 MB are uploaded and scanned',
    at: new Date().toISOString(),
    // A machine that has other things to do shows in every figure here.
    machine: { ...describeMachine(), load_before },
    results,
  };
  writeFileSync(join(RESULTS, 'live.json'), `${JSON.stringify(kept, null, 2)}\n`);
  console.table(Object.fromEntries(Object.entries(results).map(([name, value]) => [name, value.toFixed(1)])));
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
