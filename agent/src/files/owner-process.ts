import { type OwnerAnswer, type OwnerJob, ownerJobSchema, putFile, READY, removeEntry, WHOLE } from './owner-jobs.ts';

/**
 * Does one job with the rights of one user, and exits. It starts as root, switches to that user before any other work, and cannot become root again. The job
 * arrives on stdin: a line of JSON, and for `put` the bytes of the file and a completion byte. The answer is a line of JSON on stdout.
 *
 *   owner-process UID GID
 */

/** The process exits after this many ms, because an unresponsive file system may block it. */
const MOST_MS = 120_000;
const LINE_BYTES = 64 * 1024;

class Cut extends Error {
  readonly code = 'cut_off';
}

/** Drops root and its groups. @throws Error if any right of root is left */
function become(uid: number, gid: number): void {
  try {
    // Node's types lack process.initgroups.
    const initgroups: unknown = Reflect.get(process, 'initgroups');
    if (typeof initgroups !== 'function') throw new Error('this system has no groups');
    Reflect.apply(initgroups, process, [uid, gid]);
  } catch {
    // A user id without an account has no supplementary groups.
    process.setgroups?.([gid]);
  }
  process.setgid?.(gid);
  process.setuid?.(uid);
  const is_that_person = process.getuid?.() === uid && process.geteuid?.() === uid && process.getgid?.() === gid;
  let can_go_back = true;
  try {
    process.setuid?.(0);
  } catch {
    can_go_back = false;
  }
  if (!is_that_person || can_go_back || uid === 0) throw new Error('the rights of root could not be given up');
}

/** Reads the first line of stdin, and returns the rest as a stream. */
async function readInput(): Promise<{ line: string; rest: () => AsyncGenerator<Buffer> }> {
  const input: AsyncIterator<Buffer> = process.stdin[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  while (!head.includes('\n')) {
    const next = await input.next();
    if (next.done === true || head.length > LINE_BYTES) throw new Cut('the job was cut off');
    head = Buffer.concat([head, next.value]);
  }
  const end = head.indexOf('\n');
  const first = head.subarray(end + 1);
  async function* rest() {
    yield first;
    for (let next = await input.next(); next.done !== true; next = await input.next()) yield next.value;
  }
  return { line: head.toString('utf8', 0, end), rest };
}

/** Yields the bytes of the file. Throws if stdin ends before the completion byte. */
async function* contentOf(size: number, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  let left = size;
  for await (const part of rest) {
    const bytes = part.subarray(0, left);
    left -= bytes.length;
    if (bytes.length > 0) yield bytes;
    if (left === 0 && part.length > bytes.length) {
      if (part.toString('latin1', bytes.length) === WHOLE) return;
      break;
    }
  }
  throw new Cut('the file was cut off');
}

async function work(): Promise<OwnerAnswer> {
  const { line, rest } = await readInput();
  const job: OwnerJob = ownerJobSchema.parse(JSON.parse(line));
  return job.kind === 'remove' ? await removeEntry(job) : await putFile(job, contentOf(job.size, rest()));
}

setTimeout(() => process.kill(process.pid, 'SIGKILL'), MOST_MS).unref();
const [uid = Number.NaN, gid = Number.NaN] = process.argv.slice(2).map(Number);
become(uid, gid);
process.stdout.write(READY);
void work()
  .catch((error: unknown): OwnerAnswer => ({ ok: false, code: error instanceof Cut ? error.code : 'unknown', at: 'file' }))
  // The answer is in the pipe. process.exit joins the worker threads, which can deadlock in rare cases (nodejs/node#54918), so the process kills itself.
  .then((answer) => process.stdout.write(`${JSON.stringify(answer)}\n`, () => process.kill(process.pid, 'SIGKILL')));
