// Measures a scan of a whole tree by the built agent (`palisade-agent scan PATH`) beside `clamdscan --multiscan --fdpass` with the same signatures: the first time, again without a change, and after the agent was killed in the middle; memory meanwhile.
// Bars: 1x clamdscan the first time, 0.05x again (clamd keeps no verdicts, so it is asked once). Keeps results/deep-scan.json.
// `node bench/deep-scan.ts [FILES] [SEED]`. Needs npm run build once, and the packages "clamav-daemon" and "clamdscan".
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { unpackAgent } from './built-agent.ts';
import { EICAR } from './files.ts';
import { createHomeFiles } from './home-files.ts';
import { startClamd } from './peers/clamd.ts';
import { describeMachine, RESULTS, ROOT } from './server.ts';

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
// The same rules. ClamAV reads YARA without its modules, and says how many it took.
const clamd = await startClamd(
  Object.fromEntries(readdirSync(rules).map((name) => [name, readFileSync(join(rules, name), 'utf8')])),
);

function timed(work: () => string): { ms: number; said: string } {
  const began = performance.now();
  const said = work();
  return { ms: Math.round(performance.now() - began), said };
}

/** Resident memory in MB of a process and of its children: the agent, and the engine that it runs. */
function memoryOf(pid: number): { agent: number; engine: number } {
  const resident = (one: number) => {
    try {
      return Number(/^VmRSS:\s+(\d+)/mu.exec(readFileSync(`/proc/${one}/status`, 'utf8'))?.[1] ?? 0) / 1_024;
    } catch {
      return 0;
    }
  };
  let children: string[] = [];
  try {
    children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  } catch {
    // It has just ended.
  }
  return { agent: resident(pid), engine: Math.max(0, ...children.map((child) => resident(Number(child)))) };
}

const LOOK_EVERY_MS = 250;

/** @param until when it is killed; it runs to its end where nothing is given */
async function scanWithAgent(until?: (state: string) => boolean, state = join(folder, 'state')) {
  const began = performance.now();
  const child = spawn(agent.program, ['scan', tree], {
    env: { PATH: process.env['PATH'], PALISADE_AGENT_STATE: state, PALISADE_AGENT_RUN: folder },
  });
  let said = '';
  child.stdout.on('data', (bytes: Buffer) => (said += bytes.toString()));
  child.stderr.on('data', (bytes: Buffer) => (said += bytes.toString()));
  const most = { agent: 0, engine: 0 };
  const look = setInterval(() => {
    const now = memoryOf(child.pid ?? 0);
    most.agent = Math.max(most.agent, now.agent);
    most.engine = Math.max(most.engine, now.engine);
    if (until?.(state) === true) child.kill('SIGKILL');
  }, LOOK_EVERY_MS);
  const status = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  clearInterval(look);
  if (status !== 0 && until === undefined) throw new Error(`the agent ended with ${String(status)}: ${said}`);
  const ms = Math.round(performance.now() - began);
  return { ms, said, most_mb: { agent: Math.round(most.agent), engine: Math.round(most.engine) } };
}

function scanWithClamd() {
  return timed(() => {
    const args = ['-c', clamd.conf, '--multiscan', '--fdpass', tree];
    const { status, stdout, error } = spawnSync('clamdscan', args, { encoding: 'utf8', maxBuffer: 2 ** 28 });
    if (error !== undefined) throw new Error(`clamdscan cannot be run (package "clamdscan"): ${error.message}`);
    // On a busy machine clamd gives a file up after its MaxScanTime, and names that.
    const found = stdout.split('\n').filter((line) => / FOUND$/u.test(line) && !line.includes('Heuristics.Limits.Exceeded'));
    if (found.length > 0 || (status !== 0 && status !== 1))
      throw new Error(`clamdscan ended with ${status}: ${found[0] ?? stdout.slice(0, 2_000)}`);
    return stdout;
  });
}

/** Number of verdicts that an agent has on the disk. */
function verdictsIn(state: string): number {
  const path = join(state, 'verdicts.txt');
  if (!existsSync(path)) return 0;
  return readFileSync(path, 'latin1').split('\n').slice(1).filter(Boolean).length;
}

