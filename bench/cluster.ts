// Measures two servers together: files that were being read when one is killed; PostgreSQL, Redis and the store away for 20 s each; the delay of events to 5,000 pages; requests a second beside bare Fastify.
// Bar: no file lost, falsely judged or doubled. Keeps results/cluster.json.
// `node scripts/side-by-side.mjs node bench/cluster.ts`. Needs npm start once (for the build) and 16,000 open files (`ulimit -n`).
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, openAsBlob, rmSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { listAlerts } from '@palisade/contract/anti-hacking';
import { listScans, type Scan, scanSchema } from '@palisade/contract/antivirus';
import pg from 'pg';
import { z } from 'zod';
import { EICAR, zip } from './files.ts';
import { freePort } from './free-port.ts';
import { type BenchServer, describeMachine, RESULTS, ROOT, startServer } from './server.ts';

const FILES = 20;
const LEAST_MB = 5;
const MOST_MB = 50;
const AWAY_MS = 20_000;
const PEOPLE = 250;
const PAGES_EACH = 20;
const TOLD = 200;
const CONNECTIONS = 32;
const REQUESTS_MS = 5_000;

const folder = mkdtempSync(join(tmpdir(), 'palisade-cluster-'));
const [load_before = 0] = loadavg();

/** A way to a service on loopback that can be away: connections end, and none is taken. */
async function relayTo(port: number) {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  const here = await freePort();
  const listen = () => new Promise<void>((resolve) => server.listen(here, '127.0.0.1', resolve));
  await listen();
  const close = () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets) socket.destroy();
    return closed;
  };
  return { port: here, away: close, back: listen, close };
}

function given(name: string): URL {
  const url = process.env[`JOURNEY_${name}_URL`];
  if (url === undefined) throw new Error('Run it by: node scripts/side-by-side.mjs node bench/cluster.ts');
  return new URL(url);
}

const database_url = given('DATABASE');
const direct = new pg.Pool({ connectionString: database_url.href, max: 2 });
const ways = {
  PostgreSQL: await relayTo(Number(database_url.port)),
  Redis: await relayTo(Number(given('REDIS').port)),
  S3: await relayTo(Number(given('STORAGE').port)),
};
const through = (name: string, port: number, path = '') => {
  const url = given(name);
  url.port = String(port);
  url.pathname += path;
  return url.href;
};
const settings: Record<string, string> = {
  DATABASE_URL: through('DATABASE', ways.PostgreSQL.port),
  REDIS_URL: through('REDIS', ways.Redis.port),
  STORAGE_URL: through('STORAGE', ways.S3.port, '/bench'),
  LOG_LEVEL: 'silent',
  // Limits are raised: this measures two servers, not the limits of one loopback source.
  LIMITS: ['register', 'sign_in', 'sockets', 'read', 'write', 'upload']
    .map((name) => `${name}.source=1000000/1m`)
    .concat(['read', 'write', 'upload'].map((name) => `${name}=1000000/1m`))
    .join(','),
  ...Object.fromEntries(['QUARANTINE', 'TWO_FACTOR', 'AUDIT'].map((key) => [`${key}_KEY_FILE`, join(folder, `${key}.key`)])),
};
let started = 0;
const start = () => {
  started += 1;
  return startServer(join(folder, `server-${started}`), settings);
};

const headersOf = (token: string) => ({ authorization: `Bearer ${token}` });
const quantile = (values: readonly number[], share: number) => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
};

async function upload(server: BenchServer, token: string, name: string, content: Blob): Promise<Scan> {
  const form = new FormData();
  form.append('file', content, name);
  const answer = await fetch(`${server.url}/api/antivirus/scan`, { method: 'POST', body: form, headers: headersOf(token) });
  if (answer.status >= 300) throw new Error(String(answer.status));
  return scanSchema.parse(await answer.json());
}

