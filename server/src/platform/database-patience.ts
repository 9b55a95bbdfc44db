import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyBaseLogger } from 'fastify';
import { DatabaseTrouble, isOutage, troubleOf } from './database-errors.ts';

/** The time that a request has waited for the database so far, in ms of the clock: parallel queries count once. */
export interface DatabaseWait {
  waited_ms: number;
  /** Number of pending queries, and the time since when there is at least one. */
  waiting: number;
  since: number;
  /** The request was answered: no caller waits for its further work. */
  is_over: boolean;
}

const ofRequest = new AsyncLocalStorage<DatabaseWait | 'unbounded'>();

export function newWait(): DatabaseWait {
  return { waited_ms: 0, waiting: 0, since: 0, is_over: false };
}

/** Runs a part of a request's work: its waits for the database are added up and limited (`DATABASE_TIMEOUT`). */
export function waitingAs<T>(wait: DatabaseWait, work: () => T): T {
  return ofRequest.run(wait, work);
}

/** Runs work without a time limit on the database: a migration. */
export function waitingUnbounded<T>(work: () => T): T {
  return ofRequest.run('unbounded', work);
}

/** A background job may wait this many times longer than a request for one answer: its queries are larger, and no person waits. */
const BACKGROUND_TIMES = 10;

/** Whether no request waits for the present query. */
export function isBackground(): boolean {
  const wait = ofRequest.getStore();
  return wait === undefined || wait === 'unbounded' || wait.is_over;
}

/** Time that the current caller may still wait, in ms. */
function patienceLeft(timeout_ms: number): number {
  const wait = ofRequest.getStore();
  if (wait === 'unbounded') return Number.POSITIVE_INFINITY;
  if (wait === undefined || wait.is_over) return timeout_ms * BACKGROUND_TIMES;
  return timeout_ms - wait.waited_ms - (wait.waiting > 0 ? performance.now() - wait.since : 0);
}

/** If a timer fires this many ms late, the process was suspended (a sleeping computer), which says nothing about the database. */
const STOOD_STILL_MS = 1_000;

/**
 * Waits for an answer of the database, at most as long as the caller may. Time in which this process was suspended does not count. @throws DatabaseTrouble when time is up;
 * `onLate` is called before, and the answer may arrive later.
 */
export async function withPatience<T>(timeout_ms: number, ask: () => Promise<T>, onLate: (late: Promise<T>) => void): Promise<T> {
  const left = patienceLeft(timeout_ms);
  const store = ofRequest.getStore();
  const wait = store === 'unbounded' ? undefined : store;
  if (wait !== undefined && wait.waiting === 0) wait.since = performance.now();
  if (wait !== undefined) wait.waiting += 1;
  let timer: NodeJS.Timeout | undefined;
  try {
    const answer = ask();
    if (left === Number.POSITIVE_INFINITY) return await answer;
    const late = Promise.withResolvers<never>();
    const wait_ms = Math.max(0, left);
    const begin = (isAgain: boolean) => {
      const due_at = performance.now() + wait_ms;
      timer = setTimeout(() => {
        // Only once: a process that is always late must not wait forever.
        if (!isAgain && performance.now() - due_at >= STOOD_STILL_MS) {
          // When the process was suspended is not known, so none of this wait counts.
          if (wait !== undefined) wait.since = performance.now();
          begin(true);
          return;
        }
        answer.catch(() => {});
        onLate(answer);
        late.reject(new DatabaseTrouble('away', `The database didn’t answer within ${timeout_ms} ms.`));
      }, wait_ms);
    };
    begin(false);
    return await Promise.race([answer, late.promise]);
  } finally {
    clearTimeout(timer);
    if (wait !== undefined) {
      wait.waiting -= 1;
      if (wait.waiting === 0) wait.waited_ms += performance.now() - wait.since;
    }
  }
}

/** The state of the connection pool. */
export interface PoolState {
  used: number;
  /** Number of callers that wait for a connection. */
  waiting: number;
  /** The maximum number of connections. */
  most: number;
}

/** Recurring trouble is logged at most once in this many ms. */
const TOLD_EVERY_MS = 60_000;

/** Logs when the database stops answering and when it answers again: once each, whatever the number of callers. */
export interface DatabaseWatch {
  failed(error: unknown): void;
  /** `asked_at` as of `performance.now()`: an answer to a query from before the last failure does not count. */
  answered(asked_at: number): void;
}

export function createDatabaseWatch(logger: Pick<FastifyBaseLogger, 'error' | 'warn'> | undefined): DatabaseWatch {
  let failed_at: number | undefined;
  let told_at: number | undefined;
  let is_told = false;
  return {
    failed(error) {
      const now = performance.now();
      if (failed_at === undefined && (told_at === undefined || now - told_at >= TOLD_EVERY_MS)) {
        is_told = true;
        told_at = now;
        logger?.error({ err: error }, 'the database cannot be used: what needs it is refused with 503 until it can');
      }
      failed_at = now;
    },
    answered(asked_at) {
      if (failed_at === undefined || asked_at < failed_at) return;
      failed_at = undefined;
      if (is_told) logger?.warn('the database answers again');
      is_told = false;
    },
  };
}

/** Logs a failure of a background job. Trouble with the database is logged once by its watch, not at each run of each job. */
export function logFailure(
  logger: FastifyBaseLogger,
  error: unknown,
  sentence: string,
  facts: Record<string, string> = {},
): void {
  const trouble = troubleOf(error);
  if (trouble === undefined || !isOutage(trouble)) logger.error({ ...facts, err: error }, sentence);
  else logger.debug({ ...facts, err: error }, sentence);
}
