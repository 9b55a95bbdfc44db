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

/** A file that exists at the first call of `sync`. */
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

/** Shares one `sync` among all waiting callers: each is answered after a sync that began after its call. Calls during a sync share the next one. */
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

/** Result for a connection that was released without a pending write: the caller needs no time limit. */
export const GIVEN_BACK: Promise<void> = Promise.resolve();

/** Kysely's SQLite adapter has one connection and holds it until a query is over. Here a caller that waits for the disk does not hold it. */
class UnheldAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

/** On a full disk SQLite ends the transaction itself (sqlite.org/lang_transaction.html, "Response To Errors Within A Transaction"): report the earlier error. */
function ignoreEnded(error: unknown): void {
  if (!(error instanceof Error && error.message.includes('no transaction is active'))) throw error;
}

/**
 * SQLite in WAL mode with `synchronous=NORMAL`; a write still returns only after it is on the disk. The sync runs outside the server's one thread and is shared by all
 * concurrent writers. `disk` is the WAL; the syncs that keep the database consistent remain SQLite's (sqlite.org/wal.html, "Avoiding Excessively Large WAL Files" and
 * sqlite.org/pragma.html#pragma_synchronous).
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
