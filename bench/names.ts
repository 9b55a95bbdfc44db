// Compares DNS queries over UDP with dnsmasq and the same list of 1,000,000 names; 30 % of the queries are for a listed name. Needs dnsmasq and dnsperf.
//   node bench/names.ts [names] [seconds]
import { execFile, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';

const run = promisify(execFile);
const names = Number(process.argv[2] ?? 1_000_000);
const seconds = process.argv[3] ?? '8';
const ROUNDS = 3;
const folder = mkdtempSync(join(tmpdir(), 'palisade-names-'));
const LISTED = join(folder, 'listed');
const QUESTIONS = join(folder, 'questions');
const CONFIGURATION = join(folder, 'dnsmasq.conf');
const loadedSchema = z.object({ port: z.number(), load_ms: z.number(), longest_gap_ms: z.number(), bytes_per_name: z.number() });

const listed = (index: number) => `n${((index * 2_654_435_761) % 4_294_967_296).toString(36)}.bad${index % 977}.example`;

function* listedNames() {
  for (let index = 0; index < names; index++) yield listed(index);
}

async function writeLines(path: string, lines: Iterable<string>) {
  const file = createWriteStream(path);
  for (const line of lines) if (!file.write(`${line}\n`)) await once(file, 'drain');
  file.end();
  await once(file, 'finish');
}

/** Starts an upstream DNS server that answers every name. */
async function startUpstream() {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const end = query.indexOf(0, 12) + 5;
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 14, 16, 0, 4, 192, 0, 2, 1]);
    const answer = Buffer.concat([query.subarray(0, end), record]);
    answer.writeUInt16BE(0x8180, 2);
    answer.writeUInt16BE(1, 6);
    answer.writeUInt16BE(0, 10);
    socket.send(answer, port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return socket;
}

/** Measures queries per second, and the 99th percentile of the response time in ms. */
async function measure(port: number) {
  const args = ['-s', '127.0.0.1', '-p', String(port), '-d', QUESTIONS, '-c', '4', '-q', '50', '-l'];
  const { stdout } = await run('dnsperf', [...args, seconds], { maxBuffer: 64 * 1024 ** 2 });
  const per_second = Number(/Queries per second:\s+([\d.]+)/u.exec(stdout)?.[1]);
  const lost = Number(/Queries lost:\s+(\d+)/u.exec(stdout)?.[1]);
  const refused = Number(/NXDOMAIN \d+ \(([\d.]+)%\)/u.exec(stdout)?.[1] ?? 0);
  const verbose = await run('dnsperf', [...args, '2', '-v'], { maxBuffer: 512 * 1024 ** 2 });
  const times = [...verbose.stdout.matchAll(/^> \S+ \S+ \S+ ([\d.]+)$/gmu)]
    .map(([, time]) => Number(time))
    .sort((one, other) => one - other);
  return {
    per_second: Math.round(per_second),
    lost,
    refused_percent: refused,
    p99_ms: Number(((times[Math.floor(times.length * 0.99)] ?? 0) * 1000).toFixed(2)),
  };
}

const upstream = await startUpstream();
const upstream_port = upstream.address().port;
await writeLines(LISTED, listedNames());
const questions = Array.from({ length: 20_000 }, (_, index) =>
  index % 10 < 3 ? `www.${listed((index * 7919) % names)} A` : `host${index % 2_000}.site.example.com A`,
);
await writeLines(QUESTIONS, questions);
const own = spawn(
  process.execPath,
  [fileURLToPath(new URL('peers/names-server.ts', import.meta.url)), LISTED, String(upstream_port)],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
const loaded = loadedSchema.parse(JSON.parse(String((await once(own.stdout, 'data'))[0])));
const dnsmasq_port = loaded.port + 1;
await writeLines(CONFIGURATION, [
  ...[
    'no-resolv',
    'no-hosts',
    'no-daemon',
    'bind-interfaces',
    'listen-address=127.0.0.1',
    'cache-size=10000',
    'user=root',
    'pid-file=',
  ],
  `port=${dnsmasq_port}`,
  `server=127.0.0.1#${upstream_port}`,
  'dns-forward-max=1000',
  ...readFileSync(LISTED, 'utf8')
    .trimEnd()
    .split('\n')
    .map((name) => `local=/${name}/`),
]);
const peer = spawn('dnsmasq', ['-C', CONFIGURATION], { stdio: 'ignore' });
try {
  for (let tries = 0; tries < 100; tries++) {
    const found = await run('dig', [
      '@127.0.0.1',
      '-p',
      String(dnsmasq_port),
      '+time=1',
      '+tries=1',
      '+short',
      'host1.site.example.com',
    ]).catch(() => undefined);
    if (found?.stdout.includes('192.0.2.1')) break;
  }
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++)
    rounds.push({ palisade: await measure(loaded.port), dnsmasq: await measure(dnsmasq_port) });
  const middle = (values: number[]) => values.sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
  const ratio = middle(rounds.map(({ palisade, dnsmasq }) => palisade.per_second / dnsmasq.per_second));
  const p99 = middle(rounds.map(({ palisade, dnsmasq }) => palisade.p99_ms / dnsmasq.p99_ms));
  process.stdout.write(
    `${JSON.stringify({ names, loaded, rounds, ratio: Number(ratio.toFixed(2)), p99_ratio: Number(p99.toFixed(2)) }, null, 2)}\n`,
  );
} finally {
  own.kill();
  peer.kill();
  upstream.close();
  rmSync(folder, { recursive: true });
}
