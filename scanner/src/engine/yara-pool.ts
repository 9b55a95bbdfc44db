import { type ChildProcess, fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import type { SignatureFiles } from '#scanner/rules/signature-files.ts';
import type { Examination, Progress } from '#scanner/walk/examine.ts';
import { type ScanLimits, timeFor } from '#scanner/walk/limits.ts';
import type { SecondOpinion } from './clamd-pool.ts';
import type { EngineLog } from './engine-log.ts';
import { answerSchema, type EngineRequest } from './messages.ts';
import { createPoolHelp, type Question } from './pool-help.ts';
import { boundedProcess, ENGINE_MEMORY, type EngineMemory, MEMORY_LOOK_MS, residentBytes } from './process-memory.ts';

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
  /** Engines of this edition die over the file: they do not read it again. */
  | { kind: 'failed'; detail: 'engine_failed'; edition: string }
) & {
  /** What the engine beside it says, where one is set up. */
  second?: SecondOpinion;
};

/** How often engines of an edition have died over a file. */
export interface Deaths {
  count: number;
  edition: string;
}

/** A file to scan. `folder` takes what is unpacked; nobody else uses it. */
interface EngineJob {
  id: string;
  path: string;
  /** Of a small file: then there is nothing at `path`. */
  bytes?: Buffer | undefined;
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
  /** What was known of earlier readings. */
  deaths?: Deaths | undefined;
  /** Told of each death over the file before it is read again, so that it can be kept. */
  onDeath?: ((deaths: Deaths) => Promise<void>) | undefined;
}

/** What an engine is at a moment. Version and signatures are null until a process was ready once. */
interface EngineStatus {
  name: string;
  state: 'starting' | 'ready' | 'down';
  version: string | null;
  signatures_version: string | null;
  rules: number;
  hashes: number;
  /** What a process takes more for each feed. Bytes. */
  memory: { id: string; bytes: number }[];
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
  deaths: Deaths | undefined;
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
  current: { waiting: Waiting; timer: NodeJS.Timeout; watch: NodeJS.Timeout; killed_for: KilledFor | undefined } | undefined;
  /** What it matches for others while it has no file. */
  helping: Question<Member>[];
  /** Since when it has had nothing to do, by `performance.now()`. */
  idle_since: number;
  /** What it held when it was ready. Bytes. */
  at_rest: number;
  /** It has grown: this one takes its place once it is ready. */
  successor: Member | undefined;
  /** Its successor has come: it ends when it has no file. */
  is_replaced: boolean;
}

/** Why the server ended a process over a file. */
type KilledFor = 'time' | 'memory';

const ENGINE_NAME = 'YARA-X';

/** The process ends its own walk in time; when it cannot, it is killed this much later. ms. */
const KILL_GRACE_MS = 5_000;
/** A file that kills its engine is tried once more; the second time is final, until engine or signatures change. */
const DEATHS_MAXIMUM = 2;
/** A process that dies younger than this, or before it was ready, counts as a crash loop, and its replacement waits longer each time. ms. */
const YOUNG_MS = 5_000;
const BACKOFF_MS = { first: 100, most: 30_000 } as const;

/** A process beyond the first that has had nothing to do for so long ends; starting another takes half a second. ms. */
const IDLE_MS = 30_000;
/** How often in that time the pool looks. */
const IDLE_LOOKS = 6;

/** From here on nobody waits for a process that may not come back. */
const GIVE_UP_BACKOFF_MS = BACKOFF_MS.first * 8;
/** Signatures that take longer to compile have no place in an engine; a process that is not ready by then is ended, and another one is tried. ms. */
const START_MAXIMUM_MS = 120_000;

const PROCESS_FILE = new URL(import.meta.url.endsWith('.ts') ? './yara-process.ts' : './yara-process.js', import.meta.url);

/**
 * A pool of YARA-X child processes. Not threads: a runaway rule outlives `worker.terminate()`, SIGKILL always works. Each process scans one file at a
 * time; files wait in order. Up to `size` of them start as files come, always one ahead, and those beyond the first end when they have been idle. A process that dies is replaced, its file scanned again.
 */
