import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import {
  type OwnerAnswer,
  type OwnerJob,
  ownerAnswerSchema,
  type PutJob,
  putFile,
  READY,
  removeEntry,
  WHOLE,
} from './owner-jobs.ts';
import { groupOf } from './people.ts';

/** Time limit of one job in ms, enough for 2 GB on a slow disk. */
const MOST_MS = 130_000;
/** Time limit for a process to start and switch to the user, in ms. */
const READY_MS = 10_000;
const ANSWER_BYTES = 4 * 1024;
const PROCESS_FILE = new URL(import.meta.url.endsWith('.ts') ? './owner-process.ts' : './owner-process.cjs', import.meta.url);
/** V8 flags for a short, small process: no optimizing compiler, a small heap, and few threads. */
const FLAGS = ['--max-semi-space-size=1', '--max-old-space-size=64', '--no-opt', '--v8-pool-size=1', '--single-threaded'];

/** The file content of a `put` job. */
type Content = () => AsyncIterable<Buffer>;

const failed = (code: string): OwnerAnswer => ({ ok: false, code, at: 'file' });

async function doHere(job: OwnerJob, content: Content | undefined): Promise<OwnerAnswer> {
  if (job.kind === 'remove') return await removeEntry(job);
  return content === undefined ? failed('cut_off') : await putFile(job, content());
}

/** Writes to the process's stdin and resolves when the bytes are accepted. False if the process no longer reads. */
function written(child: ChildProcess, bytes: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    const { stdin } = child;
    if (stdin === null || stdin.destroyed || child.exitCode !== null || child.signalCode !== null) return resolve(false);
    stdin.write(bytes, (error) => resolve(!error));
  });
}

/** Sends the content, then the completion byte. @throws Error of `content`; without the completion byte the process discards the file */
async function give(child: ChildProcess, job: PutJob, content: Content): Promise<void> {
  let bytes = 0;
  for await (const part of content()) {
    bytes += part.length;
    if (part.length > 0 && !(await written(child, part))) return;
  }
  if (bytes === job.size) await written(child, Buffer.from(WHOLE));
}

/** A started process that runs with a user's rights. */
interface OwnerProcess {
  child: ChildProcess;
  ended: Promise<void>;
  /** Resolves when the answer is complete: the work is done, even if the process still runs. */
  answered: Promise<void>;
  /** Its output after the ready line. */
  answer: () => string;
}

/** Starts a process with a user's rights. Undefined if it is not ready in time; it is killed then. */
async function startAs(uid: number, gid: number): Promise<OwnerProcess | undefined> {
  const child = spawn(process.execPath, [...FLAGS, fileURLToPath(PROCESS_FILE), `${uid}`, `${gid}`], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {},
    cwd: '/',
  });
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });
  let said = '';
  const whole = Promise.withResolvers<void>();
  child.stdin?.on('error', () => undefined);
  const ready = new Promise<boolean>((resolve) => {
    child.stdout?.on('data', (bytes: Buffer) => {
      if (said.length < ANSWER_BYTES) said += bytes.toString('latin1');
      if (said.startsWith(READY)) resolve(true);
      if (said.indexOf('\n', READY.length) !== -1) whole.resolve();
    });
    void ended.then(() => resolve(false));
    setTimeout(() => resolve(false), READY_MS).unref();
  });
  if (await ready) return { child, ended, answered: whole.promise, answer: () => said.slice(READY.length) };
  child.kill('SIGKILL');
  await ended;
  return undefined;
}

async function inProcess(uid: number, gid: number, job: OwnerJob, content: Content | undefined): Promise<OwnerAnswer> {
  // A process that did not become ready has changed nothing, so a second attempt is safe.
  const started = (await startAs(uid, gid)) ?? (await startAs(uid, gid));
  if (started === undefined) return failed('ended');
  const { child, ended, answered, answer } = started;
  // The user can suspend the process; root can kill it even then (CAP_KILL).
  const timer = setTimeout(() => child.kill('SIGKILL'), MOST_MS);
  try {
    await written(child, Buffer.from(`${JSON.stringify(job)}\n`));
    if (job.kind === 'put' && content !== undefined) await give(child, job, content);
  } finally {
    // If the completion byte was not sent, the process removes the partial file.
    child.stdin?.end();
    await Promise.race([answered, ended]);
    child.kill('SIGKILL');
    await ended;
    clearTimeout(timer);
  }
  try {
    return ownerAnswerSchema.parse(JSON.parse(answer()));
  } catch {
    return failed('ended');
  }
}

/** The latest job by user id. Jobs of one user run in sequence, and do not delay those of other users. */
const turns = new Map<number, Promise<unknown>>();

/**
 * Runs a job in a separate process with only the rights of a user: user id, group and supplementary groups. If the agent is not root, it uses its own rights. @param
 * uid 0 runs the job as root in this process, which changes only folders that root alone can write to
 */
export async function asOwner(uid: number, job: OwnerJob, content?: Content): Promise<OwnerAnswer> {
  if (uid === 0 || process.geteuid?.() !== 0) return await doHere(job, content);
  const gid = await groupOf(uid);
  const before = turns.get(uid) ?? Promise.resolve();
  const turn = before.catch(() => undefined).then(() => inProcess(uid, gid, job, content));
  turns.set(uid, turn);
  try {
    return await turn;
  } finally {
    if (turns.get(uid) === turn) turns.delete(uid);
  }
}
