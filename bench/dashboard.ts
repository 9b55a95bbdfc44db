// Measures CPU per request of GET /dashboard/status for a person with 10,000 scans, beside a bare Fastify that answers a constant; and the server's start and memory at rest.
// No bar. Prints a table and keeps results/dashboard.json. Linux only (/proc).
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeMachine, median, RESULTS, startServer } from './server.ts';

const SCANS = 10_000;
const REQUESTS = 3_000;
const ROUNDS = 5;
const UPLOADS_AT_ONCE = 8;
const MIB = 1024 ** 2;
/** Clock ticks per second of /proc/PID/stat (proc(5); 100 on every Linux that Node runs on). */
const TICKS = 100;

/** CPU time that a process has used, user and system, in ms. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return ((Number(fields[11]) + Number(fields[12])) / TICKS) * 1000;
}

function memoryOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

async function cpuPerRequest(pid: number, url: string, headers: Record<string, string>): Promise<number> {
  const before = cpuOf(pid);
  for (let sent = 0; sent < REQUESTS; sent += 1) {
    const response = await fetch(url, { headers });
    if (response.status !== 200) throw new Error(`${url} answered ${response.status}`);
    await response.arrayBuffer();
  }
  return (cpuOf(pid) - before) / REQUESTS;
}

async function startBareFastify(): Promise<{ url: string; pid: number; stop: () => void }> {
  const fastify = createRequire(fileURLToPath(new URL('../server/package.json', import.meta.url))).resolve('fastify');
  const source = `const app = require(${JSON.stringify(fastify)})(); app.get('/', async () => ({ hello: 'world' })); app.listen({ port: 0, host: '127.0.0.1' }).then((url) => console.log(url));`;
  const child = spawn(process.execPath, ['-e', source], { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise<string>((resolve) =>
    child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim())),
  );
  return { url, pid: child.pid ?? 0, stop: () => void child.kill() };
}

async function fill(url: string, headers: Record<string, string>): Promise<void> {
  let next = 0;
  const upload = async () => {
    while (next < SCANS) {
      next += 1;
      const form = new FormData();
      form.append('file', new Blob([`file ${next}`]), `file-${next}.txt`);
      const response = await fetch(`${url}/api/antivirus/scan`, { method: 'POST', body: form, headers });
      if (response.status !== 201) throw new Error(`upload answered ${response.status}`);
      await response.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: UPLOADS_AT_ONCE }, upload));
}

// A limit is no part of what is measured.
const server = await startServer(undefined, { LIMITS: 'read=1000000/1m,read.source=1000000/1m' });
const bare = await startBareFastify();
try {
  const { token } = await server.signIn();
  const at_rest_mb = memoryOf(server.pid) / MIB;
  const headers = { authorization: `Bearer ${token}` };
  await fill(server.url, headers);
  const ours: number[] = [];
  const peers: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const our = await cpuPerRequest(server.pid, `${server.url}/api/dashboard/status`, headers);
    const peer = await cpuPerRequest(bare.pid, `${bare.url}/`, {});
    // The first round warms both up.
    if (round > 0) {
      ours.push(our);
      peers.push(peer);
    }
  }
  const results = {
    status_cpu_ms: median(ours),
    bare_fastify_cpu_ms: median(peers),
    ratio: median(ours) / median(peers),
    start_to_ready_ms: server.started_ms,
    memory_at_rest_mb: at_rest_mb,
  };
  const kept = {
    what: `GET /dashboard/status with ${SCANS} scans: CPU ms per request (median of ${ROUNDS} rounds of ${REQUESTS}), against a bare Fastify hello`,
    at: new Date().toISOString(),
    machine: describeMachine(),
    results,
  };
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(join(RESULTS, 'dashboard.json'), `${JSON.stringify(kept, null, 2)}\n`);
  console.table(results);
} finally {
  bare.stop();
  await server.stop();
}