export function createYaraPool(options: {
  signatures: SignatureFiles;
  size: number;
  limits: ScanLimits;
  memory?: EngineMemory | undefined;
  /** Processes that read one file together, at most. */
  cores?: number;
  start_ms?: number;
  idle_ms?: number;
  logger: EngineLog;
}): YaraPool {
  const { size, limits, memory = ENGINE_MEMORY, cores = availableParallelism(), start_ms = START_MAXIMUM_MS, logger } = options;
  const { idle_ms = IDLE_MS } = options;
  const members = new Set<Member>();
  let current: Generation = { signatures: options.signatures, members: new Set(), settle: undefined };
  let next: Generation | undefined;
  let known: Omit<EngineStatus, 'name' | 'state' | 'processes'> = {
    version: null,
    signatures_version: null,
    rules: 0,
    hashes: 0,
    memory: [],
  };
  const queue: Waiting[] = [];
  const timers = new Set<NodeJS.Timeout>();
  let backoff_ms = 0;
  let closing = false;

  const limits_digest = createHash('sha256').update(JSON.stringify(limits)).digest('hex').slice(0, 12);
  const editionOf = ({ version, signatures_version }: { version: string; signatures_version: string }) =>
    `${ENGINE_NAME} ${version} ${signatures_version} ${limits_digest}`;

  const help = createPoolHelp<Member>({ cores, isWanted: () => queue.length > 0, isGrown, send, logger });

  /** It holds more than a process may. */
  function isGrown({ child, at_rest }: Member): boolean {
    return (residentBytes(child.pid) ?? 0) - at_rest > memory.most;
  }

  function send(member: Member, request: EngineRequest): void {
    member.child.send(request, (error) => {
      // The process is going; its exit puts the file back.
      if (error) logger.warn({ err: error, pid: member.child.pid }, 'engine process unreachable');
    });
  }

  const isAtWork = ({ current, helping }: Member) => current !== undefined || helping.length > 0;

  /** One process more than there are files, as far as there may be: the next file finds one that has compiled its rules. */
  function wantedCount(): number {
    const busy = [...current.members].filter((member) => member.current !== undefined).length;
    return Math.min(size, busy + queue.length + 1);
  }

  /** What died is replaced elsewhere. */
  function startSpare(): void {
    if (closing || timers.size > 0) return;
    const wanted = wantedCount();
    for (let count = current.members.size; count > 0 && count < wanted; count++) start(current);
  }

  /** Ends processes that have been idle, the youngest first, down to one more than there are files. */
  function endIdle(): void {
    if (closing) return;
    const idle_from = performance.now() - idle_ms;
    for (const member of [...current.members].reverse()) {
      if (current.members.size <= wantedCount()) return;
      const is_idle = member.facts !== undefined && !isAtWork(member) && member.idle_since <= idle_from;
      if (!is_idle || member.successor !== undefined) continue;
      logger.debug({ pid: member.child.pid }, 'engine process has been idle and ends');
      giveWay(member);
    }
  }
  const looking = setInterval(endIdle, idle_ms / IDLE_LOOKS).unref();

  function dispatch(): void {
    assign();
    startSpare();
  }

  /** The next file for engines of an edition: one over which they have died too often gets its answer at once. */
  function nextFor(edition: string): Waiting | undefined {
    for (let waiting = queue.shift(); waiting !== undefined; waiting = queue.shift()) {
      // Others died, not these.
      if (waiting.deaths?.edition !== edition) waiting.deaths = { count: 0, edition };
      if (waiting.deaths.count < DEATHS_MAXIMUM) return waiting;
      waiting.answer({ kind: 'failed', detail: 'engine_failed', edition });
    }
    return undefined;
  }

  /** Ends a process over its file. */
  function end(member: Member, killed_for: KilledFor): void {
    if (member.current === undefined) return;
    member.current.killed_for ??= killed_for;
    member.child.kill('SIGKILL');
  }

  function assign(): void {
    for (const member of current.members) {
      if (member.facts === undefined || isAtWork(member) || !member.child.connected) continue;
      const waiting = nextFor(editionOf(member.facts));
      if (waiting === undefined) return;
      const timer = setTimeout(() => end(member, 'time'), timeFor(limits, waiting.job.size) + KILL_GRACE_MS);
      const watch = setInterval(() => {
        if (isGrown(member)) end(member, 'memory');
      }, MEMORY_LOOK_MS);
      member.current = { waiting, timer, watch, killed_for: undefined };
      waiting.job.onBegin?.();
      const { id, path, bytes, size, name, sha256, folder, password } = waiting.job;
      send(member, {
        ...{ kind: 'scan', job: id, path, size, name, sha256, folder, limits, has_help: cores > 1 && size > 1 },
        ...(bytes === undefined ? {} : { bytes }),
        ...(password === undefined ? {} : { password }),
      });
    }
  }

  function settle(member: Member): Waiting | undefined {
    const current = member.current;
    if (current === undefined) return undefined;
    clearTimeout(current.timer);
    clearInterval(current.watch);
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
    member.idle_since = performance.now();
    switch (answer.kind) {
      case 'ready':
        member.facts = { version: answer.version, signatures_version: answer.signatures_version };
        member.at_rest = residentBytes(member.child.pid) ?? answer.resident_bytes;
        for (const other of current.members) if (other.successor === member) giveWay(other);
        if (answer.left_out.length > 0)
          logger.error({ feeds: answer.left_out }, 'signature feeds cannot be used and are left out');
        if (member.generation === next && [...next.members].every(({ facts }) => facts !== undefined)) takeOver(next);
        if (member.generation === current) {
          const { version, signatures_version, rules, hashes, memory: of_feeds } = answer;
          known = { version, signatures_version, rules, hashes, memory: of_feeds };
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
      case 'asks':
        help.onAsks(member, answer);
        return;
      case 'matched':
        help.onMatched(member, answer.findings);
        if (isRetired(member)) member.child.kill('SIGKILL');
        break;
      case 'rested':
        replaceGrown(member, residentBytes(member.child.pid) ?? answer.resident_bytes);
        break;
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

  /** A process that has grown serves until another is ready in its place, so that nobody waits for the change. */
  function replaceGrown(member: Member, resident_bytes: number): void {
    const grown = resident_bytes - member.at_rest;
    if (closing || isRetired(member) || member.successor !== undefined || grown <= memory.grown) return;
    logger.info({ pid: member.child.pid, grown }, 'engine process has grown and is replaced');
    member.successor = start(member.generation);
  }

  function giveWay(member: Member): void {
    member.is_replaced = true;
    member.generation.members.delete(member);
    if (member.current === undefined) member.child.kill('SIGKILL');
  }

  /** Of a generation that was replaced, or that did not come up; or grown, with another in its place. */
  function isRetired({ generation, is_replaced }: Member): boolean {
    return is_replaced || (generation !== current && generation !== next);
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
  async function giveBack(waiting: Waiting, killed_for: KilledFor | undefined): Promise<void> {
    const { job, deaths } = waiting;
    await rm(job.folder, { recursive: true, force: true }).catch((error: unknown) =>
      logger.error({ err: error, scan: job.id }, 'what an engine process left behind could not be removed'),
    );
    if (job.signal?.aborted || closing) return waiting.answer({ kind: 'failed', detail: 'engine_down' });
    if (deaths !== undefined) {
      deaths.count += 1;
      await job
        .onDeath?.({ ...deaths })
        .catch((error: unknown) => logger.error({ err: error, scan: job.id }, 'the death of an engine could not be kept'));
      if (deaths.count >= DEATHS_MAXIMUM)
        return waiting.answer({ kind: 'failed', detail: 'engine_failed', edition: deaths.edition });
    }
    // The walk did not stop by itself when its time was over: the next one would not either.
    if (killed_for === 'time') return waiting.answer({ kind: 'failed', detail: 'time_limit' });
    if (isAway() || job.signal?.aborted || closing) return waiting.answer({ kind: 'failed', detail: 'engine_down' });
    queue.unshift(waiting);
    dispatch();
  }

  function onExit(member: Member, signal: string | null): void {
    members.delete(member);
    member.generation.members.delete(member);
    for (const other of member.generation.members) if (other.successor === member) other.successor = undefined;
    const killed_for = member.current?.killed_for;
    const was_ended = help.onExit(member);
    const waiting = settle(member);
    const cancelled = waiting?.job.signal?.aborted ?? false;
    if (!closing && !cancelled && (!isRetired(member) || waiting !== undefined))
      logger.warn({ pid: member.child.pid, signal, killed_for, scan: waiting?.job.id }, 'engine process ended');
    if (waiting !== undefined) void giveBack(waiting, killed_for);
    if (closing) return;
    if (member.generation === next) abandon(next);
    if (isRetired(member)) {
      dispatch();
      return;
    }
    // What the server itself has ended over a file says nothing of the engine.
    const died_early = member.facts === undefined || performance.now() - member.started_at < YOUNG_MS;
    const young = died_early && !cancelled && killed_for === undefined && !was_ended;
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

  function start(generation: Generation): Member {
    // An engine needs nothing of the environment, and hostile input must not find secrets there.
    const child = fork(PROCESS_FILE, [], {
      serialization: 'advanced',
      env: {},
      ...boundedProcess(),
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const member: Member = {
      generation,
      child,
      started_at: performance.now(),
      facts: undefined,
      current: undefined,
      helping: [],
      idle_since: performance.now(),
      at_rest: 0,
      successor: undefined,
      is_replaced: false,
    };
    members.add(member);
    generation.members.add(member);
    let gone = false;
    const late = setTimeout(() => {
      if (member.facts !== undefined) return;
      logger.error({ pid: child.pid, start_ms }, 'engine process did not become ready in time');
      child.kill('SIGKILL');
    }, start_ms);
    const leave = (signal: string | null) => {
      if (gone) return;
      gone = true;
      clearTimeout(late);
      onExit(member, signal);
    };
    child.on('message', (message) => onMessage(member, message));
    child.once('exit', (_code, signal) => leave(signal));
    child.once('error', (error) => {
      logger.error({ err: error }, 'engine process could not start');
      leave(null);
    });
    send(member, { kind: 'start', signatures: generation.signatures });
    return member;
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
          deaths: job.deaths,
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
        const timer = setTimeout(() => abandon(generation), start_ms);
        next = generation;
        // As many as there are now: whoever waits does not wait longer for the change.
        for (let count = Math.max(1, current.members.size); count > 0; count--) start(generation);
      });
    },
    pids: () => [...members].flatMap((member) => member.child.pid ?? []),
    async close() {
      closing = true;
      clearInterval(looking);
      if (next !== undefined) abandon(next);
      for (const timer of timers) clearTimeout(timer);
      for (const waiting of queue.splice(0)) waiting.answer({ kind: 'failed', detail: 'engine_down' });
      const ended = [...members].map((member) => new Promise<void>((resolve) => member.child.once('exit', () => resolve())));
      for (const member of members) member.child.kill('SIGKILL');
      await Promise.all(ended);
    },
  };
}
