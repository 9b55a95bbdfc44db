// Compares a scan of a folder by the built agent (`palisade-agent scan PATH`) with `clamdscan --multiscan --fdpass` and the same signatures: a first scan, and a second one without changes.
// Limits: 1x clamdscan for the first scan, 0.05x for the second (clamd stores no verdicts, so it runs once). Writes deep-scan.json.
// `node bench/deep-scan.ts [FILES] [SEED]`. Needs npm run build once, and the packages "clamav-daemon" and "clamdscan".
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unpackAgent } from './built-agent.ts';
import { EICAR } from './files.ts';
import { createHomeFiles } from './home-files.ts';
import { startClamd } from './peers/clamd.ts';
import { keepResult, ROOT } from './server.ts';

const [files_wanted = '100000', seed = '20261122'] = process.argv.slice(2);
const FILES = Number(files_wanted);
const FILES_IN_FOLDER = 100;
const BARS = { first: 1, again: 0.05 };

const nextFile = createHomeFiles(Number(seed));

function growTree(folder: string): { files: number; bytes: number } {
  let bytes = 0;
  for (let index = 0; index < FILES; index += 1) {
    const inner = join(folder, `${Math.floor(index / FILES_IN_FOLDER)}`);
    if (index % FILES_IN_FOLDER === 0) mkdirSync(inner, { recursive: true });
    const { ending, content } = nextFile();
    bytes += content.length;
    writeFileSync(join(inner, `${index}.${ending}`), content);
  }
  return { files: FILES, bytes };
}

const folder = mkdtempSync(join(tmpdir(), 'palisade-deep-scan-'));
const tree = join(folder, 'tree');
const rules = join(ROOT, 'server/signatures/rules');
const agent = unpackAgent();
// The same rules. ClamAV does not support YARA modules, and reports how many rules it has loaded.
const clamd = await startClamd(
  Object.fromEntries(readdirSync(rules).map((name) => [name, readFileSync(join(rules, name), 'utf8')])),
);

function timed(work: () => string): { ms: number; said: string } {
  const began = performance.now();
  const said = work();
  return { ms: Math.round(performance.now() - began), said };
}

async function scanWithAgent() {
  const began = performance.now();
  const child = spawn(agent.program, ['scan', tree], {
    env: { PATH: process.env['PATH'], PALISADE_AGENT_STATE: join(folder, 'state'), PALISADE_AGENT_RUN: folder },
  });
  let said = '';
  child.stdout.on('data', (bytes: Buffer) => (said += bytes.toString()));
  child.stderr.on('data', (bytes: Buffer) => (said += bytes.toString()));
  const status = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  if (status !== 0) throw new Error(`the agent ended with ${String(status)}: ${said}`);
  return { ms: Math.round(performance.now() - began), said };
}

function scanWithClamd() {
  return timed(() => {
    const args = ['-c', clamd.conf, '--multiscan', '--fdpass', tree];
    const { status, stdout, error } = spawnSync('clamdscan', args, { encoding: 'utf8', maxBuffer: 2 ** 28 });
    if (error !== undefined) throw new Error(`clamdscan cannot be run (package "clamdscan"): ${error.message}`);
    // On a busy machine clamd stops scanning a file after MaxScanTime, and reports that as a finding.
    const found = stdout.split('\n').filter((line) => / FOUND$/u.test(line) && !line.includes('Heuristics.Limits.Exceeded'));
    if (found.length > 0 || (status !== 0 && status !== 1))
      throw new Error(`clamdscan ended with ${status}: ${found[0] ?? stdout.slice(0, 2_000)}`);
    return stdout;
  });
}

/** Parses the agent's summary: `12 files read, 3 unchanged since they were last read, 0 not fully read.` */
function countsOf(said: string) {
  const [read, known, pending] = (/(\d+) files read, (\d+) unchanged\D+(\d+) not fully read/u.exec(said) ?? [])
    .slice(1)
    .map(Number);
  if (read === undefined || known === undefined || pending === undefined) throw new Error(`the agent said: ${said}`);
  return { read, known, pending };
}

try {
  const grown = growTree(tree);
  // Loads the files into the page cache, so that both read them from memory.
  execFileSync('sh', ['-c', `tar -cf - -C '${tree}' . | wc -c`], { stdio: 'ignore' });
  const ours = await scanWithAgent();
  const peer = scanWithClamd();
  const ours_again = await scanWithAgent();
  const [first, again] = [countsOf(ours.said), countsOf(ours_again.said)];
  if (first.read + first.known + first.pending !== FILES)
    throw new Error(`the agent saw ${JSON.stringify(first)} of ${FILES} files`);

  // Check that both scan: both must find an added test file.
  writeFileSync(join(tree, 'eicar.com'), EICAR);
  const peer_found = spawnSync('clamdscan', ['-c', clamd.conf, '--fdpass', join(tree, 'eicar.com')], { encoding: 'utf8' });
  const ours_found = spawnSync(agent.program, ['scan', tree], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], PALISADE_AGENT_STATE: join(folder, 'state'), PALISADE_AGENT_RUN: folder },
  });
  const round = (value: number) => Math.round(value * 1_000) / 1_000;
  const compared = (one: number, other: number, bar: number) => ({
    ours_ms: one,
    clamdscan_ms: other,
    ratio: round(one / other),
    bar,
    reached: one / other <= bar,
  });
  const loaded = /Loaded (\d+) signatures/u.exec(readFileSync(join(clamd.conf, '../log'), 'utf8'))?.[1];
  keepResult('deep-scan', {
    what: 'palisade-agent scan PATH beside clamdscan --multiscan --fdpass PATH, one after the other; the agent starts its engine and compiles its rules in its time, clamd has loaded its own before',
    clamd: execFileSync('clamd', ['--version'], { encoding: 'utf8' }).trim(),
    seed: Number(seed),
    ...grown,
    signatures: {
      rules: execFileSync('sh', ['-c', `cat '${rules}'/*.yar | grep -cE '^(private )?rule '`], { encoding: 'utf8' }).trim(),
      clamd: loaded ?? 'unknown',
    },
    first: { ...compared(ours.ms, peer.ms, BARS.first), ...first, files_per_second: round(FILES / (ours.ms / 1_000)) },
    again: { ...compared(ours_again.ms, peer.ms, BARS.again), ...again },
    one_infected_file_more: { ours: ours_found.status === 1, clamdscan: peer_found.status === 1 },
  });
} finally {
  await clamd.stop();
  agent.remove();
  rmSync(folder, { recursive: true, force: true });
}
