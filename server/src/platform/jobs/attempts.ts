import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import { logFailure } from '#platform/database-patience.ts';
import { type Job, Postponed } from './job.ts';
import { backOff, type JobKind } from './job-kind.ts';
import { type createJobStore, RECURRING } from './job-store.ts';
import { type Claim, type JobRow, type JobTables, LeaseLost } from './job-tables.ts';
import type { Running } from './leases.ts';

/** Interval between attempts to store the outcome of a job while the database is away, in ms. */
const NOTE_EVERY_MS = 500;

/** The abort reason of a job's signal when the server stops. */
export class Stopping extends Error {
  override name = 'Stopping';
}

/** A kind of job with its handler on this server. */
export interface Worked {
  kind: JobKind<unknown>;
  work: (row: JobRow, given: Omit<Job<unknown>, 'payload'>) => Promise<void>;
  /** Ends a job outside of a transaction. */
  end: (claim: Claim) => Promise<void>;
  counts: { done: number; failed: number; lost: number };
}

export interface Attempts {
  /** Runs a claimed job and stores its outcome: done, failed, postponed, lost, or given back. */
  run(of: Worked, row: JobRow, running: Running): Promise<void>;
  /** Stores the outcome of a job, retrying while the database is away; if another server has the job by then, the outcome is discarded. */
  note<T>(write: () => Promise<T>, job: { id: string; kind: string }): Promise<T | undefined>;
}

/** Runs attempts of jobs, and decides from each outcome what follows. */
export function createAttempts(parts: {
  store: ReturnType<typeof createJobStore>;
  database: Kysely<JobTables>;
  /** The interval of a recurring kind; undefined for others. */
  everyOf: (kind: JobKind<unknown>) => number | undefined;
  /** Schedules a look for due jobs of a kind, for when a row that was just planned is due. */
  lookIn: (kind: string, wait_ms: number) => void;
  isClosed: () => boolean;
  logger: FastifyBaseLogger;
}): Attempts {
  const { store, database, everyOf, lookIn, isClosed, logger } = parts;
  const isRecurring = (row: JobRow, kind: JobKind<unknown>) => row.once === RECURRING && kind.every_ms !== undefined;

  async function note<T>(write: () => Promise<T>, job: { id: string; kind: string }): Promise<T | undefined> {
    for (;;) {
      try {
        return await write();
      } catch (error) {
        if (error instanceof LeaseLost) throw error;
        logFailure(logger, error, 'could not store the result of a job', { job: job.kind });
        if (isClosed()) return undefined;
        await pause(NOTE_EVERY_MS, undefined, { ref: false });
      }
    }
  }

  async function failed(of: Worked, row: JobRow, running: Running, error: unknown): Promise<void> {
    const { kind, counts } = of;
    const { signal } = running.controller;
    if (error instanceof LeaseLost || signal.reason instanceof LeaseLost) {
      counts.lost += 1;
      logger.warn({ job: kind.name, id: row.id }, 'the lease of a job ran out and it was claimed anew: this attempt is dropped');
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
      lookIn(kind.name, error.wait_ms);
      return;
    }
    counts.failed += 1;
    const tried = Math.max(1, row.attempts);
    const every = isRecurring(row, kind) ? everyOf(kind) : undefined;
    const is_tried_out = row.attempts >= kind.attempts.most;
    const is_last = every === undefined && is_tried_out;
    // A recurring job starts again: only attempts that ended their server count against it.
    const waits_ms = is_tried_out ? every : Math.min(backOff(kind.attempts, tried), every ?? Number.POSITIVE_INFINITY);
    const wait_ms = is_last ? undefined : waits_ms;
    const message = error instanceof Error ? error.message : String(error);
    if (is_last) logger.error({ err: error, job: kind.name, id: row.id }, 'a job failed too often and is given up');
    else logFailure(logger, error, 'a job failed and will be retried', { job: kind.name });
    await note(() => store.fail(running.claim, message, wait_ms, is_tried_out), { id: row.id, kind: kind.name });
    if (wait_ms !== undefined) lookIn(kind.name, wait_ms);
  }

  async function run(of: Worked, row: JobRow, running: Running): Promise<void> {
    const { kind, work, counts } = of;
    const { claim, controller } = running;
    const every = isRecurring(row, kind) ? everyOf(kind) : undefined;
    let concluded = false;
    const conclude = async (transaction: Kysely<JobTables>) => {
      await store.finish(transaction, claim, every);
      concluded = true;
    };
    try {
      if (row.attempts > kind.attempts.most) {
        // The last attempt stored no outcome: it crashed its server, or was killed with it.
        if (every === undefined) throw new Error('Its servers stopped while working on it.');
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
      if (!concluded) await note(() => (every === undefined ? of.end(claim) : conclude(database)), row);
      counts.done += 1;
      if (every !== undefined) lookIn(kind.name, every);
    } catch (error) {
      // If its transaction failed after `conclude`, the job has not ended.
      await failed(of, row, running, error).catch((again: unknown) => {
        if (!(again instanceof LeaseLost)) logFailure(logger, again, 'could not store the result of a job', { job: kind.name });
      });
    }
  }

  return { run, note };
}
