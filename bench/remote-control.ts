// Measures remote control for remote.ts: key to pixel through server and agent beside the same VNC server directly; bytes a second beside a plain pipe of sockets (peers/plain-pipe.ts); Stop control to the last key that arrives.
// Bars: key to pixel 1.25x, relay at least 0.8x, 100 ms. `node bench/remote-control.ts [ROUNDS]` prints them.
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { AGENT_PATH } from '@palisade/contract/agent';
import { EVENTS_PATH } from '@palisade/contract/events';
import { RFB_FRAME_BYTES, SCREEN_PATH, VIEWER_PATH } from '@palisade/contract/remote-control';
import { WebSocket } from 'ws';
import { z } from 'zod';
// biome-ignore lint/style/noRestrictedImports: how the agent opens a screen, asked directly.
import { findVnc } from '../agent/src/control/vnc.ts';
import { unpackAgent } from './built-agent.ts';
import { overSocket, overStream, type PixelClient } from './peers/rfb-client.ts';
import { median } from './server.ts';
import { stopping } from './stopping.ts';
import { startOurs, startProxy } from './tls.ts';

const KEYS = 120;
const REVOKES = 3;
const RELAYED_BYTES = 256 * 1024 ** 2;
const PATIENCE_MS = 30_000;
const [LETTER, PASSWORD] = [0x61, 'a long enough password'];
const INSECURE = { rejectUnauthorized: false, perMessageDeflate: false } as const;

/** The value below which a share of them is. */
export const at = (values: readonly number[], share: number) =>
  values.toSorted((one, other) => one - other)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN;

/** Answers that came in time. @throws where it has not, so that what was started is stopped and a round ends. */
async function within<T>(promise: Promise<T>, what: string): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`waited too long for ${what}`)), PATIENCE_MS);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function until<T>(look: () => T | undefined | Promise<T | undefined>, what: string): Promise<T> {
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await pause(5)) {
    const found = await look();
    if (found !== undefined) return found;
  }
  throw new Error(`waited too long for ${what}`);
}

/** A screen in memory with a terminal that writes down when each letter came, and shows it. */
export async function startDesktop(folder: string) {
  const server = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '800x600x24', '-nolisten', 'tcp', '-noreset'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const shown = new Promise<string>((resolve) => {
    server.stdio[3]?.once('data', (bytes: Buffer) => resolve(`:${bytes.toString().trim()}`));
  });
  const display = await within(shown, 'Xvfb');
  const [typed, script] = [join(folder, 'typed'), join(folder, 'echo.mjs')];
  writeFileSync(typed, '');
  writeFileSync(
    script,
    `import { appendFileSync } from 'node:fs';
process.stdin.setRawMode(true);
process.stdin.on('data', (bytes) => {
  appendFileSync(${JSON.stringify(typed)}, \`\${Date.now()}\\n\`.repeat(bytes.length));
  process.stdout.write('#'.repeat(bytes.length));
});
process.stdout.write('ready');
appendFileSync(${JSON.stringify(typed)}, '0\\n');
`,
  );
  const environment = { PATH: process.env['PATH'], HOME: folder, DISPLAY: display };
  const terminal = spawn('xterm', ['-geometry', '130x45+0+0', '-e', process.execPath, script], {
    env: environment,
    stdio: 'ignore',
  });
  const arrivals = () => readFileSync(typed, 'utf8').trim().split('\n').map(Number);
  await until(() => (arrivals().includes(0) && arrivals()[0] === 0 ? true : undefined), 'the terminal');
  return {
    display,
    environment,
    arrivals,
    stop() {
      terminal.kill('SIGKILL');
      server.kill('SIGKILL');
    },
  };
}

/** Time from each of some keys to its pixels, ms. */
export async function keysToPixels(client: PixelClient): Promise<number[]> {
  await within(client.ready, 'the first picture');
  const waits: number[] = [];
  for (let key = 0; key < KEYS; key += 1) {
    // Not in step with whatever looks at the screen in turns.
    await pause(40 + ((key * 37) % 160));
    const began = performance.now();
    const { promise, resolve } = Promise.withResolvers<void>();
    client.onPixels = resolve;
    client.press(LETTER);
    await within(promise, 'the pixels of a key');
    waits.push(performance.now() - began);
    client.onPixels = undefined;
  }
  return waits;
}

const listSchema = z.object({ id: z.string(), session_code: z.string() });

