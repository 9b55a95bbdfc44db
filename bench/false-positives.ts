// Files of a real machine, read by two engine processes of the built server: none of them may be `infected`. Keeps the counts in
// results/false-positives.json. `node bench/false-positives.ts [folder ...]`
import { type ChildProcess, fork } from 'node:child_process';
import { type Dirent, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { describeMachine, RESULTS, ROOT } from './server.ts';

const FOLDERS = process.argv.length > 2 ? process.argv.slice(2) : ['/usr', '/opt', '/etc', join(ROOT, 'node_modules')];
/** Ours, made to be found. */
const SAMPLES = 'signatures/samples';
const PROCESSES = 2;
const MIB = 1024 ** 2;
/** Those of the product (engines/limits.ts). */
const LIMITS = {
  depth: 16,
  members: 10_000,
  unpacked_bytes: 4096 * MIB,
  ratio: 250,
  ratio_floor_bytes: 16 * MIB,
  time_ms: 120_000,
};

const answerSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready'), signatures_version: z.string(), rules: z.int() }),
  z.object({
    kind: z.literal('scanned'),
    job: z.string(),
    examination: z.object({ threat: z.string().nullable(), notes: z.array(z.string()), unread: z.array(z.string()) }),
  }),
  z.object({ kind: z.literal('failed'), job: z.string(), reason: z.string() }),
  z.object({ kind: z.literal('progress') }),
]);

interface File {
  path: string;
  size: number;
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function* filesBelow(folder: string): Generator<File> {
  for (const entry of entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (path.includes(SAMPLES)) continue;
    if (entry.isDirectory()) yield* filesBelow(path);
    else if (entry.isFile()) yield { path, size: statSync(path).size };
  }
}

const found: { path: string; threat: string }[] = [];
const pending = new Map<string, number>();
let files = 0;
let bytes = 0;
let noted = 0;
let signatures = '';
let rules = 0;

const queue = (function* () {
  for (const folder of FOLDERS) yield* filesBelow(folder);
})();
const scratch = mkdtempSync(join(tmpdir(), 'palisade-false-positives-'));

function record(path: string, { threat, notes, unread }: { threat: string | null; notes: string[]; unread: string[] }): void {
  if (threat !== null) found.push({ path, threat });
  if (notes.length > 0) noted += 1;
  for (const detail of unread) pending.set(detail, (pending.get(detail) ?? 0) + 1);
}

/** One process reads one file after the other until there are none left. */
function work(number: number): Promise<void> {
  const child: ChildProcess = fork(join(ROOT, 'server/dist/yara-process.js'), [], {
    serialization: 'advanced',
    env: {},
    execArgv: [],
  });
  return new Promise((resolve, reject) => {
    const next = () => {
      const { value, done } = queue.next();
      if (done) {
        child.kill('SIGKILL');
        return resolve();
      }
      files += 1;
      bytes += value.size;
      const name = value.path.split('/').at(-1) ?? '';
      child.send({
        kind: 'scan',
        job: value.path,
        path: value.path,
        size: value.size,
        name,
        sha256: '',
        folder: join(scratch, `${number}`),
        limits: LIMITS,
      });
    };
    child.on('message', (message) => {
      const answer = answerSchema.parse(message);
      if (answer.kind === 'progress') return;
      if (answer.kind === 'ready') {
        signatures = answer.signatures_version;
        rules = answer.rules;
      } else if (answer.kind === 'scanned') record(answer.job, answer.examination);
      else pending.set('failed', (pending.get('failed') ?? 0) + 1);
      next();
    });
    child.once('error', reject);
    child.once('exit', (_code, signal) => {
      if (signal !== 'SIGKILL') reject(new Error('An engine process ended.'));
    });
    child.send({ kind: 'start', signatures: { rules_folder: join(ROOT, 'server/signatures/rules'), feeds: [] } });
  });
}

const began = performance.now();
try {
  await Promise.all(Array.from({ length: PROCESSES }, (_, number) => work(number)));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
const kept = {
  what: 'files of a real machine that the rule pack calls infected',
  at: new Date().toISOString(),
  machine: describeMachine(),
  signatures_version: signatures,
  rules,
  files,
  bytes,
  seconds: Math.round((performance.now() - began) / 1000),
  infected: found,
  with_notes: noted,
  not_fully_read: Object.fromEntries(pending),
};
mkdirSync(RESULTS, { recursive: true });
writeFileSync(join(RESULTS, 'false-positives.json'), `${JSON.stringify(kept, null, 2)}\n`);
console.log(JSON.stringify(kept, null, 2));
