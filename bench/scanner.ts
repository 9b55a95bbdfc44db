// Measures every bar of the scanner beside its peer in one run: `clamdscan --stream`, `clamdscan --fdpass`, raw INSTREAM, clamav-rest-api and `yara`. Then what is found: Debian's clamav-testfiles and EICAR in every container, with both engines, each alone, and none.
// Bars: each is stated at its measurement below and in docs/measured.md. Prints two tables and keeps results/scanner.json. `--small` measures small files only.
// Needs npm start once (for the build), and the packages "clamav-daemon", "clamdscan", "clamav-testfiles" and "yara".
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Scan } from '@palisade/contract/antivirus';
import { carvingSource } from '@palisade/scanner/carving';
import { z } from 'zod';
import { EICAR, eicarContainers, zip } from './files.ts';
import { type BenchClamd, rawInstream, startClamd } from './peers/clamd.ts';
import { startBareUpload, startRestPeer } from './peers/rest-peer.ts';
import { startPrograms } from './programs.ts';
import { type BenchServer, describeMachine, median, RESULTS, ROOT, startServer } from './server.ts';
import { piecesOf, upload } from './upload.ts';

const MIB = 1024 ** 2;
const HUNDRED = 100 * MIB;
const RUNS = 5;
const SMALL_RUNS = 40;
/** `--small` measures small files alone, and keeps the figures in results/scanner-small.json. */
const ONLY_SMALL = process.argv.includes('--small');
/** The source of clamav-rest-api with its packages (rest-peer.ts). */
const PEER_FOLDER = process.env['CLAMAV_REST_API'];
const TESTFILES = '/usr/share/clamav-testfiles';
const folder = mkdtempSync(join(tmpdir(), 'palisade-bench-'));
const path = join(folder, 'file.bin');

interface Bar {
  bar: string;
  palisade: number;
  peer: number | null;
  unit: string;
  /** ours / peer, or ours alone where the bar is absolute. */
  value: number;
  target: string;
  reached: boolean;
}
const bars: Bar[] = [];

const programs = startPrograms();

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

const perSecond = (files: number, ms: number) => (files * 1000) / ms;

/** `most`: the value may be at most so much, else at least. */
function bar(name: string, unit: string, ours: number, peer: number | null, limit: { most: number } | { least: number }): void {
  const value = peer === null ? ours : ours / peer;
  const reached = 'most' in limit ? value <= limit.most : value >= limit.least;
  const factor = peer === null ? ` ${unit}` : 'x';
  const target = 'most' in limit ? `<= ${limit.most}${factor}` : `>= ${limit.least}${factor}`;
  bars.push({ bar: name, palisade: ours, peer, unit, value, target, reached });
}

function clean(record: Scan): Scan {
  if (record.scan_status !== 'clean') throw new Error(`expected a clean file, got ${record.scan_status} ${record.status_detail}`);
  return record;
}

/** Our own client, as the server runs it. */
async function loadClient() {
  const file = join(ROOT, 'scanner/src/engine/clamd-client.ts');
  type Client = (
    address: { path: string },
    content: { size: number; path: string },
    times: { connect_ms: number; time_ms: number; signal: AbortSignal },
  ) => Promise<{ kind: string }>;
  const loaded: unknown = await import(pathToFileURL(file).href);
  const isClient = (value: unknown): value is Client => typeof value === 'function';
  const { scanWithClamd } = z.object({ scanWithClamd: z.custom<Client>(isClient) }).parse(loaded);
  const times = { connect_ms: 5000, time_ms: 120_000, signal: new AbortController().signal };
  return (socket: string, size: number, from = path) => scanWithClamd({ path: socket }, { size, path: from }, times);
}

/** All rules compiled once for the peer, so that it is not charged for compiling: those of the pack, and those that say where containers begin. */
function compileForYara(): string {
  const rules = join(ROOT, 'server/signatures/rules');
  const compiled = join(folder, 'rules.yarc');
  const carving = join(folder, 'carving.yar');
  writeFileSync(carving, carvingSource());
  execFileSync('yarac', [
    '-w',
    ...readdirSync(rules).map((name) => `${name.replace(/\W/g, '_')}:${join(rules, name)}`),
    `carving:${carving}`,
    compiled,
  ]);
  return compiled;
}

