// Peer of remote.ts: a minimal client of MeshCentral's remote desktop: its agent on a virtual screen, and a client of its desktop protocol (JPEG tiles) through its relay.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { until } from '#bench/stopping.ts';
import { ACCOUNT, AGENT } from './mesh-central.ts';
import type { PixelClient } from './rfb-client.ts';

const INSECURE = { rejectUnauthorized: false, perMessageDeflate: false } as const;
/** The first picture is complete after this time without data, in ms. */
const SETTLED_MS = 1_000;
/** Command numbers of the desktop protocol (agent-desktop in MeshCentral's page). */
const [KEY, PICTURE, COMPRESSION, REFRESH, SCREEN, PAUSE, JUMBO] = [1, 3, 5, 6, 7, 8, 27];
/** Defaults of its page: WebP (its agent for Linux sends JPEG), quality 40 %, full size, a picture every 50 ms. */
const QUALITY = { type: 4, percent: 40, scaling: 1024, every_ms: 50 } as const;

const answerSchema = z.looseObject({ action: z.string().optional() });

/** Opens the control socket, which MeshCentral's pages and programs use. */
async function openControl(url: string) {
  const said = [ACCOUNT.name, ACCOUNT.password].map((part) => Buffer.from(part).toString('base64')).join(',');
  const socket = new WebSocket(`${url.replace('http', 'ws')}/control.ashx`, { ...INSECURE, headers: { 'x-meshauth': said } });
  const waiting = new Map<string, (answer: unknown) => void>();
  socket.on('message', (text: Buffer) => {
    const answer = answerSchema.parse(JSON.parse(text.toString()));
    if (answer.action === 'close') throw new Error(`MeshCentral refused: ${text.toString()}`);
    waiting.get(answer.action ?? '')?.(answer);
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', () => resolve());
    socket.once('error', reject);
  });
  return {
    tell: (message: object) => socket.send(JSON.stringify(message)),
    /** Sends an action and returns the next answer to it. */
    async ask<Answer>(action: string, schema: z.ZodType<Answer>, more: object = {}): Promise<Answer> {
      const { promise, resolve } = Promise.withResolvers<unknown>();
      waiting.set(action, resolve);
      socket.send(JSON.stringify({ action, responseid: 'bench', ...more }));
      return schema.parse(await promise);
    },
    close: () => socket.terminate(),
  };
}

type Control = Awaited<ReturnType<typeof openControl>>;

/** Starts its agent as a process in a temporary folder, not installed. The agent finds a screen by `DISPLAY` of a program of the same user. */
async function startAgent(
  folder: string,
  url: string,
  control: Control,
  display: string,
): Promise<{ node_id: string; child: ChildProcess }> {
  const group = { meshname: 'bench', meshtype: 2 };
  const { meshid } = await control.ask('createmesh', z.looseObject({ meshid: z.string() }), group);
  const settings = await (await fetch(`${url}/meshsettings?id=${encodeURIComponent(meshid.split('/')[2] ?? '')}`)).text();
  if (!settings.includes('MeshServer=')) throw new Error(`MeshCentral gave no settings for its agent: ${settings}`);
  mkdirSync(folder, { recursive: true });
  const program = join(folder, 'meshagent');
  copyFileSync(AGENT, program);
  chmodSync(program, 0o755);
  writeFileSync(join(folder, 'meshagent.msh'), settings);
  const child = spawn(program, [], {
    cwd: folder,
    env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: folder, DISPLAY: display },
    stdio: 'ignore',
  });
  const nodesSchema = z.looseObject({
    nodes: z.record(z.string(), z.array(z.looseObject({ _id: z.string(), conn: z.number().optional() }))),
  });
  const node_id = await until(async () => {
    const { nodes } = await control.ask('nodes', nodesSchema);
    return Object.values(nodes)
      .flat()
      .find(({ conn }) => ((conn ?? 0) & 1) === 1)?._id;
  }, "MeshCentral's agent");
  return { node_id, child };
}

function command(kind: number, ...rest: number[]): Buffer {
  const bytes = Buffer.alloc(4 + rest.length);
  bytes.writeUInt16BE(kind, 0);
  bytes.writeUInt16BE(bytes.length, 2);
  Buffer.from(rest).copy(bytes, 4);
  return bytes;
}

const high_low = (value: number) => [value >> 8, value & 0xff];

/** Yields the command numbers in received bytes. */
function* kindsOf(bytes: Buffer): Generator<number> {
  for (let at = 0; at + 4 <= bytes.length; ) {
    const isJumbo = bytes.readUInt16BE(at) === JUMBO && at + 10 <= bytes.length;
    yield bytes.readUInt16BE(isJumbo ? at + 8 : at);
    at += isJumbo ? 8 + bytes.readUInt32BE(at + 4) : Math.max(4, bytes.readUInt16BE(at + 2));
  }
}

/** Opens an agent's desktop as MeshCentral's page does: it requests the session from the agent, and connects to the relay. */
async function openDesktop(url: string, control: Control, node_id: string): Promise<PixelClient & { close(): void }> {
  const { cookie, rcookie } = await control.ask('authcookie', z.looseObject({ cookie: z.string(), rcookie: z.string() }));
  const id = randomBytes(6).toString('hex');
  const value = `*/meshrelay.ashx?p=2&nodeid=${node_id}&id=${id}&rauth=${rcookie}`;
  control.tell({ action: 'msg', type: 'tunnel', usage: 2, nodeid: node_id, value, responseid: 'bench' });
  const where = `browser=1&p=2&nodeid=${encodeURIComponent(node_id)}&id=${id}&auth=${encodeURIComponent(cookie)}`;
  const socket = new WebSocket(`${url.replace('http', 'ws')}/meshrelay.ashx?${where}`, INSECURE);
  let pictured_at: number | undefined;
  const client: PixelClient & { close(): void } = {
    ready: until(
      () => (pictured_at !== undefined && performance.now() - pictured_at > SETTLED_MS ? true : undefined),
      "the picture of MeshCentral's desktop",
    ).then(() => undefined),
    onPixels: undefined,
    // The key code of a letter is the code of its capital.
    press(letter) {
      for (const isUp of [0, 1]) socket.send(command(KEY, isUp, letter - 0x20));
    },
    close: () => socket.terminate(),
  };
  socket.on('message', (bytes: Buffer, isBinary) => {
    if (!isBinary) {
      const text = bytes.toString();
      if (text === 'c' || text === 'cr') socket.send('2');
      return;
    }
    for (const kind of kindsOf(bytes)) {
      if (kind === SCREEN && pictured_at === undefined) {
        const { type, percent, scaling, every_ms } = QUALITY;
        socket.send(command(COMPRESSION, type, percent, ...high_low(scaling), ...high_low(every_ms)));
        socket.send(command(PAUSE, 0));
        socket.send(command(REFRESH));
      }
      if (kind !== PICTURE) continue;
      pictured_at = performance.now();
      client.onPixels?.();
    }
  });
  return client;
}

/** Calls `measure` with a desktop of the screen, through MeshCentral's server and agent. */
export async function onMeshDesktop<Measured>(
  folder: string,
  url: string,
  display: string,
  measure: (client: PixelClient) => Promise<Measured>,
): Promise<Measured> {
  const control = await openControl(url);
  let agent: ChildProcess | undefined;
  try {
    const { node_id, child } = await startAgent(join(folder, 'agent'), url, control, display);
    agent = child;
    const desktop = await openDesktop(url, control, node_id);
    const measured = await measure(desktop);
    desktop.close();
    return measured;
  } finally {
    agent?.kill('SIGKILL');
    control.close();
  }
}
