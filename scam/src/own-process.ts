import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** An idle process is ended after this. ms. */
const IDLE_MS = 30_000;

/** A process that holds more is ended. The bar is 300 MB; between two looks some more are taken. */
const MEMORY_MOST_MIB = 280;
const MEMORY_LOOK_MS = 25;
/** WebAssembly counts memory in pages of 64 KiB. */
const PAGES_OF_MIB = 16;
/** A process that holds more after a picture is ended, because the memory of a program in WebAssembly never shrinks. */
const MEMORY_KEPT_MIB = 180;

/** Memory that a process holds, in MiB; undefined where the kernel does not say (other systems than Linux). */
function residentMib(pid: number | undefined): number | undefined {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/mu.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
  } catch {
    return undefined;
  }
}

/** The main file of a process beside this one: source here, a bundle once built. */
export const processFile = (name: string) =>
  new URL(`./${name}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);

/** `late`: it took too long. `large`: it took too much memory. */
type ProcessAnswer = { value: unknown } | 'failed' | 'late' | 'large';

interface Reply {
  id: number;
  /** Absent where reading failed. */
  value?: unknown;
  /** Reading failed for want of memory. */
  is_large?: boolean;
}

/** Words of C++ and of Emscripten for it. */
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

/** The other side: answers each picture that the parent sends. */
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
  /** The most that a program in WebAssembly may hold. Node itself and its copies of the picture take 80 to 100 MiB beside it. */
  webAssemblyMib: number;
}

/** Reads hostile pictures in a process of its own, one at a time. A process that is late is ended, and the next picture starts another. */
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

  /** Asks the process about a picture. */
  ask(picture: Uint8Array): Promise<ProcessAnswer> {
    const answer = this.#last.then(() => this.#askNow(picture));
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  /** Ends the process. A picture that is being read is answered as failed. */
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
