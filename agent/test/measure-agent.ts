import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Ack, AGENT_HEARTBEAT_MS, agentChannel, type Desired, type DeviceRule } from '@palisade/contract/agent';
import { z } from 'zod';
import { hashOf } from '#firewall/applied.ts';
import { compile } from '#firewall/compile.ts';
import { identityStore } from '#link/identity.ts';
import { createNamespace, endNamespace, join2, temporaryFolder } from './namespace.ts';

/** A built agent in a network namespace, with its server on the other side of a cable: the time from an edit to the kernel and back, and its cost when idle. */

const RULES = 100;
const EDITS = 20;
const BETWEEN_MS = 500;
/** Folders that are watched, with files in each. */
const FOLDERS = 300;
const FILES_IN_FOLDER = 10;
const PORT = 8_443;
/** The work after an edit is over by then. */
const SETTLE_MS = 10_000;
const CLOCK_TICKS = 100;
const SERVER = '10.77.0.2';
const eventSchema = z.looseObject({ event: z.string(), frame: z.unknown().optional() });
const round = (value: number) => Math.round(value * 100) / 100;
const sorted = (values: readonly number[]) => values.toSorted((a, b) => a - b);
const at = (values: readonly number[], share: number) =>
  sorted(values)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN;

const ID = (number: number) => `01930000-0000-7000-8000-${String(number).padStart(12, '0')}`;
function desiredOf(rev: number, watched: readonly string[] = []): Desired {
  const rules = Array.from({ length: RULES }, (_, index): DeviceRule => {
    const is_edited = index === 0;
    return {
      id: ID(index),
      direction: 'inbound',
      action: 'block',
      protocol: 'tcp',
      source_ip: `10.${index}.0.0/16`,
      destination_ip: '*',
      port: `${is_edited ? 2_000 + rev : 1_000 + index}`,
      expires_at: null,
    };
  });
  const desired: Desired = {
    kind: 'desired',
    rev,
    hash: '',
    defaults: { inbound: 'allow', outbound: 'allow' },
    rules,
    block_list: [],
    scan_jobs: [],
    file_orders: [],
    exclusions: [],
    watched: [...watched],
    is_watching: watched.length > 0,
    signatures: null,
    remote_sessions: [],
    second_looks: [],
    control: null,
  };
  return { ...desired, hash: hashOf(desired) };
}

/** Memory of a process, in MB: all of it, and its private part. */
function memoryOf(pid: number) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const megabytes = (name: string) => round(Number(new RegExp(`^${name}:\\s+(\\d+)`, 'mu').exec(status)?.[1]) / 1_024);
  return { rss_mb: megabytes('VmRSS'), own_mb: megabytes('RssAnon') };
}

