// Measures the time of a chat message to the open pages of its customer, with 10,000 pages, and the memory of a page: one server, two servers, and a bare `ws` that sends the same messages (peers/bare-fanout.ts).
// Bars: p99 100 ms, p99 and memory 2x the bare `ws`. 50 messages a second are written, each to 20 pages: 1,000 arrive. Three rounds of each in turn; the middle one counts, because the slowest
// hundredth of 20 seconds is ten messages. Keeps results/desk.json. `node scripts/side-by-side.mjs node bench/desk.ts`; PAGES, PER_SECOND, SECONDS and ROUNDS make it smaller.
// Needs npm start once (for the build) and 20,000 open files (`ulimit -n`).
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { freePort } from './free-port.ts';
import { describeMachine, median, RESULTS, ROOT, startServer } from './server.ts';

const PAGES_EACH = 20;
const PAGES = Number(process.env['PAGES'] ?? 10_000);
/** Messages that arrive, of all pages together. */
const PER_SECOND = Number(process.env['PER_SECOND'] ?? 1_000);
const SECONDS = Number(process.env['SECONDS'] ?? 20);
const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
const WARM_SECONDS = 3;
const PEOPLE = PAGES / PAGES_EACH;
const OPENED_AT_ONCE = 50;
const BARS = { p99_ms: 100, p99_ratio: 2, memory_ratio: 2 } as const;

const folder = mkdtempSync(join(tmpdir(), 'palisade-desk-'));
const [load_before = 0] = loadavg();
const probe = fileURLToPath(new URL('./memory-probe.ts', import.meta.url));

function given(name: string): string {
  const url = process.env[`JOURNEY_${name}_URL`];
  if (url === undefined) throw new Error('Run it by: node scripts/side-by-side.mjs node bench/desk.ts');
  return url;
}

/** A process that is measured. */
interface Measured {
  url: string;
  pid: number;
  memory_file: string;
  stop(): Promise<void> | void;
}

const memorySchema = z.object({ rss: z.number(), heapUsed: z.number(), external: z.number() });

/** Memory of a process, in bytes: of the machine (`rss`), and of what is in use (`held`). */
async function memoryOf(some: readonly Measured[]): Promise<{ rss: number; held: number }> {
  const sum = { rss: 0, held: 0 };
  for (const { pid, memory_file } of some) {
    rmSync(memory_file, { force: true });
    process.kill(pid, 'SIGUSR2');
    let written = '';
    for (; written === ''; await pause(20)) {
      try {
        written = readFileSync(memory_file, 'utf8');
      } catch {
        // It has not answered yet.
      }
    }
    const { rss, heapUsed, external } = memorySchema.parse(JSON.parse(written));
    sum.rss += rss;
    sum.held += heapUsed + external;
  }
  return sum;
}

const storage = new URL(given('STORAGE'));
storage.pathname += '/bench-desk';
const settings: Record<string, string> = {
  DATABASE_URL: given('DATABASE'),
  REDIS_URL: given('REDIS'),
  STORAGE_URL: storage.href,
  LOG_LEVEL: 'silent',
  // Limits are raised: this measures pages and messages, not the limits of one loopback source.
  LIMITS: ['register', 'sign_in', 'sockets', 'read', 'write']
    .map((name) => `${name}.source=1000000/1m`)
    .concat(['read', 'write'].map((name) => `${name}=1000000/1m`))
    .join(','),
  ...Object.fromEntries(['QUARANTINE', 'TWO_FACTOR', 'AUDIT'].map((key) => [`${key}_KEY_FILE`, join(folder, `${key}.key`)])),
};

async function startOurs(name: string): Promise<Measured & { signIn: (name: string) => Promise<{ token: string }> }> {
  const memory_file = join(folder, `${name}.json`);
  const environment = {
    ...settings,
    NODE_OPTIONS: `--import=${probe} ${process.env['PROBE_OPTIONS'] ?? ''}`,
    MEMORY_FILE: memory_file,
  };
  return { ...(await startServer(join(folder, name), environment)), memory_file };
}

