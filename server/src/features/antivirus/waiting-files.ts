import { digestOf } from '@palisade/scanner/digest';
import type { Engine } from '@palisade/scanner/yara-pool';
import type { FastifyBaseLogger } from 'fastify';
import { type Kysely, sql } from 'kysely';
import { logFailure } from '#platform/database-patience.ts';
import type { InstallationTables } from '#platform/installation.ts';
import type { JobTables } from '#platform/jobs/job-store.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { AntivirusTables } from './antivirus.tables.ts';
import type { Examinations, RecordNews } from './examination.ts';
import { isUnread, type Keeping, NOT_KEPT, type ScanRow as Row, UNREAD } from './keeping.ts';
import type { MatchHash } from './known-hashes.ts';
import { createRecheck } from './recheck.ts';
import type { ReadingLeases } from './scan-jobs.ts';
import { createSharedFiles } from './shared-files.ts';
import type { Spool } from './spool.ts';

/** Files that nobody stands and waits for: those that an earlier run left, those that an engine has yet to read, those that newer signatures may see otherwise. */
export interface WaitingFiles {
  /** Takes up what an earlier run of the server left pending, and goes on doing so while engines come back. */
  resume(): Promise<void>;
  /** An engine is back: scans what waits. With new signatures (`afresh`) also what was tried too often with the old ones. */
  rescanWaiting(afresh: boolean): Promise<void>;
  /** To be called when signatures have changed in a way that the engine's edition does not show: looks at everything again. */
  signaturesChanged(): Promise<void>;
  /** Whether a recheck is under way, or is to come. */
  recheckDue(): Promise<boolean>;
  /** Begins nothing more, and ends when what was under way has; so the examinations are to be closed at the same time. */
  close(): Promise<void>;
}

/** How often a file is given to the engine in all before it waits for the next start of the server. */
const ATTEMPTS_MAXIMUM = 5;
export const RETRY_EVERY_MS = 15_000;
const SWEEP_EVERY_MS = 3_600_000;
const AT_ONCE = 100;
/** Findings that are told again at a start: more than could be under way at once when the server was killed. */
const TOLD_AGAIN_MAXIMUM = 100;

