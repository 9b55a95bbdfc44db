import { type ChildProcess, fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { type ScanLimits, timeFor } from '#scanner/reading/limits.ts';
import type { SignatureFiles } from '#scanner/rules/signature-files.ts';
import type { Examination, Progress } from '#scanner/walk/examination.ts';
import { engineEnvironment, nativeNote, noteDeath, noteNativeMatch } from '#scanner/yara/choose-engine.ts';
import type { EngineKind } from '#scanner/yara/rule-engine.ts';
import type { SecondOpinion } from './clamd-pool.ts';
import type { EngineLog } from './engine-log.ts';
import { answerSchema, type EngineRequest, type FileMessage } from './messages.ts';
import { createPoolHelp, type Question } from './pool-help.ts';
import {
  boundedProcess,
  ENGINE_MEMORY,
  type EngineMemory,
  FEW_ARENAS,
  isGone,
  MEMORY_LOOK_MS,
  residentBytes,
} from './process-memory.ts';
import { FILES_TOGETHER, isTogether, lastBegin, TAKEN_BACK_AFTER_MS, type Together, takeFollowing } from './together.ts';

/** Result of an engine for a file. After a failure the file is pending, never clean. */
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
  /** Engine processes of this edition died while they scanned the file: they do not scan it again. */
  | { kind: 'failed'; detail: 'engine_failed'; edition: string }
) & {
  /** Answer of the second engine, where one is configured. */
  second?: SecondOpinion;
};

/** Number of engine processes of an edition that died while they scanned a file. */
export interface Deaths {
  count: number;
  edition: string;
}

/** A file to scan. `folder` holds unpacked members and belongs to this job alone. */
interface EngineJob {
  id: string;
  path: string;
  /** Content of a small file in memory; there is then no file at `path`. */
  bytes?: Buffer | undefined;
  size: number;
  name: string;
  /** In hex. */
  sha256: string;
  folder: string;
  /** Password for encrypted members. */
  password?: string | undefined;
  /** Cancels the scan when aborted. The outcome is then `failed`, and no engine process has the file open. */
  signal?: AbortSignal | undefined;
  /** Called when a process begins the file; until then the file waits for a process. */
  onBegin?: (() => void) | undefined;
  onProgress?: ((progress: Progress & { engine: string }) => void) | undefined;
  /** Deaths in earlier scans of the file. */
  deaths?: Deaths | undefined;
  /** Set for a small file in memory, which one process may scan in a batch with others. */
  together?: Together | undefined;
  /** Called after each death before the file is scanned again, so that the caller can store it. */
  onDeath?: ((deaths: Deaths) => Promise<void>) | undefined;
}

/** Current state of an engine. Version and signatures are null until a process has been ready. */
interface EngineStatus {
  name: string;
  /** The build in use; null until a process has been ready. */
  kind: EngineKind | null;
  /** Sentences for the user that say why the native build is not in use. */
  note: string | null;
  state: 'starting' | 'ready' | 'down';
  version: string | null;
  signatures_version: string | null;
  rules: number;
  hashes: number;
  /** Additional memory of a process for each feed. Bytes. */
  memory: { id: string; bytes: number }[];
  processes: { ready: number; wanted: number };
}

export interface Engine {
  /** Identifies engine, signatures and limits: while it is unchanged, the same file gets the same result. Undefined while no engine can scan. */
  edition(): string | undefined;
  scan(job: EngineJob): Promise<EngineOutcome>;
  /** Whether at least one process could scan now. */
  ready(): boolean;
  /** Whether every configured engine can scan now. Files that one of them has not scanned wait for this. */
  complete(): boolean;
  /** Process ids of the running engines. */
  pids(): number[];
  close(): Promise<void>;
}

export interface YaraPool extends Engine {
  status(): EngineStatus;
  /**
   * Switches to other signatures without interruption: new processes start beside the running ones and take over once all of them are ready. A scan in
   * progress ends with the signatures it began with. Returns false, and keeps the old processes, when a new one does not become ready.
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
  /** Called for a generation that is starting, with whether it took over. */
  settle: ((took_over: boolean) => void) | undefined;
}

