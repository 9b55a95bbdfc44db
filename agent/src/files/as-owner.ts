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

/** Time for one job: a file of 2 GB on a slow disk. ms. */
const MOST_MS = 130_000;
/** Time to become the person. ms. */
const READY_MS = 10_000;
const ANSWER_BYTES = 4 * 1024;
const PROCESS_FILE = new URL(import.meta.url.endsWith('.ts') ? './owner-process.ts' : './owner-process.cjs', import.meta.url);
/** It does one small thing: no compilers, a small heap, and no work of the engine on threads beside it. */
const FLAGS = ['--max-semi-space-size=1', '--max-old-space-size=64', '--no-opt', '--v8-pool-size=1', '--single-threaded'];

/** The content for a job, of `put` alone. */
type Content = () => AsyncIterable<Buffer>;

const failed = (code: string): OwnerAnswer => ({ ok: false, code, at: 'file' });

async function doHere(job: OwnerJob, content: Content | undefined): Promise<OwnerAnswer> {
  if (job.kind === 'remove') return await removeEntry(job);
  return content === undefined ? failed('cut_off') : await putFile(job, content());
}

/** Writes as fast as the process reads. False once the process does not read any more. */
function written(child: ChildProcess, bytes: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    const { stdin } = child;
    if (stdin === null || stdin.destroyed || child.exitCode !== null || child.signalCode !== null) return resolve(false);
    stdin.write(bytes, (error) => resolve(!error));
  });
}

/** @throws Error of `content`: then the other side is cut off, and puts nothing in place */
async function give(child: ChildProcess, job: PutJob, content: Content): Promise<void> {
  let bytes = 0;
  for await (const part of content()) {
    bytes += part.length;
    if (part.length > 0 && !(await written(child, part))) return;
  }
  if (bytes === job.size) await written(child, Buffer.from(WHOLE));
}

/** A process of a person, from its start on. */
interface OwnerProcess {
  child: ChildProcess;
  ended: Promise<void>;
  /** Once it has answered as a whole: then its work is done, whether it has ended or not. */
  answered: Promise<void>;
  /** Its output since it was ready. */
  answer: () => string;
}

/** Starts a process of a person; undefined where it is not ready in time, and is ended then. */
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
  // A process that is not ready has started nothing, so another one is tried.
  const started = (await startAs(uid, gid)) ?? (await startAs(uid, gid));
  if (started === undefined) return failed('ended');
  const { child, ended, answered, answer } = started;
  // Its person can stop it, and root may always end it (CAP_KILL).
  const timer = setTimeout(() => child.kill('SIGKILL'), MOST_MS);
  try {
    await written(child, Buffer.from(`${JSON.stringify(job)}\n`));
    if (job.kind === 'put' && content !== undefined) await give(child, job, content);
  } finally {
    // Without the last byte, the begun write is undone.
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

/** Jobs of one person follow each other: one that blocks its process does not delay another person's. */
const turns = new Map<number, Promise<unknown>>();

/**
 * Runs a job with the rights of a person, in a separate process with only those: user, group and supplementary groups. Without root the agent's own rights are used. @param
 * uid 0: run by root itself, only for folders that belong to root alone
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