async function measureLarge(server: BenchServer, token: string, clamd: BenchClamd): Promise<void> {
  const scanWithOurs = await loadClient();
  const compiled = compileForYara();
  const runs: { ours: number; again: number; engine: number; client: number; stream: number; yara: number }[] = [];
  const of = (name: keyof (typeof runs)[number]) => median(runs.map((times) => times[name]));
  for (let count = 0; count <= RUNS; count += 1) {
    const bytes = randomBytes(HUNDRED);
    writeFileSync(path, bytes);
    const send = () => upload(server.url, token, 'file.bin', piecesOf(bytes), bytes.length);
    let engine = 0;
    const ours = await timed(async () => {
      engine = clean(await send()).engines[0]?.duration_ms ?? 0;
    });
    const again = await timed(send);
    const stream = await programs.time('clamdscan', ['-c', clamd.conf, '--no-summary', '--stream', path]);
    const client = await timed(async () => {
      const { kind } = await scanWithOurs(clamd.socket, bytes.length);
      if (kind !== 'clean') throw new Error(`our clamd client says ${kind}`);
    });
    const yara = await programs.time('yara', ['-w', '-C', compiled, path]);
    // The first run warms all of them up.
    if (count > 0) runs.push({ ours, again, engine, client, stream, yara });
  }
  bar('HTTP upload to verdict, 100 MB random, embedded / clamdscan --stream', 'ms', of('ours'), of('stream'), { most: 0.6 });
  bar('engine only, 100 MB / yara command line, same rules', 'ms', of('engine'), of('yara'), { most: 1.3 });
  bar('our clamd client, 100 MB / clamdscan --stream', 'ms', of('client'), of('stream'), { most: 1.15 });
  bar('the same 100 MB again, upload included / first time', 'ms', of('again'), of('ours'), { most: 0.5 });
}

async function measureArchive(server: BenchServer, token: string, clamd: BenchClamd): Promise<void> {
  const ours: number[] = [];
  const peers: number[] = [];
  for (let count = 0; count <= RUNS; count += 1) {
    const members = Array.from({ length: 1000 }, (_, index) => ({ name: `${index}.bin`, content: randomBytes(HUNDRED / 1000) }));
    const bytes = zip(members);
    writeFileSync(path, bytes);
    const our = await timed(async () => {
      const { coverage } = clean(await upload(server.url, token, 'file.zip', piecesOf(bytes), bytes.length));
      // In 1 GB of noise two pieces look like a string of CBOR, and are members too.
      const { members_scanned = 0, members_total = 0 } = coverage ?? {};
      if (members_scanned < 1000 || members_scanned !== members_total)
        throw new Error(`only ${members_scanned} of ${members_total} members were read`);
    });
    const peer = await programs.time('clamdscan', ['-c', clamd.conf, '--no-summary', '--fdpass', path]);
    if (count === 0) continue;
    ours.push(our);
    peers.push(peer);
  }
  bar('100 MB zip of 1,000 members, embedded / clamdscan --fdpass', 'ms', median(ours), median(peers), { most: 0.8 });
}

async function measureSmall(server: BenchServer, token: string, clamd: BenchClamd): Promise<void> {
  const ours: number[] = [];
  const peers: number[] = [];
  const send = async (bytes: Buffer) => clean(await upload(server.url, token, 'small.bin', [bytes], bytes.length));
  for (let count = 0; count <= SMALL_RUNS; count += 1) {
    const bytes = randomBytes(4096);
    writeFileSync(path, bytes);
    const our = await timed(() => send(bytes));
    const peer = await programs.time('clamdscan', ['-c', clamd.conf, '--no-summary', '--fdpass', path]);
    if (count === 0) continue;
    ours.push(our);
    peers.push(peer);
  }
  bar('4 KB file, HTTP to verdict, idle / a clamdscan run', 'ms', median(ours), median(peers), { most: 0.5 });

  const FILES = 400;
  const four = async (scan: (bytes: Buffer) => Promise<unknown>) => {
    const files = Array.from({ length: FILES }, () => randomBytes(4096));
    const ms = await timed(() =>
      Promise.all(
        [0, 1, 2, 3].map(async (lane) => {
          for (let index = lane; index < files.length; index += 4) await scan(files[index] ?? EICAR);
        }),
      ),
    );
    return perSecond(FILES, ms);
  };
  const peer = PEER_FOLDER === undefined ? undefined : await startRestPeer(PEER_FOLDER, clamd.port);
  const bare = await startBareUpload(join(folder, 'bare'));
  const rates: { our: number; raw: number; rest: number; bare: number }[] = [];
  for (let count = 0; count <= 5; count += 1) {
    const our = await four(send);
    const raw = await four((bytes) => rawInstream(clamd.socket, bytes));
    const rest = peer === undefined ? 0 : await four((bytes) => peer.scan(bytes));
    const least = await four((bytes) => bare.scan(bytes));
    if (count > 0) rates.push({ our, raw, rest, bare: least });
  }
  await peer?.stop();
  await bare.stop();
  const of = (name: 'our' | 'raw' | 'rest' | 'bare') => median(rates.map((rate) => rate[name]));
  bar('4 KB files, 4 at once, embedded / raw INSTREAM', 'files/s', of('our'), of('raw'), { least: 0.6 });
  if (peer === undefined) console.error('Not measured beside clamav-rest-api: CLAMAV_REST_API names no folder with its source.');
  else {
    bar('4 KB files, 4 at once, embedded / clamav-rest-api', 'files/s', of('our'), of('rest'), { least: 1 });
    // What is left for the bar before it when nothing but the least is done.
    bar('the least an upload can be (bare-upload.ts) / clamav-rest-api', 'files/s', of('bare'), of('rest'), { least: 1 });
  }
}

