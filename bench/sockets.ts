// Measures the cost of 5,000 open pages for everybody else: another person's request and the server's event loop, with no page and with 5,000 over two heartbeats.
// No bar. Keeps results/sockets.json. `node bench/sockets.ts FOLDER` measures the build of another folder, as `before`. Needs npm start once (for the build) and 10,000 open files (`ulimit -n`).
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { describeMachine, RESULTS, startServer } from './server.ts';

const PEOPLE = 250;
const PAGES_EACH = 20;
const AT_ONCE = 50;
const IDLE_MS = 10_000;
const BUSY_MS = 55_000;

const [, , other_build] = process.argv;
const folder = mkdtempSync(join(tmpdir(), 'palisade-bench-'));
const data_dir = join(folder, 'data');
const gapFile = join(folder, 'event-loop.json');
const [load_before = 0] = loadavg();
const environment = {
  // Limits are raised: this measures open pages, not their refusal. 250 people sign in and 5,000 pages open within a minute, from the one loopback.
  LIMITS: ['register', 'sign_in', 'sockets', 'read']
    .map((name) => `${name}.source=1000000/1m`)
    .concat('read=1000000/1m')
    .join(','),
  NODE_OPTIONS: `--import=${fileURLToPath(new URL('./event-loop.ts', import.meta.url))}`,
  EVENT_LOOP_FILE: gapFile,
};
const server = await startServer(data_dir, environment, other_build);

async function eventLoopGap(): Promise<{ max_ms: number; p99_ms: number }> {
  rmSync(gapFile, { force: true });
  process.kill(server.pid, 'SIGUSR2');
  while (!existsSync(gapFile) || readFileSync(gapFile, 'utf8') === '') await pause(5);
  return z.object({ max_ms: z.number(), p99_ms: z.number() }).parse(JSON.parse(readFileSync(gapFile, 'utf8')));
}

/** Duration of a person's requests, one after the other, for a time. */
async function ask(token: string, for_ms: number): Promise<{ p50_ms: number; p99_ms: number; max_ms: number }> {
  const times: number[] = [];
  const headers = { authorization: `Bearer ${token}` };
  for (const until = performance.now() + for_ms; performance.now() < until; await pause(5)) {
    const began = performance.now();
    const answer = await fetch(`${server.url}/api/firewall/rules`, { headers });
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`expected 200, got ${answer.status}`);
    times.push(performance.now() - began);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;
  return { p50_ms: at(0.5), p99_ms: at(0.99), max_ms: at(1) };
}

/** Signs people in, a few at a time; answers their tokens. */
async function people(): Promise<string[]> {
  const names = Array.from({ length: PEOPLE }, (_, index) => `page-${index}`);
  const tokens: string[] = [];
  while (names.length > 0)
    tokens.push(...(await Promise.all(names.splice(0, 4).map((name) => server.signIn(name)))).map(({ token }) => token));
  return tokens;
}

let pings = 0;
/** A page that answers its heartbeats. */
function openPage(access_token: string): Promise<WebSocket> {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/api/events`);
  return new Promise((resolve, reject) => {
    socket.addEventListener('open', () => socket.send(JSON.stringify({ kind: 'hello', access_token })));
    socket.addEventListener('close', ({ code }) => reject(new Error(`closed with ${code}`)));
    socket.addEventListener('message', ({ data }) => {
      const { kind } = z.object({ kind: z.string() }).parse(JSON.parse(String(data)));
      if (kind === 'welcome') resolve(socket);
      if (kind !== 'ping') return;
      pings += 1;
      socket.send(JSON.stringify({ kind: 'pong' }));
    });
  });
}

try {
  const { token } = await server.signIn('guest');
  await ask(token, 2_000);
  await eventLoopGap();
  const idle = { request: await ask(token, IDLE_MS), event_loop: await eventLoopGap() };
  const pages = (await people()).flatMap((person) => Array.from({ length: PAGES_EACH }, () => person));
  for (let at = 0; at < pages.length; at += AT_ONCE) await Promise.all(pages.slice(at, at + AT_ONCE).map(openPage));
  await eventLoopGap();
  const busy = { request: await ask(token, BUSY_MS), event_loop: await eventLoopGap() };
  const measured = {
    pages: pages.length,
    pings,
    idle,
    busy,
    request_p99_ratio: busy.request.p99_ms / idle.request.p99_ms,
    request_max_ratio: busy.request.max_ms / idle.request.max_ms,
  };
  mkdirSync(RESULTS, { recursive: true });
  const path = join(RESULTS, 'sockets.json');
  const earlier = existsSync(path) ? z.record(z.string(), z.unknown()).parse(JSON.parse(readFileSync(path, 'utf8'))) : {};
  const kept = {
    ...earlier,
    what: "another person's request, and the server's event loop, with nobody there and with 5,000 open pages over two heartbeats",
    [other_build === undefined ? 'results' : 'before']: {
      at: new Date().toISOString(),
      machine: { ...describeMachine(), load_before },
      ...measured,
    },
  };
  writeFileSync(path, `${JSON.stringify(kept, null, 2)}\n`);
  console.table({ idle: idle.request, busy: busy.request });
  console.table({ idle: idle.event_loop, busy: busy.event_loop });
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
