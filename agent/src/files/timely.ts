/**
 * Operations on files of other people, each with a deadline. A thread that waits for an unresponsive file system cannot be interrupted, so at most `AT_ONCE_MAXIMUM` of
 * Node's four threads are used for such operations: the others read and write the agent's own files.
 */

/** Threads of Node's pool of four that file operations may use. */
const AT_ONCE_MAXIMUM = 3;
/** For one operation. ms. */
const OPERATION_MS = 10_000;

/** A file or folder that is not opened or not read on, with the reason. */
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

/** Operations whose deadline is over and that hold a thread. */
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
 * Runs one operation of the thread pool within `ms`. `onLate` gets a later result, to close it.
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

/** Time to wait for a process's remaining work after it was told to end. ms. */
const END_MS = 10_000;

/** Ends this process for certain: Node's own end waits for operations that never come back. */
export function endProcess(): void {
  if (stuck > 0) process.kill(process.pid, 'SIGKILL');
  process.exit();
}

/** From now on the process must end within this many ms. */
export function endInTime(ms = END_MS): void {
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), ms).unref();
}
