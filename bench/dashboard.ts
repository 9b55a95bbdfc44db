// Measures CPU per request of the ten endpoints that pages call most (from a recorded day of an administrator) for an account with 10,000 scans, over one connection and over eight busy ones, compared with a bare Fastify that
// returns the same JSON; and the server's startup. Limits: 4 times the peer on one connection; GET /dashboard/status 10 times when saturated. Prints a table and writes dashboard.json. Linux only (/proc).
// `node bench/dashboard.ts [--only /dashboard/status]`. Needs npm start once (for the build).
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { fill, idOf, startAccount } from './full-account.ts';
import { askOften } from './keep-alive.ts';
import { cpuOf } from './process-cpu.ts';
import { type BenchServer, keepResult, median, startServer } from './server.ts';

const SCANS = 10_000;
const REQUESTS = 1_500;
const ROUNDS = 5;
const CONNECTIONS = { one: 1, saturated: 8 } as const;
type Load = keyof typeof CONNECTIONS;
const BARS = { one: 4, saturated: 10 } as const;
/** The measured paths. The first one has the second limit. */
const PATHS = [
  '/dashboard/status',
  '/support/counts',
  '/admin/overview',
  '/admin/proxies',
  '/chat',
  '/auth/me',
  '/config',
  '/remote/sessions',
  '/devices',
  '/antivirus/engine',
];
/** Headers of a request by a page in Chromium. The peer gets the same. */
const BROWSER_HEADERS = {
  Connection: 'keep-alive',
  'sec-ch-ua-platform': '"Linux"',
  'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  accept: 'application/json',
  'sec-ch-ua': '"Chromium";v="142", "Not_A Brand";v="99"',
  'sec-ch-ua-mobile': '?0',
  'Sec-Fetch-Site': 'same-origin',
  'Sec-Fetch-Mode': 'cors',
  'Sec-Fetch-Dest': 'empty',
  'Accept-Encoding': 'gzip, deflate, br, zstd',
  'Accept-Language': 'en-US,en;q=0.9',
};

interface Peer {
  url: string;
  pid: number;
  stop(): void;
}

/** CPU time of a process per request, in µs. */
async function cpuPerRequest(
  { pid }: { pid: number },
  url: string,
  { headers, connections }: { headers: Record<string, string>; connections: number },
): Promise<number> {
  const before = cpuOf(pid);
  await askOften(url, { headers, count: REQUESTS, connections });
  return (cpuOf(pid) - before) / REQUESTS;
}

async function startPeer(answers: readonly unknown[], folder: string): Promise<Peer> {
  const file = join(folder, 'answers.json');
  writeFileSync(file, JSON.stringify(answers));
  const source = fileURLToPath(new URL('peers/bare-answers.ts', import.meta.url));
  const child = spawn(process.execPath, [source, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise<string>((resolve) =>
    child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim())),
  );
  return { url, pid: child.pid ?? 0, stop: () => void child.kill() };
}

function fillScans(path: string): void {
  const database = new DatabaseSync(path);
  database.exec('pragma busy_timeout = 5000; begin immediate');
  fill(database, 'scans', SCANS, (index) => ({ id: idOf(1, index), filename: `report ${index} of the year.pdf` }));
  database.exec('commit; analyze');
  database.close();
}

async function compare(server: BenchServer, peer: Peer, path: string, index: number, headers: Record<string, string>) {
  const ours: Record<Load, number[]> = { one: [], saturated: [] };
  const theirs: Record<Load, number[]> = { one: [], saturated: [] };
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const load of ['one', 'saturated'] as const) {
      const connections = CONNECTIONS[load];
      const our = await cpuPerRequest(server, `${server.url}/api${path}`, { headers, connections });
      const their = await cpuPerRequest(peer, `${peer.url}/${index}`, { headers, connections });
      // The first round is a warm-up.
      if (round > 0) {
        ours[load].push(our);
        theirs[load].push(their);
      }
    }
  }
  const round = (value: number) => Math.round(value * 100) / 100;
  const of = (load: Load) => ({
    [`${load}_us`]: round(median(ours[load])),
    [`${load}_bare_us`]: round(median(theirs[load])),
    [`${load}_ratio`]: round(median(ours[load]) / median(theirs[load])),
  });
  return { path, ...of('one'), ...of('saturated') };
}

const only = process.argv.indexOf('--only');
const paths = only > 0 ? process.argv.slice(only + 1) : PATHS;

const data_dir = mkdtempSync(join(tmpdir(), 'palisade-dashboard-'));
// Raised, so that rate limits do not affect the measurement.
const server = await startServer(data_dir, {
  LIMITS: 'read=1000000/1m,read.source=1000000/1m,admin=1000000/1m,admin.source=1000000/1m',
});
let peer: Peer | undefined;
try {
  await startAccount(server);
  const { token } = await server.signIn();
  fillScans(join(data_dir, 'palisade.sqlite'));
  const headers = { ...BROWSER_HEADERS, authorization: `Bearer ${token}` };
  const answers: unknown[] = [];
  for (const path of paths) {
    const answer = await fetch(`${server.url}/api${path}`, { headers });
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
    answers.push(await answer.json());
  }
  peer = await startPeer(answers, data_dir);
  const results = [];
  for (const [index, path] of paths.entries()) {
    const bytes = JSON.stringify(answers[index]).length;
    results.push({ ...(await compare(server, peer, path, index, headers)), bytes });
    console.log(JSON.stringify(results.at(-1)));
  }
  console.table(results);
  keepResult('dashboard', {
    what: `CPU µs per request with ${SCANS} scans (median of ${ROUNDS} rounds of ${REQUESTS}), over one and over ${CONNECTIONS.saturated} busy connections, beside a bare Fastify with the same JSON`,
    bars: { ...BARS, saturated_of: PATHS[0] },
    start_to_ready_ms: Math.round(server.started_ms),
    results,
  });
} finally {
  peer?.stop();
  await server.stop();
  rmSync(data_dir, { recursive: true, force: true });
}
