import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import type { FastifyBaseLogger } from 'fastify';
import { Kysely, SqliteDialect } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { types as pgTypes } from 'pg';
import { createDatabaseWatch, waitingUnbounded } from './database-patience.ts';
import { createDurableDialect, diskOf } from './durable-sqlite.ts';
import { createPatientPostgres } from './patient-postgres.ts';
import { createPatientSqlite } from './patient-sqlite.ts';

/** Where the tables live: a file of the embedded database, one in memory (tests), or a PostgreSQL server. */
export type DatabaseLocation = { sqlite: string } | { postgres: string };

export function databaseLocation(settings: { data_dir: string; database_url: string | undefined }): DatabaseLocation {
  return settings.database_url === undefined
    ? { sqlite: join(settings.data_dir, 'palisade.sqlite') }
    : { postgres: settings.database_url };
}

const INT8_TYPE_ID = 20;
const STATEMENTS_MAXIMUM = 500;
/** What `DATABASE_POOL` and `DATABASE_TIMEOUT` are when nobody sets them. */
const CONNECTIONS = 10;
const TIMEOUT_MS = 4_000;

export interface DatabaseOptions {
  /** To PostgreSQL, at most. */
  connections?: number;
  /** How long a request waits for the database in all, in ms; a job in the background waits ten times as long for one answer. */
  timeout_ms?: number;
  /** Told when the database is in trouble, and when it answers again. */
  logger?: Pick<FastifyBaseLogger, 'error' | 'warn'>;
}

/**
 * Opens the database. One dialect-free set of queries serves both: text ids, ISO text times, integer cents, JSON text, 0/1 for booleans.
 * SQLite runs in WAL: what was acknowledged survives a power cut (durable-sqlite.ts).
 */
export function openDatabase<Tables>(location: DatabaseLocation, options: DatabaseOptions = {}): Kysely<Tables> {
  const { connections = CONNECTIONS, timeout_ms = TIMEOUT_MS, logger } = options;
  const watch = createDatabaseWatch(logger);
  if ('postgres' in location) {
    // Sizes in bytes are int8, which pg answers as text; none comes near 2^53.
    pgTypes.setTypeParser(INT8_TYPE_ID, Number);
    return new Kysely<Tables>({ dialect: createPatientPostgres({ url: location.postgres, connections, timeout_ms, watch }) });
  }
  if (location.sqlite !== ':memory:') mkdirSync(join(location.sqlite, '..'), { recursive: true });
  const database = new SqliteDatabase(location.sqlite);
  database.pragma('journal_mode = WAL');
  // What keeps the file whole; that a write is on the disk before it is acknowledged is seen to by the dialect.
  database.pragma('synchronous = NORMAL');
  database.pragma('foreign_keys = ON');
  // Who waits for another program's lock does so without holding this thread (patient-sqlite.ts).
  database.pragma('busy_timeout = 0');
  const cached = withStatementCache(database);
  // Kysely's own one: a database in memory has no disk to wait for.
  if (location.sqlite === ':memory:') return new Kysely<Tables>({ dialect: new SqliteDialect({ database: cached }) });
  const durable = createDurableDialect(cached, diskOf(`${location.sqlite}-wal`));
  return new Kysely<Tables>({ dialect: createPatientSqlite(durable, { timeout_ms, watch }) });
}

/**
 * Compiling a statement costs as much as running a small one, and the server runs the same few hundred again and again. A statement is run to its end at once, so
 * that one may serve all; SQLite compiles it anew by itself when the schema has changed.
 */
function withStatementCache(database: SqliteDatabase.Database): {
  close(): void;
  prepare(sql: string): SqliteDatabase.Statement<unknown[]>;
} {
  const statements = new Map<string, SqliteDatabase.Statement<unknown[]>>();
  return {
    close: () => void database.close(),
    prepare(sql) {
      const known = statements.get(sql);
      if (known !== undefined) return known;
      const statement = database.prepare<unknown[]>(sql);
      if (statements.size >= STATEMENTS_MAXIMUM) statements.clear();
      statements.set(sql, statement);
      return statement;
    },
  };
}

/**
 * Brings the database to the newest migration. Several servers may do so at once: Kysely takes a lock on PostgreSQL.
 * @throws the first migration's error; nothing of that migration is kept.
 */
export async function migrate<Tables>(database: Kysely<Tables>, migrations: Record<string, Migration>): Promise<void> {
  const migrator = new Migrator({ db: database, provider: { getMigrations: () => Promise.resolve(migrations) } });
  const { error } = await waitingUnbounded(() => migrator.migrateToLatest());
  if (error !== undefined) throw error;
}

/** Whether the database refused a row because what it belongs to is gone. */
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
