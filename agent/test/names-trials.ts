import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { buffer, text } from 'node:stream/consumers';
import { SystemNames } from '#names/system-names.ts';

// Trials of web protection on a computer of its own: network, /etc, /run and /var/lib are of this namespace. A resolver of the network answers 192.0.2.2, the server of the
// agent 192.0.2.1. Each trial starts the agent’s part, lets something happen at a moment by chance, and asks for a name as programs do.

const [outside = '', resolved = '', count = '1', seed = '1'] = process.argv.slice(2);
if (readlinkSync('/proc/self/ns/mnt') === outside) throw new Error('these are the files of the machine itself');
const FAULTS = ['kill', 'disk full', 'stop', 'uninstall', 'server away', 'resolver restarted'] as const;
const NETWORK = '10.9.9.1';
const FILE = `search home.example\nnameserver ${NETWORK}\n`;
const FILLED = ['/etc', '/run', '/var/lib'];
const STATE = '/var/lib/palisade-agent';
const WITHIN_MS = 2_000;
const START_MS = 1_500;
const LATER_MS = 400;
/** A busy machine starts the agent in seconds. */
const ON_WITHIN_MS = 10_000;
/** A program’s question that systemd-resolved loses when it starts again waits five seconds in the C library; the next one does not. */
const QUESTION_MS = 1_000;

let random = Number(seed);
/** xorshift32: the same trials for the same seed. */
function chance(): number {
  random ^= random << 13;
  random ^= random >>> 17;
  random ^= random << 5;
  return (random >>> 0) / 2 ** 32;
}
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function answerTo(query: Buffer, last: number): Buffer {
  const end = query.indexOf(0, 12) + 5;
  const is_address = query.readUInt16BE(end - 4) === 1;
  const data = is_address ? Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 192, 0, 2, last]) : Buffer.alloc(0);
  const answer = Buffer.concat([query.subarray(0, end), data]);
  answer.writeUInt16BE(0x8180, 2);
  answer.writeUInt16BE(is_address ? 1 : 0, 6);
  answer.writeUInt32BE(0, 8);
  return answer;
}

/** The resolver of the network. */
let network: Socket | undefined;
async function startNetwork(): Promise<void> {
  const socket = createSocket('udp4');
  network = socket;
  socket.on('message', (query, { address, port }) => socket.send(answerTo(query, 2), port, address));
  socket.bind(53, NETWORK);
  await once(socket, 'listening');
}

let absence: 'none' | 'silent' | 'refuses' = 'none';
const server = createServer((request, response) => {
  if (absence === 'refuses') request.socket.destroy();
  else void buffer(request).then((query) => (absence === 'silent' ? undefined : response.end(answerTo(query, 1))));
});
server.listen(8_080, '127.0.0.1');

/** systemd-resolved and, in place of systemd, this process. */
let resolver: ChildProcess | undefined;
let restarting: Promise<unknown> = Promise.resolve();
/** One restart after the other, as systemd has them. */
function restartResolver(): Promise<void> {
  const restarted = restarting.then(restartNow);
  restarting = restarted;
  return restarted;
}

async function restartNow(): Promise<void> {
  if (resolver !== undefined) {
    const ended = once(resolver, 'exit');
    resolver.kill('SIGTERM');
    await ended;
  }
  resolver = spawn(resolved, { stdio: 'ignore' });
  while (!readFileSync('/proc/net/udp', 'utf8').includes('3500007F:0035')) await wait(5);
}
createServer((_request, response) => void restartResolver().then(() => response.end())).listen(8_090, '127.0.0.1');
mkdirSync('/run/bin', { recursive: true });
writeFileSync('/run/bin/systemctl', '#!/bin/sh\n[ "$1" != try-restart ] || exec curl -fsS http://127.0.0.1:8090/restart\n');
chmodSync('/run/bin/systemctl', 0o755);
process.env['PATH'] = `/run/bin:${process.env['PATH']}`;

