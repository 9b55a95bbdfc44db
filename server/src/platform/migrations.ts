import { setTimeout as pause } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { hasTable, isSqlite } from './database.ts';
import { troubleOf } from './database-errors.ts';
import { waitingUnbounded } from './database-patience.ts';
import { inTransaction } from './in-transaction.ts';

/** A database that this version cannot serve. `message` is one line that says what to do. */
class DatabaseVersionError extends Error {
  override name = 'DatabaseVersionError';
}

/** The names of table and lock are those of Kysely's migrator, which earlier versions used: an earlier version that migrates at the same time waits. */
const MIGRATION_TABLE = 'kysely_migration';
const POSTGRES_LOCK = '3853314791062309107';
const COLLISION_PAUSE_MS = 20;

/** SQLite's messages when part of a migration has been applied already. */
const HALF_DONE = /already exists|duplicate column name|no such (table|column|index)/;

async function appliedMigrations<Tables>(database: Kysely<Tables>): Promise<string[]> {
  if (!(await hasTable(database, MIGRATION_TABLE))) return [];
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(MIGRATION_TABLE)} order by name`.execute(database);
  return rows.map(({ name }) => name);
}

/**
 * Looks, and changes nothing. `complete` is for who only reads, and so brings no database to the newest migration. Answers the migrations that the database has.
 * @throws DatabaseVersionError when the database was made by a newer version, or with `complete` by an older one.
 */
export async function requireKnownVersion<Tables>(
  database: Kysely<Tables>,
  migrations: Record<string, Migration>,
  { complete = false }: { complete?: boolean } = {},
): Promise<string[]> {
  const applied = await appliedMigrations(database);
  const unknown = applied.filter((name) => !(name in migrations));
  if (unknown.length > 0) {
    throw new DatabaseVersionError(
      `A newer Palisade version upgraded this database (unknown here: ${unknown.toSorted().at(-1)}). Start that version, or restore an older database copy. Nothing was changed.`,
    );
  }
  if (complete && applied.length < Object.keys(migrations).length)
    throw new DatabaseVersionError('This database is from an older Palisade version. Start the server once to upgrade it.');
  return applied;
}

/** Takes the turn of a process that migrates, until the transaction ends. SQLite has one writer at a time anyway. */
async function takeTurn<Tables>(transaction: Kysely<Tables>): Promise<void> {
  if (!isSqlite(transaction)) await sql`select pg_advisory_xact_lock(${sql.raw(POSTGRES_LOCK)})`.execute(transaction);
}

/** Does work in one transaction, again when another process that migrates was faster. */
async function inTurn<Tables>(database: Kysely<Tables>, work: (transaction: Kysely<Tables>) => Promise<void>): Promise<void> {
  for (;;) {
    try {
      await inTransaction(database, async (transaction) => {
        await takeTurn(transaction);
        await work(transaction);
      });
      return;
    } catch (error) {
      if (troubleOf(error) !== 'collision') throw error;
      await pause(COLLISION_PAUSE_MS);
    }
  }
}

/** The sentence for a database that a version before this one left in the middle of a migration, which was no transaction on SQLite then. */
async function halfDone<Tables>(database: Kysely<Tables>, migration: string): Promise<DatabaseVersionError> {
  const files = await sql<{ file: string }>`select file from pragma_database_list where name = 'main'`.execute(database);
  const file = files.rows[0]?.file ?? '';
  const people = await sql`select 1 from users limit 1`.execute(database).catch(() => ({ rows: [] }));
  const remedy =
    people.rows.length > 0
      ? 'Restore the backup from before that upgrade (npm run restore) and start this version'
      : `It’s empty: delete ${file} and start again`;
  return new DatabaseVersionError(
    `An earlier upgrade of the database ${file} was interrupted (${migration}). ${remedy}. Nothing was changed.`,
  );
}

interface UpgradeOptions {
  /** Called before the first change to a database that has been used. */
  beforeUpgrade?: () => void;
  /** Migrations that a server of the version before them does not survive. */
  breaking?: ReadonlySet<string>;
  /** Another server that uses the database now, in words; undefined when there is none. */
  findLiving?: () => Promise<string | undefined>;
}

/**
 * Brings the database to the newest migration. Each migration and its record are one transaction: a process that ends in the middle leaves the state before it.
 * Several processes may do so at once: each migration is done by one of them.
 * @throws DatabaseVersionError for one of a newer version, one that an earlier version left half migrated, or one that an older server uses which would not survive it; the first migration's error.
 */
export async function migrate<Tables>(
  database: Kysely<Tables>,
  migrations: Record<string, Migration>,
  { beforeUpgrade, breaking, findLiving }: UpgradeOptions = {},
): Promise<void> {
  await waitingUnbounded(async () => {
    const applied = await requireKnownVersion(database, migrations);
    const pending = Object.keys(migrations)
      .filter((name) => !applied.includes(name))
      .sort();
    const [first] = pending;
    if (first === undefined) return;
    const last = applied.at(-1);
    if (last !== undefined && first < last)
      throw new DatabaseVersionError(
        `This database is from another Palisade version: it has ${last}, but not the earlier ${first}. Start that version. Nothing was changed.`,
      );
    const breaks = applied.length > 0 ? pending.find((name) => breaking?.has(name)) : undefined;
    const living = breaks === undefined ? undefined : await findLiving?.();
    if (living !== undefined)
      throw new DatabaseVersionError(
        `The upgrade removes what older servers use (${breaks}), and one is still running: ${living}. Stop them all, then start this one. Nothing was changed.`,
      );
    if (applied.length > 0) beforeUpgrade?.();
    await inTurn(database, async (transaction) => {
      await sql`create table if not exists ${sql.table(MIGRATION_TABLE)} (
        name varchar(255) primary key not null, timestamp varchar(255) not null)`.execute(transaction);
    });
    for (const name of pending) await apply(database, name, migrations[name]);
  });
}

async function apply<Tables>(database: Kysely<Tables>, name: string, migration: Migration | undefined): Promise<void> {
  try {
    await inTurn(database, async (transaction) => {
      // First: it takes SQLite's lock, and says whether another process was faster.
      const { numAffectedRows } = await sql`insert into ${sql.table(MIGRATION_TABLE)} (name, timestamp)
        values (${name}, ${new Date().toISOString()}) on conflict do nothing`.execute(transaction);
      if (numAffectedRows === 1n) await migration?.up(transaction);
    });
  } catch (error) {
    if (isSqlite(database) && error instanceof Error && HALF_DONE.test(error.message)) throw await halfDone(database, name);
    throw error;
  }
}