/** Growth of a server's memory during one upload, in MB. */
async function memoryOf(server: BenchServer, token: string, megabytes: number): Promise<number> {
  const field = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1024;
  const before = field('VmRSS');
  // The peak begins anew (proc(5), clear_refs).
  writeFileSync(`/proc/${server.pid}/clear_refs`, '5');
  const piece = randomBytes(MIB);
  const pieces = function* () {
    for (let sent = 0; sent < megabytes; sent += 1) yield piece;
  };
  await upload(server.url, token, 'large.bin', pieces(), megabytes * MIB);
  return field('VmHWM') - before;
}

async function measureMemory(): Promise<void> {
  const server = await startServer();
  try {
    const { token } = await server.signIn();
    await memoryOf(server, token, 10);
    const small = await memoryOf(server, token, 10);
    const large = await memoryOf(server, token, 1024);
    bar('server memory growth during a 1 GB upload', 'MB', large, null, { most: 64 });
    bar('the same / during a 10 MB upload', 'MB', large, small, { most: 1.5 });
  } finally {
    await server.stop();
  }
}

async function measureLoop(): Promise<void> {
  const file = join(folder, 'gap');
  const server = await startServer(undefined, {
    LOOP_GAP_FILE: file,
    NODE_OPTIONS: `--import=${pathToFileURL(join(ROOT, 'bench/loop-gap.ts')).href}`,
  });
  const gap = async () => {
    rmSync(file, { force: true });
    process.kill(server.pid, 'SIGUSR2');
    while (!existsSync(file) || readFileSync(file, 'utf8') === '') await fetch(`${server.url}/api/health`);
    return Number(readFileSync(file, 'utf8'));
  };
  try {
    const { token } = await server.signIn();
    const gaps: number[] = [];
    for (let count = 0; count <= 3; count += 1) {
      const files = Array.from({ length: 4 }, () => randomBytes(HUNDRED));
      await gap();
      await Promise.all(files.map((bytes) => upload(server.url, token, 'file.bin', piecesOf(bytes), bytes.length)));
      const longest = await gap();
      if (count > 0) gaps.push(longest);
    }
    bar('event-loop gap during four 100 MB scans', 'ms', median(gaps), null, { most: 50 });
  } finally {
    await server.stop();
  }
}

/** Kills what the server runs its embedded engine in, again and again. */
function killEngines(server: BenchServer): () => void {
  const childrenOf = () =>
    readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  const killing = setInterval(() => {
    for (const pid of childrenOf()) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It is gone already.
      }
    }
  }, 2);
  return () => clearInterval(killing);
}

type Verdicts = Map<string, string>;

/** Verdict of each file, and its engines. */
async function verdicts(
  files: ReadonlyMap<string, Buffer>,
  environment: Record<string, string>,
  engines: boolean,
): Promise<Verdicts> {
  const server = await startServer(undefined, environment);
  const stop = engines ? () => {} : killEngines(server);
  try {
    const { token } = await server.signIn();
    const found: Verdicts = new Map();
    for (const [name, bytes] of files) {
      found.set(name, (await upload(server.url, token, name.replaceAll(/\W/g, '.'), piecesOf(bytes), bytes.length)).scan_status);
    }
    return found;
  } finally {
    stop();
    await server.stop();
  }
}

