import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { CompiledQuery, DatabaseConnection, Dialect, Driver, QueryResult } from 'kysely';
import { DatabaseTrouble, isOutage, troubleOf } from './database-errors.ts';
import { type DatabaseWatch, type PoolState, withPatience } from './database-patience.ts';
import { GIVEN_BACK } from './durable-sqlite.ts';

/** Wait before a retry for another program's lock, in ms: the first wait and the longest. */
const RETRY = { first_ms: 2, most_ms: 50 } as const;

/** Time in each turn of the event loop that queries may use, in ms. */
const TURN_MS = 8;

/**
 * SQLite answers synchronously, so a loop over awaited queries would block other work: an await alone is only a microtask. After `TURN_MS` the next query waits for the next
 * turn of the event loop, whoever the caller is; later queries keep their order.
 */
function createTurns(): () => Promise<void> | undefined {
  let began: number | undefined;
  return () => {
    if (began === undefined) {
      began = performance.now();
      setImmediate(() => {
        began = undefined;
      });
      return undefined;
    }
    return performance.now() - began > TURN_MS ? nextTurn() : undefined;
  };
}

/** A connection that retries while another program's lock is in the way. */
class Patient implements DatabaseConnection {
  readonly inner: DatabaseConnection;
  readonly #despiteLocks: <T>(work: () => Promise<T>) => Promise<T>;
  readonly #turn = createTurns();

  constructor(inner: DatabaseConnection, despiteLocks: <T>(work: () => Promise<T>) => Promise<T>) {
    this.inner = inner;
    this.#despiteLocks = despiteLocks;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    await this.#turn();
    return await this.#despiteLocks(() => this.inner.executeQuery<R>(query));
  }

  streamQuery<R>(query: CompiledQuery, chunk_size: number): AsyncIterableIterator<QueryResult<R>> {
    return this.inner.streamQuery<R>(query, chunk_size);
  }
}

function innerOf(connection: DatabaseConnection): DatabaseConnection {
  return connection instanceof Patient ? connection.inner : connection;
}

/**
 * An SQLite dialect with a bounded wait for each caller (database-patience.ts): for its turn, for another program's lock on the file (a backup, a shell), and for the disk.
 * SQLite's own `busy_timeout` would block the one thread.
 */
export function createPatientSqlite(
  dialect: Dialect,
  options: { timeout_ms: number; watch: DatabaseWatch; onPool: (read: () => PoolState) => void },
): Dialect {
  const { timeout_ms, watch, onPool } = options;
  /** The number of callers that have or wait for the one connection. */
  let asking = 0;
  onPool(() => ({ used: Math.min(1, asking), waiting: Math.max(0, asking - 1), most: 1 }));

  /** Retries work that another program's lock prevented, until it succeeds or time is up. */
  async function insist<T>(work: () => Promise<T>, asked_at: number): Promise<T> {
    let is_late = false;
    const again = async () => {
      for (let wait_ms: number = RETRY.first_ms; ; wait_ms = Math.min(RETRY.most_ms, wait_ms * 2)) {
        await pause(wait_ms);
        // The caller was already told that the query did not run.
        if (is_late) throw new DatabaseTrouble('busy', 'The database was locked for too long.');
        try {
          return await work();
        } catch (error) {
          if (troubleOf(error) !== 'busy') throw error;
          if (performance.now() - asked_at > timeout_ms) watch.failed(error);
        }
      }
    };
    const giveUp = () => {
      is_late = true;
    };
    return await withPatience(timeout_ms, again, giveUp);
  }

  async function firstOrInsist<T>(work: () => Promise<T>, asked_at: number): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (troubleOf(error) !== 'busy') throw error;
      return await insist(work, asked_at);
    }
  }

  /** Runs work despite other programs' locks, and reports the outcome to the watch. */
  async function despiteLocks<T>(work: () => Promise<T>): Promise<T> {
    const asked_at = performance.now();
    try {
      const done = await firstOrInsist(work, asked_at);
      watch.answered(asked_at);
      return done;
    } catch (error) {
      const trouble = troubleOf(error);
      if (trouble !== undefined && isOutage(trouble)) watch.failed(error);
      throw error;
    }
  }

  function createDriver(): Driver {
    const driver = dialect.createDriver();
    const release = (connection: DatabaseConnection) => {
      asking -= 1;
      return driver.releaseConnection(connection);
    };
    const acquire = async () => {
      asking += 1;
      try {
        return await driver.acquireConnection();
      } catch (error) {
        asking -= 1;
        throw error;
      }
    };
    const giveBack = (late: Promise<DatabaseConnection>) => void late.then(release).catch(() => {});
    /** SQLite has one connection; it is wrapped once. */
    let known: Patient | undefined;
    const wrapped = (inner: DatabaseConnection) => {
      if (known?.inner !== inner) known = new Patient(inner, despiteLocks);
      return known;
    };
    return {
      init: (init) => driver.init(init),
      // A free connection is available at once, without a timeout.
      acquireConnection: async () => wrapped(asking === 0 ? await acquire() : await withPatience(timeout_ms, acquire, giveBack)),
      beginTransaction: (to, settings) => despiteLocks(() => driver.beginTransaction(innerOf(to), settings)),
      commitTransaction: (to) => despiteLocks(() => driver.commitTransaction(innerOf(to))),
      rollbackTransaction: (to) => driver.rollbackTransaction(innerOf(to)),
      // Other callers get the connection while this one waits for the disk.
      releaseConnection(to) {
        const released = release(innerOf(to));
        return released === GIVEN_BACK
          ? released
          : withPatience(
              timeout_ms,
              () => released,
              () => {},
            );
      },
      destroy: () => driver.destroy(),
    };
  }

  return {
    createDriver,
    createAdapter: () => dialect.createAdapter(),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createIntrospector: (database) => dialect.createIntrospector(database),
  };
}
