// Compares DNS over HTTPS with a bare Fastify that returns the same number of bytes: CPU time in µs of a POST with a cached answer, over one and eight persistent connections; and the 95th percentile of the dashboard's
// status during 5,000 queries per second over UDP and over HTTPS. Limits: 0.6 times the bare server; 1.5 times the dashboard alone. Prints the figures and writes names-over-https.json. Linux only (/proc). Needs npm start once.
//   node bench/names-over-https.ts
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { addWebDevice } from '@palisade/contract/web-protection';
import { z } from 'zod';
import { freePort } from './free-port.ts';
import { askOften } from './keep-alive.ts';
import { cpuOf } from './process-cpu.ts';
import { keepResult, median, startServer } from './server.ts';

/** Below the burst limit of a device. */
const REQUESTS = 900;
const DEVICES = 10;
const PER_SECOND = 5_000;
const SOURCES = 30;
const READS = 1_000;
const ROUNDS = 5;
const userSchema = z.object({ user_id: z.string() });
const HOST = '127.0.0.1';
const QUESTION = Buffer.from('0000010000010000000000000473686f70076578616d706c650000010001', 'hex');
const RECORD = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 14, 16, 0, 4, 192, 0, 2, 1]);

async function startUpstream() {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const answer = Buffer.concat([query.subarray(0, query.indexOf(0, 12) + 5), RECORD]);
    answer.writeUInt32BE(0x81800001, 2);
    answer.writeUInt32BE(0x00010000, 6);
    answer.writeUInt16BE(0, 10);
    socket.send(answer, port, address);
  });
  socket.bind(0, HOST);
  await once(socket, 'listening');
  return socket;
}

const lineOf = (stream: Readable) =>
  new Promise<string>((resolve) => stream.once('data', (chunk: Buffer) => resolve(chunk.toString().trim())));

async function startPeer(answer: Buffer) {
  const source = fileURLToPath(new URL('peers/bare-messages.ts', import.meta.url));
  const child = spawn(process.execPath, [source, answer.toString('base64url')], { stdio: ['ignore', 'pipe', 'inherit'] });
  const line = await lineOf(child.stdout);
  return { url: line, pid: child.pid ?? 0, stop: () => void child.kill() };
}

const MESSAGE = { 'content-type': 'application/dns-message', accept: 'application/dns-message' };

/** CPU time of a process per query, in µs. */
async function cpuPerQuestion({ pid, url }: { pid: number; url: string }, key: string, connections: number): Promise<number> {
  const before = cpuOf(pid);
  await askOften(`${url}/dns/${key}`, { headers: MESSAGE, body: QUESTION, count: REQUESTS, connections });
  return (cpuOf(pid) - before) / REQUESTS;
}

const folder = mkdtempSync(join(tmpdir(), 'palisade-names-'));
const upstream = await startUpstream();
const plain = await freePort();
const server = await startServer(folder, {
  DNS_UPSTREAM: `${HOST}:${upstream.address().port}`,
  DNS_LISTEN: `${HOST}:${plain}`,
  LIMITS: 'read=1000000/1m,read.source=1000000/1m',
});
let peer: Awaited<ReturnType<typeof startPeer>> | undefined;
try {
  const { token } = await server.signIn();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const add = async (body: object) => {
    const sent = { method: 'POST', headers, body: JSON.stringify({ name: 'Device', kind: 'other', ...body }) };
    return addWebDevice.reply?.parse(await (await fetch(`${server.url}/api${addWebDevice.path}`, sent)).json()).key ?? '';
  };
  const keys: string[] = [];
  for (let count = 0; count < DEVICES; count++) keys.push(await add(count === 0 ? { address: 'network' } : {}));
  let answer = Buffer.alloc(0);
  for (const key of keys) {
    const first = await fetch(`${server.url}/dns/${key}`, { method: 'POST', headers: MESSAGE, body: new Uint8Array(QUESTION) });
    answer = Buffer.from(await first.arrayBuffer());
  }
  peer = await startPeer(answer);
  const ours: Record<number, number[]> = { 1: [], 8: [] };
  const bare: Record<number, number[]> = { 1: [], 8: [] };
  for (const [index, key] of keys.entries()) {
    const connections = index % 2 === 0 ? 1 : 8;
    const our = await cpuPerQuestion(server, key, connections);
    const their = await cpuPerQuestion(peer, key, connections);
    // The first two runs are a warm-up.
    if (index < 2) continue;
    ours[connections]?.push(our);
    bare[connections]?.push(their);
  }
  const of = (connections: number) => {
    const [our, their] = [median(ours[connections] ?? []), median(bare[connections] ?? [])].map(Math.round);
    return { connections, us: our, bare_us: their, ratio: Math.round((100 * (their ?? 0)) / (our ?? 1)) / 100 };
  };

  /** 95th percentile of the dashboard's response time, in ms. */
  async function dashboardP95(): Promise<number> {
    const times: number[] = [];
    for (let count = 0; count < READS; count++) {
      const began = performance.now();
      await (await fetch(`${server.url}/api/dashboard/status`, { headers })).arrayBuffer();
      times.push(performance.now() - began);
    }
    return times.toSorted((one, other) => one - other)[Math.floor(READS * 0.95)] ?? 0;
  }
  // Several devices by address, because each is limited to 200 queries per second.
  const database = new DatabaseSync(join(folder, 'palisade.sqlite'));
  database.exec('pragma busy_timeout = 5000');
  const { user_id } = userSchema.parse(database.prepare('select user_id from web_devices limit 1').get());
  const insert = database.prepare(
    "insert into web_devices (id, user_id, name, kind, key, address, created_at) values (?, ?, 'Device', 'other', ?, ?, ?)",
  );
  const asked = Array.from({ length: SOURCES }, (_, index) => ({
    address: `127.0.1.${index + 1}`,
    key: `${'abcdefgh'[index >> 3]}${'abcdefgh'[index & 7]}`.padEnd(26, '2'),
  }));
  for (const { address, key } of asked) insert.run(`bench-${key}`, user_id, key, address, new Date().toISOString());
  database.close();
  const source = fileURLToPath(new URL('peers/ask-names.ts', import.meta.url));
  const url = new URL(server.url);
  /** Measures the dashboard alone and during queries of these devices, alternately. */
  async function beside(port: string, devices: readonly string[]) {
    const rounds = [];
    for (let round = 0; round < ROUNDS; round++) {
      const alone = await dashboardP95();
      const args = [source, port, String(PER_SECOND), ...devices];
      const asking = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      await sleep(1_000);
      const [before, began] = [cpuOf(server.pid), performance.now()];
      const p95 = await dashboardP95();
      const cores = (cpuOf(server.pid) - before) / 1_000 / (performance.now() - began);
      asking.kill('SIGTERM');
      rounds.push({ alone, beside: p95, ratio: p95 / alone, cores, answered_per_second: Number(await lineOf(asking.stdout)) });
    }
    return { rounds, ratio: median(rounds.map(({ ratio }) => ratio)) };
  }
  const over_udp = await beside(
    String(plain),
    asked.map(({ address }) => address),
  );
  const over_https = await beside(
    url.port,
    asked.map(({ key }) => key),
  );
  keepResult('names-over-https', {
    what: `CPU µs of a question over HTTPS (median of 4 rounds of ${REQUESTS}); dashboard's p95 in ms beside ${PER_SECOND} questions a second`,
    over_https: [of(1), of(8)],
    dashboard: { over_udp, over_https },
  });
} finally {
  peer?.stop();
  upstream.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
