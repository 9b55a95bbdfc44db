import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import type { FastifyBaseLogger } from 'fastify';
import { Kysely, SqliteAdapter, sql } from 'kysely';
import { types as pgTypes } from 'pg';
import { createDatabaseWatch, type PoolState } from './database-patience.ts';
import { createDurableDialect, diskOf } from './durable-sqlite.ts';
import { registerTextFunctions } from './folded-text.ts';
import { keepStatements, MemoryDialect } from './kept-statements.ts';
import { createPatientPostgres } from './patient-postgres.ts';
import { createPatientSqlite } from './patient-sqlite.ts';

/** The location of the database: a file of SQLite, an in-memory SQLite database (tests), which begins empty or with `contents` (the bytes of a file), or a PostgreSQL server. */
export type DatabaseLocation = { sqlite: string } | { sqlite: ':memory:'; contents: Buffer } | { postgres: string };

export function databaseLocation(settings: { data_dir: string; database_url: string | undefined }): DatabaseLocation {
  return settings.database_url === undefined
    ? { sqlite: join(settings.data_dir, 'palisade.sqlite') }
    : { postgres: settings.database_url };
}

const INT8_TYPE_ID = 20;
/** Defaults of `DATABASE_POOL` and `DATABASE_TIMEOUT`. */
const CONNECTIONS = 10;
const TIMEOUT_MS = 4_000;
const IDLE_MS = 10_000;

export interface DatabaseOptions {
  /** The maximum number of connections to PostgreSQL. */
  connections?: number;
  /** A connection to PostgreSQL is closed after this many ms without use. */
  idle_ms?: number;
  /** Total time that a request may wait for the database, in ms; a background job may wait ten times as long for one answer. */
  timeout_ms?: number;
  /** Logs when the database is in trouble, and when it answers again. */
  logger?: Pick<FastifyBaseLogger, 'error' | 'warn'>;
  /** Called with a function that reads the number of connections in use. Not called for an in-memory database, which has no pool. */
  onPool?: (read: () => PoolState) => void;
}

/**
 * Opens the database. One dialect-free set of queries serves both: text ids, ISO text times, integer cents, JSON text, 0/1 for booleans.
 * SQLite runs in WAL: acknowledged writes survive a power cut (durable-sqlite.ts).
 */
export function openDatabase<Tables>(location: DatabaseLocation, options: DatabaseOptions = {}): Kysely<Tables> {
  const { connections = CONNECTIONS, idle_ms = IDLE_MS, timeout_ms = TIMEOUT_MS, logger, onPool = () => {} } = options;
  const watch = createDatabaseWatch(logger);
  if ('postgres' in location) {
    // Sizes in bytes are int8, which pg returns as text; none exceeds 2^53.
    pgTypes.setTypeParser(INT8_TYPE_ID, Number);
    return new Kysely<Tables>({
      dialect: createPatientPostgres({ url: location.postgres, connections, idle_ms, timeout_ms, watch, onPool }),
    });
  }
  if (location.sqlite !== ':memory:') mkdirSync(join(location.sqlite, '..'), { recursive: true });
  const database = new SqliteDatabase('contents' in location ? location.contents : location.sqlite);
  database.pragma('journal_mode = WAL');
  // NORMAL keeps the file consistent; the dialect syncs a write to the disk before it is acknowledged.
  database.pragma('synchronous = NORMAL');
  database.pragma('foreign_keys = ON');
  // Waiting for another program's lock does not block this thread (patient-sqlite.ts).
  database.pragma('busy_timeout = 0');
  // Deleted data is overwritten: the chat of a deleted account is not found in the file (sqlite.org/pragma.html#pragma_secure_delete).
  database.pragma('secure_delete = ON');
  registerTextFunctions(database);
  const cached = keepStatements(database);
  // Kysely's own dialect: an in-memory database has no disk to sync.
  if (location.sqlite === ':memory:') return new Kysely<Tables>({ dialect: new MemoryDialect({ database: cached }) });
  const durable = createDurableDialect(cached, diskOf(`${location.sqlite}-wal`));
  return new Kysely<Tables>({ dialect: createPatientSqlite(durable, { timeout_ms, watch, onPool }) });
}

/** Whether the database is SQLite, which has one writer at a time, so that deadlocks are impossible. */
export function isSqlite<Tables>(database: Kysely<Tables>): boolean {
  return database.getExecutor().adapter instanceof SqliteAdapter;
}

/** Whether the database has a table. Kysely's list of all tables fails on PostgreSQL while another process drops one. */
export async function hasTable<Tables>(database: Kysely<Tables>, name: string): Promise<boolean> {
  const { rows } = isSqlite(database)
    ? await sql`select 1 from sqlite_master where type = 'table' and name = ${name}`.execute(database)
    : await sql`select 1 where to_regclass(${name}) is not null`.execute(database);
  return rows.length > 0;
}

/**
 * Removes deleted data from SQLite's write-ahead log as well, where it stays until it is overwritten. False while another process reads an older state: then retry later.
 * PostgreSQL removes it in its own time (autovacuum).
 */
export async function wipeDeleted<Tables>(database: Kysely<Tables>): Promise<boolean> {
  if (!isSqlite(database)) return true;
  const { rows } = await sql<{ busy: number }>`pragma wal_checkpoint(truncate)`.execute(database);
  return rows.every(({ busy }) => busy === 0);
}

/** Whether the database refused a row because its parent row is gone. */
export function isForeignKeyViolation(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return error.code === 'SQLITE_CONSTRAINT_FOREIGNKEY' || error.code === '23503';
}

/** Whether an error is the database's refusal of a duplicate in a unique index that covers `column`. */
export function isUniqueViolation(error: unknown, column: string): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  if (error.code === 'SQLITE_CONSTRAINT_UNIQUE' || error.code === 'SQLITE_CONSTRAINT_PRIMARYKEY')
    return error.message.includes(column);
  return error.code === '23505' && 'constraint' in error && String(error.constraint).includes(column);
}