/** `12 files read, 3 unchanged since they were last read, 0 not fully read.` */
function countsOf(said: string) {
  const [read, known, pending] = (/(\d+) files read, (\d+) unchanged\D+(\d+) not fully read/u.exec(said) ?? [])
    .slice(1)
    .map(Number);
  if (read === undefined || known === undefined || pending === undefined) throw new Error(`the agent said: ${said}`);
  return { read, known, pending };
}

try {
  const [load_before = 0] = loadavg();
  const grown = growTree(tree);
  // Both read it from memory.
  execFileSync('sh', ['-c', `tar -cf - -C '${tree}' . | wc -c`], { stdio: 'ignore' });
  const ours = await scanWithAgent();
  const peer = scanWithClamd();
  const ours_again = await scanWithAgent();
  const [first, again] = [countsOf(ours.said), countsOf(ours_again.said)];
  if (first.read + first.known + first.pending !== FILES)
    throw new Error(`the agent saw ${JSON.stringify(first)} of ${FILES} files`);

  // Killed once it has kept a third of the verdicts, and begun again: of what it had kept nothing is read twice, but the first, with which the engine says its edition.
  const interrupted = join(folder, 'interrupted');
  const killed = await scanWithAgent((state) => verdictsIn(state) >= FILES / 3, interrupted);
  const kept = verdictsIn(interrupted);
  const was_killed = !killed.said.includes('files read');
  const resumed = await scanWithAgent(undefined, interrupted);
  const of_resumed = countsOf(resumed.said);
  if (of_resumed.known < kept - 1) throw new Error(`${kept} verdicts were kept, and ${of_resumed.known} files known`);

  // That both look for the same: one more file, which both name.
  writeFileSync(join(tree, 'eicar.com'), EICAR);
  const peer_found = spawnSync('clamdscan', ['-c', clamd.conf, '--fdpass', join(tree, 'eicar.com')], { encoding: 'utf8' });
  const ours_found = spawnSync(agent.program, ['scan', tree], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], PALISADE_AGENT_STATE: join(folder, 'state'), PALISADE_AGENT_RUN: folder },
  });
  const round = (value: number) => Math.round(value * 1_000) / 1_000;
  const compared = (one: number, other: number, bar: number) => ({
    ...{ ours_ms: one, clamdscan_ms: other, ratio: round(one / other), bar, reached: one / other <= bar },
  });
  const loaded = /Loaded (\d+) signatures/u.exec(readFileSync(join(clamd.conf, '../log'), 'utf8'))?.[1];
  const result = {
    what: 'palisade-agent scan PATH beside clamdscan --multiscan --fdpass PATH, one after the other; the agent starts its engine and compiles its rules in its time, clamd has loaded its own before',
    when: new Date().toISOString(),
    machine: { ...describeMachine(), clamd: execFileSync('clamd', ['--version'], { encoding: 'utf8' }).trim(), load_before },
    seed: Number(seed),
    ...grown,
    signatures: {
      rules: execFileSync('sh', ['-c', `cat '${rules}'/*.yar | grep -cE '^(private )?rule '`], { encoding: 'utf8' }).trim(),
      clamd: loaded ?? 'unknown',
    },
    first: { ...compared(ours.ms, peer.ms, BARS.first), ...first, files_per_second: round(FILES / (ours.ms / 1_000)) },
    again: { ...compared(ours_again.ms, peer.ms, BARS.again), ...again },
    memory_mb: { first: ours.most_mb, again: ours_again.most_mb },
    killed: { was_killed, after_ms: killed.ms, kept, then_ms: resumed.ms, ...of_resumed },
    one_infected_file_more: { ours: ours_found.status === 1, clamdscan: peer_found.status === 1 },
  };
  writeFileSync(
    join(RESULTS, FILES === 100_000 ? 'deep-scan.json' : 'deep-scan-small.json'),
    `${JSON.stringify(result, undefined, 2)}\n`,
  );
  console.log(JSON.stringify(result, undefined, 2));
} finally {
  await clamd.stop();
  agent.remove();
  rmSync(folder, { recursive: true, force: true });
}
