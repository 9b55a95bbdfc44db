// Measures the scanner and its peers in one run: `clamdscan --stream`, `clamdscan --fdpass`, raw INSTREAM and `yara`. Then the detection of Debian's clamav-testfiles.
// Limits: at each measurement below, and in docs/measured.md. Prints two tables and writes scanner.json. `--small` measures only small files.
// Needs npm start once (for the build), and the packages "clamav-daemon", "clamdscan", "clamav-testfiles" and "yara".
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Scan } from '@palisade/contract/antivirus';
import { carvingSource } from '@palisade/scanner/carving';
import { scanWithClamd } from '@palisade/scanner/clamd-client';
import { EICAR, zip } from './files.ts';
import { type BenchClamd, rawInstream, startClamd } from './peers/clamd.ts';
import { startPrograms } from './programs.ts';
import { type BenchServer, keepResult, median, ROOT, startServer } from './server.ts';
import { piecesOf, upload } from './upload.ts';

const MIB = 1024 ** 2;
const HUNDRED = 100 * MIB;
const RUNS = 5;
const SMALL_RUNS = 40;
const ONLY_SMALL = process.argv.includes('--small');
const TESTFILES = '/usr/share/clamav-testfiles';
const folder = mkdtempSync(join(tmpdir(), 'palisade-bench-'));
const path = join(folder, 'file.bin');

interface Bar {
  bar: string;
  palisade: number;
  peer: number | null;
  unit: string;
  /** Ratio of Palisade to the peer, or Palisade's value for an absolute limit. */
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

/** Records a measurement with its limit: `most` is a maximum, `least` a minimum. */
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

/** Scans with clamd through Palisade's client, as the server does. */
function scanWithOurs(socket: string, size: number) {
  const times = { connect_ms: 5000, time_ms: 120_000, signal: new AbortController().signal };
  return scanWithClamd({ path: socket }, { size, path }, times);
}

/** Compiles all rules once for the peer, so that its time excludes compilation: the rule pack, and the rules that find container headers. */
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
    // The first run is a warm-up.
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
      // In 1 GB of random data, two parts look like CBOR strings and count as members.
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
  const rates: { our: number; raw: number }[] = [];
  for (let count = 0; count <= 5; count += 1) {
    const rate = { our: await four(send), raw: await four((bytes) => rawInstream(clamd.socket, bytes)) };
    if (count > 0) rates.push(rate);
  }
  const of = (name: 'our' | 'raw') => median(rates.map((rate) => rate[name]));
  bar('4 KB files, 4 at once, embedded / raw INSTREAM', 'files/s', of('our'), of('raw'), { least: 0.6 });
}

/** Increase of a server's peak memory during one upload, in MB. */
async function memoryOf(server: BenchServer, token: string, megabytes: number): Promise<number> {
  const field = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1024;
  const before = field('VmRSS');
  // Resets the peak (proc(5), clear_refs).
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

/** Numbers of test files found with both engines, and with the embedded engine alone. `pending` counts files that were neither found nor read completely. */
async function measureDetection(clamd: BenchClamd) {
  const rows: { engines: string; files: number; found: number; pending: number; missed: string[] }[] = [];
  for (const [engines, SCANNER_URL] of [
    ['both', `clamd+unix://${clamd.socket}`],
    ['embedded alone', 'none'],
  ] as const) {
    const server = await startServer(undefined, { SCANNER_URL });
    const said = new Map<string, string>();
    try {
      const { token } = await server.signIn();
      for (const name of readdirSync(TESTFILES)) {
        const bytes = readFileSync(join(TESTFILES, name));
        said.set(name, (await upload(server.url, token, name.replaceAll(/\W/g, '.'), piecesOf(bytes), bytes.length)).scan_status);
      }
    } finally {
      await server.stop();
    }
    const having = (status: string) => [...said.values()].filter((one) => one === status).length;
    const missed = [...said].filter(([, status]) => status !== 'infected').map(([name]) => name);
    rows.push({ engines, files: said.size, found: having('infected'), pending: having('pending'), missed });
  }
  return rows;
}

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
  const detection = ONLY_SMALL ? [] : await measureDetection(clamd);
  const version = (command: string) => execFileSync(command, ['--version'], { encoding: 'utf8' }).trim();
  const programs_used = { clamd: version('clamd'), yara: version('yara') };
  const what = 'medians of one run; clamd with the shipped clamd.conf, two signatures and DisableCache';
  keepResult(ONLY_SMALL ? 'scanner-small' : 'scanner', { what, programs_used, bars, detection });
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
  console.table(detection);
} finally {
  programs.stop();
  await clamd.stop();
  rmSync(folder, { recursive: true, force: true });
}
