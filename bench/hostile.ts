// Measures a hostile file under 1 MB: engine memory over rest, time to the answer, and the wait of another person's 4 KB file meanwhile, beside the same on an idle server.
// Bars: 300 MB, 10 s, or 30 s for a `pending` answer. Prints a table and keeps results/hostile.json; words behind the command select files by name, the others keep their figures.
// Needs npm start once (for the build), Linux.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { HOSTILE_BYTES_MAXIMUM, HOSTILE_FILES } from './hostile-files.ts';
import { describeMachine, median, RESULTS, startServer } from './server.ts';
import { piecesOf, upload } from './upload.ts';

const MIB = 1024 ** 2;
const SMALL_BYTES = 4096;
const IDLE_RUNS = 40;
const LOOK_MS = 10;
const BARS = { memory_mb: 300, ms: 10_000, pending_ms: 30_000 } as const;

const words = process.argv.slice(2);
const isAsked = (name: string) => words.length === 0 || words.some((word) => name.includes(word));
const [load_before = 0] = loadavg();
const server = await startServer();

/** Engine processes of the server: its children that run the engine's file. */
function enginePids(): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const parent = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${name}/status`, 'latin1'))?.[1];
      return Number(parent) === server.pid && readFileSync(`/proc/${name}/cmdline`, 'latin1').includes('yara-process')
        ? [Number(name)]
        : [];
    } catch {
      return [];
    }
  });
}

/** A size of a process in bytes; 0 when it is gone. */
function sizeOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  try {
    return (
      Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) * 1024
    );
  } catch {
    return 0;
  }
}

/** Follows the engines until `stop`: the most that one of them held. */
function followMemory(): { stop(): number } {
  let most = 0;
  const began = new Set<number>();
  const look = () => {
    for (const pid of enginePids()) {
      if (!began.has(pid)) {
        began.add(pid);
        try {
          // The peak begins anew (proc(5), clear_refs).
          writeFileSync(`/proc/${pid}/clear_refs`, '5');
        } catch {
          // It is gone.
        }
      }
      most = Math.max(most, sizeOf(pid, 'VmHWM'));
    }
  };
  look();
  const timer = setInterval(look, LOOK_MS);
  return {
    stop() {
      look();
      clearInterval(timer);
      return most;
    },
  };
}

async function scanOf(token: string, name: string, bytes: Buffer) {
  const began = performance.now();
  const record = await upload(server.url, token, name, piecesOf(bytes), bytes.length);
  return { record, ms: performance.now() - began };
}

const measuredSchema = z.object({
  name: z.string(),
  bytes: z.number(),
  answer: z.string(),
  ms: z.number(),
  memory_mb: z.number(),
  small_worst_ms: z.number(),
  is_within: z.boolean(),
});
type Measured = z.infer<typeof measuredSchema>;

function measuredBefore(): Measured[] {
  const path = join(RESULTS, 'hostile.json');
  return existsSync(path) ? z.object({ files: z.array(measuredSchema) }).parse(JSON.parse(readFileSync(path, 'utf8'))).files : [];
}

const smallScan = async (token: string) => (await scanOf(token, 'small.bin', randomBytes(SMALL_BYTES))).ms;

try {
  const [guest, ...attackers] = await Promise.all(['guest', 'one', 'two', 'three', 'four'].map((name) => server.signIn(name)));
  if (guest === undefined) throw new Error('Nobody signed in.');
  const idle_waits: number[] = [];
  for (let run = 0; run < IDLE_RUNS; run++) idle_waits.push(await smallScan(guest.token));
  const small_idle_ms = median(idle_waits);
  const at_rest = Math.min(...enginePids().map((pid) => sizeOf(pid, 'VmRSS')));
  const files: Measured[] = [];
  for (const [index, [name, make]] of HOSTILE_FILES.entries()) {
    if (!isAsked(name)) continue;
    const bytes = make();
    if (bytes.length > HOSTILE_BYTES_MAXIMUM) throw new Error(`${name} has ${bytes.length} bytes.`);
    const { token } = attackers[index % attackers.length] ?? guest;
    const memory = followMemory();
    let is_running = true;
    const hostile = scanOf(token, 'hostile.bin', bytes).finally(() => {
      is_running = false;
    });
    const waits: number[] = [];
    while (is_running) {
      waits.push(await smallScan(guest.token));
      await pause(5);
    }
    const { record, ms } = await hostile;
    const memory_mb = Math.max(0, memory.stop() - at_rest) / MIB;
    const { scan_status, status_detail } = record;
    const is_within = memory_mb <= BARS.memory_mb && (ms <= BARS.ms || (scan_status === 'pending' && ms <= BARS.pending_ms));
    files.push({
      name,
      bytes: bytes.length,
      answer: status_detail ?? scan_status,
      ms: Math.round(ms),
      memory_mb: Math.round(memory_mb),
      small_worst_ms: Math.round(Math.max(...waits)),
      is_within,
    });
    console.log(Object.values(files.at(-1) ?? {}).join(' | '));
  }
  const all = [...measuredBefore().filter(({ name }) => !isAsked(name)), ...files];
  const missed = all.filter(({ is_within }) => !is_within).map(({ name }) => name);
  const kept = {
    what: 'hostile files under 1 MB: memory of the engine over rest, time to the answer, and what a file of 4 KB of somebody else took meanwhile at worst',
    at: new Date().toISOString(),
    // A machine that has other things to do shows in every figure here.
    machine: { ...describeMachine(), load_before },
    bars: BARS,
    at_rest_mb: Math.round(at_rest / MIB),
    small_idle_ms: Math.round(small_idle_ms * 10) / 10,
    missed,
    files: all,
  };
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(join(RESULTS, 'hostile.json'), `${JSON.stringify(kept, null, 2)}\n`);
  console.log(`${files.length} files, ${missed.length} miss a bar: ${missed.join('; ') || 'none'}`);
} finally {
  await server.stop();
}