interface Member {
  generation: Generation;
  child: ChildProcess;
  started_at: number;
  facts: { version: string; signatures_version: string } | undefined;
  /** Undefined until it is ready. */
  kind: EngineKind | undefined;
  current: Reading | undefined;
  /** Match requests of other processes, which it serves while it has no file. */
  helping: Question<Member>[];
  /** Start of its idle time, by `performance.now()`. */
  idle_since: number;
  /** Resident memory when it became ready. Bytes. */
  at_rest: number;
  /** Its replacement, which is still starting; set once its memory has grown. */
  successor: Member | undefined;
  /** It gets no more files, and ends when it has none. */
  is_replaced: boolean;
}

/** The files that a process was sent. */
interface Reading {
  /** The current file: the first one without an answer. */
  waiting: Waiting;
  /** The files after the current one. */
  following: Waiting[];
  /** Timer after which the following files are taken back; undefined for a file scanned alone, and once it has run. */
  takingBack: NodeJS.Timeout | undefined;
  timer: NodeJS.Timeout;
  watch: NodeJS.Timeout;
  killed_for: KilledFor | undefined;
}

/** Why the server killed a process that had a file. */
type KilledFor = 'time' | 'memory';

const ENGINE_NAME = 'YARA-X';

/** A process enforces the time limit itself; if it fails to, the server kills it this long after the limit. ms. */
const KILL_GRACE_MS = 5_000;
/** A file whose process died is scanned once more; the second death is final until engine or signatures change. */
const DEATHS_MAXIMUM = 2;
/** A process that dies at a younger age, or before it was ready, counts as a crash loop: each replacement starts after a longer wait. ms. */
const YOUNG_MS = 5_000;
const BACKOFF_MS = { first: 100, most: 30_000 } as const;

/** Idle time after which a spare process ends; starting another takes half a second. ms. */
const IDLE_MS = 30_000;
/** Number of checks for idle processes during that time. */
const IDLE_LOOKS = 6;

/** Above this backoff, files do not wait for a process that may never start. ms. */
const GIVE_UP_BACKOFF_MS = BACKOFF_MS.first * 8;
/** A process that is not ready after this time, which includes compiling the signatures, is killed and another one started. ms. */
const START_MAXIMUM_MS = 120_000;

const PROCESS_FILE = new URL(import.meta.url.endsWith('.ts') ? './yara-process.ts' : './yara-process.js', import.meta.url);

interface YaraPoolOptions {
  signatures: SignatureFiles;
  size: number;
  limits: ScanLimits;
  memory?: EngineMemory | undefined;
  /** Maximum number of processes that match one file together. */
  cores?: number;
  start_ms?: number;
  idle_ms?: number;
  /** The main file of a process. */
  process_file?: URL | undefined;
  logger: EngineLog;
}

/** Whether a process has a file, or matches for other processes. */
const isAtWork = ({ current, helping }: Member) => current !== undefined || helping.length > 0;

/** A file in the form of a message to an engine process. */
function messageOf({ job: { id, path, bytes, size, name, sha256, folder, password } }: Waiting): FileMessage {
  const file = { job: id, path, size, name, sha256, folder };
  return { ...file, ...(bytes === undefined ? {} : { bytes }), ...(password === undefined ? {} : { password }) };
}

class YaraProcesses implements YaraPool {
  private readonly size: number;
  private readonly limits: ScanLimits;
  private readonly limits_digest: string;
  private readonly memory: EngineMemory;
  private readonly cores: number;
  private readonly start_ms: number;
  private readonly idle_ms: number;
  private readonly process_file: URL;
  private readonly logger: EngineLog;
  private readonly members = new Set<Member>();
  private current: Generation;
  private next: Generation | undefined;
  private known: Omit<EngineStatus, 'name' | 'state' | 'processes'> = {
    kind: null,
    note: null,
    version: null,
    signatures_version: null,
    rules: 0,
    hashes: 0,
    memory: [],
  };
  private readonly queue: Waiting[] = [];
  private readonly timers = new Set<NodeJS.Timeout>();
  private backoff_ms = 0;
  private closing = false;
  private readonly help: ReturnType<typeof createPoolHelp<Member>>;
  private readonly looking: NodeJS.Timeout;

