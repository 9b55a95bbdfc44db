import { type OwnerAnswer, type OwnerJob, ownerJobSchema, putFile, READY, removeEntry, WHOLE } from './owner-jobs.ts';

/**
 * Does one job with the rights of one person, and ends. It is started as root, becomes that person before it touches anything, and cannot become root again. Its job
 * arrives on stdin: a line of JSON, for `put` the bytes of the file, and one byte that says that they are complete. Its answer is a line of JSON.
 *
 *   owner-process UID GID
 */

/** After this many ms the process ends itself: an unresponsive file system then blocks only this process. */
const MOST_MS = 120_000;
const LINE_BYTES = 64 * 1024;

class Cut extends Error {
  readonly code = 'cut_off';
}

/** Gives up root and its groups. @throws Error where anything of root is left */
function become(uid: number, gid: number): void {
  try {
    // Node has it, its types do not (process.initgroups).
    const initgroups: unknown = Reflect.get(process, 'initgroups');
    if (typeof initgroups !== 'function') throw new Error('this system has no groups');
    Reflect.apply(initgroups, process, [uid, gid]);
  } catch {
    // Without an account there are no groups.
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

/** Stdin as a line, and the bytes after it. */
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

/** The bytes of a file; an error where they end before the byte that says that they are whole. */
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
  // Its work is done and its answer is in the pipe. Node's own end joins its threads, and seldom one of them waits for it in turn (nodejs/node#54918).
  .then((answer) => process.stdout.write(`${JSON.stringify(answer)}\n`, () => process.kill(process.pid, 'SIGKILL')));
