import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** An idle process is ended after this time, in ms. */
const IDLE_MS = 30_000;

/** A process with more memory is ended. It is below the limit of 300 MB, because memory can grow between two checks. */
const MEMORY_MOST_MIB = 280;
const MEMORY_LOOK_MS = 25;
/** WebAssembly pages (64 KiB) per MiB. */
const PAGES_OF_MIB = 16;
/** A process with more memory after a picture is ended, because WebAssembly memory never shrinks. */
const MEMORY_KEPT_MIB = 180;

/** Resident memory of a process, in MiB; undefined on systems other than Linux. */
function residentMib(pid: number | undefined): number | undefined {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/mu.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
  } catch {
    return undefined;
  }
}

/** URL of the main file of a process: the source, or the bundle after a build. */
export const processFile = (name: string) =>
  new URL(`./${name}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);

/** `late`: time limit exceeded. `large`: memory limit exceeded. */
type ProcessAnswer = { value: unknown } | 'failed' | 'late' | 'large';

interface Reply {
  id: number;
  /** Absent after a failure. */
  value?: unknown;
  /** The failure was caused by too little memory. */
  is_large?: boolean;
}

/** Out-of-memory messages of C++ and Emscripten. */
const NO_MEMORY = /bad_alloc|out of memory|Cannot enlarge memory/iu;

function isRequest(message: unknown): message is { id: number; picture: Uint8Array } {
  return (
    typeof message === 'object' &&
    message !== null &&
    'id' in message &&
    typeof message.id === 'number' &&
    'picture' in message &&
    message.picture instanceof Uint8Array
  );
}

const isReply = (message: unknown, id: number): message is Reply =>
  typeof message === 'object' && message !== null && 'id' in message && message.id === id;

/** Child side: answers each picture that the parent sends. */
export function serveParent(read: (picture: Uint8Array) => Promise<unknown>): void {
  process.on('message', (message) => {
    if (!isRequest(message)) return;
    const { id, picture } = message;
    read(picture).then(
      (value) => process.send?.({ id, value } satisfies Reply),
      (error: unknown) => process.send?.({ id, is_large: NO_MEMORY.test(String(error)) } satisfies Reply),
    );
  });
  process.on('disconnect', () => process.exit(0));
}

interface Limits {
  deadlineMs: number;
  heapMib: number;
  /** Maximum WebAssembly memory in MiB. Node and its copies of the picture take another 80 to 100 MiB. */
  webAssemblyMib: number;
}

/** Reads untrusted pictures in a child process, one at a time. A process that exceeds the time limit is ended, and the next picture starts a new one. */
export class OwnProcess {
  readonly #file: URL;
  readonly #limits: Limits;
  #child: ChildProcess | undefined;
  #idle: NodeJS.Timeout | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #count = 0;

  constructor(file: URL, limits: Limits) {
    this.#file = file;
    this.#limits = limits;
  }

  /** Sends a picture to the process and returns the answer. */
  ask(picture: Uint8Array): Promise<ProcessAnswer> {
    const answer = this.#last.then(() => this.#askNow(picture));
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  /** Ends the process. The answer for a picture in progress is `failed`. */
  close(): void {
    clearTimeout(this.#idle);
    this.#child?.kill('SIGKILL');
    this.#child = undefined;
  }

  #start(): ChildProcess {
    const child = fork(this.#file, [], {
      serialization: 'advanced',
      execArgv: [
        `--max-old-space-size=${this.#limits.heapMib}`,
        `--wasm-max-mem-pages=${this.#limits.webAssemblyMib * PAGES_OF_MIB}`,
        '--disable-warning=ExperimentalWarning',
      ],
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    child.unref();
    child.channel?.unref();
    return child;
  }

  #askNow(picture: Uint8Array): Promise<ProcessAnswer> {
    clearTimeout(this.#idle);
    const child = this.#child ?? this.#start();
    this.#child = child;
    this.#count += 1;
    const id = this.#count;
    return new Promise((resolve) => {
      const finish = (answer: ProcessAnswer, isOver: boolean) => {
        clearTimeout(deadline);
        clearInterval(look);
        child.off('message', hear);
        child.off('exit', fail);
        child.off('error', fail);
        child.channel?.unref();
        if (isOver) this.close();
        else this.#idle = setTimeout(() => this.close(), IDLE_MS).unref();
        resolve(answer);
      };
      const hear = (message: unknown) => {
        if (isReply(message, id))
          finish('value' in message ? { value: message.value } : 'failed', (residentMib(child.pid) ?? 0) > MEMORY_KEPT_MIB);
      };
      const fail = () => finish('failed', true);
      const deadline = setTimeout(() => finish('late', true), this.#limits.deadlineMs);
      const look = setInterval(() => {
        if ((residentMib(child.pid) ?? 0) > MEMORY_MOST_MIB) finish('large', true);
      }, MEMORY_LOOK_MS);
      child.channel?.ref();
      child.on('message', hear);
      child.once('exit', fail);
      child.once('error', fail);
      child.send({ id, picture }, (error) => {
        if (error !== null) fail();
      });
    });
  }
}