interface Detection {
  engines: string;
  testfiles_found: number;
  testfiles_missed: string[];
  containers_found: number;
  containers_missed: string[];
  /** Files that were neither found nor read whole. */
  pending: number;
}

async function measureDetection(clamd: BenchClamd): Promise<{ testfiles: number; containers: number; rows: Detection[] }> {
  const testfiles = new Map(readdirSync(TESTFILES).map((name) => [name, readFileSync(join(TESTFILES, name))]));
  const containers = eicarContainers();
  const all = new Map([...testfiles, ...containers]);
  const SCANNER_URL = `clamd+unix://${clamd.socket}`;
  const scanWithOurs = await loadClient();
  const alone: Verdicts = new Map();
  for (const [name, bytes] of all) {
    const file = join(folder, 'one');
    writeFileSync(file, bytes);
    const { kind } = await scanWithOurs(clamd.socket, bytes.length, file);
    alone.set(name, kind === 'found' ? 'infected' : kind === 'clean' ? 'clean' : 'pending');
  }
  const runs: [string, Verdicts][] = [
    ['both', await verdicts(all, { SCANNER_URL }, true)],
    ['embedded alone', await verdicts(all, {}, true)],
    ['clamd alone', alone],
    ['none reachable', await verdicts(all, { SCANNER_URL: 'clamd://127.0.0.1:9' }, false)],
  ];
  const rows = runs.map(([engines, said]) => {
    const missed = (files: ReadonlyMap<string, Buffer>) => [...files.keys()].filter((name) => said.get(name) !== 'infected');
    const [testfiles_missed, containers_missed] = [missed(testfiles), missed(containers)];
    return {
      engines,
      testfiles_found: testfiles.size - testfiles_missed.length,
      testfiles_missed,
      containers_found: containers.size - containers_missed.length,
      containers_missed,
      pending: [...said.values()].filter((status) => status === 'pending').length,
    };
  });
  return { testfiles: testfiles.size, containers: containers.size, rows };
}

/** Load of the machine, processes in the mean of a minute. */
const [load_before = 0] = loadavg();
const testfile = readFileSync(join(TESTFILES, 'clam.exe'));
const clamd = await startClamd({
  'eicar.ndb': `Eicar-Test-Signature:0:*:${EICAR.toString('hex')}\n`,
  'testfile.hdb': `${createHash('md5').update(testfile).digest('hex')}:${testfile.length}:ClamAV-Test-File\n`,
});
try {
  const server = await startServer();
  try {
    const { token } = await server.signIn();
    if (!ONLY_SMALL) {
      await measureLarge(server, token, clamd);
      await measureArchive(server, token, clamd);
    }
    await measureSmall(server, token, clamd);
  } finally {
    await server.stop();
  }
  if (!ONLY_SMALL) {
    await measureMemory();
    await measureLoop();
  }
  const detection = ONLY_SMALL ? { testfiles: 0, containers: 0, rows: [] } : await measureDetection(clamd);
  const version = (command: string, flag = '--version') => execFileSync(command, [flag], { encoding: 'utf8' }).trim();
  const machine = { ...describeMachine(), clamd: version('clamd'), yara: version('yara'), load_before };
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(
    join(RESULTS, ONLY_SMALL ? 'scanner-small.json' : 'scanner.json'),
    `${JSON.stringify({ what: 'medians of one run; clamd with the shipped clamd.conf, two signatures and DisableCache', at: new Date().toISOString(), machine, bars, detection }, null, 2)}\n`,
  );
  console.table(
    bars.map(({ bar, palisade, peer, unit, value, target, reached }) => ({
      bar,
      palisade: `${palisade.toFixed(1)} ${unit}`,
      peer: peer === null ? '' : peer.toFixed(1),
      value: value.toFixed(2),
      target,
      reached: reached ? 'yes' : 'NO',
    })),
  );
  console.table(
    detection.rows.map((row) => ({
      engines: row.engines,
      testfiles: `${row.testfiles_found}/${detection.testfiles}`,
      containers: `${row.containers_found}/${detection.containers}`,
      'containers missed': row.containers_missed.join(', '),
      pending: row.pending,
    })),
  );
} finally {
  programs.stop();
  await clamd.stop();
  rmSync(folder, { recursive: true, force: true });
}