  constructor(options: YaraPoolOptions) {
    const { size, limits, memory = ENGINE_MEMORY, cores = availableParallelism(), logger } = options;
    const { start_ms = START_MAXIMUM_MS, idle_ms = IDLE_MS, process_file = PROCESS_FILE } = options;
    this.size = size;
    this.limits = limits;
    this.limits_digest = createHash('sha256').update(JSON.stringify(limits)).digest('hex').slice(0, 12);
    this.memory = memory;
    this.cores = cores;
    this.start_ms = start_ms;
    this.idle_ms = idle_ms;
    this.process_file = process_file;
    this.logger = logger;
    this.current = { signatures: options.signatures, members: new Set(), settle: undefined };
    this.help = createPoolHelp<Member>({
      cores,
      isWanted: () => this.queue.length > 0,
      isGrown: (member) => this.isGrown(member),
      send: (member, request) => this.send(member, request),
      logger,
    });
    this.looking = setInterval(() => this.endIdle(), idle_ms / IDLE_LOOKS).unref();
    this.start(this.current);
  }

  private editionOf({ version, signatures_version }: { version: string; signatures_version: string }): string {
    return `${ENGINE_NAME} ${version} ${signatures_version} ${this.limits_digest}`;
  }

  /** Whether a process has grown by more memory than is allowed. */
  private isGrown({ child, at_rest }: Member): boolean {
    return (residentBytes(child.pid) ?? 0) - at_rest > this.memory.most;
  }

  private send(member: Member, request: EngineRequest): void {
    member.child.send(request, (error) => {
      // The process is ending; `onExit` returns its file to the queue.
      if (error) this.logger.warn({ err: error, pid: member.child.pid }, 'engine process unreachable');
    });
  }

  /** One process more than there are files, up to `size`, so that the next file finds a process with compiled rules. */
  private wantedCount(): number {
    const busy = [...this.current.members].filter((member) => member.current !== undefined).length;
    const together = this.queue.filter(isTogether).length;
    const waiting = this.queue.length - together + Math.ceil(together / FILES_TOGETHER);
    return Math.min(this.size, busy + waiting + 1);
  }

  /** Starts spare processes for waiting files. `onExit` replaces dead processes. */
  private startSpare(): void {
    if (this.closing || this.timers.size > 0) return;
    const wanted = this.wantedCount();
    for (let count = this.current.members.size; count > 0 && count < wanted; count++) this.start(this.current);
  }

  /** Ends idle processes, the youngest first, down to one more than there are files. */
  private endIdle(): void {
    if (this.closing) return;
    const idle_from = performance.now() - this.idle_ms;
    for (const member of [...this.current.members].reverse()) {
      if (this.current.members.size <= this.wantedCount()) return;
      const is_idle = member.facts !== undefined && !isAtWork(member) && member.idle_since <= idle_from;
      if (!is_idle || member.successor !== undefined) continue;
      this.logger.debug({ pid: member.child.pid }, 'engine process has been idle and ends');
      this.giveWay(member);
    }
  }
  private dispatch(): void {
    this.assign();
    this.startSpare();
  }

  /** Whether waiting files in memory are left to the process that scans a batch now: it is free sooner than another process could start. */
  private isReadingTogether(): boolean {
    const waiting = this.queue.filter(isTogether).length;
    return waiting < FILES_TOGETHER && [...this.current.members].some(({ current }) => current?.takingBack !== undefined);
  }

  /** The next file for an engine of an edition. Files on which that edition has died DEATHS_MAXIMUM times are answered as failed and skipped. */
  private nextFor(edition: string): Waiting | undefined {
    const are_held = this.isReadingTogether();
    for (;;) {
      const place = are_held ? this.queue.findIndex((waiting) => !isTogether(waiting)) : 0;
      const [waiting] = place < 0 ? [] : this.queue.splice(place, 1);
      if (waiting === undefined) return undefined;
      // Deaths of another edition do not count.
      if (waiting.deaths?.edition !== edition) waiting.deaths = { count: 0, edition };
      if (waiting.deaths.count < DEATHS_MAXIMUM) return waiting;
      waiting.answer({ kind: 'failed', detail: 'engine_failed', edition });
    }
  }

  /** Kills a process because of its file. */
  private end(member: Member, killed_for: KilledFor): void {
    if (member.current === undefined) return;
    member.current.killed_for ??= killed_for;
    member.child.kill('SIGKILL');
  }

