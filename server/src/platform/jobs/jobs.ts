import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import { logFailure } from '#platform/database-patience.ts';
import { newId } from '#platform/id.ts';
import type { SessionNews } from '#platform/session-news.ts';
import { backOff, type JobKind } from './job-kind.ts';
import { type Asked, type Claim, createJobStore, type JobRow, type JobTables, LeaseLost, RECURRING } from './job-store.ts';

/** A job as its work gets it. */
export interface Job<Payload> {
  id: string;
  payload: Payload;
  /** How often it was tried, with this time where its kind counts at the claim. */
  attempts: number;
  /** Aborted when the job is lost to another server, is cancelled, or this server stops: what was not concluded by then is done again, or was to be left. */
  signal: AbortSignal;
  /**
   * Ends the job as part of `transaction`, so that it has ended if and only if what the transaction does is done.
   * @throws LeaseLost when it is another server's by now; the transaction must then not be committed.
   */
  conclude(transaction: Kysely<JobTables>): Promise<void>;
  /**
   * Sees to it that what `transaction` does counts only if the job is still this server's; it goes on.
   * @throws LeaseLost when it is another server's by now, or was cancelled; the transaction must then not be committed.
   */
  confirm(transaction: Kysely<JobTables>): Promise<void>;
  /** Counts an attempt of a kind that counts when told. @throws LeaseLost */
  countAttempt(): Promise<void>;
}

/** A job that a server has taken up by itself, with its lease: nobody is handed it meanwhile. */
export interface HeldJob extends Pick<Job<unknown>, 'signal' | 'confirm' | 'countAttempt'> {
  /** From here on the lease is renewed. Call it once the transaction is committed that took the job up. */
  keep(): void;
  /** The job is done. */
  end(): Promise<void>;
  /** Another server, or this one, takes it up after so long. */
  letGo(wait_ms: number): Promise<void>;
}

/** What a job's work throws that could not be done now, and did not fail: it is done in so many ms, and no attempt is counted. */
export class Postponed extends Error {
  override name = 'Postponed';
  readonly wait_ms: number;

  constructor(wait_ms: number) {
    super('It is done later.');
    this.wait_ms = wait_ms;
  }
}

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
/** How long a server has a job without a word of it, and how often it says one. */
const LEASE_MS = 60 * SECOND_MS;
const RENEWALS = 3;
/** How often a renewal that failed is tried again. */
const RENEW_AGAIN_MS = 2 * SECOND_MS;
const LOOK_EVERY_MS = 5 * SECOND_MS;
/** A row that is due within this is looked for when it is; one that is due later by the next look after it is. */
const PLANNED_MS = 60 * SECOND_MS;
const TIDY_EVERY_MS = 60 * SECOND_MS;
/** How often it is tried to note what became of a job while the database is away. */
const NOTE_EVERY_MS = 500;
/** Jobs that one statement ends. */
const ENDED_AT_ONCE = 100;
/** How long jobs are waited for at the end. */
const CLOSE_MS = 4 * SECOND_MS;

/** Why a job's signal was aborted by the server's own end. */
class Stopping extends Error {
  override name = 'Stopping';
}

interface Running {
  claim: Claim;
  counted: boolean;
  controller: AbortController;
  done: Promise<void>;
  /** When the lease runs out if nothing more is said, by the clock of this machine (`performance.now`). */
  held_until: number;
}

interface Handled {
  kind: JobKind<unknown>;
  work: (row: JobRow, given: Omit<Job<unknown>, 'payload'>) => Promise<void>;
  isReady: () => boolean;
  running: Map<string, Running>;
  counts: { done: number; failed: number; lost: number };
  ending: { claim: Claim; resolve: () => void; reject: (error: unknown) => void }[];
  is_ending: Promise<void> | undefined;
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
  let renewer: NodeJS.Timeout | undefined;
  let renewing: Promise<void> = Promise.resolve();
  let tidying: Promise<void> = Promise.resolve();