/** Both people with a page each in a session that runs, and a device of the customer's that is online. */
async function startSession(url: string) {
  const socketOf = (path: string) => new WebSocket(`${url.replace('http', 'ws')}/api${path}`, INSECURE);
  async function call(method: string, path: string, token?: string, body?: unknown): Promise<unknown> {
    const answer = await fetch(`${url}/api${path}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  }
  async function signIn(username: string): Promise<string> {
    const email = `${username}@example.com`;
    await call('POST', '/auth/register', undefined, { email, username, password: PASSWORD });
    const answer = await call('POST', '/auth/login', undefined, { email, password: PASSWORD });
    return z.object({ access_token: z.string() }).parse(answer).access_token;
  }
  /** A page that has its place in the session. */
  async function sit(access_token: string, session_id: string): Promise<WebSocket> {
    const socket = socketOf(EVENTS_PATH);
    const { promise, resolve } = Promise.withResolvers<void>();
    socket.on('open', () => socket.send(JSON.stringify({ kind: 'hello', access_token })));
    socket.on('message', (text: Buffer) => {
      const { kind } = z.looseObject({ kind: z.string() }).parse(JSON.parse(text.toString()));
      if (kind === 'ping') socket.send('{"kind":"pong"}');
      if (kind === 'welcome') socket.send(JSON.stringify({ kind: 'listen_remote', session_id }));
      if (kind === 'event') resolve();
    });
    await within(promise, 'a place in the session');
    return socket;
  }
  const [technician, customer] = [await signIn('tina'), await signIn('maria')];
  const { id, session_code } = listSchema.parse(await call('POST', '/remote/session', customer));
  await call('POST', '/remote/join', technician, { session_code });
  const pages = [await sit(customer, id), await sit(technician, id)];
  await call('POST', `/remote/sessions/${id}/approve`, customer, { view: 'talk' });
  return {
    ...{ call, socketOf, technician, customer, id },
    code: async () => z.object({ code: z.string() }).parse(await call('POST', '/devices/enrolment-code', customer)).code,
    /** The device that is online. */
    device: () =>
      until(async () => {
        const devices = z
          .array(z.looseObject({ id: z.string(), state: z.string() }))
          .parse(await call('GET', '/devices', customer));
        return devices.find(({ state }) => state === 'online')?.id;
      }, 'the device'),
    grant: (device_id: string) => call('POST', `/remote/sessions/${id}/grants`, customer, { grant: 'control', device_id }),
    revoke: () => call('POST', `/remote/sessions/${id}/revoke`, customer, { grant: 'all' }),
    /** Its place in the plan is free for another one. */
    forget: (device_id: string) => call('POST', `/devices/${device_id}/revoke`, customer),
    /** Wraps an end of the tunnel at the moment of pairing: bytes of the other end may arrive in the same turn. */
    end: <End>(path: string, hello: object, make: (socket: WebSocket) => End): Promise<End> =>
      until(async () => {
        const socket = socketOf(path);
        const paired = new Promise<End | undefined>((resolve) => {
          socket.on('open', () => socket.send(JSON.stringify({ kind: 'hello', ...hello, session_id: id })));
          socket.once('message', () => resolve(make(socket)));
          socket.once('close', () => resolve(undefined));
        });
        return await within(paired, 'the other end of control');
      }, 'control'),
    leave() {
      for (const page of pages) page.terminate();
    },
  };
}

const control = (viewer: WebSocket) => ({ viewer, client: overSocket(viewer) });
const itself = (socket: WebSocket) => socket;

type RunningSession = Awaited<ReturnType<typeof startSession>>;

/** The agent as it is installed, without what it needs for a firewall, so that this machine stays as it is. */
export async function startAgent(
  folder: string,
  url: string,
  session: Pick<RunningSession, 'code'>,
  desktop: { display: string },
) {
  const programs = join(folder, 'programs');
  mkdirSync(programs);
  for (const program of ['sh', 'x11vnc', 'dirname', 'readlink', 'env'])
    for (const path of [`/usr/bin/${program}`, `/bin/${program}`])
      if (existsSync(path) && !existsSync(join(programs, program))) symlinkSync(path, join(programs, program));
  const agent = unpackAgent();
  const environment = {
    ...{ PATH: programs, HOME: folder, DISPLAY: desktop.display, NODE_EXTRA_CA_CERTS: join(folder, 'certificate.pem') },
    ...{ PALISADE_AGENT_STATE: join(folder, 'state'), PALISADE_AGENT_RUN: join(folder, 'run') },
  };
  mkdirSync(environment.PALISADE_AGENT_STATE);
  mkdirSync(environment.PALISADE_AGENT_RUN);
  const run = (...args: string[]): ChildProcess => spawn(agent.program, args, { env: environment, stdio: 'inherit' });
  const enrolling = run('enrol', await session.code(), url);
  const code = await new Promise((resolve) => enrolling.once('exit', resolve));
  if (code !== 0) throw new Error('the agent could not be enrolled');
  const running = run('run');
  return {
    stop() {
      running.kill('SIGKILL');
      agent.remove();
    },
  };
}

/** From a press of Stop control to the last key that arrived, ms: somebody types all the while. */
async function revokeToDead(session: RunningSession, desktop: { arrivals: () => number[] }): Promise<number> {
  const device_id = await session.device();
  await session.grant(device_id);
  const { viewer, client } = await session.end(VIEWER_PATH, { access_token: session.technician }, control);
  await within(client.ready, 'the first picture');
  const before = desktop.arrivals().length;
  const typing = setInterval(() => {
    if (viewer.readyState === viewer.OPEN) client.press(LETTER);
  }, 4);
  await until(() => (desktop.arrivals().length > before + 20 ? true : undefined), 'what is typed');
  const revoked_at = Date.now();
  await session.revoke();
  await until(() => (viewer.readyState === viewer.CLOSED ? true : undefined), 'the end of control');
  clearInterval(typing);
  // Keys under way have arrived by then: a key takes milliseconds.
  for (let seen = -1; seen !== desktop.arrivals().length; await pause(250)) seen = desktop.arrivals().length;
  return Math.max(0, (desktop.arrivals().at(-1) ?? revoked_at) - revoked_at);
}

/** Sends so many bytes from one end to the other and answers MB in a second. */
async function throughput(from: WebSocket, to: WebSocket): Promise<number> {
  const frame = randomBytes(RFB_FRAME_BYTES);
  let heard = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  to.on('message', (bytes: Buffer, isBinary) => {
    if (!isBinary) return;
    heard += bytes.length;
    if (heard >= RELAYED_BYTES) resolve();
  });
  const began = performance.now();
  for (let sent = 0; sent < RELAYED_BYTES; sent += frame.length) {
    from.send(frame);
    while (from.bufferedAmount > 8 * frame.length) await pause(0);
  }
  await within(promise, 'what is relayed');
  return RELAYED_BYTES / 1e6 / ((performance.now() - began) / 1_000);
}

/** Through the server, between a page and a device that are sockets and nothing more. */
async function relayed(session: RunningSession, url: string): Promise<number> {
  const public_key = generateKeyPairSync('ed25519').publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  const os = { platform: 'linux', name: 'Debian', arch: 'x64' };
  const enrolled = await session.call('POST', '/agent/enrol', undefined, {
    ...{ code: await session.code(), hostname: 'sockets', public_key, agent_version: '3.7.9', os },
  });
  const identity = z.object({ device_id: z.string(), token: z.string() }).parse(enrolled);
  const link = session.socketOf(AGENT_PATH);
  link.on('open', () =>
    link.send(
      JSON.stringify({
        ...{ kind: 'hello', ...identity, instance: randomBytes(16).toString('hex'), agent_version: '3.7.9' },
        ...{ applied_rev: 0, ruleset_hash: null, at: new Date().toISOString() },
        capabilities: {
          ...{ firewall: 'nftables', firewall_reason: null, conntrack: true, scanner: true, scanner_reason: null },
          ...{ watch: true, control: true, control_reason: null, containers: false },
        },
      }),
    ),
  );
  link.on('message', (text: Buffer) => {
    if (text.toString().includes('"ping"')) link.send('{"kind":"pong"}');
  });
  await until(async () => {
    const devices = z
      .array(z.looseObject({ id: z.string(), state: z.string() }))
      .parse(await session.call('GET', '/devices', session.customer));
    return devices.some(({ id, state }) => id === identity.device_id && state === 'online') ? true : undefined;
  }, `the device at ${url}`);
  await session.grant(identity.device_id);
  const [viewer, screen] = await Promise.all([
    session.end(VIEWER_PATH, { access_token: session.technician }, itself),
    session.end(SCREEN_PATH, identity, itself),
  ]);
  const rate = await throughput(screen, viewer);
  for (const socket of [viewer, screen, link]) socket.terminate();
  await session.revoke();
  return rate;
}

/** Through two sockets of a process that does nothing else, behind the same proxy that ends TLS. */
async function piped(folder: string): Promise<number> {
  return await stopping(async (stopped) => {
    const home = join(folder, 'pipe');
    mkdirSync(home);
    const child = spawn(process.execPath, [fileURLToPath(new URL('./peers/plain-pipe.ts', import.meta.url))], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    stopped({ stop: () => child.kill('SIGKILL') });
    const port = await new Promise<number>((resolve) => {
      child.stdout?.once('data', (bytes: Buffer) => resolve(Number(/\d+/u.exec(bytes.toString())?.[0])));
    });
    const proxy = stopped(await startProxy(home, port));
    // The proxy is there in some milliseconds.
    const open = () =>
      until(async () => {
        const socket = new WebSocket(proxy.url.replace('http', 'ws'), INSECURE);
        return await new Promise<WebSocket | undefined>((resolve) => {
          socket.once('open', () => resolve(socket));
          socket.once('error', () => resolve(undefined));
        });
      }, 'the pipe');
    const [from, to] = [await open(), await open()];
    const rate = await throughput(from, to);
    for (const socket of [from, to]) socket.terminate();
    return rate;
  });
}

export interface ControlRound {
  tunnel_ms: number[];
  direct_ms: number[];
  relay_mb_s: number;
  pipe_mb_s: number;
  revoke_ms: number;
}

/** One round of all of it, on a server of its own over TLS. */
export const measureControl = (folder: string): Promise<ControlRound> =>
  stopping(async (stopped) => {
    mkdirSync(folder, { recursive: true });
    const data_dir = join(folder, 'data');
    mkdirSync(data_dir);
    const desktop = stopped(await startDesktop(folder));
    const server = stopped(await startOurs(folder, data_dir, { EXPOSURE: 'local' }));
    const session = await startSession(server.url);
    stopped({ stop: session.leave });
    const found = await findVnc(
      {
        ...{
          kind: 'x11',
          display: desktop.display,
          xauthority: undefined,
          xauthority_path: undefined,
          uid: process.getuid?.() ?? 0,
        },
        socket: `/tmp/.X11-unix/X${desktop.display.slice(1)}`,
      },
      { folder, path: process.env['PATH'] ?? '/usr/bin:/bin' },
    );
    if ('missing' in found) throw new Error(found.missing);
    const vnc = stopped(await found.open());
    const direct_ms = await keysToPixels(overStream(vnc.stream));
    vnc.stop();

    const agent = stopped(await startAgent(folder, server.url, session, desktop));
    const agent_device = await session.device();
    await session.grant(agent_device);
    const { viewer, client } = await session.end(VIEWER_PATH, { access_token: session.technician }, control);
    const tunnel_ms = await keysToPixels(client);
    viewer.close();
    await session.revoke();
    const revokes: number[] = [];
    for (let count = 0; count < REVOKES; count += 1) revokes.push(await revokeToDead(session, desktop));
    agent.stop();
    await session.forget(agent_device);
    const relay_mb_s = await relayed(session, server.url);
    const pipe_mb_s = await piped(folder);
    return { tunnel_ms, direct_ms, relay_mb_s, pipe_mb_s, revoke_ms: median(revokes) };
  });

/** The lines of the bars, of some rounds. */
export function linesOf(rounds: readonly ControlRound[]) {
  const of = (read: (one: ControlRound) => number) => median(rounds.map(read));
  const [tunnel, direct] = [of(({ tunnel_ms }) => at(tunnel_ms, 0.5)), of(({ direct_ms }) => at(direct_ms, 0.5))];
  const [relay, pipe] = [of(({ relay_mb_s }) => relay_mb_s), of(({ pipe_mb_s }) => pipe_mb_s)];
  const revoke = of(({ revoke_ms }) => revoke_ms);
  return {
    key_to_pixel_p50_ms: { ours: tunnel, beside: direct, ratio: tunnel / direct, bar: 1.25, reached: tunnel / direct <= 1.25 },
    // Here more is better: 1 / 0.8.
    relay_mb_s: { ours: relay, beside: pipe, ratio: pipe / relay, bar: 1.25, reached: relay >= 0.8 * pipe },
    revoke_to_input_dead_ms: { ours: revoke, bar: 100, reached: revoke <= 100 },
  };
}

export const withoutBar = (rounds: readonly ControlRound[]) => ({
  key_to_pixel_p95_ms: median(rounds.map(({ tunnel_ms }) => at(tunnel_ms, 0.95))),
  key_to_pixel_direct_p95_ms: median(rounds.map(({ direct_ms }) => at(direct_ms, 0.95))),
});

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  const folder = mkdtempSync(join(tmpdir(), 'palisade-control-bench-'));
  try {
    const rounds: ControlRound[] = [];
    for (let round = 1; round <= Number(process.argv[2] ?? 1); round += 1)
      rounds.push(await measureControl(join(folder, String(round))));
    console.table(linesOf(rounds));
    console.table(withoutBar(rounds));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