  private assign(): void {
    for (const member of this.current.members) {
      if (member.facts === undefined || isAtWork(member) || !member.child.connected) continue;
      const edition = this.editionOf(member.facts);
      const waiting = this.nextFor(edition);
      if (waiting === undefined) return;
      // A file whose process died is not given to a process that died at the same time and is not reported yet: the file would be blamed twice.
      if (waiting.deaths !== undefined && waiting.deaths.count > 0 && isGone(member.child.pid)) {
        this.queue.unshift(waiting);
        continue;
      }
      const following = isTogether(waiting) ? takeFollowing(this.queue) : [];
      for (const other of following) other.deaths = { count: 0, edition };
      this.begin(member, waiting, following);
    }
  }

  private begin(member: Member, waiting: Waiting, following: Waiting[]): void {
    const files = [waiting, ...following];
    const size = Math.max(...files.map(({ job }) => job.size));
    const reading: Reading = {
      waiting,
      following,
      takingBack: undefined,
      timer: setTimeout(() => this.end(member, 'time'), timeFor(this.limits, size) + KILL_GRACE_MS),
      watch: setInterval(() => {
        if (this.isGrown(member)) this.end(member, 'memory');
      }, MEMORY_LOOK_MS),
      killed_for: undefined,
    };
    // `setImmediate` lets answers that have already arrived be handled first.
    if (isTogether(waiting))
      reading.takingBack = setTimeout(() => setImmediate(() => this.takeBack(member, reading)), TAKEN_BACK_AFTER_MS);
    member.current = reading;
    waiting.job.onBegin?.();
    const has_help = this.cores > 1 && files.length === 1 && size > 1;
    this.send(member, { kind: 'scan', files: files.map(messageOf), until: lastBegin(), limits: this.limits, has_help });
  }

  /** A process has not finished its batch in time: the files that it has not begun are set aside, for another process. */
  private takeBack(member: Member, reading: Reading): void {
    if (member.current !== reading) return;
    reading.takingBack = undefined;
    const { job } = reading.waiting;
    // A file that was cancelled while it waited in the batch: its caller has an answer already.
    if (job.signal?.aborted) member.child.kill('SIGKILL');
    job.together?.onLong();
    this.setAside(reading.following.splice(0));
    this.dispatch();
  }

  /** Answers files that were not begun as failed; their callers submit them again. */
  private setAside(files: readonly Waiting[]): void {
    for (const { job, answer } of files) {
      if (job.signal?.aborted !== true && !this.closing) job.together?.onSetAside();
      answer({ kind: 'failed', detail: 'engine_down' });
    }
  }

  /** Moves on to the next file of the batch, unless `is_last`, and returns the finished file. */
  private advance(member: Member, reading: Reading, is_last: boolean): Waiting | undefined {
    if (is_last) this.setAside(reading.following.splice(0));
    const next = reading.following.shift();
    if (next === undefined) return this.settle(member);
    const { waiting } = reading;
    reading.waiting = next;
    reading.timer.refresh();
    next.job.onBegin?.();
    return waiting;
  }

  private settle(member: Member): Waiting | undefined {
    const reading = member.current;
    if (reading === undefined) return undefined;
    clearTimeout(reading.timer);
    clearInterval(reading.watch);
    clearTimeout(reading.takingBack);
    member.current = undefined;
    return reading.waiting;
  }

