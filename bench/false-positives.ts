// Counts findings of the rule pack in the files of a real machine, scanned by two engine processes of the built server.
// Limit: no file is `infected`. Writes false-positives.json and reports progress on stderr. `node bench/false-positives.ts [folder ...]`.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { type Dirent, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { keepResult, ROOT } from './server.ts';

const FOLDERS = process.argv.length > 2 ? process.argv.slice(2) : ['/usr', '/opt', '/etc', join(ROOT, 'node_modules')];
/** This project's samples, which must be found. */
const SAMPLES = 'signatures/samples';
/** ClamAV's test files, which must be found. They are counted separately. */
const CLAMAV_TEST_FILES = '/usr/share/clamav-testfiles/';
/** Vitest's cache of this project's compiled tests, which contain texts that must be found. They are counted separately. */
const OWN_TESTS = '/node_modules/.vitest-cache/';
const PROCESSES = 2;
const MIB = 1024 ** 2;
/** The limits of the product (scanner/src/reading/limits.ts). */
const LIMITS = {
  depth: 16,
  members: 10_000,
  unpacked_bytes: 4096 * MIB,
  ratio: 250,
  ratio_floor_bytes: 16 * MIB,
  time_ms: 120_000,
};
/** As in the product (scanner/src/engine/yara-pool.ts): a process that exceeds the time limit by this many ms is killed, and a file that ends two processes is given up. */
const KILL_GRACE_MS = 5_000;
const DEATHS_MAXIMUM = 2;
/** Interval of progress lines, in ms. */
const TELL_EVERY_MS = 10_000;
const SLOW_MS = 10_000;

const answerSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready'), signatures_version: z.string(), rules: z.int() }),
  z.object({
    kind: z.literal('scanned'),
    job: z.string(),
    examination: z.object({ threat: z.string().nullable(), notes: z.array(z.unknown()), unread: z.array(z.string()) }),
  }),
  z.object({ kind: z.literal('failed'), job: z.string(), reason: z.string() }),
  z.object({ kind: z.enum(['progress', 'rested']) }),
]);
type Answer = z.infer<typeof answerSchema>;

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

/** Yields the file at a path; nothing if it is missing or unreadable. */
function* fileAt(path: string): Generator<File> {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size !== undefined) yield { path, size };
}

function* filesBelow(folder: string): Generator<File> {
  for (const entry of entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (path.includes(SAMPLES)) continue;
    if (entry.isDirectory()) yield* filesBelow(path);
    else if (entry.isFile()) yield* fileAt(path);
  }
}

const found: { path: string; threat: string }[] = [];
const pending = new Map<string, number>();
let test_files_found = 0;
let own_tests_found = 0;
let files = 0;
let bytes = 0;
let noted = 0;
let signatures = '';
let rules = 0;

const queue = (function* () {
  for (const folder of FOLDERS) yield* filesBelow(folder);
})();
const scratch = mkdtempSync(join(tmpdir(), 'palisade-false-positives-'));

function leaveUnread(detail: string, path: string): void {
  pending.set(detail, (pending.get(detail) ?? 0) + 1);
  console.error(`${detail}: ${path}`);
}

interface EngineProcess {
  /** Scans a file. Undefined if the process ended during the scan. */
  read(file: File): Promise<Answer | 'time_limit' | undefined>;
  end(): void;
}

async function startEngine(number: number): Promise<EngineProcess> {
  const child = fork(join(ROOT, 'server/dist/yara-process.js'), [], { serialization: 'advanced', env: {}, execArgv: [] });
  const ended = once(child, 'exit').then(() => undefined);
  const answered = () =>
    new Promise<Answer>((resolve) => {
      const take = (message: unknown) => {
        const answer = answerSchema.parse(message);
        if (answer.kind === 'progress' || answer.kind === 'rested') return;
        child.off('message', take);
        resolve(answer);
      };
      child.on('message', take);
    });
  child.send({ kind: 'start', signatures: { rules_folder: join(ROOT, 'server/signatures/rules'), feeds: [] } });
  const ready = await Promise.race([answered(), ended]);
  if (ready?.kind !== 'ready') throw new Error('An engine process did not start.');
  ({ signatures_version: signatures, rules } = ready);
  return {
    async read({ path, size }) {
      let timed_out = false;
      const timer = setTimeout(() => {
        timed_out = true;
        child.kill('SIGKILL');
      }, LIMITS.time_ms + KILL_GRACE_MS);
      const name = path.split('/').at(-1) ?? '';
      const folder = join(scratch, `${number}`);
      const file = { job: path, path, size, name, sha256: '', folder };
      child.send({ kind: 'scan', files: [file], until: 0, limits: LIMITS, has_help: false });
      const answer = await Promise.race([answered(), ended]);
      clearTimeout(timer);
      return timed_out ? 'time_limit' : answer;
    },
    end: () => child.kill('SIGKILL'),
  };
}

function record({ path }: File, answer: Answer | 'time_limit' | undefined): void {
  if (answer === 'time_limit' || answer?.kind !== 'scanned') {
    leaveUnread(answer === 'time_limit' ? answer : 'failed', path);
    return;
  }
  const { threat, notes, unread } = answer.examination;
  if (threat !== null && path.startsWith(CLAMAV_TEST_FILES)) test_files_found += 1;
  else if (threat !== null && path.includes(OWN_TESTS)) own_tests_found += 1;
  else if (threat !== null) {
    found.push({ path, threat });
    console.error(`${threat}: ${path}`);
  }
  if (notes.length > 0) noted += 1;
  for (const detail of unread) leaveUnread(detail, path);
}

/** Scans files one after another until none are left, and replaces an ended process. */
async function work(number: number): Promise<void> {
  let engine = await startEngine(number);
  for (const file of queue) {
    const began_file = performance.now();
    files += 1;
    bytes += file.size;
    let answer = await engine.read(file);
    for (let deaths = 1; answer === undefined || answer === 'time_limit'; deaths += 1) {
      engine = await startEngine(number);
      if (answer === 'time_limit' || deaths === DEATHS_MAXIMUM) break;
      answer = await engine.read(file);
    }
    record(file, answer);
    const took_ms = performance.now() - began_file;
    if (took_ms > SLOW_MS) console.error(`${Math.round(took_ms / 1000)} s: ${file.path}`);
  }
  engine.end();
}

function tell(): void {
  console.error(`${Math.round((performance.now() - began) / 1000)} s: ${files} files, ${Math.round(bytes / MIB)} MB`);
}

const began = performance.now();
const telling = setInterval(tell, TELL_EVERY_MS);
try {
  await Promise.all(Array.from({ length: PROCESSES }, (_, number) => work(number)));
} finally {
  clearInterval(telling);
  rmSync(scratch, { recursive: true, force: true });
}
keepResult('false-positives', {
  what: 'files of a real machine that the rule pack calls infected',
  signatures_version: signatures,
  rules,
  files,
  bytes,
  seconds: Math.round((performance.now() - began) / 1000),
  infected: found,
  own_tests_infected: own_tests_found,
  clamav_test_files_infected: test_files_found,
  with_notes: noted,
  not_fully_read: Object.fromEntries(pending),
});
