import type { FastifyBaseLogger } from 'fastify';
import { type Kysely, sql } from 'kysely';
import { isSqlite } from './database.ts';
import { databaseClock } from './database-clock.ts';
import { logFailure } from './database-patience.ts';
import { setIdOffset } from './id.ts';

/** A server's clock that differs by more than this many ms is reported as wrong. */
const OFF_MS = 2_000;
const MEASURED_EVERY_MS = 60_000;
const SAMPLES = 3;

/** The clock of the shared database, calculated from this machine's clock and the measured difference. */
export interface SharedClock {
  /** Ms since 1970, by the clock of the database. */
  now(): number;
  /** Lead of this machine's clock over the database's, in ms; negative if it is behind. */
  ahead_ms(): number;
  /** Whether this machine's clock differs by more than 2 s. */
  isOff(): boolean;
  close(): void;
}

/** Reads the clock of a database, in ms since 1970; undefined for SQLite, whose clock is that of this machine. */
export function readerOfDatabaseTime<Tables>(database: Kysely<Tables>): (() => Promise<number>) | undefined {
  if (isSqlite(database)) return undefined;
  return async () => {
    const { rows } = await sql<{ at: string }>`select ${databaseClock(database)()} as at`.execute(database);
    return Date.parse(rows[0]?.at ?? '');
  };
}

/**
 * Measures the difference to the database's clock, now and each minute: of three measurements, the one with the shortest round trip counts. Times and ids of records use
 * `now`, so that records of several servers sort in the order of events. A difference below the precision of the measurement counts as none.
 */
export async function createSharedClock(parts: {
  read: (() => Promise<number>) | undefined;
  logger: FastifyBaseLogger;
  /** The clock of this machine, in ms since 1970. */
  local?: () => number;
  /** The application's clock on this machine, which a test may set ahead. */
  now?: () => number;
}): Promise<SharedClock> {
  const { read, logger, local = Date.now, now = Date.now } = parts;
  let ahead_ms = 0;
  let is_told = false;

  async function measure(ask: () => Promise<number>): Promise<void> {
    let best = { way_ms: Number.POSITIVE_INFINITY, ahead_ms: 0 };
    for (let sample = 0; sample < SAMPLES; sample += 1) {
      const asked_at = local();
      const at = await ask();
      const answered_at = local();
      const way_ms = answered_at - asked_at;
      if (way_ms < best.way_ms) best = { way_ms, ahead_ms: (asked_at + answered_at) / 2 - at };
    }
    if (!Number.isFinite(best.ahead_ms)) return;
    ahead_ms = Math.abs(best.ahead_ms) > best.way_ms / 2 + 1 ? Math.round(best.ahead_ms) : 0;
    setIdOffset(-ahead_ms);
    const is_off = Math.abs(ahead_ms) > OFF_MS;
    if (is_off && !is_told) {
      const how = `${(Math.abs(ahead_ms) / 1000).toFixed(1)} s ${ahead_ms > 0 ? 'ahead of' : 'behind'}`;
      logger.warn(
        { ahead_ms },
        `the clock of this machine is ${how} that of the database: records go by the database; correct the clock (NTP)`,
      );
    }
    is_told = is_off;
  }

  if (read === undefined) return { now, ahead_ms: () => 0, isOff: () => false, close: () => {} };
  await measure(read);
  const timer = setInterval(() => {
    measure(read).catch((error: unknown) => logFailure(logger, error, 'could not read the database’s clock'));
  }, MEASURED_EVERY_MS).unref();
  return {
    now: () => now() - ahead_ms,
    ahead_ms: () => ahead_ms,
    isOff: () => Math.abs(ahead_ms) > OFF_MS,
    close: () => clearInterval(timer),
  };
}