async function startBare(): Promise<Measured> {
  const port = await freePort();
  const memory_file = join(folder, 'bare.json');
  const child = spawn(process.execPath, [`--import=${probe}`, join(ROOT, 'bench/peers/bare-fanout.ts'), String(port)], {
    env: { MEMORY_FILE: memory_file },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  return { url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, memory_file, stop: () => void child.kill('SIGKILL') };
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

function post(url: string, token: string, body: unknown): Promise<void> {
  const text = JSON.stringify(body);
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  };
  return new Promise((resolve, reject) => {
    const asked = request(url, { method: 'POST', agent, headers }, (answer) => {
      answer.resume();
      answer.once('end', () => {
        if ((answer.statusCode ?? 500) < 300) resolve();
        else reject(new Error(`${url} answered ${answer.statusCode}`));
      });
    });
    asked.once('error', reject);
    asked.end(text);
  });
}

const frameSchema = z.object({
  kind: z.string(),
  id: z.string().nullish(),
  cursor: z.string().optional(),
  missed: z.boolean().optional(),
  event: z.object({ kind: z.string(), message: z.object({ message: z.string() }).optional() }).optional(),
});

/** Called with the words of each message that arrives at a page. */
let onMessage: (words: string) => void = () => {};

interface Page {
  close(): void;
}

/** Number of reconnections, and of pages that read anew after a gap. */
let came_back = 0;
let read_anew = 0;

const listSchema = z.array(z.object({ message: z.string() }));
/** The request of a page after a gap: the newest of its conversation. */
async function readNewest(url: string, access_token: string): Promise<string[]> {
  read_anew += 1;
  const answer = await fetch(`${url}/api/chat/messages?limit=50`, { headers: { authorization: `Bearer ${access_token}` } });
  return listSchema.parse(await answer.json()).map(({ message }) => message);
}

/** A page as ours are: it reconnects, resumes after its last event, and keeps one of each message. */
function openPage(url: string, access_token: string): Promise<Page> {
  let after: string | undefined;
  let isOver = false;
  let socket: WebSocket;
  const known = new Set<string>();
  return new Promise((resolve, reject) => {
    function connect(): void {
      socket = new WebSocket(`${url.replace('http', 'ws')}/api/events`, { perMessageDeflate: false });
      socket.once('open', () =>
        socket.send(JSON.stringify({ kind: 'hello', access_token, ...(after !== undefined && { after }) })),
      );
      socket.once('error', reject);
      socket.once('close', () => {
        if (isOver) return;
        came_back += 1;
        setTimeout(connect, Math.random() * 1_000);
      });
      socket.on('message', (data) => {
        const { kind, id, cursor, missed, event } = frameSchema.parse(JSON.parse(String(data)));
        after = id ?? cursor ?? after;
        if (kind === 'welcome') resolve(page);
        if (missed === true)
          readNewest(url, access_token).then((some) => {
            for (const words of some) hear(words);
          }, reject);
        if (kind === 'ping') socket.send('{"kind":"pong"}');
        const words = event?.kind === 'chat_message' ? event.message?.message : undefined;
        if (words !== undefined) hear(words);
      });
    }
    function hear(words: string): void {
      if (known.has(words)) return;
      known.add(words);
      onMessage(words);
    }
    const page: Page = {
      close() {
        isOver = true;
        socket.terminate();
      },
    };
    connect();
  });
}

const quantile = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

/** Opens all pages, and has messages written at an even pace, whatever becomes of those before. */
async function measure(
  what: string,
  servers: readonly Measured[],
  tokens: readonly string[],
  say: (server: Measured, token: string, words: string) => Promise<void>,
) {
  const before = await memoryOf(servers);
  const pages: Page[] = [];
  came_back = 0;
  read_anew = 0;
  for (let at = 0; at < PAGES; at += OPENED_AT_ONCE) {
    const some = Array.from({ length: Math.min(OPENED_AT_ONCE, PAGES - at) }, (_, index) => at + index);
    const opened = some.map((place) => {
      // The pages of one person are at all servers.
      const server = servers[Math.floor(place / PEOPLE) % servers.length];
      const token = tokens[place % PEOPLE];
      if (server === undefined || token === undefined) throw new Error('There is nobody to open a page.');
      return openPage(server.url, token);
    });
    pages.push(...(await Promise.all(opened)));
  }
  const open = await memoryOf(servers);

  const written = new Map<string, { at: number; arrived: number }>();
  const waits: number[] = [];
  onMessage = (words) => {
    const message = written.get(words);
    if (message === undefined) return;
    message.arrived += 1;
    waits.push(performance.now() - message.at);
  };
  let failed = 0;
  const per_second = PER_SECOND / PAGES_EACH;
  const begin = performance.now();
  const underway: Promise<void>[] = [];
  const all = Math.round((WARM_SECONDS + SECONDS) * per_second);
  const warm = Math.round(WARM_SECONDS * per_second);
  for (let place = 0; place < all; place += 1) {
    const due = begin + (place * 1_000) / per_second;
    if (due > performance.now()) await pause(due - performance.now());
    const server = servers[place % servers.length];
    const token = tokens[(place * 37) % PEOPLE];
    if (server === undefined || token === undefined) throw new Error('There is nobody to write.');
    const words = `The machine has been slow since this morning, what can I do about it? ${randomUUID()}`;
    // The time counts from the moment a message was due, also when it was written late.
    if (place >= warm) written.set(words, { at: due, arrived: 0 });
    underway.push(
      say(server, token, words).catch(() => {
        failed += 1;
      }),
    );
  }
  await Promise.all(underway);
  const took_s = (performance.now() - begin) / 1_000;
  for (const until = performance.now() + 15_000; performance.now() < until; await pause(50))
    if ([...written.values()].every(({ arrived }) => arrived >= PAGES_EACH)) break;
  onMessage = () => {};
  const counts = [...written.values()].map(({ arrived }) => arrived);
  for (const page of pages) page.close();
  const sorted = waits.toSorted((a, b) => a - b);
  const measured = {
    pages: PAGES,
    written: written.size,
    arrived: waits.length,
    arrived_a_second: (all * PAGES_EACH) / took_s,
    failed,
    came_back,
    read_anew,
    lost: counts.reduce((sum, arrived) => sum + Math.max(0, PAGES_EACH - arrived), 0),
    doubled: counts.reduce((sum, arrived) => sum + Math.max(0, arrived - PAGES_EACH), 0),
    // From when the message was to be sent until it is on a page.
    p50_ms: quantile(sorted, 0.5),
    p90_ms: quantile(sorted, 0.9),
    p99_ms: quantile(sorted, 0.99),
    max_ms: quantile(sorted, 1),
    bytes_a_page: (open.rss - before.rss) / PAGES,
    held_bytes_a_page: (open.held - before.held) / PAGES,
  };
  console.log(what, JSON.stringify(measured));
  await pause(2_000);
  return measured;
}

const sayHere = (server: Measured, token: string, words: string) =>
  post(`${server.url}/api/chat/messages`, token, { message: words, sender: 'user', client_message_id: randomUUID() });

const id = randomUUID();
/** Event of our servers while a message exists. */
const sayBare = (server: Measured, token: string, words: string) => {
  const nothing = { author: null, is_automatic: false, phrases: null, is_read: false, attachments: [], card: null };
  const message = {
    id,
    user_id: id,
    conversation_id: id,
    seq: 1,
    message: words,
    sender: 'user',
    client_message_id: id,
    ...nothing,
  };
  const event = { kind: 'chat_message', message: { ...message, timestamp: new Date().toISOString() } };
  return post(`${server.url}/say`, token, { person: token, frame: { kind: 'event', id, event } });
};

const stops: (() => Promise<void> | void)[] = [];
try {
  const [one, other] = [await startOurs('one'), await startOurs('other')];
  stops.push(one.stop, other.stop);
  const names = Array.from({ length: PEOPLE }, (_, place) => `page-${place}`);
  const tokens: string[] = [];
  while (names.length > 0)
    tokens.push(...(await Promise.all(names.splice(0, 4).map((name) => one.signIn(name)))).map(({ token }) => token));
  // A customer who asked for a person gets no automatic answer: a message is one message.
  for (const token of tokens) await post(`${one.url}/api/chat/person`, token, {});
  console.log(`${PEOPLE} people are signed in`);
  const bare = await startBare();
  stops.push(bare.stop);
  const kinds = { bare: [bare], one: [one], two: [one, other] };
  type Figures = Awaited<ReturnType<typeof measure>>;
  const rounds: Record<keyof typeof kinds, Figures>[] = [];
  for (let round = 0; round < ROUNDS; round += 1)
    rounds.push({
      bare: await measure('bare', kinds.bare, tokens, sayBare),
      one: await measure('one', kinds.one, tokens, sayHere),
      two: await measure('two', kinds.two, tokens, sayHere),
    });
  /** Times are the middle ones of all rounds, what went wrong is that of all together, and memory that of the first: a process keeps what it once took. */
  function summed(kind: keyof typeof kinds) {
    const all = rounds.map((round) => round[kind]);
    const [first] = all;
    if (first === undefined) throw new Error('There was no round.');
    const middle = (key: 'p50_ms' | 'p90_ms' | 'p99_ms' | 'max_ms') => median(all.map((one) => one[key]));
    const sum = (key: 'failed' | 'came_back' | 'read_anew' | 'lost' | 'doubled' | 'written' | 'arrived') =>
      all.reduce((total, one) => total + one[key], 0);
    return {
      ...first,
      ...{ written: sum('written'), arrived: sum('arrived'), failed: sum('failed'), came_back: sum('came_back') },
      ...{ read_anew: sum('read_anew'), lost: sum('lost'), doubled: sum('doubled') },
      ...{ p50_ms: middle('p50_ms'), p90_ms: middle('p90_ms'), p99_ms: middle('p99_ms'), max_ms: middle('max_ms') },
      p99_ms_of_rounds: all.map(({ p99_ms }) => p99_ms),
    };
  }
  const [peer, ours, two] = [summed('bare'), summed('one'), summed('two')];
  const against = (measured: typeof ours) => ({
    p99_ratio: measured.p99_ms / peer.p99_ms,
    memory_ratio: measured.bytes_a_page / peer.bytes_a_page,
    held_ratio: measured.held_bytes_a_page / peer.held_bytes_a_page,
  });
  const results = { bare: peer, one: { ...ours, ...against(ours) }, two: { ...two, ...against(two) } };
  mkdirSync(RESULTS, { recursive: true });
  const kept = {
    what: `messages of the support chat to ${PAGES} open pages, ${PER_SECOND} a second arriving (${PER_SECOND / PAGES_EACH} written, each to ${PAGES_EACH} pages), stored in PostgreSQL and told over Redis, beside a bare ws that stores nothing`,
    at: new Date().toISOString(),
    machine: { ...describeMachine(), load_before },
    settings: {
      LIMITS: settings['LIMITS'],
      else: 'as they are without a word; clients, servers, PostgreSQL and Redis on the same cores',
    },
    bars: BARS,
    rounds: ROUNDS,
    results,
  };
  if (PAGES === 10_000 && ROUNDS >= 3) writeFileSync(join(RESULTS, 'desk.json'), `${JSON.stringify(kept, null, 2)}\n`);
  console.log(JSON.stringify(results, null, 2));
} finally {
  for (const stop of stops) await stop();
  agent.destroy();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
