import { digestOf } from '@palisade/scanner/digest';
import type { Engine } from '@palisade/scanner/yara-pool';
import type { FastifyBaseLogger } from 'fastify';
import { type Kysely, sql } from 'kysely';
import { inPages } from '#platform/batches.ts';
import { logFailure } from '#platform/database-patience.ts';
import type { InstallationTables } from '#platform/installation.ts';
import type { JobTables } from '#platform/jobs/job-tables.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { AntivirusTables } from './antivirus.tables.ts';
import type { Examinations } from './examination.ts';
import type { RecordNews } from './examination-news.ts';
import type { MatchHash } from './known-hashes.ts';
import { createRecheck, type Recheck } from './recheck.ts';
import type { ReadingLeases } from './scan-jobs.ts';
import { isUnread, NOT_KEPT, type ScanRow as Row, UNREAD } from './scan-row.ts';
import type { ScanStore } from './scan-store.ts';
import { createSharedFiles, type SharedFiles } from './shared-files.ts';
import type { Spool } from './spool.ts';

/** Maximum attempts for a file before it waits for the next start of the server. */
const ATTEMPTS_MAXIMUM = 5;
export const RETRY_EVERY_MS = 15_000;
const SWEEP_EVERY_MS = 3_600_000;
const AT_ONCE = 100;
/** Maximum number of findings that are reported again at a start: more than could have been pending when the server was killed. */
const TOLD_AGAIN_MAXIMUM = 100;

interface WaitingFilesOptions {
  database: Kysely<AntivirusTables & InstallationTables & JobTables>;
  jobs: Jobs;
  /** Undefined without a store that servers share. */
  leases: ReadingLeases | undefined;
  livingHomes: () => Promise<readonly string[]>;
  engine: Engine;
  examinations: Examinations;
  spool: Spool;
  scanStore: ScanStore;
  /** The data folder of this server: other servers read and remove their own files. */
  home: string;
  /** Ids of the files that are taken in just now and have no record yet. */
  arriving: () => readonly string[];
  news: RecordNews;
  matchHash: MatchHash | undefined;
  now: () => number;
  logger: FastifyBaseLogger;
  /** Interval at which pending files are given to the engine again, in ms. */
  retry_ms?: number | undefined;
}

/** Files that no caller waits for: those left by an earlier run, those that no engine has read yet, and those that newer signatures may judge differently. */
export class WaitingFiles {
  private readonly options: WaitingFilesOptions;
  private readonly retry_ms: number;
  private swept_at = Number.NEGATIVE_INFINITY;
  private retry: NodeJS.Timeout | undefined;
  private resumed = false;
  private resuming: Promise<void> = Promise.resolve();
  private tending: Promise<unknown> = Promise.resolve();
  private closed = false;
  private readonly shared: SharedFiles | undefined;
  private readonly recheck: Recheck;

  constructor(options: WaitingFilesOptions) {
    this.options = options;
    this.retry_ms = options.retry_ms ?? RETRY_EVERY_MS;
    this.shared =
      options.leases &&
      createSharedFiles({
        database: this.options.database,
        jobs: options.jobs,
        leases: options.leases,
        engine: this.options.engine,
        examinations: this.options.examinations,
        scanStore: this.options.scanStore,
        news: this.options.news,
        matchHash: options.matchHash,
        home: this.options.home,
        livingHomes: options.livingHomes,
        giveUp: this.giveUp,
        retry_ms: this.retry_ms,
        logger: this.options.logger,
        attempts: ATTEMPTS_MAXIMUM,
        isClosing: () => this.closed,
      });
    this.recheck = createRecheck({
      database: this.options.database,
      edition: () => this.options.engine.edition(),
      home: this.options.home,
      matchHash: options.matchHash,
      onListed: async ({ id }) => {
        // A file that is being read is looked up afterwards.
        if (this.options.examinations.isRunning(id)) return;
        const row = await this.options.database.selectFrom('scans').selectAll().where('id', '=', id).executeTakeFirst();
        if (row !== undefined && row.scan_status !== 'infected') await this.options.examinations.settle(row, {});
      },
      // A file that an engine has yet to read is read anyway.
      readAgain: (row) => this.options.examinations.examine({ ...row, attempts: 0 }),
      logger: this.options.logger,
    });
  }

