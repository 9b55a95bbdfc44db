import { type FileHandle, open } from 'node:fs/promises';
import {
  type Dialect,
  type Driver,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDriver,
  SqliteIntrospector,
  type SqliteStatement,
} from 'kysely';
import { KeptStatementCompiler } from './kept-statements.ts';

/** Syncs a file to the disk. */
interface Disk {
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** A file that exists when `sync` is called for the first time. */
export function diskOf(path: string): Disk {
  let opened: Promise<FileHandle> | undefined;
  return {
    async sync() {
      opened ??= open(path, 'r+').catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      await (await opened).datasync();
    },
    async close() {
      await (await opened)?.close();
    },
  };
}

/** One `sync` for all who wait for the disk: each is answered after one that began when they had come. While one runs, those who come share the next. */
function createSharedSync(sync: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  function begin(): Promise<void> {
    next = undefined;
    const mine = sync().finally(() => {
      running = undefined;
    });
    running = mine;
    return mine;
  }

  return () => {
    if (running === undefined) return begin();
    next ??= running.then(begin, begin);
    return next;
  };
}

/** Answer of a connection that was given back and has no write to wait for: the caller need not watch the time. */
export const GIVEN_BACK: Promise<void> = Promise.resolve();

/** SQLite as Kysely knows it has one connection, and Kysely holds it until a query is over. Here who waits for the disk does not hold it. */
class UnheldAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

/**
 * A full disk makes SQLite end the transaction (sqlite.org/lang_transaction.html, "Response To Errors Within A Transaction"): the error before is the one to
 * report.
 */
function ignoreEnded(error: unknown): void {
  if (!(error instanceof Error && error.message.includes('no transaction is active'))) throw error;
}

/**
 * SQLite in WAL with `synchronous=NORMAL`, where a write is over when it is on the disk all the same: outside of the server's one thread, and one sync for
 * all who have written meanwhile. `disk` is the WAL; the syncs that keep the database whole stay SQLite's (sqlite.org/wal.html, "Avoiding Excessively
 * Large WAL Files" and sqlite.org/pragma.html#pragma_synchronous).
 */
export function createDurableDialect(
  database: Omit<SqliteDatabase, 'prepare'> & { prepare(sql: string): SqliteStatement & { readonly: boolean } },
  disk: Disk,
): Dialect {
  const onDisk = createSharedSync(disk.sync);
  let wrote = false;
  let last: Promise<void> = Promise.resolve();
  let release = () => {};
  const driver = new SqliteDriver({
    database: {
      close: () => database.close(),
      prepare(sql) {
        const statement = database.prepare(sql);
        wrote ||= !statement.readonly;
        return statement;
      },
    },
  });
  const durable: Driver = {
    init: (options) => driver.init(options),
    async acquireConnection() {
      const before = last;
      const mine = Promise.withResolvers<void>();
      last = mine.promise;
      await before;
      release = mine.resolve;
      return await driver.acquireConnection();
    },
    beginTransaction: (connection) => driver.beginTransaction(connection),
    commitTransaction: (connection) => driver.commitTransaction(connection),
    rollbackTransaction: (connection) => driver.rollbackTransaction(connection).catch(ignoreEnded),
    savepoint: (connection, name, compileQuery) => driver.savepoint(connection, name, compileQuery),
    rollbackToSavepoint: (connection, name, compileQuery) => driver.rollbackToSavepoint(connection, name, compileQuery),
    releaseSavepoint: (connection, name, compileQuery) => driver.releaseSavepoint(connection, name, compileQuery),
    releaseConnection() {
      const has_written = wrote;
      wrote = false;
      release();
      return has_written ? onDisk() : GIVEN_BACK;
    },
    async destroy() {
      await disk.close();
      await driver.destroy();
    },
  };
  return {
    createDriver: () => durable,
    createQueryCompiler: () => new KeptStatementCompiler(),
    createAdapter: () => new UnheldAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}