  private onMessage(member: Member, message: unknown): void {
    const parsed = answerSchema.safeParse(message);
    if (!parsed.success) {
      this.logger.error({ pid: member.child.pid }, 'engine process said something unknown');
      member.child.kill('SIGKILL');
      return;
    }
    const answer = parsed.data;
    member.idle_since = performance.now();
    switch (answer.kind) {
      case 'ready':
        member.facts = { version: answer.version, signatures_version: answer.signatures_version };
        member.kind = answer.engine.kind;
        if (member.kind === 'native') noteNativeMatch();
        member.at_rest = residentBytes(member.child.pid) ?? answer.resident_bytes;
        for (const other of this.current.members) if (other.successor === member) this.giveWay(other);
        if (answer.left_out.length > 0)
          this.logger.error({ feeds: answer.left_out }, 'signature feeds cannot be used and are left out');
        if (member.generation === this.next && [...this.next.members].every(({ facts }) => facts !== undefined))
          this.takeOver(this.next);
        if (member.generation === this.current) {
          const { version, signatures_version, rules, hashes, memory: of_feeds } = answer;
          const { kind } = answer.engine;
          const note = kind === 'wasm' ? (nativeNote() ?? answer.engine.note) : answer.engine.note;
          if (note !== null && note !== this.known.note) this.logger.warn({ engine: kind }, note);
          this.known = { kind, note, version, signatures_version, rules, hashes, memory: of_feeds };
        }
        this.logger.debug(
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
        this.help.onAsks(member, answer);
        return;
      case 'matched':
        this.help.onMatched(member, answer.findings);
        if (this.isRetired(member)) member.child.kill('SIGKILL');
        break;
      case 'rested':
        this.replaceGrown(member, residentBytes(member.child.pid) ?? answer.resident_bytes);
        break;
      case 'refused':
        this.logger.error({ reason: answer.reason }, 'engine rules do not compile');
        member.child.kill('SIGKILL');
        return;
      case 'scanned':
      case 'failed': {
        const { current } = member;
        if (current?.waiting.job.id !== answer.job || member.facts === undefined) return;
        const waiting = this.advance(member, current, answer.is_last);
        if (answer.kind === 'failed') {
          this.logger.error({ scan: answer.job, reason: answer.reason }, 'engine could not scan a file');
          waiting?.answer({ kind: 'failed', detail: 'engine_down' });
        } else {
          this.backoff_ms = 0;
          waiting?.answer({
            kind: 'examined',
            examination: answer.examination,
            duration_ms: answer.duration_ms,
            name: ENGINE_NAME,
            ...member.facts,
            edition: this.editionOf(member.facts),
          });
        }
        if (member.current !== undefined) return;
        if (this.isRetired(member)) member.child.kill('SIGKILL');
        break;
      }
    }
    this.dispatch();
  }

  /** Starts a replacement for a process that has grown; the old process works until the new one is ready, so that no file waits. */
  private replaceGrown(member: Member, resident_bytes: number): void {
    const grown = resident_bytes - member.at_rest;
    if (this.closing || this.isRetired(member) || member.successor !== undefined || grown <= this.memory.grown) return;
    this.logger.info({ pid: member.child.pid, grown }, 'engine process has grown and is replaced');
    member.successor = this.start(member.generation);
  }

  private giveWay(member: Member): void {
    member.is_replaced = true;
    member.generation.members.delete(member);
    if (member.current === undefined) member.child.kill('SIGKILL');
  }

  /** Whether a process gets no more files: it was replaced, or its generation was replaced or did not become ready. */
  private isRetired({ generation, is_replaced }: Member): boolean {
    return is_replaced || (generation !== this.current && generation !== this.next);
  }

  private retire(generation: Generation): void {
    for (const member of generation.members) {
      if (member.current === undefined) member.child.kill('SIGKILL');
    }
  }

  private takeOver(generation: Generation): void {
    const before = this.current;
    this.current = generation;
    this.next = undefined;
    this.backoff_ms = 0;
    this.retire(before);
    generation.settle?.(true);
  }

  /** Ends a generation that is still starting; the current one stays in use. */
  private abandon(generation: Generation): void {
    if (this.next === generation) this.next = undefined;
    this.retire(generation);
    generation.settle?.(false);
  }

  /** Decides about a file whose process has ended. First removes the unpacked members of that process: nothing else removes them, and the next process needs the folder. */
  private async giveBack(waiting: Waiting, killed_for: KilledFor | undefined): Promise<void> {
    const { job, deaths } = waiting;
    await rm(job.folder, { recursive: true, force: true }).catch((error: unknown) =>
      this.logger.error({ err: error, scan: job.id }, 'what an engine process left behind could not be removed'),
    );
    if (job.signal?.aborted || this.closing) return waiting.answer({ kind: 'failed', detail: 'engine_down' });
    if (deaths !== undefined) {
      deaths.count += 1;
      await job
        .onDeath?.({ ...deaths })
        .catch((error: unknown) => this.logger.error({ err: error, scan: job.id }, 'the death of an engine could not be kept'));
      if (deaths.count >= DEATHS_MAXIMUM)
        return waiting.answer({ kind: 'failed', detail: 'engine_failed', edition: deaths.edition });
    }
    // The walk ran past its time limit, and a second walk would too.
    if (killed_for === 'time') return waiting.answer({ kind: 'failed', detail: 'time_limit' });
    if (this.isAway() || job.signal?.aborted || this.closing) return waiting.answer({ kind: 'failed', detail: 'engine_down' });
    this.queue.unshift(waiting);
    this.dispatch();
  }

  /** Ends the other processes that have the native engine or may still choose it; a process with a file ends after the file. */
  private leaveNative(): void {
    for (const member of [...this.current.members]) if (member.kind !== 'wasm') this.giveWay(member);
    if (this.next !== undefined) this.abandon(this.next);
  }

  private onExit(member: Member, code: number | null, signal: string | null): void {
    this.members.delete(member);
    member.generation.members.delete(member);
    for (const other of member.generation.members) if (other.successor === member) other.successor = undefined;
    const killed_for = member.current?.killed_for;
    const was_ended = this.help.onExit(member);
    const following = member.current?.following.splice(0) ?? [];
    const waiting = this.settle(member);
    this.setAside(following);
    const cancelled = waiting?.job.signal?.aborted ?? false;
    if (!this.closing && !cancelled && (!this.isRetired(member) || waiting !== undefined))
      this.logger.warn({ pid: member.child.pid, signal, killed_for, scan: waiting?.job.id }, 'engine process ended');
    if (waiting !== undefined) void this.giveBack(waiting, killed_for);
    if (this.closing) return;
    if (member.generation === this.next) this.abandon(this.next);
    if (this.isRetired(member)) {
      this.dispatch();
      return;
    }
    // A process that the server killed because of a file does not indicate a broken engine.
    const is_own_death = !cancelled && killed_for === undefined && !was_ended;
    if (is_own_death && member.kind !== 'wasm' && noteDeath(code, signal)) this.leaveNative();
    const died_early = member.facts === undefined || performance.now() - member.started_at < YOUNG_MS;
    const young = died_early && !cancelled && killed_for === undefined && !was_ended;
    this.backoff_ms = young ? Math.min(BACKOFF_MS.most, Math.max(BACKOFF_MS.first, this.backoff_ms * 2)) : 0;
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      // A new generation that took over meanwhile has processes of its own.
      if (this.current.members.size < this.size) this.start(this.current);
    }, this.backoff_ms);
    this.timers.add(timer);
    if (this.isAway()) {
      for (const left of this.queue.splice(0)) left.answer({ kind: 'failed', detail: 'engine_down' });
    }
  }

  /** Whether no process is left and restarts keep failing. Files then become pending instead of waiting, and are scanned once an engine is ready. */
  private isAway(): boolean {
    return this.current.members.size === 0 && this.backoff_ms > GIVE_UP_BACKOFF_MS;
  }

  private start(generation: Generation): Member {
    // An engine inherits no environment variables: hostile input must not find secrets there.
    const child = fork(this.process_file, [], {
      serialization: 'advanced',
      env: { ...FEW_ARENAS, ...engineEnvironment() },
      ...boundedProcess(),
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const member: Member = {
      generation,
      child,
      started_at: performance.now(),
      facts: undefined,
      kind: undefined,
      current: undefined,
      helping: [],
      idle_since: performance.now(),
      at_rest: 0,
      successor: undefined,
      is_replaced: false,
    };
    this.members.add(member);
    generation.members.add(member);
    let gone = false;
    const late = setTimeout(() => {
      if (member.facts !== undefined) return;
      this.logger.error({ pid: child.pid, start_ms: this.start_ms }, 'engine process did not become ready in time');
      child.kill('SIGKILL');
    }, this.start_ms);
    const leave = (code: number | null, signal: string | null) => {
      if (gone) return;
      gone = true;
      clearTimeout(late);
      this.onExit(member, code, signal);
    };
    child.on('message', (message) => this.onMessage(member, message));
    child.once('exit', leave);
    child.once('error', (error) => {
      this.logger.error({ err: error }, 'engine process could not start');
      leave(null, null);
    });
    this.send(member, { kind: 'start', signatures: generation.signatures });
    return member;
  }

  /** Cancels a scan: removes it from the queue, or kills its process, since SIGKILL always works. */
  private cancel(waiting: Waiting): void {
    const place = this.queue.indexOf(waiting);
    if (place >= 0) {
      this.queue.splice(place, 1);
      waiting.answer({ kind: 'failed', detail: 'engine_down' });
    }
    for (const { current, child } of this.members) {
      if (current?.waiting === waiting) child.kill('SIGKILL');
      // The process already has the file, which stays in the batch. If scanning it takes long, `takeBack` kills the process.
      if (current?.following.includes(waiting)) waiting.answer({ kind: 'failed', detail: 'engine_down' });
    }
  }

  scan(job: EngineJob): Promise<EngineOutcome> {
    return new Promise((resolve) => {
      if (this.closing || this.isAway() || job.signal?.aborted) return resolve({ kind: 'failed', detail: 'engine_down' });
      const abort = () => this.cancel(waiting);
      const waiting: Waiting = {
        job,
        deaths: job.deaths,
        answer(outcome) {
          job.signal?.removeEventListener('abort', abort);
          resolve(outcome);
        },
      };
      job.signal?.addEventListener('abort', abort, { once: true });
      this.queue.push(waiting);
      this.dispatch();
    });
  }

  edition(): string | undefined {
    for (const { facts } of this.current.members) if (facts !== undefined) return this.editionOf(facts);
    return undefined;
  }

  private readyCount(): number {
    return [...this.current.members].filter(({ facts }) => facts !== undefined).length;
  }

  ready(): boolean {
    return this.readyCount() > 0;
  }

  complete(): boolean {
    return this.ready();
  }

  status(): EngineStatus {
    const count = this.readyCount();
    const state = count > 0 ? 'ready' : this.backoff_ms > GIVE_UP_BACKOFF_MS ? 'down' : 'starting';
    return {
      ...this.known,
      name: ENGINE_NAME,
      state,
      processes: { ready: count, wanted: Math.max(1, this.current.members.size) },
    };
  }

  reload(signatures: SignatureFiles): Promise<boolean> {
    if (this.next !== undefined) this.abandon(this.next);
    if (this.closing) return Promise.resolve(false);
    return new Promise((resolve) => {
      const generation: Generation = {
        signatures,
        members: new Set(),
        settle(took_over) {
          clearTimeout(timer);
          resolve(took_over);
        },
      };
      const timer = setTimeout(() => this.abandon(generation), this.start_ms);
      this.next = generation;
      // As many as there are now, so that the change delays no waiting file.
      for (let count = Math.max(1, this.current.members.size); count > 0; count--) this.start(generation);
    });
  }

  pids(): number[] {
    return [...this.members].flatMap((member) => member.child.pid ?? []);
  }

  async close(): Promise<void> {
    this.closing = true;
    clearInterval(this.looking);
    if (this.next !== undefined) this.abandon(this.next);
    for (const timer of this.timers) clearTimeout(timer);
    for (const waiting of this.queue.splice(0)) waiting.answer({ kind: 'failed', detail: 'engine_down' });
    const ended = [...this.members].map((member) => new Promise<void>((resolve) => member.child.once('exit', () => resolve())));
    for (const member of this.members) member.child.kill('SIGKILL');
    await Promise.all(ended);
  }
}

/**
 * Creates a pool of YARA-X child processes. Threads would not do: a runaway rule survives `worker.terminate()`, while SIGKILL always works. Each process scans one
 * file at a time; files wait in order, and small waiting files go to one process as a batch (together.ts). Up to `size` processes start on demand, always one more than
 * needed, and idle ones beyond the first end. A process that dies is replaced and its file scanned again.
 */
export function createYaraPool(options: YaraPoolOptions): YaraPool {
  const pool = new YaraProcesses(options);
  return {
    scan: (job) => pool.scan(job),
    edition: () => pool.edition(),
    ready: () => pool.ready(),
    complete: () => pool.complete(),
    status: () => pool.status(),
    reload: (signatures) => pool.reload(signatures),
    pids: () => pool.pids(),
    close: () => pool.close(),
  };
}