  /** The bytes are missing or differ from the upload (a disk was replaced, a machine lost power): report that, and never scan other bytes instead. */
  private readonly giveUp = async (row: Row): Promise<Row | undefined> => {
    const unread = {
      scan_status: 'pending' as const,
      status_detail: 'damaged' as const,
      scanned_at: new Date(this.options.now()).toISOString(),
    };
    const given_up = await this.options.database
      .updateTable('scans')
      // A file that was read and waits to be sealed has its verdict.
      .set(isUnread(row) ? { ...NOT_KEPT, ...unread } : NOT_KEPT)
      .where('id', '=', row.id)
      // Otherwise it already has its verdict, and its bytes were removed.
      .where('spooled', '=', sql.lit(1))
      .returningAll()
      .executeTakeFirst();
    if (given_up === undefined) return undefined;
    this.options.news.changed(given_up);
    await this.options.scanStore.letGo(row);
    return given_up;
  };

  /** Scans the files that an earlier run of the server left, in their order. */
  private async takeUp(rows: readonly Row[]): Promise<void> {
    for (const row of rows) {
      if (this.closed) return;
      const sha256 = await digestOf(this.options.spool.path(row.id)).catch(() => undefined);
      if (this.closed) return;
      const is_whole = sha256 === row.file_hash;
      if (is_whole && !isUnread(row)) continue;
      const work = is_whole ? this.options.examinations.examine({ ...row, attempts: 0 }) : this.giveUp(row);
      work.catch((error: unknown) =>
        logFailure(this.options.logger, error, 'pending file could not be taken up', { scan: row.id }),
      );
    }
    this.resumed = true;
  }

  /** Removes expired files, once an hour by the clock. */
  private async sweepWhenDue(): Promise<void> {
    if (this.options.now() - this.swept_at < SWEEP_EVERY_MS) return;
    this.swept_at = this.options.now();
    for (const row of await this.options.scanStore.sweep(() => [
      ...this.options.arriving(),
      ...this.options.examinations.running(),
    ]))
      this.options.news.changed(row);
  }

  private readonly retryPending = async (): Promise<void> => {
    // Before that it is unknown whether the bytes are complete.
    if (!this.resumed || !this.options.engine.complete()) return;
    const rows = await this.options.database
      .selectFrom('scans')
      .selectAll()
      .where(({ eb, or, and }) =>
        or([eb('spooled', '=', sql.lit(1)), and([eb('sealed', '=', sql.lit(1)), eb('status_detail', '=', 'engine_down')])]),
      )
      .where('home', '=', this.options.home)
      .where('in_store', '=', sql.lit(0))
      .where('status_detail', 'in', UNREAD)
      .where('attempts', '<', ATTEMPTS_MAXIMUM)
      .orderBy('id')
      .limit(AT_ONCE)
      .execute();
    for (const row of rows) {
      if (this.closed) return;
      if (!this.options.examinations.isRunning(row.id)) await this.options.examinations.examine(row);
    }
  };

  /** Seals files that were read when the disk was full. This needs no engine, and is retried for as long as the bytes are kept. */
  private readonly sealWaiting = async (): Promise<void> => {
    if (!this.resumed) return;
    const pages = inPages(AT_ONCE, (last?: { id: string }) =>
      this.options.database
        .selectFrom('scans')
        .selectAll()
        .where('home', '=', this.options.home)
        .where('in_store', '=', sql.lit(0))
        .where('spooled', '=', sql.lit(1))
        .where(({ eb, or }) => or([eb('status_detail', 'is', null), eb('status_detail', 'not in', UNREAD)]))
        .where('id', '>', last?.id ?? '')
        .orderBy('id')
        .limit(AT_ONCE)
        .execute(),
    );
    for await (const rows of pages) {
      for (const row of rows) {
        if (this.closed) return;
        if (!this.options.examinations.isRunning(row.id)) await this.options.examinations.seal(row);
      }
    }
  };

