// Long-running test of one server: uploads files of a home folder, four concurrently. Records the memory of each process and the size of the database after every tenth of the time, after five minutes, and after 90 s at rest.
// Limit: memory at the end at most 1.2 times that after five minutes. `node bench/soak.ts [--minutes 60] [--pause MS] [--seed N]` (`--pause` is the pause after each file) writes soak.json. Needs npm start once (for the build).
// With `--people N`, N people upload small files and read the dashboard, their scans and their activity. Limit with `--minutes 5`: 160 MB of the server's own memory after two minutes at rest.
import { mkdtempSync, readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createHomeFiles } from './home-files.ts';
import { memoryByKind } from './process-memory.ts';
import { keepResult, startServer } from './server.ts';
import { piecesOf, upload } from './upload.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    pause: { type: 'string', default: '0' },
    seed: { type: 'string', default: '20261123' },
    people: { type: 'string' },
  },
});
const MINUTES = Number(values.minutes);
const PAUSE_MS = Number(values.pause);
const SETTLED_MINUTES = 5;
const PEOPLE = Number(values.people ?? 1);
const IDLE_MS = values.people === undefined ? 90_000 : 120_000;
const READ_PATHS = ['/dashboard/status', '/antivirus/scans?limit=50', '/auth/audit?limit=50'];
const PARTS = 10;
const AT_ONCE = 4;

const nextFile = createHomeFiles(Number(values.seed));
const data_dir = mkdtempSync(join(tmpdir(), 'palisade-soak-'));
const server = await startServer(data_dir);

/** Size of the database and its write-ahead log, in MB. */
const databaseMb = () =>
  readdirSync(data_dir)
    .filter((name) => /\.(db|sqlite)/u.test(name))
    .reduce((sum, name) => sum + statSync(join(data_dir, name)).size, 0) /
  1024 ** 2;

const round = (value: number) => Math.round(value * 10) / 10;

/** Memory of the main process and of its engines, and the number of engines. */
function held() {
  const { main_mb, own_mb, engines_mb, engines } = memoryByKind(server.pid);
  return {
    main_mb: round(main_mb),
    own_mb: round(own_mb),
    engines_mb: round(engines_mb),
    engines,
    all_mb: round(main_mb + engines_mb),
  };
}

/** Uploads a person's next file: one of a home folder, or a small one followed by reads. Throws if the server refuses a call. */
async function visit(index: number, token: string): Promise<void> {
  if (values.people === undefined) {
    const { ending, content } = nextFile();
    await upload(server.url, token, `${index}.${ending}`, piecesOf(content), content.length);
    return;
  }
  const content = Buffer.from(`Letter ${index}.\n`.repeat(200));
  await upload(server.url, token, `letter ${index}.txt`, [content], content.length);
  for (const path of READ_PATHS) {
    const answer = await fetch(`${server.url}/api${path}`, { headers: { authorization: `Bearer ${token}` } });
    await answer.arrayBuffer();
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
  }
}

async function soak(minutes: number): Promise<void> {
  const tokens: string[] = [];
  while (tokens.length < PEOPLE) tokens.push((await server.signIn(`person${tokens.length}`)).token);
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
        await visit(files, tokens[files % PEOPLE] ?? '');
        if (PAUSE_MS > 0) await pause(PAUSE_MS);
        if (settled === undefined && passed() >= Math.min(SETTLED_MINUTES, minutes / 2)) settled = held();
        if (passed() < (minutes * (looks.length + 1)) / PARTS) continue;
        looks.push({ minute: round(passed()), files, database_mb: round(databaseMb()), ...held() });
        console.error(JSON.stringify(looks.at(-1)));
      }
    }),
  );
  await pause(IDLE_MS);
  keepResult('soak', {
    what: `files sent to one server for ${minutes} minutes, four at once: what its processes hold`,
    files,
    people: PEOPLE,
    pause_ms: PAUSE_MS,
    at_rest,
    settled,
    last_beside_settled:
      settled === undefined ? undefined : Math.round(((looks.at(-1)?.all_mb ?? 0) / settled.all_mb) * 100) / 100,
    idle: { seconds: IDLE_MS / 1_000, ...held() },
    looks,
  });
}

try {
  await soak(MINUTES);
} finally {
  await server.stop();
}