export function createWaitingFiles(parts: {
  database: Kysely<AntivirusTables & InstallationTables & JobTables>;
  jobs: Jobs;
  /** Undefined without a store that servers share. */
  leases: ReadingLeases | undefined;
  livingHomes: () => Promise<readonly string[]>;
  engine: Engine;
  examinations: Examinations;
  spool: Spool;
  keeping: Keeping;
  /** The data folder of this server: what others have is theirs to read and to remove. */
  home: string;
  /** Ids of the files that are taken in just now and have no record yet. */
  arriving: () => readonly string[];
  news: RecordNews;
  matchHash: MatchHash | undefined;
  now: () => number;
  logger: FastifyBaseLogger;
  /** How often pending files are given to the engine again, in ms. */
  retry_ms?: number | undefined;
}): WaitingFiles {
  const { database, engine, examinations, spool, keeping, home, arriving, news, matchHash, now, logger } = parts;
  const { jobs, leases, livingHomes, retry_ms = RETRY_EVERY_MS } = parts;
  let swept_at = Number.NEGATIVE_INFINITY;
  let retry: NodeJS.Timeout | undefined;
  let resumed = false;
  let resuming: Promise<void> = Promise.resolve();
  let tending: Promise<unknown> = Promise.resolve();
  let closed = false;

  /** The bytes are gone, or not those that were uploaded (a disk was replaced, a machine lost power): say so, and never scan something else instead. */
  async function giveUp(row: Row): Promise<Row | undefined> {
    const unread = {
      scan_status: 'pending' as const,
      status_detail: 'damaged' as const,
      scanned_at: new Date(now()).toISOString(),
    };
    const given_up = await database
      .updateTable('scans')
      // What was read and waits to be sealed has its verdict.
      .set(isUnread(row) ? { ...NOT_KEPT, ...unread } : NOT_KEPT)
      .where('id', '=', row.id)
      // Else it has its verdict, and its bytes went with that.
      .where('spooled', '=', sql.lit(1))
      .returningAll()
      .executeTakeFirst();
    if (given_up === undefined) return undefined;
    news.changed(given_up);
    await keeping.letGo(row);
    return given_up;
  }

  const shared =
    leases &&
    createSharedFiles({
      ...{ database, jobs, leases, engine, examinations, keeping, news, matchHash, home, livingHomes, giveUp, retry_ms, logger },
      attempts: ATTEMPTS_MAXIMUM,
      isClosing: () => closed,
    });

  /** Has scanned what an earlier run of the server has left, in its order. */
  async function takeUp(rows: readonly Row[]): Promise<void> {
    for (const row of rows) {
      if (closed) return;
      const sha256 = await digestOf(spool.path(row.id)).catch(() => undefined);
      if (closed) return;
      const is_whole = sha256 === row.file_hash;
      if (is_whole && !isUnread(row)) continue;
      const work = is_whole ? examinations.examine({ ...row, attempts: 0 }) : giveUp(row);
      work.catch((error: unknown) => logFailure(logger, error, 'pending file could not be taken up', { scan: row.id }));
    }
    resumed = true;
  }

  const recheck = createRecheck({
    database,
    edition: () => engine.edition(),
    home,
    matchHash,
    onListed: async ({ id }) => {
      // What is being read just now is looked up when it has been.
      if (examinations.isRunning(id)) return;
      const row = await database.selectFrom('scans').selectAll().where('id', '=', id).executeTakeFirst();
      if (row !== undefined && row.scan_status !== 'infected') await examinations.settle(row, {});
    },
    // A file that an engine has yet to read is read anyway.
    readAgain: (row) => examinations.examine({ ...row, attempts: 0 }),
    logger,
  });

  /** Removes what is over its time, once an hour by the clock. */
  async function sweepWhenDue(): Promise<void> {
    if (now() - swept_at < SWEEP_EVERY_MS) return;
    swept_at = now();
    for (const row of await keeping.sweep(() => [...arriving(), ...examinations.running()])) news.changed(row);
  }

  async function retryPending(): Promise<void> {
    // Before that nobody has seen whether the bytes are still all there.
    if (!resumed || !engine.complete()) return;
    const rows = await database
      .selectFrom('scans')
      .selectAll()
      .where(({ eb, or, and }) =>
        or([eb('spooled', '=', sql.lit(1)), and([eb('sealed', '=', sql.lit(1)), eb('status_detail', '=', 'engine_down')])]),
      )
      .where('home', '=', home)
      .where('in_store', '=', sql.lit(0))
      .where('status_detail', 'in', UNREAD)
      .where('attempts', '<', ATTEMPTS_MAXIMUM)
      .orderBy('id')
      .limit(AT_ONCE)
      .execute();
    for (const row of rows) {
      if (closed) return;
      if (!examinations.isRunning(row.id)) await examinations.examine(row);
    }
  }

  /** Seals what was read when the disk was full. That needs no engine, and is tried for as long as the bytes are kept. */
  async function sealWaiting(): Promise<void> {
    if (!resumed) return;
    for (let after = ''; ; ) {
      const rows = await database
        .selectFrom('scans')
        .selectAll()
        .where('home', '=', home)
        .where('in_store', '=', sql.lit(0))
        .where('spooled', '=', sql.lit(1))
        .where(({ eb, or }) => or([eb('status_detail', 'is', null), eb('status_detail', 'not in', UNREAD)]))
        .where('id', '>', after)
        .orderBy('id')
        .limit(AT_ONCE)
        .execute();
      for (const row of rows) {
        if (closed) return;
        if (!examinations.isRunning(row.id)) await examinations.seal(row);
      }
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.id;
    }
  }

  function scheduleRetry(): void {
    retry = setTimeout(() => {
      // Takes as long as there are files, and holds up nothing.
      const looking = Promise.all([recheck.look(), shared?.look()]).catch((error: unknown) =>
        logFailure(logger, error, 'earlier scans could not be rechecked'),
      );
      const removing = sweepWhenDue()
        .catch((error: unknown) => logFailure(logger, error, 'expired files could not be removed'))
        .then(sealWaiting)
        .catch((error: unknown) => logFailure(logger, error, 'files that wait for room could not be sealed'))
        .then(retryPending)
        .catch((error: unknown) => logFailure(logger, error, 'pending files could not be taken up'))
        .finally(() => {
          if (!closed) scheduleRetry();
        });
      tending = Promise.all([looking, removing]);
    }, retry_ms);
    retry.unref();
  }

  return {
    async signaturesChanged() {
      await Promise.all([recheck.run(), shared?.look()]);
    },
    recheckDue: async () => (await recheck.isDue()) || (await shared?.recheckDue()) === true,

    async resume() {
      // What was kept before records named the folder is this server's, if it is the first that asks.
      await database
        .updateTable('scans')
        .set({ home })
        .where('home', 'is', null)
        .where(({ eb, or }) => or([eb('spooled', '=', sql.lit(1)), eb('sealed', '=', sql.lit(1))]))
        .execute();
      const rows = await database
        .selectFrom('scans')
        .selectAll()
        .where('home', '=', home)
        .where('in_store', '=', sql.lit(0))
        .where('spooled', '=', sql.lit(1))
        .orderBy('id')
        .execute();
      // What is in the store is read from there, by whichever server is first.
      await spool.recover(rows);
      const found = await database
        .selectFrom('scans')
        .selectAll()
        .where('scan_status', '=', 'infected')
        .orderBy('id', 'desc')
        .limit(TOLD_AGAIN_MAXIMUM)
        .execute();
      // What the spool still held of others, `recover` has just removed.
      for (const row of found) {
        const copy = row.sealed === 1 ? 'sealed' : row.spooled === 1 ? 'waiting' : 'deleted';
        await examinations.tellInfected(row, copy, true);
      }
      await database
        .updateTable('scans')
        .set({ attempts: 0 })
        .where('home', '=', home)
        .where('sealed', '=', sql.lit(1))
        .where('status_detail', '=', 'engine_down')
        .execute();
      await shared?.resume();
      scheduleRetry();
      // Takes as long as reading them does, and holds up nothing.
      resuming = takeUp(rows);
    },

    async rescanWaiting(afresh) {
      if (afresh) {
        await database
          .updateTable('scans')
          .set({ attempts: 0 })
          .where('home', '=', home)
          .where('in_store', '=', sql.lit(0))
          .where('status_detail', '=', 'engine_down')
          .execute();
      }
      await shared?.rescan(afresh);
      await retryPending();
    },

    async close() {
      closed = true;
      clearTimeout(retry);
      await Promise.all([resuming, tending, recheck.close()]);
    },
  };
}