  private scheduleRetry(): void {
    this.retry = setTimeout(() => {
      // Takes time with many files; nothing waits for it.
      const looking = Promise.all([this.recheck.look(), this.shared?.look()]).catch((error: unknown) =>
        logFailure(this.options.logger, error, 'earlier scans could not be rechecked'),
      );
      const removing = this.sweepWhenDue()
        .catch((error: unknown) => logFailure(this.options.logger, error, 'expired files could not be removed'))
        .then(this.sealWaiting)
        .catch((error: unknown) => logFailure(this.options.logger, error, 'files that wait for room could not be quarantined'))
        .then(this.retryPending)
        .catch((error: unknown) => logFailure(this.options.logger, error, 'pending files could not be taken up'))
        .finally(() => {
          if (!this.closed) this.scheduleRetry();
        });
      this.tending = Promise.all([looking, removing]);
    }, this.retry_ms);
    this.retry.unref();
  }

  /** Call this when signatures have changed without a change of the engine's edition: rechecks everything. */
  async signaturesChanged(): Promise<void> {
    await Promise.all([this.recheck.run(), this.shared?.look()]);
  }

  /** Whether a recheck is running or pending. */
  async recheckDue(): Promise<boolean> {
    return (await this.recheck.isDue()) || (await this.shared?.recheckDue()) === true;
  }

  /** Reads the files that an earlier run left pending, and retries while engines come back. */
  async resume(): Promise<void> {
    // Records from before folders were named belong to the first server that asks.
    await this.options.database
      .updateTable('scans')
      .set({ home: this.options.home })
      .where('home', 'is', null)
      .where(({ eb, or }) => or([eb('spooled', '=', sql.lit(1)), eb('sealed', '=', sql.lit(1))]))
      .execute();
    const rows = await this.options.database
      .selectFrom('scans')
      .selectAll()
      .where('home', '=', this.options.home)
      .where('in_store', '=', sql.lit(0))
      .where('spooled', '=', sql.lit(1))
      .orderBy('id')
      .execute();
    // Files in the store are read from there, by any server.
    await this.options.spool.recover(rows);
    const found = await this.options.database
      .selectFrom('scans')
      .selectAll()
      .where('scan_status', '=', 'infected')
      .orderBy('id', 'desc')
      .limit(TOLD_AGAIN_MAXIMUM)
      .execute();
    // `recover` has just removed the spool's files of other records.
    for (const row of found) {
      const copy = row.sealed === 1 ? 'sealed' : row.spooled === 1 ? 'waiting' : 'deleted';
      await this.options.examinations.tellInfected(row, copy, true);
    }
    await this.options.database
      .updateTable('scans')
      .set({ attempts: 0 })
      .where('home', '=', this.options.home)
      .where('sealed', '=', sql.lit(1))
      .where('status_detail', '=', 'engine_down')
      .execute();
    await this.shared?.resume();
    this.scheduleRetry();
    // Takes as long as the reading; nothing waits for it.
    this.resuming = this.takeUp(rows);
  }

  /**
   * An engine is back: scans waiting files. With new signatures (`afresh`) also those that were tried too often with the
   * old ones.
   */
  async rescanWaiting(afresh: boolean): Promise<void> {
    if (afresh) {
      await this.options.database
        .updateTable('scans')
        .set({ attempts: 0 })
        .where('home', '=', this.options.home)
        .where('in_store', '=', sql.lit(0))
        .where('status_detail', '=', 'engine_down')
        .execute();
    }
    await this.shared?.rescan(afresh);
    await this.retryPending();
  }

  /** Starts no more work, and resolves once running work has ended; close the examinations at the same time. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.retry);
    await Promise.all([this.resuming, this.tending, this.recheck.close()]);
  }
}

export function createWaitingFiles(options: WaitingFilesOptions): WaitingFiles {
  return new WaitingFiles(options);
}