async function addressOf(name: string, ms: number): Promise<string | undefined> {
  const asking = spawn('timeout', ['-s', 'KILL', `${ms / 1_000}`, 'getent', 'ahostsv4', name], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return /^[\d.]+/u.exec(await text(asking.stdout))?.[0];
}

let names = 0;
/** Time until a name is found, with this address where one is given, in ms; undefined where none is in time. */
async function findsName(expected?: string): Promise<number | undefined> {
  const begin = performance.now();
  for (let left = WITHIN_MS; left > 0; left = WITHIN_MS - (performance.now() - begin)) {
    const found = await addressOf(`shop${++names}.example`, Math.min(left, QUESTION_MS));
    if (found !== undefined && found === (expected ?? found)) return performance.now() - begin;
    await wait(20);
  }
  return undefined;
}

function fillDisks(): void {
  for (const folder of FILLED) {
    try {
      for (const bytes of [65_536, 4_096, 1])
        for (let file = 0; file < 100; file++) writeFileSync(`${folder}/filler-${bytes}-${file}`, Buffer.alloc(bytes));
    } catch {
      // Full.
    }
  }
}
function emptyDisks(): void {
  for (const folder of FILLED)
    for (const bytes of [65_536, 4_096, 1])
      for (let file = 0; file < 100; file++) rmSync(`${folder}/filler-${bytes}-${file}`, { force: true });
}

async function stopWith(agent: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (agent.exitCode !== null || agent.signalCode !== null) return;
  const ended = once(agent, 'exit');
  agent.kill(signal);
  await ended;
}

async function happen(fault: (typeof FAULTS)[number], way: string, agent: ChildProcess): Promise<void> {
  if (fault === 'kill') await stopWith(agent, 'SIGKILL');
  else if (fault === 'stop') await stopWith(agent, 'SIGTERM');
  else if (fault === 'server away') absence = chance() < 0.5 ? 'silent' : 'refuses';
  else if (fault === 'uninstall') {
    await stopWith(agent, chance() < 0.5 ? 'SIGTERM' : 'SIGKILL');
    await new SystemNames().giveBack();
  } else if (fault === 'disk full') {
    fillDisks();
    if (chance() < 0.7) await stopWith(agent, chance() < 0.5 ? 'SIGTERM' : 'SIGKILL');
  } else if (way === 'resolved') await restartResolver();
  else {
    network?.close();
    await wait(200);
    await startNetwork();
  }
}

async function tryOnce(way: 'file' | 'resolved', fault: (typeof FAULTS)[number]) {
  const is_full = fault === 'disk full' && chance() < 0.3;
  if (is_full) fillDisks();
  const said: string[] = [];
  const program = new URL('./run-names.ts', import.meta.url).pathname;
  const agent = spawn(process.execPath, [program, 'http://127.0.0.1:8080', STATE, 'a'.repeat(26)]);
  agent.stdout.on('data', (bytes: Buffer) => said.push(String(bytes)));
  agent.stderr.on('data', (bytes: Buffer) => said.push(String(bytes)));
  const isOn = () => said.join('').includes('"on"');
  // Half of the faults come at any moment of the start; the others find the names taken up, however slow the machine is.
  const is_early = is_full || chance() < 0.5;
  for (const begin = performance.now(); !is_early && !isOn() && performance.now() - begin < ON_WITHIN_MS; ) await wait(20);
  await wait(chance() * (is_early ? START_MS : LATER_MS));
  const was_on = isOn();
  await happen(fault, way, agent);
  const took = await findsName();
  // Later too, when the agent has looked again or is gone.
  await wait(chance() * LATER_MS);
  const took_later = await findsName();
  await stopWith(agent, 'SIGKILL');
  await new SystemNames().giveBack();
  emptyDisks();
  absence = 'none';
  rmSync(STATE, { recursive: true, force: true });
  const is_as_before =
    way === 'file' ? readFileSync('/etc/resolv.conf', 'utf8') === FILE : (await findsName('192.0.2.2')) !== undefined;
  const is_bad = took === undefined || took_later === undefined || !is_as_before;
  return { way, fault, was_on, took, took_later, is_as_before, said: is_bad ? said.join('').slice(0, 2_000) : '' };
}

await startNetwork();
const ways = resolved === '' ? (['file'] as const) : (['file', 'resolved'] as const);
for (let number = 0; number < Number(count); number++) {
  const way = ways[number % ways.length] ?? 'file';
  rmSync('/etc/resolv.conf', { force: true });
  if (way === 'file') writeFileSync('/etc/resolv.conf', FILE);
  else {
    if (resolver === undefined) await restartResolver();
    symlinkSync('/run/systemd/resolve/stub-resolv.conf', '/etc/resolv.conf');
  }
  const fault = FAULTS[Math.floor(number / ways.length) % FAULTS.length] ?? 'kill';
  process.stdout.write(`${JSON.stringify(await tryOnce(way, fault))}\n`);
}
unlinkSync('/etc/resolv.conf');
resolver?.kill();
process.exit();
