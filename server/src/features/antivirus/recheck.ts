import type { FastifyBaseLogger } from 'fastify';
import { type Kysely, sql } from 'kysely';
import { inPages } from '#platform/batches.ts';
import { StoreAwayError } from '#platform/blobs/blobs.ts';
import { type InstallationTables, readFact, writeFact } from '#platform/installation.ts';
import type { AntivirusTables } from './antivirus.tables.ts';
import type { MatchHash } from './known-hashes.ts';
import { type ScanRow, UNREAD } from './scan-row.ts';

/** Rechecks earlier scans when engine or signatures have changed: files that only this server keeps, and scans without kept bytes. */
export interface Recheck {
  /** Rechecks if the engine differs from that of the last recheck, in this or an earlier run of the server. */
  look(): Promise<void>;
  /** Whether a recheck is running or pending. */
  isDue(): Promise<boolean>;
  /** Rechecks now. */
  run(): Promise<void>;
  close(): Promise<void>;
}

/** A fact for each data folder; without a folder's name it is from a version that supported only one server. */
export const EDITION = 'scanner_edition';
/** Stored in place of an edition while a recheck is incomplete. */
const UNFINISHED = 'unfinished';
const ROWS_AT_ONCE = 500;

export function createRecheck(parts: {
  database: Kysely<AntivirusTables & InstallationTables>;
  edition: () => string | undefined;
  /** The data folder of this server: other servers recheck their own files. */
  home: string;
  matchHash: MatchHash | undefined;
  /** Handles a list's finding for a record that was not infected when it was read. */
  onListed: (row: ScanRow) => Promise<void>;
  /** Reads a kept file again. */
  readAgain: (row: ScanRow) => Promise<unknown>;
  logger: FastifyBaseLogger;
}): Recheck {
  const { database, edition, home, matchHash, onListed, readAgain, logger } = parts;
  const mine = `${EDITION}:${home}`;
  let closed = false;
  let underway: Promise<void> | undefined;

  /** Rows in ascending order of ids; rows added meanwhile were already read with the new signatures. */
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
            // Any server may look up scans without kept bytes in lists.
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
    // If the signatures change during the recheck, the first rows were not compared with them, so the recheck is repeated.
    const began_with = edition();
    if (matchHash !== undefined) {
      for await (const row of rowsWhere('not infected')) {
        if (matchHash(row.file_hash) !== undefined) await onListed(row);
      }
    }
    for await (const row of rowsWhere('kept')) {
      await readAgain(row).catch(async (error: unknown) => {
        if (error instanceof StoreAwayError) {
          // Repeated once the store is back, also after a restart.
          await writeFact(database, mine, UNFINISHED);
          throw error;
        }
        logger.error({ err: error, scan: row.id }, 'a kept file could not be read again');
      });
    }
    // If it is interrupted, it is repeated at the next start.
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
      // A new installation, or one from before rechecks existed, needs none: assume that everything was read with these signatures.
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
