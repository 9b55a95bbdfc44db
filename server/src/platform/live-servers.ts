import { formatList } from '@palisade/contract/intl';
import type { FastifyBaseLogger } from 'fastify';
import { type Kysely, sql } from 'kysely';
import { isSqlite } from './database.ts';
import { databaseClock } from './database-clock.ts';
import { logFailure } from './database-patience.ts';
import { hasEnded, thisProcess } from './home.ts';
import { inTransaction } from './in-transaction.ts';

export interface ServerTables {
  servers: {
    /** The id of the data folder. */
    id: string;
    host: string;
    boot: string;
    pid: number;
    process_began: string;
    started_at: string;
    /** By the clock of the database. */
    seen_at: string;
    /** The settings that it lacks and that servers with a shared database need, as text; empty if it has all. */
    lacks: string;
  };
}

/** Another server uses the database, and one of the two lacks a setting that shared use requires. `message` is one line about it. */
class SharedDatabaseError extends Error {
  override name = 'SharedDatabaseError';
}

const SEEN_EVERY_MS = 15_000;
/** A server is considered gone after this many ms of silence. */
const GONE_AFTER_MS = 60_000;

const describe = ({ pid, host, started_at }: Pick<ServerTables['servers'], 'pid' | 'host' | 'started_at'>) =>
  `process ${pid} on ${host}, started ${started_at}`;

/** Describes a living server of the database other than that of the data folder `home`. Undefined if there is none. */
export async function findLivingServer(database: Kysely<ServerTables>, home: string): Promise<string | undefined> {
  if (isSqlite(database)) return undefined;
  const rows = await database
    .selectFrom('servers')
    .selectAll()
    .where('id', '!=', home)
    .where('seen_at', '>=', databaseClock(database)(-GONE_AFTER_MS))
    .orderBy('started_at')
    .execute();
  const living = rows.find((row) => !hasEnded(row));
  return living && describe(living);
}

/**
 * Registers this server in the database as living, on PostgreSQL, which several servers may share. `needed` are the settings that shared use requires, and whether this
 * server has them. Returns the function that unregisters it. @throws SharedDatabaseError while another server lives and one of the two lacks a setting.
 */
export async function joinServers(parts: {
  database: Kysely<ServerTables>;
  /** The data folder's id. */
  home: string;
  needed: Readonly<Record<string, boolean>>;
  logger: FastifyBaseLogger;
}): Promise<{
  leave(): Promise<void>;
  /** The data folders of all servers that were seen recently. */
  living(): Promise<string[]>;
}> {
  const { database, home, needed, logger } = parts;
  // An SQLite file lies in a data folder, which only one server uses.
  if (isSqlite(database)) return { leave: () => Promise.resolve(), living: () => Promise.resolve([home]) };
  const clock = databaseClock(database);
  const missing = Object.entries(needed).flatMap(([name, is_set]) => (is_set ? [] : [name]));
  const me = { ...thisProcess(), id: home, started_at: new Date().toISOString(), lacks: formatList(missing) };

  const say = (from: Kysely<ServerTables>) =>
    from
      .insertInto('servers')
      .values({ ...me, seen_at: clock() })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ ...me, seen_at: clock() }))
      .execute();

  await inTransaction(database, async (transaction) => {
    // Of two servers that start at the same time, the second waits and then sees the first.
    await sql`lock table servers in exclusive mode`.execute(transaction);
    await transaction.deleteFrom('servers').where('seen_at', '<', clock(-GONE_AFTER_MS)).execute();
    const others = await transaction.selectFrom('servers').selectAll().where('id', '!=', home).orderBy('started_at').execute();
    for (const other of others) {
      if (hasEnded(other)) {
        await transaction.deleteFrom('servers').where('id', '=', other.id).execute();
        continue;
      }
      if (missing.length === 0 && other.lacks === '') continue;
      const who = `another server (${describe(other)}) uses it`;
      const lacks = missing.length > 0 ? `this one has no ${formatList(missing)}` : `that one has no ${other.lacks}`;
      const names = missing.length > 0 ? formatList(missing) : other.lacks;
      throw new SharedDatabaseError(
        `We can’t share the database at DATABASE_URL: ${who}, and ${lacks}. Set ${names} for all its servers, or stop the other one. If it no longer runs, start again in ${GONE_AFTER_MS / 1000} s.`,
      );
    }
    await say(transaction);
  });

  const timer = setInterval(() => {
    say(database).catch((error: unknown) => logFailure(logger, error, 'could not report that this server is running'));
  }, SEEN_EVERY_MS).unref();
  return {
    async living() {
      const seen = await database.selectFrom('servers').select('id').where('seen_at', '>=', clock(-GONE_AFTER_MS)).execute();
      return seen.map(({ id }) => id);
    },
    async leave() {
      clearInterval(timer);
      await database
        .deleteFrom('servers')
        .where('id', '=', home)
        .where('started_at', '=', me.started_at)
        .execute()
        .catch((error: unknown) => logFailure(logger, error, 'could not report that this server is stopping'));
    },
  };
}
