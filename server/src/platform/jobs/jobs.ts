import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import { logFailure } from '#platform/database-patience.ts';
import { newId } from '#platform/id.ts';
import type { SessionNews } from '#platform/session-news.ts';
import { createAttempts, Stopping, type Worked } from './attempts.ts';
import { createEndings } from './endings.ts';
import type { HeldJob, Job } from './job.ts';
import type { JobKind } from './job-kind.ts';
import { type Asked, createJobStore, type JobTables, LeaseLost } from './job-store.ts';
import { createLeases, type Running } from './leases.ts';

/** By what servers tell each other of jobs, so that nobody waits for a look. What is lost on the way is found by looking. */
export type JobNews = Pick<SessionNews, 'tell' | 'listen'>;

/** How many jobs of a kind wait, are due, are being done, and were given up, in all servers; and what became of those of this server since its start. */
interface JobFigures {
  kind: string;
  waiting: number;
  running: number;
  /** Due, and nobody has them; `late_ms` is how long the first of them has been due. */
  late: number;
  late_ms: number;
  dead: number;
  done: number;
  failed: number;
  lost: number;
}

/** Work that must happen although a server dies: rows that one server at a time has, until they are done. */
export interface Jobs {
  /** Says what a job of a kind is done by here. Call before `start`. None is taken up while `isReady` says no. */
  handle<Payload>(kind: JobKind<Payload>, work: (job: Job<Payload>) => Promise<void>, isReady?: () => boolean): void;
  /** Asks for a job as part of `transaction`. Call `wake` once that is over. */
  enqueue<Payload>(transaction: Kysely<JobTables>, kind: JobKind<Payload>, payload: Payload, asked?: Asked): Promise<void>;
  /** The same for many. */
  enqueueAll<Payload>(
    transaction: Kysely<JobTables>,
    kind: JobKind<Payload>,
    all: readonly ({ payload: Payload } & Asked)[],
  ): Promise<void>;
  /**
   * Takes a job up at once, as part of `transaction`: one that is asked for by this, or the one that waits under `once`. Undefined while somebody does it.
   */
  begin<Payload>(
    transaction: Kysely<JobTables>,
    kind: JobKind<Payload>,
    payload: Payload,
    once: string,
  ): Promise<HeldJob | undefined>;
  /** Has what is due of these kinds taken up, here or by another server. Returns at once. */
  wake(...kinds: readonly { name: string }[]): void;
  /** Ends a job that waits, and has the one stop that is being done. Whether there was one. */
  cancel(which: { id: string } | { kind: string; once: string }): Promise<boolean>;
  start(): Promise<void>;
  /** Takes nothing up any more; what is being done goes on. */
  drain(): void;
  figures(): Promise<JobFigures[]>;
  /** How many jobs were given up, for administrators. */
  countDead(): Promise<number>;
  /** Ends: what is being done is told to stop, and what has not stopped soon is given back to other servers. */
  close(): Promise<void>;
}

const SECOND_MS = 1_000;
/** How long a server has a job without a word of it. */
const LEASE_MS = 60 * SECOND_MS;
const LOOK_EVERY_MS = 5 * SECOND_MS;
/** A row that is due within this is looked for when it is; one that is due later by the next look after it is. */
const PLANNED_MS = 60 * SECOND_MS;
const TIDY_EVERY_MS = 60 * SECOND_MS;
/** How long jobs are waited for at the end. */
const CLOSE_MS = 4 * SECOND_MS;

interface Handled extends Worked {
  isReady: () => boolean;
  running: Map<string, Running>;
  looking: Promise<void> | undefined;
  is_asked_again: boolean;
  timer: { at: number; timeout: NodeJS.Timeout } | undefined;
}