async function scansOf(server: BenchServer, token: string): Promise<Scan[]> {
  const all: Scan[] = [];
  for (let path: string | undefined = '/antivirus/scans?limit=200'; path !== undefined; ) {
    const answer: Response = await fetch(`${server.url}/api${path}`, { headers: headersOf(token) });
    if (answer.status !== 200) throw new Error(String(answer.status));
    all.push(...(listScans.reply?.parse(await answer.json()) ?? []));
    path = /<(?:\/api)?([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1];
  }
  return all;
}

/** Every second one is infected, which its name says. */
function makeFiles(): { name: string; path: string }[] {
  return Array.from({ length: FILES }, (_, index) => {
    const bytes = Math.round((LEAST_MB + ((MOST_MB - LEAST_MB) * index) / (FILES - 1)) * 1024 ** 2);
    const noise = { name: 'noise.bin', content: randomBytes(bytes) };
    const is_infected = index % 2 === 0;
    const name = `${is_infected ? 'infected' : 'clean'}-${index}.zip`;
    const path = join(folder, name);
    writeFileSync(path, zip(is_infected ? [noise, { name: 'eicar.com', content: EICAR }] : [noise], { is_stored: true }));
    return { name, path };
  });
}

const isRight = ({ filename, scan_status }: Scan) => scan_status === (filename.startsWith('infected') ? 'infected' : 'clean');

async function givePremium(server: BenchServer, token: string, email: string): Promise<void> {
  const plan = { plan_name: 'All', price: 1, duration_months: 12, max_devices: 1, is_premium: true, features: [] };
  await fetch(`${server.url}/api/admin/assign-subscription`, {
    method: 'POST',
    headers: { ...headersOf(token), 'content-type': 'application/json' },
    body: JSON.stringify({ user_email: email, ...plan }),
  });
}

async function ready(server: BenchServer): Promise<void> {
  while ((await fetch(`${server.url}/api/ready`).then(({ status }) => status)) !== 200) await pause(50);
}

/** Files in flight over both, of which one is killed. */
async function killOne(one: BenchServer, other: BenchServer, token: string) {
  const files = makeFiles();
  let cut = 0;
  let refused = 0;
  let is_killed = false;
  const sent = files.map(async ({ name, path }, index) => {
    for (;;) {
      try {
        return await upload(index % 2 === 0 ? one : other, token, name, await openAsBlob(path));
      } catch (error) {
        // A store that is busy takes it at the next try; of what a server had when it was killed there is a record.
        if (is_killed || !(error instanceof Error && /^\d+$/.test(error.message))) {
          cut += 1;
          return undefined;
        }
        refused += 1;
        await pause(500);
      }
    }
  });
  for (let known = 0; known < FILES; await pause(20)) known = (await scansOf(other, token)).length;
  const pending_at_kill = (await scansOf(other, token)).filter(({ scan_status }) => scan_status === 'pending').length;
  is_killed = true;
  process.kill(one.pid, 'SIGKILL');
  const killed_at = performance.now();
  for (let pending = 1; pending > 0; await pause(100))
    pending = (await scansOf(other, token)).filter(({ scan_status }) => scan_status === 'pending').length;
  const all_done_ms = performance.now() - killed_at;
  await Promise.all(sent);
  const scans = await scansOf(other, token);
  const names = new Set(scans.map(({ filename }) => filename));
  const answer = await fetch(`${other.url}/api/premium/anti-hacking/alerts`, { headers: headersOf(token) });
  const alerts = listAlerts.reply?.parse(await answer.json()) ?? [];
  const told = alerts.filter(({ rule }) => rule === 'malware_detected.infected').reduce((sum, { count }) => sum + count, 0);
  return {
    files: FILES,
    pending_at_kill,
    uploads_that_were_cut: cut,
    uploads_that_were_refused_at_first: refused,
    all_done_s: all_done_ms / 1_000,
    lost: files.filter(({ name }) => !names.has(name)).length,
    false: scans.filter((scan) => !isRight(scan)).length,
    doubled: scans.length - names.size,
    infected: files.filter(({ name }) => name.startsWith('infected')).length,
    told_in_alerts: told,
  };
}

/** Answers while a service is away, and whether every acknowledged record exists. */
async function whileAway(service: keyof typeof ways, servers: readonly BenchServer[], token: string) {
  const seen: Record<string, number> = {};
  let slowest_ms = 0;
  const acknowledged: string[] = [];
  const see = async (what: string, work: () => Promise<unknown>) => {
    const began = performance.now();
    const said = await work().then(
      () => 'done',
      (error: unknown) => (error instanceof Error && /^\d+$/.test(error.message) ? error.message : 'no answer'),
    );
    slowest_ms = Math.max(slowest_ms, performance.now() - began);
    seen[`${what}: ${said}`] = (seen[`${what}: ${said}`] ?? 0) + 1;
  };
  const until = performance.now() + AWAY_MS + 10_000;
  const people = servers.flatMap((server, at) => [
    (async () => {
      for (let index = 0; performance.now() < until; index += 1) {
        const is_infected = index % 2 === 0;
        const name = `${is_infected ? 'infected' : 'clean'}-${service}-${at}-${index}`;
        const content = is_infected ? Buffer.concat([EICAR, Buffer.from(' '.repeat(index % 50))]) : randomBytes(200_000);
        await see('upload', async () => {
          await upload(server, token, name, new Blob([new Uint8Array(content)]));
          acknowledged.push(name);
        });
        await pause(100);
      }
    })(),
    (async () => {
      for (; performance.now() < until; await pause(100)) await see('list', () => scansOf(server, token));
    })(),
  ]);
  await pause(2_000);
  await ways[service].away();
  const away_at = performance.now();
  await pause(AWAY_MS);
  await ways[service].back();
  const back_at = performance.now();
  await Promise.all(people);
  let scans: Scan[] = [];
  for (let left = 1; left > 0; await pause(200)) {
    scans = await scansOf(servers[0] ?? fail(), token).catch(() => scans);
    left = scans.length === 0 ? 1 : scans.filter(({ scan_status }) => scan_status === 'pending').length;
    if (performance.now() - back_at > 180_000) break;
  }
  const mine = scans.filter(({ filename }) => filename.includes(`-${service}-`));
  const names = new Set(mine.map(({ filename }) => filename));
  return {
    away_s: (back_at - away_at) / 1_000,
    seen,
    slowest_s: slowest_ms / 1_000,
    acknowledged: acknowledged.length,
    lost: acknowledged.filter((name) => !names.has(name)).length,
    false: mine.filter((scan) => !isRight(scan)).length,
    doubled: mine.length - names.size,
  };
}

function fail(): never {
  throw new Error('There are two servers.');
}

/** Delay of events to pages, over both servers. */
async function tellPages(servers: readonly [BenchServer, BenchServer]) {
  const people: { token: string; heard: (at: number) => void }[] = [];
  const sockets: WebSocket[] = [];
  const names = Array.from({ length: PEOPLE }, (_, index) => `page-${index}`);
  while (names.length > 0)
    for (const { token } of await Promise.all(names.splice(0, 4).map((name) => servers[0].signIn(name))))
      people.push({ token, heard: () => {} });
  const open = (person: (typeof people)[number], server: BenchServer) =>
    new Promise<void>((resolve, reject) => {
      const socket = new WebSocket(`${server.url.replace('http', 'ws')}/api/events`);
      sockets.push(socket);
      socket.addEventListener('open', () => socket.send(JSON.stringify({ kind: 'hello', access_token: person.token })));
      socket.addEventListener('close', ({ code }) => reject(new Error(`closed with ${code}`)));
      socket.addEventListener('message', ({ data }) => {
        const frame = z
          .object({ kind: z.string(), event: z.object({ kind: z.string(), topic: z.string().optional() }).optional() })
          .parse(JSON.parse(String(data)));
        if (frame.kind === 'welcome') resolve();
        if (frame.kind === 'ping') socket.send(JSON.stringify({ kind: 'pong' }));
        if (frame.kind === 'event' && frame.event?.topic === 'rules') person.heard(performance.now());
      });
    });
  const pages = people.flatMap((person) =>
    Array.from({ length: PAGES_EACH }, (_, index) => ({ person, server: servers[index % 2 === 0 ? 0 : 1] })),
  );
  for (let at = 0; at < pages.length; at += 50)
    await Promise.all(pages.slice(at, at + 50).map(({ person, server }) => open(person, server)));
  const waits: number[] = [];
  let missed = 0;
  for (let round = 0; round < TOLD; round += 1) {
    const person = people[(round * 37) % people.length] ?? fail();
    const heard: number[] = [];
    const all = new Promise<void>((resolve) => {
      person.heard = (at) => {
        heard.push(at);
        if (heard.length === PAGES_EACH) resolve();
      };
    });
    const began = performance.now();
    const answer = await fetch(`${servers[round % 2 === 0 ? 0 : 1].url}/api/firewall/rules`, {
      method: 'POST',
      headers: { ...headersOf(person.token), 'content-type': 'application/json' },
      body: JSON.stringify({ rule_name: `Rule ${round}` }),
    });
    if (answer.status >= 300) throw new Error(`a rule was refused: ${answer.status}`);
    await Promise.race([all, pause(5_000)]);
    missed += PAGES_EACH - heard.length;
    waits.push(...heard.map((at) => at - began));
    person.heard = () => {};
  }
  for (const socket of sockets) socket.close();
  return {
    pages: pages.length,
    told: TOLD,
    heard: waits.length,
    missed,
    // From when the change was asked for, which is before it is told.
    p50_ms: quantile(waits, 0.5),
    p99_ms: quantile(waits, 0.99),
    max_ms: quantile(waits, 1),
  };
}

/** Requests a second of some connections that ask again and again, each of the next server. */
async function requestsPerSecond(urls: readonly string[], token: string): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let done = 0;
  const until = performance.now() + REQUESTS_MS;
  const ask = (url: string) =>
    new Promise<void>((resolve, reject) => {
      get(`${url}/api/firewall/rules`, { agent, headers: headersOf(token) }, (answer) => {
        answer.resume();
        answer.once('end', () => (answer.statusCode === 200 ? resolve() : reject(new Error(`${answer.statusCode}`))));
      }).once('error', reject);
    });
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async (_, index) => {
      const url = urls[index % urls.length] ?? fail();
      for (; performance.now() < until; done += 1) await ask(url);
    }),
  );
  agent.destroy();
  return (done * 1_000) / REQUESTS_MS;
}

