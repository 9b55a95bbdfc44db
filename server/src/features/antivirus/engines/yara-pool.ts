import { type ChildProcess, fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { SecondOpinion } from './clamd-pool.ts';
import type { Examination, Progress } from './examine.ts';
import type { ScanLimits } from './limits.ts';
import { answerSchema, type EngineRequest } from './messages.ts';
import type { SignatureFiles } from './signature-files.ts';

/** What an engine says of a file. Failure is an answer too: a file is then pending, never clean. */
export type EngineOutcome = (
  | {
      kind: 'examined';
      examination: Examination;
      duration_ms: number;
      name: string;
      version: string;
      signatures_version: string;
      /** `edition()` of the engine that answered. */
      edition: string;
    }
  | { kind: 'failed'; detail: 'engine_down' | 'time_limit' }
) & {
  /** What the engine beside it says, where one is set up. */
  second?: SecondOpinion;
};

/** A file to scan. `folder` takes what is unpacked; nobody else uses it. */
interface EngineJob {
  id: string;
  path: string;
  size: number;
  name: string;
  /** Of the file, in hex. */
  sha256: string;
  folder: string;
  /** Opens what is encrypted. */
  password?: string | undefined;
  /** Aborted: nobody wants an answer any more. The outcome is then `failed`, and nothing of the engine holds the file. */
  signal?: AbortSignal | undefined;
  /** Told when a process takes the file up; until then it waits for one. */
  onBegin?: (() => void) | undefined;
  onProgress?: ((progress: Progress & { engine: string }) => void) | undefined;
}

/** What an engine is at a moment. Version and signatures are null until a process was ready once. */
interface EngineStatus {
  name: string;
  state: 'starting' | 'ready' | 'down';
  version: string | null;
  signatures_version: string | null;
  rules: number;
  hashes: number;
  processes: { ready: number; wanted: number };
}

export interface Engine {
  /** Engine, signatures and limits in one word: the same file gets the same answer while it stays the same. Undefined while nothing could scan. */
  edition(): string | undefined;
  scan(job: EngineJob): Promise<EngineOutcome>;
  /** Whether at least one process could scan now. */
  ready(): boolean;
  /** Whether every engine that is set up could: what one of them has not seen waits for that. */
  complete(): boolean;
  /** Process ids of the running engines. */
  pids(): number[];
  close(): Promise<void>;
}

export interface YaraPool extends Engine {
  status(): EngineStatus;
  /**
   * Moves over to other signatures without a gap: new processes start beside the running ones and take over once all of them are ready. A scan that is
   * under way ends on the signatures it began with. Answers false, with everything as it was, when the new processes do not come up.
   */
  reload(signatures: SignatureFiles): Promise<boolean>;
}

interface Waiting {
  job: EngineJob;
  /** How often a process died over this file. */
  deaths: number;
  answer: (outcome: EngineOutcome) => void;
}

/** Processes with the same signatures. */
interface Generation {
  signatures: SignatureFiles;
  members: Set<Member>;
  /** Told once, whether the generation took over; for one that is coming up. */
  settle: ((took_over: boolean) => void) | undefined;
}

interface Member {
  generation: Generation;
  child: ChildProcess;
  started_at: number;
  facts: { version: string; signatures_version: string } | undefined;
  current: { waiting: Waiting; timer: NodeJS.Timeout; timed_out: boolean } | undefined;
}

const ENGINE_NAME = 'YARA-X';

/** The process ends its own walk in time; when it cannot, it is killed this much later. ms. */
const KILL_GRACE_MS = 5_000;
/** A file that kills its engine is tried once more, then given up. */
const DEATHS_MAXIMUM = 2;
/** A process that dies younger than this counts as a crash loop, and its replacement waits longer each time. ms. */
const YOUNG_MS = 5_000;
const BACKOFF_MS = { first: 100, most: 30_000 } as const;

/** From here on nobody waits for a process that may not come back. */
const GIVE_UP_BACKOFF_MS = BACKOFF_MS.first * 8;
/** Signatures that take longer to compile have no place in an engine. ms. */
const RELOAD_MAXIMUM_MS = 120_000;

const PROCESS_FILE = new URL(import.meta.url.endsWith('.ts') ? './yara-process.ts' : './yara-process.js', import.meta.url);

/**
 * A pool of YARA-X child processes. Not threads: a runaway rule outlives `worker.terminate()`, SIGKILL always works. Each process scans one file at a
 * time; files wait in order. Up to `size` of them start as files come, always one ahead. A process that dies is replaced, its file scanned again.
 */
export function createYaraPool(options: {
  signatures: SignatureFiles;
  size: number;
  limits: ScanLimits;
  logger: FastifyBaseLogger;
}): YaraPool {
  const { size, limits, logger } = options;
  const members = new Set<Member>();
  let current: Generation = { signatures: options.signatures, members: new Set(), settle: undefined };
  let next: Generation | undefined;
  let known: Omit<EngineStatus, 'name' | 'state' | 'processes'> = {
    version: null,
    signatures_version: null,
    rules: 0,
    hashes: 0,
  };
  const queue: Waiting[] = [];
  const timers = new Set<NodeJS.Timeout>();
  let backoff_ms = 0;
  let closing = false;

  const limits_digest = createHash('sha256').update(JSON.stringify(limits)).digest('hex').slice(0, 12);
  const editionOf = ({ version, signatures_version }: { version: string; signatures_version: string }) =>
    `${ENGINE_NAME} ${version} ${signatures_version} ${limits_digest}`;

  function send(member: Member, request: EngineRequest): void {
    member.child.send(request, (error) => {
      // The process is going; its exit puts the file back.
      if (error) logger.warn({ err: error, pid: member.child.pid }, 'engine process unreachable');
    });
  }

  /** One process more than there are files, as far as there may be: the next file finds one that has compiled its rules. What died is replaced elsewhere. */
  function startSpare(): void {
    if (closing || timers.size > 0) return;
    const busy = [...current.members].filter((member) => member.current !== undefined).length;
    const wanted = Math.min(size, busy + queue.length + 1);
    for (let count = current.members.size; count > 0 && count < wanted; count++) start(current);
  }

  function dispatch(): void {
    assign();
    startSpare();
  }

  function assign(): void {
    for (const member of current.members) {
      if (member.facts === undefined || member.current !== undefined || !member.child.connected) continue;
      const waiting = queue.shift();
      if (waiting === undefined) return;
      const timer = setTimeout(() => {
        if (member.current) member.current.timed_out = true;
        member.child.kill('SIGKILL');
      }, limits.time_ms + KILL_GRACE_MS);
      member.current = { waiting, timer, timed_out: false };
      waiting.job.onBegin?.();
      send(member, {
        kind: 'scan',
        job: waiting.job.id,
        path: waiting.job.path,
        size: waiting.job.size,
        name: waiting.job.name,
        sha256: waiting.job.sha256,
        folder: waiting.job.folder,
        ...(waiting.job.password === undefined ? {} : { password: waiting.job.password }),
        limits,
      });
    }
  }

  function settle(member: Member): Waiting | undefined {
    const current = member.current;
    if (current === undefined) return undefined;
    clearTimeout(current.timer);
    member.current = undefined;
    return current.waiting;
  }

  function onMessage(member: Member, message: unknown): void {
    const parsed = answerSchema.safeParse(message);
    if (!parsed.success) {
      logger.error({ pid: member.child.pid }, 'engine process said something unknown');
      member.child.kill('SIGKILL');
      return;
    }
    const answer = parsed.data;
    switch (answer.kind) {
      case 'ready':
        member.facts = { version: answer.version, signatures_version: answer.signatures_version };
        if (answer.left_out.length > 0)
          logger.error({ feeds: answer.left_out }, 'signature feeds cannot be used and are left out');
        if (member.generation === next && [...next.members].every(({ facts }) => facts !== undefined)) takeOver(next);
        if (member.generation === current) {
          const { version, signatures_version, rules, hashes } = answer;
          known = { version, signatures_version, rules, hashes };
        }
        logger.debug(
          { pid: member.child.pid, rules: answer.rules, signatures_version: answer.signatures_version },
          'engine process ready',
        );
        break;
      case 'progress': {
        const { job } = member.current?.waiting ?? {};
        const { share, members_read, members_found } = answer;
        if (job?.id === answer.job) job.onProgress?.({ engine: ENGINE_NAME, share, members_read, members_found });
        return;
      }
      case 'refused':
        logger.error({ reason: answer.reason }, 'engine rules do not compile');
        member.child.kill('SIGKILL');
        return;
      case 'scanned':
      case 'failed': {
        if (member.current?.waiting.job.id !== answer.job || member.facts === undefined) return;
        const waiting = settle(member);
        if (answer.kind === 'failed') {
          logger.error({ scan: answer.job, reason: answer.reason }, 'engine could not scan a file');
          waiting?.answer({ kind: 'failed', detail: 'engine_down' });
        } else {
          backoff_ms = 0;
          waiting?.answer({
            kind: 'examined',
            examination: answer.examination,
            duration_ms: answer.duration_ms,
            name: ENGINE_NAME,
            ...member.facts,
            edition: editionOf(member.facts),
          });
        }
        if (isRetired(member)) member.child.kill('SIGKILL');
        break;
      }
    }
    dispatch();
  }

  /** Of a generation that was replaced, or that did not come up. */
  function isRetired({ generation }: Member): boolean {
    return generation !== current && generation !== next;
  }

  function retire(generation: Generation): void {
    for (const member of generation.members) {
      if (member.current === undefined) member.child.kill('SIGKILL');
    }
  }

  function takeOver(generation: Generation): void {
    const before = current;
    current = generation;
    next = undefined;
    backoff_ms = 0;
    retire(before);
    generation.settle?.(true);
  }

  /** A generation that is coming up ends; the current one goes on. */
  function abandon(generation: Generation): void {
    if (next === generation) next = undefined;
    retire(generation);
    generation.settle?.(false);
  }

  /** What becomes of a file whose process has ended. What that had unpacked goes first: nobody else would remove it, and the next one wants the place. */
  async function giveBack(waiting: Waiting, timed_out: boolean): Promise<void> {
    const { job } = waiting;
    await rm(job.folder, { recursive: true, force: true }).catch((error: unknown) =>
      logger.error({ err: error, scan: job.id }, 'what an engine process left behind could not be removed'),
    );
    const is_given_up = job.signal?.aborted || closing || waiting.deaths >= DEATHS_MAXIMUM || isAway();
    if (timed_out) return waiting.answer({ kind: 'failed', detail: 'time_limit' });
    if (is_given_up) return waiting.answer({ kind: 'failed', detail: 'engine_down' });
    queue.unshift(waiting);
    dispatch();
  }

  function onExit(member: Member, signal: string | null): void {
    members.delete(member);
    member.generation.members.delete(member);
    const timed_out = member.current?.timed_out ?? false;
    const waiting = settle(member);
    const cancelled = waiting?.job.signal?.aborted ?? false;
    if (!closing && !cancelled && !isRetired(member))
      logger.warn({ pid: member.child.pid, signal, timed_out }, 'engine process ended');
    if (waiting !== undefined) {
      waiting.deaths += 1;
      void giveBack(waiting, timed_out);
    }
    if (closing) return;
    if (member.generation === next) abandon(next);
    if (isRetired(member)) {
      dispatch();
      return;
    }
    const young = performance.now() - member.started_at < YOUNG_MS && !cancelled;
    backoff_ms = young ? Math.min(BACKOFF_MS.most, Math.max(BACKOFF_MS.first, backoff_ms * 2)) : 0;
    const timer = setTimeout(() => {
      timers.delete(timer);
      // Signatures that took over meanwhile have brought processes of their own.
      if (current.members.size < size) start(current);
    }, backoff_ms);
    timers.add(timer);
    if (isAway()) {
      for (const left of queue.splice(0)) left.answer({ kind: 'failed', detail: 'engine_down' });
    }
  }

  /** Nobody should wait for an engine that may not come back: what waits is pending, and scanned when one does. */
  function isAway(): boolean {
    return current.members.size === 0 && backoff_ms > GIVE_UP_BACKOFF_MS;
  }

  function start(generation: Generation): void {
    // An engine needs nothing of the environment, and hostile input must not find secrets there.
    const child = fork(PROCESS_FILE, [], {
      serialization: 'advanced',
      env: {},
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const member: Member = { generation, child, started_at: performance.now(), facts: undefined, current: undefined };
    members.add(member);
    generation.members.add(member);
    let gone = false;
    const leave = (signal: string | null) => {
      if (gone) return;
      gone = true;
      onExit(member, signal);
    };
    child.on('message', (message) => onMessage(member, message));
    child.once('exit', (_code, signal) => leave(signal));
    child.once('error', (error) => {
      logger.error({ err: error }, 'engine process could not start');
      leave(null);
    });
    send(member, { kind: 'start', signatures: generation.signatures });
  }

  start(current);

  const readyCount = () => [...current.members].filter(({ facts }) => facts !== undefined).length;
  const ready = () => readyCount() > 0;

  /** A scan that nobody wants any more: it leaves the queue, or its process is killed, because that always works. */
  function cancel(waiting: Waiting): void {
    const place = queue.indexOf(waiting);
    if (place >= 0) {
      queue.splice(place, 1);
      waiting.answer({ kind: 'failed', detail: 'engine_down' });
    }
    for (const member of members) if (member.current?.waiting === waiting) member.child.kill('SIGKILL');
  }

  return {
    scan: (job) =>
      new Promise((resolve) => {
        if (closing || isAway() || job.signal?.aborted) return resolve({ kind: 'failed', detail: 'engine_down' });
        const abort = () => cancel(waiting);
        const waiting: Waiting = {
          job,
          deaths: 0,
          answer(outcome) {
            job.signal?.removeEventListener('abort', abort);
            resolve(outcome);
          },
        };
        job.signal?.addEventListener('abort', abort, { once: true });
        queue.push(waiting);
        dispatch();
      }),
    edition() {
      for (const { facts } of current.members) if (facts !== undefined) return editionOf(facts);
      return undefined;
    },
    ready,
    complete: ready,
    status() {
      const count = readyCount();
      const state = count > 0 ? 'ready' : backoff_ms > GIVE_UP_BACKOFF_MS ? 'down' : 'starting';
      return { ...known, name: ENGINE_NAME, state, processes: { ready: count, wanted: Math.max(1, current.members.size) } };
    },
    reload(signatures) {
      if (next !== undefined) abandon(next);
      if (closing) return Promise.resolve(false);
      return new Promise((resolve) => {
        const generation: Generation = {
          signatures,
          members: new Set(),
          settle(took_over) {
            clearTimeout(timer);
            resolve(took_over);
          },
        };
        const timer = setTimeout(() => abandon(generation), RELOAD_MAXIMUM_MS);
        next = generation;
        // As many as there are now: whoever waits does not wait longer for the change.
        for (let count = Math.max(1, current.members.size); count > 0; count--) start(generation);
      });
    },
    pids: () => [...members].flatMap((member) => member.child.pid ?? []),
    async close() {
      closing = true;
      if (next !== undefined) abandon(next);
      for (const timer of timers) clearTimeout(timer);
      for (const waiting of queue.splice(0)) waiting.answer({ kind: 'failed', detail: 'engine_down' });
      const ended = [...members].map((member) => new Promise<void>((resolve) => member.child.once('exit', () => resolve())));
      for (const member of members) member.child.kill('SIGKILL');
      await Promise.all(ended);
    },
  };
}