  const isRecurring = (row: JobRow, of: Handled) => row.once === RECURRING && of.kind.every_ms !== undefined;

  /** Looks again at a kind when a row that this server has just planned is due; what other servers have planned is found by looking. */
  function lookIn(of: Handled, wait_ms: number): void {
    if (closed || draining || wait_ms > PLANNED_MS) return;
    const at = performance.now() + wait_ms;
    if (of.timer !== undefined && of.timer.at <= at) return;
    if (of.timer !== undefined) clearTimeout(of.timer.timeout);
    const timeout = setTimeout(() => {
      of.timer = undefined;
      look(of);
    }, wait_ms).unref();
    of.timer = { at, timeout };
  }

  /** Notes what became of a job, however long the database is away; others may have it by then, and what is noted then counts for nothing. */
  async function note<T>(write: () => Promise<T>, job: { id: string; kind: string }): Promise<T | undefined> {
    for (;;) {
      try {
        return await write();
      } catch (error) {
        if (error instanceof LeaseLost) throw error;
        logFailure(logger, error, 'what became of a job could not be noted', { job: job.kind });
        if (closed) return undefined;
        await pause(NOTE_EVERY_MS, undefined, { ref: false });
      }
    }
  }

  /** Ends a job outside of a transaction; those that have come to their end meanwhile are ended together. */
  function end(of: Handled, claim: Claim): Promise<void> {
    const mine = Promise.withResolvers<void>();
    of.ending.push({ claim, ...mine });
    of.is_ending ??= endAll(of).finally(() => {
      of.is_ending = undefined;
    });
    return mine.promise;
  }

  async function endAll(of: Handled): Promise<void> {
    while (of.ending.length > 0) {
      // Those that end in this turn of the event loop, too.
      await new Promise((resolve) => setImmediate(resolve));
      const all = of.ending.splice(0, ENDED_AT_ONCE);
      try {
        const left = new Set((await store.finishAll(all.map(({ claim }) => claim))).map(({ id }) => id));
        for (const { claim, resolve, reject } of all) {
          if (left.has(claim.id)) store.finish(database, claim, undefined).then(() => resolve(), reject);
          else resolve();
        }
      } catch (error) {
        for (const { reject } of all) reject(error);
      }
    }
  }

  async function failed(of: Handled, row: JobRow, running: Running, error: unknown): Promise<void> {
    const { kind, counts } = of;
    const { signal } = running.controller;
    if (error instanceof LeaseLost || signal.reason instanceof LeaseLost) {
      counts.lost += 1;
      logger.warn({ job: kind.name, id: row.id }, 'a job was lost to another server, and is left to that');
      return;
    }
    if (signal.reason instanceof Stopping) {
      await note(() => store.giveBack([{ ...running.claim, counted: running.counted }]), { id: row.id, kind: kind.name });
      return;
    }
    if (error instanceof Postponed) {
      await note(() => store.postpone({ ...running.claim, counted: running.counted }, error.wait_ms), {
        id: row.id,
        kind: kind.name,
      });
      lookIn(of, error.wait_ms);
      return;
    }
    counts.failed += 1;
    const tried = Math.max(1, row.attempts);
    const every = isRecurring(row, of) ? everyOf(kind) : undefined;
    const is_tried_out = row.attempts >= kind.attempts.most;
    const is_last = every === undefined && is_tried_out;
    // A recurring one begins anew: only servers that it has ended count against it.
    const waits_ms = is_tried_out ? every : Math.min(backOff(kind.attempts, tried), every ?? Number.POSITIVE_INFINITY);
    const wait_ms = is_last ? undefined : waits_ms;
    const message = error instanceof Error ? error.message : String(error);
    if (is_last) logger.error({ err: error, job: kind.name, id: row.id }, 'a job failed too often and is given up');
    else logFailure(logger, error, 'a job failed and is tried again', { job: kind.name });
    await note(() => store.fail(running.claim, message, wait_ms, is_tried_out), { id: row.id, kind: kind.name });
    if (wait_ms !== undefined) lookIn(of, wait_ms);
  }

