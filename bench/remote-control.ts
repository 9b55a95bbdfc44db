// Measures the time from key to pixel for remote.ts: through server and agent, and on the same VNC server directly.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { EVENTS_PATH } from '@palisade/contract/events';
import { VIEWER_PATH } from '@palisade/contract/remote-control';
import { WebSocket } from 'ws';
import { z } from 'zod';
// biome-ignore lint/style/noRestrictedImports: how the agent opens a screen, asked directly.
import { findVnc } from '../agent/src/control/vnc.ts';
import { unpackAgent } from './built-agent.ts';
import { overSocket, overStream, type PixelClient } from './peers/rfb-client.ts';
import { stopping, until } from './stopping.ts';
import { startOurs } from './tls.ts';

const KEYS = 120;
const PATIENCE_MS = 30_000;
const [LETTER, PASSWORD] = [0x61, 'a long enough password'];
const INSECURE = { rejectUnauthorized: false, perMessageDeflate: false } as const;

/** Limits a promise in time. @throws Error after the limit, so that started processes are stopped. */
async function within<T>(promise: Promise<T>, what: string): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`waited too long for ${what}`)), PATIENCE_MS);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Starts a virtual screen with a terminal that shows each typed letter and records its time. */
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

/** Presses keys and returns the time from each key to its pixels, in ms. */
export async function keysToPixels(client: PixelClient): Promise<number[]> {
  await within(client.ready, 'the first picture');
  const waits: number[] = [];
  for (let key = 0; key < KEYS; key += 1) {
    // Varying pauses, so that the keys are not synchronous with the polling of the screen.
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

/** Starts a remote session with a page of the technician and one of the customer, and an online device of the customer. */
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
  /** Opens a page's socket and joins the session. */
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
    /** Waits for the online device. */
    device: () =>
      until(async () => {
        const devices = z
          .array(z.looseObject({ id: z.string(), state: z.string(), fingerprint: z.string() }))
          .parse(await call('GET', '/devices', customer));
        const waiting = devices.find(({ state }) => state === 'waiting');
        if (waiting) await call('POST', `/devices/${waiting.id}/confirm`, customer, { fingerprint: waiting.fingerprint });
        return devices.find(({ state }) => state === 'online')?.id;
      }, 'the device'),
    grant: (device_id: string) => call('POST', `/remote/sessions/${id}/grants`, customer, { grant: 'control', device_id }),
    /** The technician's end of the tunnel. The client is attached at the moment of pairing, because bytes of the device may arrive in the same turn of the event loop. */
    view: () =>
      until(async () => {
        const socket = socketOf(VIEWER_PATH);
        const paired = new Promise<{ viewer: WebSocket; client: PixelClient } | undefined>((resolve) => {
          const hello = { kind: 'hello', access_token: technician, session_id: id };
          socket.on('open', () => socket.send(JSON.stringify(hello)));
          socket.once('message', () => resolve({ viewer: socket, client: overSocket(socket) }));
          socket.once('close', () => resolve(undefined));
        });
        return await within(paired, 'the other end of control');
      }, 'control'),
    leave() {
      for (const page of pages) page.terminate();
    },
  };
}

type RunningSession = Awaited<ReturnType<typeof startSession>>;

/** Starts the installed form of the agent without firewall programs, so that the firewall of this machine is not changed. */
async function startAgent(folder: string, url: string, session: Pick<RunningSession, 'code'>, desktop: { display: string }) {
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
  const file = join(environment.PALISADE_AGENT_STATE, 'code');
  writeFileSync(file, await session.code(), { mode: 0o600 });
  const enrolling = run('enrol', '--code-file', file, url);
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

export interface ControlRound {
  tunnel_ms: number[];
  direct_ms: number[];
}

/** Measures one round on a new server over TLS. */
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
        kind: 'x11',
        display: desktop.display,
        xauthority: undefined,
        xauthority_path: undefined,
        uid: process.getuid?.() ?? 0,
        socket: `/tmp/.X11-unix/X${desktop.display.slice(1)}`,
      },
      { folder, path: process.env['PATH'] ?? '/usr/bin:/bin' },
    );
    if ('missing' in found) throw new Error(found.missing);
    const vnc = stopped(await found.open());
    const direct_ms = await keysToPixels(overStream(vnc.stream));
    vnc.stop();

    stopped(await startAgent(folder, server.url, session, desktop));
    await session.grant(await session.device());
    const { viewer, client } = await session.view();
    const tunnel_ms = await keysToPixels(client);
    viewer.close();
    return { tunnel_ms, direct_ms };
  });