/** Processor time that a process and its children have taken, those that have ended as well, in ms. */
function cpuOf(pid: number): number {
  const of = (one: number) => {
    const stat = readFileSync(`/proc/${one}/stat`, 'utf8');
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    return { parent: fields[1], ticks: (fields[11] ?? 0) + (fields[12] ?? 0) + (fields[13] ?? 0) + (fields[14] ?? 0) };
  };
  let ticks = of(pid).ticks;
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/u.test(entry))) {
    try {
      const other = of(Number(name));
      if (other.parent === pid) ticks += other.ticks;
    } catch {
      // It has just ended, and is in its parent's sum.
    }
  }
  return (ticks * 1_000) / CLOCK_TICKS;
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** @param program the built `palisade-agent` @param rest_s how long it is watched while nothing happens */
export async function measureAgent(program: string, rest_s: number) {
  const device = createNamespace();
  const server = createNamespace(device);
  join2(device, server);
  const root = temporaryFolder();
  const [state, run] = [join(root, 'state'), join(root, 'run')];
  mkdirSync(run);
  await identityStore(state).write({
    server: `http://${SERVER}:${PORT}/`,
    device_id: ID(9_999),
    token: 'a'.repeat(64),
    device_name: 'laptop',
    public_key: '',
    private_key: '',
  });
  const children: ChildProcess[] = [];
  const fake = server.start(process.execPath, [new URL('./fake-server.ts', import.meta.url).pathname, `${PORT}`]);
  children.push(fake);
  /** When the kernel had a revision, and when it was proved, by its number. */
  const acks = new Map<string, { at: number; ack: Ack }>();
  const heard = new Set<string>();
  let watched_folders = 0;
  if (fake.stdout === null || fake.stdin === null) throw new Error('no pipes');
  createInterface(fake.stdout).on('line', (line) => {
    const event = eventSchema.parse(JSON.parse(line));
    heard.add(event.event);
    const said = agentChannel.said.safeParse(event.frame);
    if (said.data?.kind === 'report') watched_folders = said.data.watching?.folders ?? watched_folders;
    if (said.data?.kind === 'ack') acks.set(`${said.data.rev} ${said.data.state}`, { at: performance.now(), ack: said.data });
  });
  async function until(is_so: () => boolean, what: string): Promise<void> {
    const most = performance.now() + 60_000;
    while (!is_so()) {
      if (performance.now() > most) throw new Error(`waited in vain for ${what}: ${said}`);
      await wait(0.5);
    }
  }
  let said = '';
  try {
    await until(() => heard.has('listening'), 'the server');
    const agent = device.start('env', [`PALISADE_AGENT_STATE=${state}`, `PALISADE_AGENT_RUN=${run}`, program, 'run']);
    children.push(agent);
    for (const stream of [agent.stdout, agent.stderr]) stream?.on('data', (bytes: Buffer) => (said += bytes.toString()));
    await until(() => heard.has('hello'), 'the agent');

    const bare = join(root, 'bare.nft');
    writeFileSync(bare, compile({ ...desiredOf(0), control: [] }).text);
    const spare = createNamespace();
    spare.run('nft', '-f', bare);
    const [kernel, proved, nft]: number[][] = [[], [], []];
    for (let rev = 1; rev <= EDITS + 1; rev += 1) {
      // A person makes edits one by one: the work of the one before is done.
      await wait(BETWEEN_MS);
      const began = performance.now();
      spare.run('nft', '-f', bare);
      const bare_ms = performance.now() - began;
      const clicked = performance.now();
      fake.stdin.write(`${JSON.stringify({ desired: desiredOf(rev) })}\n`);
      await until(() => acks.has(`${rev} applied`), `revision ${rev}`);
      // The first one is loaded in two steps.
      if (rev === 1) continue;
      nft?.push(bare_ms);
      kernel?.push((acks.get(`${rev} trial`)?.at ?? Number.NaN) - clicked);
      proved?.push((acks.get(`${rev} applied`)?.at ?? Number.NaN) - clicked);
    }
    endNamespace(spare);
    const [kernel_ms, proved_ms, nft_ms] = [kernel ?? [], proved ?? [], nft ?? []];
    const click = {
      rules: RULES,
      edits: EDITS,
      to_kernel_ms: round(at(kernel_ms, 0.5)),
      to_ack_ms: round(at(proved_ms, 0.5)),
      nft_ms: round(at(nft_ms, 0.5)),
      ratio: round(at(kernel_ms, 0.5) / at(nft_ms, 0.5)),
      bar: 1.5,
      ratio_of_ack: round(at(proved_ms, 0.5) / at(nft_ms, 0.5)),
      p95_ms: round(at(proved_ms, 0.95)),
      bar_p95_ms: 500,
    };

    // Hourly checks are over by then.
    const node = join(program, '../node');
    const peer = spawn(node, ['-e', 'setInterval(() => {}, 1e6)'], { stdio: 'ignore' });
    children.push(peer);
    await wait(SETTLE_MS);
    const pid = agent.pid ?? 0;
    const watch = async () => {
      const before = cpuOf(pid);
      const began = performance.now();
      await wait(rest_s * 1_000);
      return { ...memoryOf(pid), cpu_percent: round(((cpuOf(pid) - before) / (performance.now() - began)) * 100) };
    };
    // The agent leaves a silent server every 50 s, and gets the whole state again.
    const silent = await watch();
    fake.stdin.write(`${JSON.stringify({ heartbeat_ms: AGENT_HEARTBEAT_MS })}\n`);
    const beating = await watch();
    const tree = join(root, 'watched');
    for (let folder = 0; folder < FOLDERS; folder += 1) {
      mkdirSync(join(tree, `${folder}`), { recursive: true });
      for (let file = 0; file < FILES_IN_FOLDER; file += 1)
        writeFileSync(join(tree, `${folder}/${file}.txt`), `${folder} ${file}`);
    }
    fake.stdin.write(`${JSON.stringify({ desired: desiredOf(EDITS + 2, [tree]) })}\n`);
    await until(() => acks.has(`${EDITS + 2} applied`), 'watching');
    await until(() => watched_folders > FOLDERS, 'the folders');
    await wait(SETTLE_MS);
    const watching = { folders: watched_folders, ...(await watch()) };
    const bars = { bar_mb: 60, bar_percent: 0.2 };
    const rest = { rules: RULES, seconds: rest_s, ...silent, beating, watching, bare_node: memoryOf(peer.pid ?? 0), ...bars };
    return { click, rest };
  } finally {
    for (const child of children) child.kill('SIGKILL');
    endNamespace(server);
    endNamespace(device);
  }
}
