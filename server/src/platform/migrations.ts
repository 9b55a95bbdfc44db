import { setTimeout as pause } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { hasTable, isSqlite } from './database.ts';
import { troubleOf } from './database-errors.ts';
import { waitingUnbounded } from './database-patience.ts';
import { inTransaction } from './in-transaction.ts';

/** A database that this version cannot use. `message` is one line that says what to do. */
class DatabaseVersionError extends Error {
  override name = 'DatabaseVersionError';
}

/** Names of the table and lock of Kysely's migrator, which earlier versions used: an earlier version that migrates at the same time waits. */
const MIGRATION_TABLE = 'kysely_migration';
const POSTGRES_LOCK = '3853314791062309107';
const COLLISION_PAUSE_MS = 20;

/** A single migration that replaces all before it. A database that has all replaced ones already has its schema. */
export interface Baseline {
  name: string;
  /** The last commit that contained the replaced migrations. */
  commit: string;
  /** Names of the replaced migrations. */
  replaces: readonly string[];
}

/** Relation of a database to this version, by the names of its migrations: `replaced` has all that the baseline replaces, `older` only some of them. */
type Version = 'known' | 'replaced' | 'older' | 'newer';

/** Reads the version of a database from the names of its migrations. */
export function versionOf(applied: readonly string[], migrations: Record<string, Migration>, baseline?: Baseline): Version {
  const replaced = new Set(baseline?.replaces);
  if (applied.some((name) => !(name in migrations) && !replaced.has(name))) return 'newer';
  const count = applied.filter((name) => replaced.has(name)).length;
  if (count === 0) return 'known';
  return count === replaced.size ? 'replaced' : 'older';
}

/** Describes the upgrade of data from before the baseline's commit: one sentence. */
export function describeOldData(baseline: Baseline, what: string): string {
  return `${what} is from before commit ${baseline.commit}, the oldest that this version upgrades: start that commit once on the data, then this version. Nothing was changed.`;
}

