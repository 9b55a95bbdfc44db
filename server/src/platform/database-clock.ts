import { type Kysely, type RawBuilder, SqliteAdapter, sql } from 'kysely';

/** The database's time plus `offset_ms`, as ISO text. */
export type DatabaseClock = (offset_ms?: number) => RawBuilder<string>;

/** Each of several servers has its own clock; shared decisions use the clock of their database. */
export function databaseClock<Tables>(database: Kysely<Tables>): DatabaseClock {
  return database.getExecutor().adapter instanceof SqliteAdapter
    ? (offset_ms = 0) => sql<string>`strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ${`${(offset_ms / 1000).toFixed(3)} seconds`})`
    : // `statement_timestamp`: a transaction may be long, and `clock_timestamp` changes from row to row and so could use no index.
      (offset_ms = 0) =>
        sql<string>`to_char((statement_timestamp() + cast(${offset_ms} as double precision) * interval '1 millisecond') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}
