import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import { logFailure } from '#platform/database-patience.ts';
import { newId } from '#platform/id.ts';
import type { SessionNews } from '#platform/session-news.ts';
import { type Attempts, createAttempts, Stopping, type Worked } from './attempts.ts';
import { createEndings } from './endings.ts';
import type { HeldJob, Job } from './job.ts';
import type { JobKind } from './job-kind.ts';
import { createJobStore, type JobStore } from './job-store.ts';
import { type Asked, type JobTables, LeaseLost } from './job-tables.ts';
import { createLeases, type Leases, type Running } from './leases.ts';

/** Messages between servers about new jobs, which save the wait for the next look. Jobs whose message was lost are found by the next look. */
export type JobNews = Pick<SessionNews, 'tell' | 'listen'>;

/** For one kind, the number of jobs that are waiting, due, running and given up, on all servers; and the outcomes on this server since its start. */
interface JobFigures {
  kind: string;
  waiting: number;
  running: number;
  /** Due jobs without a worker; `late_ms` is how long the first of them has been due. */
  late: number;
  late_ms: number;
  dead: number;
  done: number;
  failed: number;
  lost: number;
}

const SECOND_MS = 1_000;
/** Duration of a lease, in ms. */
const LEASE_MS = 60 * SECOND_MS;
const LOOK_EVERY_MS = 5 * SECOND_MS;
/** A row that is due within this many ms gets a timer; later ones are found by the regular look after they are due. */
const PLANNED_MS = 60 * SECOND_MS;
/** Rows that are due within the same step share a timer, in ms. */
const PLANNED_STEP_MS = 10;
const TIDY_EVERY_MS = 60 * SECOND_MS;
/** Time to wait for running jobs when the server stops, in ms. */
const CLOSE_MS = 4 * SECOND_MS;

interface Handled extends Worked {
  isReady: () => boolean;
  running: Map<string, Running>;
  looking: Promise<void> | undefined;
  is_asked_again: boolean;
  /** The due times of planned rows, by `performance.now()`; the timer is set to the first. */
  due: Set<number>;
  timer: NodeJS.Timeout | undefined;
}

interface JobsOptions {
  database: Kysely<JobTables>;
  logger: FastifyBaseLogger;
  news?: JobNews | undefined;
  /** Interval between looks for due jobs, in ms. */
  look_ms?: number | undefined;
  lease_ms?: number | undefined;
  every_ms?: Readonly<Record<string, number>> | undefined;
  shift_ms?: (() => number) | undefined;
}

/** Work that must happen even if a server dies: rows in the database, each run by one server at a time until done. `every_ms` overrides the intervals of recurring kinds, by name. */
export class Jobs {
  private readonly database: Kysely<JobTables>;
  private readonly logger: FastifyBaseLogger;
  private readonly news: JobNews | undefined;
  private readonly look_ms: number;
  private readonly lease_ms: number;
  private readonly every_ms: Readonly<Record<string, number>>;
  private readonly store: JobStore;
  private readonly handled = new Map<string, Handled>();
  /** Jobs that this server claimed directly. */
  private readonly held = new Map<string, Running>();
  private started = false;
  private draining = false;
  private closed = false;
  private tidied_at = Number.NEGATIVE_INFINITY;
  private looker: NodeJS.Timeout | undefined;
  private tidying: Promise<void> = Promise.resolve();
  private readonly leases: Leases;
  private readonly attempts: Attempts;

  constructor(options: JobsOptions) {
    this.database = options.database;
    this.logger = options.logger;
    this.news = options.news;
    this.look_ms = options.look_ms ?? LOOK_EVERY_MS;
    this.lease_ms = options.lease_ms ?? LEASE_MS;
    this.every_ms = options.every_ms ?? {};
    this.store = createJobStore({
      database: this.database,
      worker: newId(),
      lease_ms: this.lease_ms,
      shift_ms: options.shift_ms,
    });
    this.leases = createLeases({ store: this.store, lease_ms: this.lease_ms, underWay: this.underWay, logger: this.logger });
    this.attempts = createAttempts({
      store: this.store,
      database: this.database,
      everyOf: this.everyOf,
      lookIn: this.lookIn,
      isClosed: () => this.closed,
      logger: this.logger,
    });
  }

  private readonly underWay = () =>
    [...this.handled.values()].flatMap(({ running }) => [...running.values()]).concat(...this.held.values());

  private readonly everyOf = (kind: JobKind<unknown>) =>
    kind.every_ms === undefined ? undefined : (this.every_ms[kind.name] ?? kind.every_ms);