async function appliedMigrations<Tables>(database: Kysely<Tables>): Promise<string[]> {
  if (!(await hasTable(database, MIGRATION_TABLE))) return [];
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(MIGRATION_TABLE)} order by name`.execute(database);
  return rows.map(({ name }) => name);
}

/**
 * Reads the version of a database without changing it. `complete` is for callers that only read and do not migrate. Returns the migrations that the database has. @throws
 * DatabaseVersionError when the database was made by a newer version or one from before the baseline, or with `complete` by an older one.
 */
export async function requireKnownVersion<Tables>(
  database: Kysely<Tables>,
  migrations: Record<string, Migration>,
  { complete = false, baseline }: { complete?: boolean; baseline?: Baseline | undefined } = {},
): Promise<string[]> {
  const applied = await appliedMigrations(database);
  const version = versionOf(applied, migrations, baseline);
  if (version === 'newer') {
    const unknown = applied.filter((name) => !(name in migrations || baseline?.replaces.includes(name)));
    throw new DatabaseVersionError(
      `A newer Palisade version upgraded this database (unknown here: ${unknown.toSorted().at(-1)}). Start that version, or restore an older database copy. Nothing was changed.`,
    );
  }
  if (version === 'older' && baseline !== undefined) throw new DatabaseVersionError(describeOldData(baseline, 'This database'));
  if (complete && Object.keys(migrations).some((name) => !applied.includes(name)))
    throw new DatabaseVersionError('This database is from an older Palisade version. Start the server once to upgrade it.');
  return applied;
}

/** Locks out other migrating processes until the transaction ends. SQLite has one writer at a time anyway. */
async function takeTurn<Tables>(transaction: Kysely<Tables>): Promise<void> {
  if (!isSqlite(transaction)) await sql`select pg_advisory_xact_lock(${sql.raw(POSTGRES_LOCK)})`.execute(transaction);
}

/** Runs work in one locked transaction, and retries it when another migrating process was faster. */
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

interface UpgradeOptions<Tables> {
  /** Called before the first change to a database with data. */
  beforeUpgrade?: () => void;
  /** Migrations that running servers of the previous version cannot survive. */
  breaking?: ReadonlySet<string>;
  baseline?: Baseline;
  /** Describes another server that uses the database now; undefined if there is none. */
  findLiving?: (database: Kysely<Tables>) => Promise<string | undefined>;
}

/**
 * Migrates the database to the newest version. Each migration and its record are one transaction: a process that dies in between leaves the previous state. Several
 * processes may call this at once: each migration runs in one of them. @throws DatabaseVersionError for a database of a newer version, from before the baseline, or used by
 * an older server that would not survive the upgrade; the first migration's error.
 */
export async function migrate<Tables>(
  database: Kysely<Tables>,
  migrations: Record<string, Migration>,
  { beforeUpgrade, breaking, baseline, findLiving }: UpgradeOptions<Tables> = {},
): Promise<void> {
  await waitingUnbounded(async () => {
    const found = await requireKnownVersion(database, migrations, { baseline });
    const is_replaced = versionOf(found, migrations, baseline) === 'replaced';
    const applied = is_replaced && baseline !== undefined ? [baseline.name] : found;
    const pending = Object.keys(migrations)
      .filter((name) => !applied.includes(name))
      .sort();
    const [first] = pending;
    if (first === undefined && !is_replaced) return;
    const last = applied.at(-1);
    if (last !== undefined && first !== undefined && first < last)
      throw new DatabaseVersionError(
        `This database is from another Palisade version: it has ${last}, but not the earlier ${first}. Start that version. Nothing was changed.`,
      );
    const breaks = applied.length > 0 ? pending.find((name) => breaking?.has(name)) : undefined;
    if (breaks !== undefined) await requireAlone(database, breaks, findLiving);
    if (applied.length > 0) beforeUpgrade?.();
    await inTurn(database, async (transaction) => {
      await sql`create table if not exists ${sql.table(MIGRATION_TABLE)} (
        name varchar(255) primary key not null, timestamp varchar(255) not null)`.execute(transaction);
    });
    if (is_replaced && baseline !== undefined) await adoptBaseline(database, migrations, baseline, findLiving);
    for (const name of pending) await apply(database, name, migrations[name]);
  });
}

/** @throws DatabaseVersionError while another server uses the database. */
async function requireAlone<Tables>(
  database: Kysely<Tables>,
  migration: string,
  findLiving: UpgradeOptions<Tables>['findLiving'],
): Promise<void> {
  const living = await findLiving?.(database);
  if (living !== undefined)
    throw new DatabaseVersionError(
      `The upgrade removes what older servers use (${migration}), and one is still running: ${living}. Stop them all, then start this one. Nothing was changed.`,
    );
}

/** Replaces the records of the migrations before the baseline by the baseline's; the schema is the same. */
async function adoptBaseline<Tables>(
  database: Kysely<Tables>,
  migrations: Record<string, Migration>,
  baseline: Baseline,
  findLiving: UpgradeOptions<Tables>['findLiving'],
): Promise<void> {
  await inTurn(database, async (transaction) => {
    // Another migrating process was faster: the living servers are of this version.
    if (versionOf(await appliedMigrations(transaction), migrations, baseline) !== 'replaced') return;
    await requireAlone(transaction, baseline.name, findLiving);
    await sql`delete from ${sql.table(MIGRATION_TABLE)}`.execute(transaction);
    await record(transaction, baseline.name);
  });
}

/** Records a migration. Returns whether this process was the first. */
async function record<Tables>(transaction: Kysely<Tables>, name: string): Promise<boolean> {
  const { numAffectedRows } = await sql`insert into ${sql.table(MIGRATION_TABLE)} (name, timestamp)
    values (${name}, ${new Date().toISOString()}) on conflict do nothing`.execute(transaction);
  return numAffectedRows === 1n;
}

async function apply<Tables>(database: Kysely<Tables>, name: string, migration: Migration | undefined): Promise<void> {
  await inTurn(database, async (transaction) => {
    // Record first: this takes SQLite's lock, and shows whether another process was faster.
    if (await record(transaction, name)) await migration?.up(transaction);
  });
}