  async function run(of: Handled, row: JobRow, running: Running): Promise<void> {
    const { kind, work, counts } = of;
    const { claim, controller } = running;
    const every = isRecurring(row, of) ? everyOf(kind) : undefined;
    let concluded = false;
    const conclude = async (transaction: Kysely<JobTables>) => {
      await store.finish(transaction, claim, every);
      concluded = true;
    };
    try {
      if (row.attempts > kind.attempts.most) {
        // Nobody noted how the last attempt went: it ended its server, or was cut off with it.
        if (every === undefined) throw new Error('Its servers ended while they worked on it.');
        await note(() => store.skip(claim, every), row);
        counts.failed += 1;
        logger.error({ job: kind.name }, 'a recurring job ended its servers and is left out once');
        return;
      }
      await work(row, {
        id: row.id,
        attempts: row.attempts,
        signal: controller.signal,
        conclude,
        confirm: (transaction) => store.confirm(transaction, claim),
        async countAttempt() {
          await store.countAttempt(claim);
          row.attempts += 1;
        },
      });
      if (!concluded) await note(() => (every === undefined ? end(of, claim) : conclude(database)), row);
      counts.done += 1;
      if (every !== undefined) lookIn(of, every);
    } catch (error) {
      // Its transaction may have failed after it had concluded: then it has not.
      await failed(of, row, running, error).catch((again: unknown) => {
        if (!(again instanceof LeaseLost))
          logFailure(logger, again, 'what became of a job could not be noted', { job: kind.name });
      });
    }
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
      one.done = run(of, row, one).finally(() => {
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

  async function renew(): Promise<void> {
    const all = underWay();
    if (all.length === 0) return;
    const asked_at = performance.now();
    const kept = new Map((await store.renew(all.map(({ claim }) => claim))).map((row) => [row.id, row]));
    for (const one of all) {
      const row = kept.get(one.claim.id);
      if (row?.claims !== one.claim.claims) one.controller.abort(new LeaseLost('Another server does this by now.'));
      else if (row.cancelled === 1) one.controller.abort(new Error('The job was cancelled.'));
      else one.held_until = asked_at + lease_ms;
    }
  }

  function renewSoon(wait_ms: number): void {
    clearTimeout(renewer);
    if (closed) return;
    renewer = setTimeout(() => {
      renewing = renew()
        .then(() => lease_ms / RENEWALS)
        .catch((error: unknown) => {
          logFailure(logger, error, 'jobs that are being done could not be kept from other servers');
          // Another server may have them by now; what they conclude is asked of the database in any case.
          for (const one of underWay()) {
            if (performance.now() > one.held_until) one.controller.abort(new LeaseLost('The lease could not be renewed.'));
          }
          return Math.min(RENEW_AGAIN_MS, lease_ms / RENEWALS);
        })
        .then(renewSoon);
    }, wait_ms).unref();
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
        ending: [],
        is_ending: undefined,
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
          await note(write, { id: claim.id, kind: kind.name });
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
          const of = handled.get(kind.name);
          if (of !== undefined) lookIn(of, wait_ms);
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
        renewSoon(0);
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
          if (is_mine) renewSoon(0);
          return;
        }
        if (told.kind !== 'work') return;
        for (const name of told.kinds) {
          const of = handled.get(name);
          if (of !== undefined) look(of);
        }
      });
      looker = setInterval(lookAtAll, look_ms).unref();
      renewSoon(lease_ms / RENEWALS);
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
      clearTimeout(renewer);
      await Promise.all([renewing, tidying]);
      const left = underWay();
      // What these still do counts for nothing from here on: they are no longer this server's.
      await store
        .giveBack(left.map(({ claim, counted }) => ({ ...claim, counted })))
        .catch((error: unknown) => logFailure(logger, error, 'jobs could not be given back; others have them after a minute'));
      if (running.length > 0) news?.tell({ kind: 'work', kinds: [...handled.keys()] });
    },
  };
}