/** `every_ms` is in place of what recurring kinds say, by their names. */
export function createJobs(parts: {
  database: Kysely<JobTables>;
  logger: FastifyBaseLogger;
  news?: JobNews | undefined;
  /** How often it is looked what is due, in ms. */
  look_ms?: number | undefined;
  lease_ms?: number | undefined;
  every_ms?: Readonly<Record<string, number>> | undefined;
  shift_ms?: (() => number) | undefined;
}): Jobs {
  const { database, logger, news, look_ms = LOOK_EVERY_MS, lease_ms = LEASE_MS, every_ms = {}, shift_ms } = parts;
  const store = createJobStore({ database, worker: newId(), lease_ms, shift_ms });
  const handled = new Map<string, Handled>();
  /** What this server has taken up by itself. */
  const held = new Map<string, Running>();
  const underWay = () => [...handled.values()].flatMap(({ running }) => [...running.values()]).concat(...held.values());
  const everyOf = (kind: JobKind<unknown>) => (kind.every_ms === undefined ? undefined : (every_ms[kind.name] ?? kind.every_ms));
  let started = false;
  let draining = false;
  let closed = false;
  let tidied_at = Number.NEGATIVE_INFINITY;
  let looker: NodeJS.Timeout | undefined;
  let tidying: Promise<void> = Promise.resolve();
  const leases = createLeases({ store, lease_ms, underWay, logger });
  const attempts = createAttempts({ store, database, everyOf, lookIn, isClosed: () => closed, logger });

  /** Looks again at a kind when a row that this server has just planned is due; what other servers have planned is found by looking. */
  function lookIn(kind: string, wait_ms: number): void {
    const of = handled.get(kind);
    if (of === undefined || closed || draining || wait_ms > PLANNED_MS) return;
    const at = performance.now() + wait_ms;
    if (of.timer !== undefined && of.timer.at <= at) return;
    if (of.timer !== undefined) clearTimeout(of.timer.timeout);
    const timeout = setTimeout(() => {
      of.timer = undefined;
      look(of);
    }, wait_ms).unref();
    of.timer = { at, timeout };
  }

  async function take(of: Handled): Promise<void> {
    const { kind, running } = of;
    const room = kind.at_once - running.size;
    if (room <= 0 || draining || closed || !of.isReady()) return;
    const asked_at = performance.now();
    const rows = await store.claim(kind, room);
    const counted = kind.attempts.counted === 'claimed';
    // It was told to take nothing up while they were on their way: others have them.
    if (draining) return await store.giveBack(rows.map(({ id, claims }) => ({ id, claims, counted })));
    for (const row of rows) {
      const one: Running = {
        claim: { id: row.id, claims: row.claims },
        counted,
        controller: new AbortController(),
        done: Promise.resolve(),
        held_until: asked_at + lease_ms,
      };
      running.set(row.id, one);
      one.done = attempts.run(of, row, one).finally(() => {
        running.delete(row.id);
        look(of);
      });
    }
  }

  function look(of: Handled): void {
    if (!started || draining || closed) return;
    if (of.looking !== undefined) {
      // What was asked for after the look under way.
      of.is_asked_again = true;
      return;
    }
    of.looking = take(of)
      .catch((error: unknown) => logFailure(logger, error, 'jobs could not be taken up', { job: of.kind.name }))
      .finally(() => {
        of.looking = undefined;
        if (!of.is_asked_again) return;
        of.is_asked_again = false;
        look(of);
      });
  }

  function lookAtAll(): void {
    for (const of of handled.values()) look(of);
    if (performance.now() - tidied_at < TIDY_EVERY_MS) return;
    tidied_at = performance.now();
    const recurring = [...handled.values()].flatMap(({ kind }) => {
      const every = everyOf(kind);
      return every === undefined ? [] : [{ name: kind.name, every_ms: every }];
    });
    tidying = store.tidy(recurring).catch((error: unknown) => logFailure(logger, error, 'jobs could not be tidied up'));
  }

  const enqueueAll: Jobs['enqueueAll'] = (transaction, kind, all) =>
    store.add(
      transaction,
      all.map((one) => ({ ...one, kind })),
    );

  return {
    handle(kind, work, isReady = () => true) {
      if (started || handled.has(kind.name)) throw new Error(`The jobs ${kind.name} are handled already.`);
      handled.set(kind.name, {
        kind,
        work: async (row, given) => await work({ ...given, payload: kind.payload.parse(JSON.parse(row.payload)) }),
        isReady,
        running: new Map(),
        counts: { done: 0, failed: 0, lost: 0 },
        end: createEndings(store, database),
        looking: undefined,
        is_asked_again: false,
        timer: undefined,
      });
    },

    enqueue: (transaction, kind, payload, asked = {}) => enqueueAll(transaction, kind, [{ ...asked, payload }]),
    enqueueAll,

    async begin(transaction, kind, payload, once) {
      const asked_at = performance.now();
      const claim = await store.begin(transaction, { kind, payload, once });
      if (claim === undefined) return undefined;
      const controller = new AbortController();
      const done = Promise.withResolvers<void>();
      const one: Running = {
        claim,
        counted: kind.attempts.counted === 'claimed',
        controller,
        done: done.promise,
        held_until: asked_at + lease_ms,
      };
      /** Renewed until the database knows what became of it: else somebody else would take it up meanwhile. */
      const over = async (write: () => Promise<unknown>) => {
        try {
          await attempts.note(write, { id: claim.id, kind: kind.name });
        } catch (error) {
          // Somebody else has it, and ends it.
          if (!(error instanceof LeaseLost)) throw error;
        } finally {
          held.delete(claim.id);
          done.resolve();
        }
      };
      return {
        signal: controller.signal,
        confirm: (confirming) => store.confirm(confirming, claim),
        countAttempt: () => store.countAttempt(claim),
        keep: () => void held.set(claim.id, one),
        end: () => over(() => store.finish(database, claim, undefined)),
        async letGo(wait_ms) {
          await over(() => store.postpone({ ...claim, counted: one.counted }, wait_ms));
          lookIn(kind.name, wait_ms);
          if (wait_ms === 0) news?.tell({ kind: 'work', kinds: [kind.name] });
        },
      };
    },

    wake(...kinds) {
      for (const { name } of kinds) {
        const of = handled.get(name);
        if (of !== undefined) look(of);
      }
      if (!closed) news?.tell({ kind: 'work', kinds: kinds.map(({ name }) => name) });
    },

    async cancel(which) {
      const { removed, told } = await store.cancel(which);
      if (told.length > 0) {
        news?.tell({ kind: 'work_cancelled', ids: told });
        leases.renewNow();
      }
      return removed + told.length > 0;
    },

    async start() {
      for (const { kind } of handled.values()) {
        const every = everyOf(kind);
        if (every !== undefined) await store.keepRecurring(kind, every);
      }
      started = true;
      news?.listen((told) => {
        if (told.kind === 'work_cancelled') {
          const is_mine = underWay().some(({ claim }) => told.ids.includes(claim.id));
          if (is_mine) leases.renewNow();
          return;
        }
        if (told.kind !== 'work') return;
        for (const name of told.kinds) {
          const of = handled.get(name);
          if (of !== undefined) look(of);
        }
      });
      looker = setInterval(lookAtAll, look_ms).unref();
      leases.start();
      lookAtAll();
    },

    drain() {
      draining = true;
    },

    async figures() {
      const all = new Map((await store.figures()).map((one) => [one.kind, one]));
      return [...new Set([...handled.keys(), ...all.keys()])].map((kind) => ({
        ...(all.get(kind) ?? { kind, waiting: 0, running: 0, late: 0, late_ms: 0, dead: 0 }),
        ...(handled.get(kind)?.counts ?? { done: 0, failed: 0, lost: 0 }),
      }));
    },

    countDead: store.countDead,

    async close() {
      draining = true;
      clearInterval(looker);
      await Promise.all([...handled.values()].flatMap(({ looking }) => looking ?? []));
      const running = underWay();
      for (const of of handled.values()) if (of.timer !== undefined) clearTimeout(of.timer.timeout);
      for (const { controller } of running) controller.abort(new Stopping('This server stops.'));
      await Promise.race([Promise.allSettled(running.map(({ done }) => done)), pause(CLOSE_MS, undefined, { ref: false })]);
      closed = true;
      await Promise.all([leases.close(), tidying]);
      const left = underWay();
      // What these still do counts for nothing from here on: they are no longer this server's.
      await store
        .giveBack(left.map(({ claim, counted }) => ({ ...claim, counted })))
        .catch((error: unknown) => logFailure(logger, error, 'jobs could not be given back; others have them after a minute'));
      if (running.length > 0) news?.tell({ kind: 'work', kinds: [...handled.keys()] });
    },
  };
}
