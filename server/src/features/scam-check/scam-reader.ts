import { Worker } from 'node:worker_threads';
import type { ScamAnswer } from '@palisade/contract/scam-check';
import type { FastifyBaseLogger } from 'fastify';
import type { Problem } from '#platform/problem.ts';
import { refuse } from './scam-check.refusals.ts';
import {
  fromThreadSchema,
  type ScamInput,
  type ThreadPerson,
  type ThreadSurroundings,
  type ToThread,
  type Zone,
} from './scam-thread-messages.ts';

/** Beside this one, as source and as built. */
const THREAD_FILE = new URL(import.meta.url.endsWith('.ts') ? './scam-thread.ts' : './scam-thread.js', import.meta.url);
/** The tables take some 40 MB; a text of 20,000 characters adds 20 MB at most. */
const MEMORY_MB = 192;
/** Time limit of a check, in ms; then its thread is ended. A picture with its text takes at most 9 s, and an email has up to five. */
const DEADLINE_MS = 60_000;
/** An idle thread ends after this many ms, to free its memory. */
const IDLE_MS = 60_000;
/** Checks that may wait; more are refused. */
const WAITING_MAXIMUM = 100;

/** Scans an attachment with the engines. */
export type ScanAttachment = (
  name: string,
  bytes: Uint8Array,
  user_id: string,
  signal: AbortSignal,
) => Promise<'infected' | 'clean' | 'not_checked'>;

interface Waiting {
  user_id: string;
  done: (answer: ScamAnswer) => void;
  fail: (error: Problem) => void;
  timer: NodeJS.Timeout;
  stop: AbortController;
}

/** Checks messages in a separate thread, which starts with the first one and ends after a minute without work. */
export class ScamReader {
  private readonly scanAttachment: ScanAttachment;
  private readonly data: { zone: Zone | undefined };
  private readonly logger: FastifyBaseLogger;
  private readonly deadline_ms: number;
  private thread: Worker | undefined;
  private idle: NodeJS.Timeout | undefined;
  private count = 0;
  private readonly waiting = new Map<number, Waiting>();

  constructor(options: {
    scanAttachment: ScanAttachment;
    zone: Zone | undefined;
    logger: FastifyBaseLogger;
    deadline_ms?: number | undefined;
  }) {
    this.scanAttachment = options.scanAttachment;
    this.data = { zone: options.zone };
    this.logger = options.logger;
    this.deadline_ms = options.deadline_ms ?? DEADLINE_MS;
  }

  /** @throws Problem `unavailable` while too many checks wait, and for one that took too long or whose thread ended. */
  check(user_id: string, input: ScamInput, person: ThreadPerson, surroundings: ThreadSurroundings): Promise<ScamAnswer> {
    if (this.waiting.size >= WAITING_MAXIMUM) throw refuse('scam_check.busy', {}, { retry_after: 5 });
    clearTimeout(this.idle);
    const thread = this.thread ?? this.start();
    this.count += 1;
    const id = this.count;
    return new Promise<ScamAnswer>((resolve, reject) => {
      const timer = setTimeout(() => void this.end(id), this.deadline_ms);
      this.waiting.set(id, { user_id, done: resolve, fail: reject, timer, stop: new AbortController() });
      thread.postMessage({ kind: 'check', id, input, person, surroundings } satisfies ToThread);
    });
  }

  async close(): Promise<void> {
    await this.end();
  }

  private start(): Worker {
    const thread = new Worker(THREAD_FILE, {
      workerData: this.data,
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
      // Processes that read pictures inherit no environment.
      env: {},
    });
    this.thread = thread;
    thread.on('message', (message: unknown) => this.hear(thread, message));
    thread.on('error', (error) => {
      this.logger.error({ err: error }, 'the scam check ended');
      if (this.thread === thread) void this.end();
    });
    thread.on('exit', () => {
      if (this.thread === thread) void this.end();
    });
    return thread;
  }

  private hear(thread: Worker, message: unknown): void {
    const parsed = fromThreadSchema.safeParse(message);
    if (!parsed.success) {
      this.logger.error({ err: parsed.error }, 'the scam check said something unknown');
      return;
    }
    const said = parsed.data;
    if (said.kind === 'ask') {
      const asking = this.waiting.get(said.of);
      const told = (value?: string) => thread.postMessage({ kind: 'told', id: said.id, value } satisfies ToThread);
      if (asking === undefined) told();
      else this.scanAttachment(said.name, said.bytes, asking.user_id, asking.stop.signal).then(told, () => told());
      return;
    }
    const settled = this.settle(said.id);
    if (said.kind === 'answer') settled?.done(said.answer);
    else {
      this.logger.error({ reason: said.reason }, 'a scam check failed');
      settled?.fail(refuse('scam_check.failed', {}, { retry_after: 5 }));
    }
  }

  private settle(id: number): Waiting | undefined {
    const one = this.waiting.get(id);
    this.waiting.delete(id);
    clearTimeout(one?.timer);
    one?.stop.abort();
    if (this.waiting.size === 0) this.idle = setTimeout(() => void this.end(), IDLE_MS).unref();
    return one;
  }

  /** Ends the thread and fails its pending checks. `late`: the check that ran out of time. */
  private async end(late?: number): Promise<void> {
    const { thread } = this;
    this.thread = undefined;
    for (const id of [...this.waiting.keys()])
      this.settle(id)?.fail(refuse(id === late ? 'scam_check.too_long' : 'scam_check.failed', {}, { retry_after: 5 }));
    clearTimeout(this.idle);
    await thread?.terminate();
  }
}