async function startBare(user_id: string): Promise<{ url: string; stop(): void }> {
  const port = await freePort();
  const child = spawn(process.execPath, [join(ROOT, 'bench/peers/bare-query.ts'), String(port)], {
    env: { DATABASE_URL: database_url.href, USER_ID: user_id },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const url = `http://127.0.0.1:${port}`;
  while (
    !(await fetch(`${url}/api/firewall/rules`).then(
      ({ ok }) => ok,
      () => false,
    ))
  )
    await pause(50);
  return { url, stop: () => void child.kill('SIGKILL') };
}

const results: Record<string, unknown> = {};

/** Keeps what has been measured so far: a machine that is stopped in the middle loses the rest alone. */
function keep(name: string, measured: unknown): void {
  results[name] = measured;
  console.log(name, JSON.stringify(measured, null, 2));
  mkdirSync(RESULTS, { recursive: true });
  const kept = {
    what: 'two servers on one PostgreSQL, Redis and store: files in flight while one is killed, services away for 20 s, 5,000 pages, requests a second against bare Fastify with the same query',
    at: new Date().toISOString(),
    machine: { ...describeMachine(), load_before },
    results,
  };
  writeFileSync(join(RESULTS, 'cluster.json'), `${JSON.stringify(kept, null, 2)}\n`);
}

try {
  let [one, other] = [await start(), await start()];
  const { token, email } = await one.signIn('boss');
  await givePremium(one, token, email);
  await Promise.all([ready(one), ready(other)]);

  // First, while nothing else has been done: what is compared with a bare server.
  for (let index = 0; index < 20; index += 1)
    await fetch(`${one.url}/api/firewall/rules`, {
      method: 'POST',
      headers: { ...headersOf(token), 'content-type': 'application/json' },
      body: JSON.stringify({ rule_name: `Rule ${index}` }),
    });
  const { rows } = await direct.query<{ id: string }>('select id from users limit 1');
  const bare = await startBare(rows[0]?.id ?? '');
  await requestsPerSecond([bare.url], token);
  await requestsPerSecond([one.url, other.url], token);
  const per_second = {
    bare: await requestsPerSecond([bare.url], token),
    one: await requestsPerSecond([one.url], token),
    two: await requestsPerSecond([one.url, other.url], token),
  };
  bare.stop();
  const requests = {
    per_second,
    bare_to_one: per_second.bare / per_second.one,
    bare_to_two: per_second.bare / per_second.two,
    two_to_one: per_second.two / per_second.one,
  };
  keep('requests', requests);

  keep('killed', await killOne(one, other, token));
  one = await start();
  await ready(one);

  const away: Record<string, unknown> = {};
  for (const service of ['PostgreSQL', 'Redis', 'S3'] as const) {
    const { token: of_this } = await other.signIn(`away-${service}`);
    away[service] = await whileAway(service, [one, other], of_this);
    keep('away', away);
    await Promise.all([ready(one), ready(other)]);
  }

  keep('pages', await tellPages([one, other]));
  await Promise.all([one.stop(), other.stop()]);
} finally {
  await direct.end();
  for (const way of Object.values(ways)) await way.close();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
