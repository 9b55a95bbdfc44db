/**
 * Operations on files of other users, each with a deadline. A thread that waits for an unresponsive file system cannot be interrupted, so at most `AT_ONCE_MAXIMUM` of
 * Node's four threads run such operations: the remaining thread serves the agent's own files.
 */

/** Threads of Node's pool of four that these operations may use. */
const AT_ONCE_MAXIMUM = 3;
/** Deadline of one operation, in ms. */
const OPERATION_MS = 10_000;

/** The agent does not open the file or folder, or stops reading it; `code` is the reason. */
export class FileRefused extends Error {
  readonly code: 'link' | 'not_regular' | 'too_large' | 'deadline' | 'bad_path';
  constructor(code: FileRefused['code'], message: string) {
    super(message);
    this.code = code;
  }
}

let running = 0;
let stuck = 0;
const waiting: (() => void)[] = [];

/** Number of operations past their deadline that still hold a thread. */
export const stuckOperations = (): number => stuck;

function giveBack(): void {
  running -= 1;
  waiting.shift()?.();
}

async function turn(until: number): Promise<void> {
  if (running < AT_ONCE_MAXIMUM) {
    running += 1;
    return;
  }
  await new Promise<void>((resolve, reject) => {
    const begin = () => {
      clearTimeout(timer);
      running += 1;
      resolve();
    };
    const timer = setTimeout(
      () => {
        waiting.splice(waiting.indexOf(begin), 1);
        reject(new FileRefused('deadline', 'the file system does not answer'));
      },
      Math.max(0, until - performance.now()),
    );
    waiting.push(begin);
  });
}

/**
 * Runs one thread-pool operation with a deadline of `ms`. `onLate` receives a result that arrives later, and closes it.
 * @throws FileRefused `deadline`
 */
export async function timely<T>(operation: () => Promise<T>, onLate?: (late: T) => unknown, ms = OPERATION_MS): Promise<T> {
  const until = performance.now() + ms;
  await turn(until);
  let is_late = false;
  const running_now = operation().finally(() => {
    if (is_late) stuck -= 1;
    giveBack();
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => {
        is_late = true;
        stuck += 1;
        running_now.then((value) => onLate?.(value)).catch(() => undefined);
        reject(new FileRefused('deadline', 'the file system does not answer'));
      },
      Math.max(0, until - performance.now()),
    );
  });
  try {
    return await Promise.race([running_now, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Time that remaining work of a process may take after the request to end, in ms. */
const END_MS = 10_000;

/** Kills this process: process.exit would wait for operations that never return. */
export function endProcess(): void {
  if (stuck > 0) process.kill(process.pid, 'SIGKILL');
  process.exit();
}

/** Kills this process after `ms` if it has not ended before. */
export function endInTime(ms = END_MS): void {
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), ms).unref();
}
