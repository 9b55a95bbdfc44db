import type { FastifyBaseLogger } from 'fastify';
import { type Kysely, sql } from 'kysely';
import { inPages } from '#platform/batches.ts';
import { StoreAwayError } from '#platform/blobs/blobs.ts';
import { type InstallationTables, readFact, writeFact } from '#platform/installation.ts';
import type { AntivirusTables } from './antivirus.tables.ts';
import type { MatchHash } from './known-hashes.ts';
import { type ScanRow, UNREAD } from './scan-row.ts';

/** Rechecks earlier scans when engine or signatures have changed: files that this server alone keeps, and scans without kept bytes. */
export interface Recheck {
  /** Rechecks when the engine is another one than the last recheck was done with, in this or an earlier run of the server. */
  look(): Promise<void>;
  /** Whether a recheck is under way, or is to come. */
  isDue(): Promise<boolean>;
  /** Rechecks now. */
  run(): Promise<void>;
  close(): Promise<void>;
}

/** Written for each data folder; without one, by a version that knew one server alone. */
export const EDITION = 'scanner_edition';
/** In place of an edition: there is something left to recheck. */
const UNFINISHED = 'unfinished';
const ROWS_AT_ONCE = 500;

export function createRecheck(parts: {
  database: Kysely<AntivirusTables & InstallationTables>;
  edition: () => string | undefined;
  /** The data folder of this server: other servers recheck their own files. */
  home: string;
  matchHash: MatchHash | undefined;
  /** Takes a finding of the list for a record that was not infected when it was looked for. */
  onListed: (row: ScanRow) => Promise<void>;
  /** Has a kept file read again. */
  readAgain: (row: ScanRow) => Promise<unknown>;
  logger: FastifyBaseLogger;
}): Recheck {
  const { database, edition, home, matchHash, onListed, readAgain, logger } = parts;
  const mine = `${EDITION}:${home}`;
  let closed = false;
  let underway: Promise<void> | undefined;

  /** Rows in the order of their ids, newest last; those that come in meanwhile were read by the new signatures. */
  async function* rowsWhere(only: 'kept' | 'not infected'): AsyncGenerator<ScanRow> {
    const pages = inPages(ROWS_AT_ONCE, async (last?: ScanRow) => {
      const query = database
        .selectFrom('scans')
        .selectAll()
        .where('id', '>', last?.id ?? '')
        .orderBy('id')
        .limit(ROWS_AT_ONCE);
      return await (only === 'kept'
        ? query
            .where('home', '=', home)
            .where('in_store', '=', sql.lit(0))
            .where(({ eb, or, and }) =>
              or([
                eb('sealed', '=', sql.lit(1)),
                // Files that wait for an engine are read anyway.
                and([
                  eb('spooled', '=', sql.lit(1)),
                  or([eb('status_detail', 'is', null), eb('status_detail', 'not in', UNREAD)]),
                ]),
              ]),
            )
        : query
            .where('scan_status', '!=', 'infected')
            // Scans without kept bytes may be looked up in lists by any server.
            .where(({ eb, or, and }) =>
              or([
                and([eb('home', '=', home), eb('in_store', '=', sql.lit(0))]),
                and([eb('sealed', '=', sql.lit(0)), eb('spooled', '=', sql.lit(0))]),
              ]),
            )
      ).execute();
    });
    for await (const rows of pages) {
      for (const row of rows) {
        if (closed) return;
        yield row;
      }
    }
  }

  async function recheck(): Promise<void> {
    // The edition at the start: if the signatures change meanwhile, the first rows were not compared with them, and are looked at again.
    const began_with = edition();
    if (matchHash !== undefined) {
      for await (const row of rowsWhere('not infected')) {
        if (matchHash(row.file_hash) !== undefined) await onListed(row);
      }
    }
    for await (const row of rowsWhere('kept')) {
      await readAgain(row).catch(async (error: unknown) => {
        if (error instanceof StoreAwayError) {
          // Begun again once the store is back, after a restart too.
          await writeFact(database, mine, UNFINISHED);
          throw error;
        }
        logger.error({ err: error, scan: row.id }, 'a kept file could not be read again');
      });
    }
    // Cut short, it is done again at the next start.
    if (!closed && began_with !== undefined) await writeFact(database, mine, began_with);
  }

  const lastEdition = async () => (await readFact(database, mine)) ?? (await readFact(database, EDITION));

  function run(): Promise<void> {
    underway ??= recheck().finally(() => {
      underway = undefined;
    });
    return underway;
  }

  return {
    async isDue() {
      const now = edition();
      const last = await lastEdition();
      return underway !== undefined || (now !== undefined && last !== undefined && last !== now);
    },
    async look() {
      const now = edition();
      if (now === undefined || underway !== undefined) return;
      const last = await lastEdition();
      // A new installation, and one from before rechecks existed, has read everything with these signatures.
      if (last === undefined) await writeFact(database, mine, now);
      else if (last !== now) await run();
    },
    run,
    async close() {
      closed = true;
      await underway?.catch(() => {});
    },
  };
}