  /** Looks for due jobs of a kind when a row that this server has just planned is due; rows that other servers planned are found by the regular look. */
  private readonly lookIn = (kind: string, wait_ms: number): void => {
    const of = this.handled.get(kind);
    if (of === undefined || this.closed || this.draining || wait_ms > PLANNED_MS) return;
    of.due.add(Math.ceil((performance.now() + wait_ms) / PLANNED_STEP_MS) * PLANNED_STEP_MS);
    this.setTimer(of);
  };

  /** Each planned row keeps its own time: an earlier row may be claimed by an unrelated look while the later one still waits. */
  private setTimer(of: Handled): void {
    clearTimeout(of.timer);
    if (of.due.size === 0) return;
    const next = Math.min(...of.due);
    const left_ms = Math.max(0, next - performance.now());
    of.timer = setTimeout(() => {
      // A timer's delay is measured from the beginning of its turn of the event loop, so it may fire early.
      if (next <= performance.now()) {
        of.due.delete(next);
        this.look(of);
      }
      this.setTimer(of);
    }, left_ms).unref();
  }

  private async take(of: Handled): Promise<void> {
    const { kind, running } = of;
    const room = kind.at_once - running.size;
    if (room <= 0 || this.draining || this.closed || !of.isReady()) return;
    const asked_at = performance.now();
    const rows = await this.store.claim(kind, room);
    const counted = kind.attempts.counted === 'claimed';
    // Draining began while the claim was under way: give the rows to other servers.
    if (this.draining) return await this.store.giveBack(rows.map(({ id, claims }) => ({ id, claims, counted })));
    for (const row of rows) {
      const one: Running = {
        claim: { id: row.id, claims: row.claims },
        counted,
        controller: new AbortController(),
        done: Promise.resolve(),
        held_until: asked_at + this.lease_ms,
      };
      running.set(row.id, one);
      one.done = this.attempts.run(of, row, one).finally(() => {
        running.delete(row.id);
        this.look(of);
      });
    }
  }

  private look(of: Handled): void {
    if (!this.started || this.draining || this.closed) return;
    if (of.looking !== undefined) {
      // Look again, because this request came after the current look began.
      of.is_asked_again = true;
      return;
    }
    of.looking = this.take(of)
      .catch((error: unknown) => logFailure(this.logger, error, 'could not claim jobs', { job: of.kind.name }))
      .finally(() => {
        of.looking = undefined;
        if (!of.is_asked_again) return;
        of.is_asked_again = false;
        this.look(of);
      });
  }

  private readonly lookAtAll = (): void => {
    for (const of of this.handled.values()) this.look(of);
    if (performance.now() - this.tidied_at < TIDY_EVERY_MS) return;
    this.tidied_at = performance.now();
    const recurring = [...this.handled.values()].flatMap(({ kind }) => {
      const every = this.everyOf(kind);
      return every === undefined ? [] : [{ name: kind.name, every_ms: every }];
    });
    this.tidying = this.store
      .tidy(recurring)
      .catch((error: unknown) => logFailure(this.logger, error, 'could not remove old jobs'));
  };

  /** `enqueue` for many jobs. */
  enqueueAll<Payload>(
    transaction: Kysely<JobTables>,
    kind: JobKind<Payload>,
    all: readonly ({ payload: Payload } & Asked)[],
  ): Promise<void> {
    return this.store.add(
      transaction,
      all.map((one) => ({ ...one, kind })),
    );
  }

  /** Sets the handler of a kind. Call this before `start`. No job is claimed while `isReady` returns false. */
  handle<Payload>(kind: JobKind<Payload>, work: (job: Job<Payload>) => Promise<void>, isReady: () => boolean = () => true): void {
    if (this.started || this.handled.has(kind.name)) throw new Error(`The jobs ${kind.name} already have a handler.`);
    this.handled.set(kind.name, {
      kind,
      work: async (row, given) => await work({ ...given, payload: kind.payload.parse(JSON.parse(row.payload)) }),
      isReady,
      running: new Map(),
      counts: { done: 0, failed: 0, lost: 0 },
      end: createEndings(this.store, this.database),
      looking: undefined,
      is_asked_again: false,
      due: new Set(),
      timer: undefined,
    });
  }

  /** Adds a job as part of `transaction`. Call `wake` after the commit. */
  enqueue<Payload>(transaction: Kysely<JobTables>, kind: JobKind<Payload>, payload: Payload, asked: Asked = {}): Promise<void> {
    return this.enqueueAll(transaction, kind, [{ ...asked, payload }]);
  }

