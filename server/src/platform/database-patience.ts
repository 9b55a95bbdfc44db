import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyBaseLogger } from 'fastify';
import { DatabaseTrouble, isOutage, troubleOf } from './database-errors.ts';

/** The time that a request has waited for the database so far, in ms of the clock: parallel queries count once. */
export interface DatabaseWait {
  waited_ms: number;
  /** Number of queries that wait now, and since when at least one does. */
  waiting: number;
  since: number;
  /** The request was answered: its further work has no caller that waits. */
  is_over: boolean;
}

const ofRequest = new AsyncLocalStorage<DatabaseWait | 'unbounded'>();

export function newWait(): DatabaseWait {
  return { waited_ms: 0, waiting: 0, since: 0, is_over: false };
}

/** Does a part of a request's work: all that it waits for the database counts together, and is bounded (`DATABASE_TIMEOUT`). */
export function waitingAs<T>(wait: DatabaseWait, work: () => T): T {
  return ofRequest.run(wait, work);
}

/** Does work that may wait for the database as long as it likes: a migration. */
export function waitingUnbounded<T>(work: () => T): T {
  return ofRequest.run('unbounded', work);
}

/** A background job waits this many times longer than a request for one answer: it has more to do at once, and no person waits. */
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

/** A timer that fires so much later than it was set for, in ms, says that this process stood still (a computer that slept), and nothing of the database. */
const STOOD_STILL_MS = 1_000;

/**
 * Waits for an answer of the database no longer than who asks may. Time in which this process stood still does not count.
 * @throws DatabaseTrouble when it has not come by then; `onLate` is called before, and the answer may come later.
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
        const stood_still_ms = performance.now() - due_at;
        // Once: a process that is always late has a limit, too.
        if (!isAgain && stood_still_ms >= STOOD_STILL_MS) {
          if (wait !== undefined) wait.since += stood_still_ms;
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

/** Connections to the database at a moment. */
export interface PoolState {
  used: number;
  /** Number of callers that wait for one. */
  waiting: number;
  /** The most connections. */
  most: number;
}

/** A trouble that comes and goes is logged at most so often, in ms. */
const TOLD_EVERY_MS = 60_000;

/** Says in the log when the database no longer answers and when it does again: once each, however many ask meanwhile. */
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

/** Logs a failure of a background job. Trouble with the database is logged once by its watch, and not at each turn of each job. */
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
