// Measures one server for long: files of a home, four at once; each part of the run beside the first. Slowness and growth after some thousand files show here.
// No bar. `node bench/soak.ts [FILES] [SEED]` keeps results/soak.json; `node bench/soak.ts --minutes 60 [--pause MS]` (so long a pause after each file) keeps results/soak-minutes.json: memory of each process after every tenth of the time, after five minutes,
// and after 90 s at rest. Needs npm start once (for the build).
import { mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createHomeFiles } from './home-files.ts';
import { memoryByKind, memoryOf } from './process-memory.ts';
import { describeMachine, median, RESULTS, startServer } from './server.ts';
import { piecesOf, upload } from './upload.ts';

const { values, positionals } = parseArgs({
  options: { minutes: { type: 'string' }, pause: { type: 'string', default: '0' } },
  allowPositionals: true,
});
const [files_wanted = '20000', seed = '20261123'] = positionals;
const MINUTES = values.minutes === undefined ? undefined : Number(values.minutes);
const PAUSE_MS = Number(values.pause);
const FILES = Number(files_wanted);
const SETTLED_MINUTES = 5;
const IDLE_MS = 90_000;
const PARTS = 10;
const AT_ONCE = 4;

const nextFile = createHomeFiles(Number(seed));
const data_dir = mkdtempSync(join(tmpdir(), 'palisade-soak-'));
const server = await startServer(data_dir);

/** Size of the database and its log, in MB. */
const databaseMb = () =>
  readdirSync(data_dir)
    .filter((name) => /\.(db|sqlite)/u.test(name))
    .reduce((sum, name) => sum + statSync(join(data_dir, name)).size, 0) /
  1024 ** 2;

const round = (value: number) => Math.round(value * 10) / 10;

/** Memory of the main process and of its engines, and their number. */
function held() {
  const { main_mb, engines_mb, engines } = memoryByKind(server.pid);
  return { main_mb: round(main_mb), engines_mb: round(engines_mb), engines, all_mb: round(main_mb + engines_mb) };
}

async function soakForMinutes(minutes: number): Promise<void> {
  const { token } = await server.signIn();
  const [load_before = 0] = loadavg();
  await pause(IDLE_MS);
  const at_rest = held();
  const began = performance.now();
  const passed = () => (performance.now() - began) / 60_000;
  const looks: ({ minute: number; files: number; database_mb: number } & ReturnType<typeof held>)[] = [];
  let settled: ReturnType<typeof held> | undefined;
  let files = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (passed() < minutes) {
        files += 1;
        const { ending, content } = nextFile();
        await upload(server.url, token, `${files}.${ending}`, piecesOf(content), content.length);
        if (PAUSE_MS > 0) await pause(PAUSE_MS);
        if (settled === undefined && passed() >= Math.min(SETTLED_MINUTES, minutes / 2)) settled = held();
        if (passed() < (minutes * (looks.length + 1)) / PARTS) continue;
        looks.push({ minute: round(passed()), files, database_mb: round(databaseMb()), ...held() });
        console.error(JSON.stringify(looks.at(-1)));
      }
    }),
  );
  const [load_after = 0] = loadavg();
  await pause(IDLE_MS);
  const idle = held();
  const result = {
    what: `files sent to one server for ${minutes} minutes, four at once: what its processes hold`,
    at: new Date().toISOString(),
    machine: { ...describeMachine(), load_before, load_after },
    files,
    pause_ms: PAUSE_MS,
    at_rest,
    settled,
    last_beside_settled:
      settled === undefined ? undefined : Math.round(((looks.at(-1)?.all_mb ?? 0) / settled.all_mb) * 100) / 100,
    idle_after_90_s: idle,
    looks,
  };
  writeFileSync(join(RESULTS, 'soak-minutes.json'), `${JSON.stringify(result, undefined, 2)}\n`);
  console.log(JSON.stringify({ at_rest, settled, last_beside_settled: result.last_beside_settled, idle }));
}

async function soakFiles(): Promise<void> {
  const { token } = await server.signIn();
  const [load_before = 0] = loadavg();
  const parts: { files_a_second: number; p50_ms: number; p95_ms: number; memory_mb: number; database_mb: number }[] = [];
  const not_clean = new Map<string, number>();
  let sent = 0;
  for (let part = 0; part < PARTS; part += 1) {
    const times: number[] = [];
    const until = (FILES * (part + 1)) / PARTS;
    const began = performance.now();
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        while (sent < until) {
          sent += 1;
          const { ending, content } = nextFile();
          const began_file = performance.now();
          const { scan_status } = await upload(server.url, token, `${sent}.${ending}`, piecesOf(content), content.length);
          times.push(performance.now() - began_file);
          if (scan_status !== 'clean') not_clean.set(scan_status, (not_clean.get(scan_status) ?? 0) + 1);
        }
      }),
    );
    const seconds = (performance.now() - began) / 1_000;
    parts.push({
      files_a_second: round(times.length / seconds),
      p50_ms: round(median(times)),
      p95_ms: round(times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? Number.NaN),
      memory_mb: round(memoryOf([server.pid])),
      database_mb: round(databaseMb()),
    });
    console.error(JSON.stringify(parts.at(-1)));
  }
  const [first, last] = [parts[0], parts.at(-1)];
  const result = {
    what: 'files sent to one server, four at once; each part of the run beside the first',
    at: new Date().toISOString(),
    machine: { ...describeMachine(), load_before },
    files: FILES,
    seed: Number(seed),
    last_beside_first: first &&
      last && {
        files_a_second: round(last.files_a_second / first.files_a_second),
        memory_mb: round(last.memory_mb - first.memory_mb),
      },
    not_clean: Object.fromEntries(not_clean),
    parts,
  };
  writeFileSync(join(RESULTS, 'soak.json'), `${JSON.stringify(result, undefined, 2)}\n`);
  console.log(JSON.stringify(result.last_beside_first));
}

try {
  await (MINUTES === undefined ? soakFiles() : soakForMinutes(MINUTES));
} finally {
  await server.stop();
}