  /** Adds and claims a job at once, as part of `transaction`, or claims the waiting job with the same `once`. Undefined while that job is running. */
  async begin<Payload>(
    transaction: Kysely<JobTables>,
    kind: JobKind<Payload>,
    payload: Payload,
    once: string,
  ): Promise<HeldJob | undefined> {
    const asked_at = performance.now();
    const claim = await this.store.begin(transaction, { kind, payload, once });
    if (claim === undefined) return undefined;
    const controller = new AbortController();
    const done = Promise.withResolvers<void>();
    const one: Running = {
      claim,
      counted: kind.attempts.counted === 'claimed',
      controller,
      done: done.promise,
      held_until: asked_at + this.lease_ms,
    };
    /** The lease is renewed until the outcome is stored: otherwise another server would claim the job meanwhile. */
    const over = async (write: () => Promise<unknown>) => {
      try {
        await this.attempts.note(write, { id: claim.id, kind: kind.name });
      } catch (error) {
        // Another server has the job, and ends it.
        if (!(error instanceof LeaseLost)) throw error;
      } finally {
        this.held.delete(claim.id);
        done.resolve();
      }
    };
    return {
      signal: controller.signal,
      confirm: (confirming) => this.store.confirm(confirming, claim),
      countAttempt: () => this.store.countAttempt(claim),
      keep: () => void this.held.set(claim.id, one),
      end: () => over(() => this.store.finish(this.database, claim, undefined)),
      letGo: async (wait_ms) => {
        await over(() => this.store.postpone({ ...claim, counted: one.counted }, wait_ms));
        this.lookIn(kind.name, wait_ms);
        if (wait_ms === 0) this.news?.tell({ kind: 'work', kinds: [kind.name] });
      },
    };
  }

  /** Makes this server or another claim due jobs of these kinds. Returns at once. */
  wake(...kinds: readonly { name: string }[]): void {
    for (const { name } of kinds) {
      const of = this.handled.get(name);
      if (of !== undefined) this.look(of);
    }
    if (!this.closed) this.news?.tell({ kind: 'work', kinds: kinds.map(({ name }) => name) });
  }

  /** Deletes a waiting job, and stops a running one. Returns whether there was one. */
  async cancel(which: { id: string } | { kind: string; once: string }): Promise<boolean> {
    const { removed, told } = await this.store.cancel(which);
    if (told.length > 0) {
      this.news?.tell({ kind: 'work_cancelled', ids: told });
      this.leases.renewNow();
    }
    return removed + told.length > 0;
  }

  async start(): Promise<void> {
    for (const { kind } of this.handled.values()) {
      const every = this.everyOf(kind);
      if (every !== undefined) await this.store.keepRecurring(kind, every);
    }
    this.started = true;
    this.news?.listen((told) => {
      if (told.kind === 'work_cancelled') {
        const is_mine = this.underWay().some(({ claim }) => told.ids.includes(claim.id));
        if (is_mine) this.leases.renewNow();
        return;
      }
      if (told.kind !== 'work') return;
      for (const name of told.kinds) {
        const of = this.handled.get(name);
        if (of !== undefined) this.look(of);
      }
    });
    this.looker = setInterval(this.lookAtAll, this.look_ms).unref();
    this.leases.start();
    this.lookAtAll();
  }

  /** Claims no more jobs; running ones continue. */
  drain(): void {
    this.draining = true;
  }

  async figures(): Promise<JobFigures[]> {
    const all = new Map((await this.store.figures()).map((one) => [one.kind, one]));
    return [...new Set([...this.handled.keys(), ...all.keys()])].map((kind) => ({
      ...(all.get(kind) ?? { kind, waiting: 0, running: 0, late: 0, late_ms: 0, dead: 0 }),
      ...(this.handled.get(kind)?.counts ?? { done: 0, failed: 0, lost: 0 }),
    }));
  }

  /** The number of jobs that were given up, for administrators. */
  countDead(): Promise<number> {
    return this.store.countDead();
  }

  /** Closes: tells running jobs to stop, and gives those that do not stop soon to other servers. */
  async close(): Promise<void> {
    this.draining = true;
    clearInterval(this.looker);
    await Promise.all([...this.handled.values()].flatMap(({ looking }) => looking ?? []));
    const running = this.underWay();
    for (const of of this.handled.values()) clearTimeout(of.timer);
    for (const { controller } of running) controller.abort(new Stopping('This server is stopping.'));
    await Promise.race([Promise.allSettled(running.map(({ done }) => done)), pause(CLOSE_MS, undefined, { ref: false })]);
    this.closed = true;
    await Promise.all([this.leases.close(), this.tidying]);
    const left = this.underWay();
    // From here on the outcomes of these jobs are ignored: they are no longer this server's.
    await this.store
      .giveBack(left.map(({ claim, counted }) => ({ ...claim, counted })))
      .catch((error: unknown) =>
        logFailure(this.logger, error, 'could not release jobs; other servers take them after a minute'),
      );
    if (running.length > 0) this.news?.tell({ kind: 'work', kinds: [...this.handled.keys()] });
  }
}

export function createJobs(options: JobsOptions): Jobs {
  return new Jobs(options);
}
