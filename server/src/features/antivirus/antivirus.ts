import type { Readable } from 'node:stream';
import { type Scan, type ScansQuery, type ScanTotals, scansQuerySchema } from '@palisade/contract/antivirus';
import type { LiveEvent } from '@palisade/contract/events';
import type { ScanDetail } from '@palisade/contract/quarantine';
import { displayName } from '@palisade/scanner/filename';
import type { Engine } from '@palisade/scanner/yara-pool';
import type { FastifyBaseLogger } from 'fastify';
import { type Kysely, sql } from 'kysely';
import { inBatches } from '#platform/batches.ts';
import { newId, timeOfId } from '#platform/id.ts';
import type { InstallationTables } from '#platform/installation.ts';
import type { JobTables } from '#platform/jobs/job-tables.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import { createPersonCache, type PersonCache } from '#platform/person-cache.ts';
import { Problem } from '#platform/problem.ts';
import { storageProblem } from '#platform/storage-problem.ts';
import { refuse } from './antivirus.refusals.ts';
import type { AntivirusTables } from './antivirus.tables.ts';
import { type Arrival, earlierDeaths, NO_COVERAGE, type Overview } from './arrival.ts';
import { createExaminations, type Examinations } from './examination.ts';
import type { ClearedFile, InfectedFile, RecordNews, ScanMeter } from './examination-news.ts';
import type { FalseAlarms } from './false-alarms.ts';
import { type CopyOnDevice, type FoundOnDevice, lastCopies, rowOnDevice, settleCopy, settleRecords } from './infections.ts';
import { createKeptFiles, type KeptFiles, requireHere } from './kept-files.ts';
import { type MatchHash, withList } from './known-hashes.ts';
import { createNewRecord } from './new-record.ts';
import type { Quarantine } from './quarantine.ts';
import { RecordWriter } from './record-writer.ts';
import { countScans, type ScanCounts } from './scan-counts.ts';
import { createReadingLeases, type ReadingLeases } from './scan-jobs.ts';
import { createScanList } from './scan-list.ts';
import type { ScanQueue } from './scan-queue.ts';
import { detailOf, isTestFile, scanOf } from './scan-record.ts';
import { isUnread, newScan, type ScanRow, UNREAD, type Verdict, waitsUntil } from './scan-row.ts';
import { createScanStore, type ScanStore } from './scan-store.ts';
import type { Spool } from './spool.ts';
import type { UploadAdmission } from './upload-admission.ts';
import { editionFor } from './verdict-columns.ts';
import { createWaitingFiles, RETRY_EVERY_MS, type WaitingFiles } from './waiting-files.ts';

const RECENT_MAXIMUM = 10;

type ScanRecords = Kysely<Pick<AntivirusTables, 'scans'>>;

interface AntivirusOptions {
  database: Kysely<AntivirusTables & InstallationTables & JobTables>;
  jobs: Jobs;
  /** The data folders of the living servers of this database. */
  livingHomes: () => Promise<readonly string[]>;
  engine: Engine;
  scanQueue: ScanQueue;
  admission: Pick<UploadAdmission, 'dismiss'>;
  spool: Spool;
  quarantine: Quarantine;
  /** The quarantine in the store that servers share, if there is one. */
  shared: Quarantine | undefined;
  /** Maximum sealed bytes per person. */
  quarantine_quota: number;
  /** The id of the data folder in which `spool` and `quarantine` are. */
  home: string;
  falseAlarms: Pick<FalseAlarms, 'of'>;
  now: () => number;
  logger: FastifyBaseLogger;
  /** Called for each infected file, and again after a restart: handle each scan id once. */
  onInfected: (file: InfectedFile) => Promise<void>;
  onCleared: (file: ClearedFile) => Promise<void>;
  /** Called with the records whose infections ended, or are open again. Never rejects. */
  /** `whole` are the rows without another open copy of the same bytes on their device. */
  onSettled?: ((rows: readonly ScanRow[], is_over: boolean, whole: readonly ScanRow[]) => Promise<void>) | undefined;
  /** Sends an event to a person's pages. */
  tell: (user_id: string, event: LiveEvent) => void;
  /** Looks a file up by its SHA-256 alone. */
  matchHash?: MatchHash | undefined;
  meter?: ScanMeter | undefined;
  /** Interval at which pending files are tried again, in ms. */
  retry_ms?: number | undefined;
  /** Time that a small file may be read before it is recorded, in ms. */
  record_ms?: number | undefined;
}

const at = (now: () => number) => new Date(now()).toISOString();

/** The scans of all people. */
export class Antivirus implements KeptFiles, Pick<WaitingFiles, 'resume' | 'rescanWaiting' | 'signaturesChanged'> {
  private readonly options: AntivirusOptions;
  private readonly retry_ms: number;
  private readonly scanList: ReturnType<typeof createScanList>;
  private readonly leases: ReadingLeases | undefined;
  private readonly scanStore: ScanStore;
  private readonly recordWriter: RecordWriter;
  /** Files in the spool without a record yet. */
  private readonly arriving = new Set<string>();
  private closing = false;
  // Read at each display of the dashboard.
  private readonly overviews: PersonCache<Overview>;
  private readonly news: RecordNews;
  private readonly examinations: Examinations;
  private readonly waitingFiles: WaitingFiles;
  private readonly keptFiles: KeptFiles;
  /** Reports records whose infections ended, or are open again. */
  private readonly settled: (rows: readonly ScanRow[], is_over: boolean) => Promise<void>;

  constructor(options: AntivirusOptions) {
    this.options = options;
    this.retry_ms = options.retry_ms ?? RETRY_EVERY_MS;
    this.scanList = createScanList(this.options.database);
    this.leases = this.options.shared && createReadingLeases(this.options.database.$pickTables<'jobs'>(), options.jobs);
    this.recordWriter = new RecordWriter(this.options.database);
    this.scanStore = createScanStore({
      database: this.options.database,
      leases: this.leases,
      spool: this.options.spool,
      quarantine: options.quarantine,
      shared: this.options.shared,
      home: this.options.home,
      quota: options.quarantine_quota,
      now: this.options.now,
      logger: options.logger,
    });
    this.overviews = createPersonCache({
      read: async (user_id) => {
        const recent = await this.scanList.page(user_id, scansQuerySchema.parse({ limit: RECENT_MAXIMUM }));
        return { counts: await countScans(this.options.database, { user_id, recent, now: this.options.now() }), recent };
      },
      now: this.options.now,
    });
    this.news = {
      changed: (row) => {
        this.overviews.forget(row.user_id);
        options.tell(row.user_id, { kind: 'scan_changed', scan: scanOf(row) });
      },
      removed: ({ id, user_id }) => {
        this.overviews.forget(user_id);
        options.tell(user_id, { kind: 'scan_removed', scan_id: id });
      },
    };
    this.settled = async (rows, is_over) => {
      rows.forEach(this.news.changed);
      await options.onSettled?.(rows, is_over, is_over ? await lastCopies(this.options.database, rows) : rows);
    };
    this.examinations = createExaminations({
      ...options,
      scanStore: this.scanStore,
      news: this.news,
      matchHash: this.options.matchHash,
    });
    this.waitingFiles = createWaitingFiles({
      ...options,
      examinations: this.examinations,
      scanStore: this.scanStore,
      leases: this.leases,
      news: this.news,
      matchHash: this.options.matchHash,
      arriving: () => [...this.arriving],
    });
    this.keptFiles = createKeptFiles({
      examinations: this.examinations,
      scanStore: this.scanStore,
      leases: this.leases,
      home: this.options.home,
      find: this.find,
      logger: options.logger,
    });
  }

  /** The verdict of this person's earlier upload of the same bytes, if engine and signatures have not changed. */
  private async earlierVerdict(row: ScanRow): Promise<Partial<Verdict> | undefined> {
    const edition = this.options.engine.edition();
    if (edition === undefined) return undefined;
    const earlier = await this.options.database
      .selectFrom('scans')
      .selectAll()
      .where('user_id', '=', row.user_id)
      .where('file_hash', '=', row.file_hash)
      .where('edition', 'in', [edition, editionFor(edition, row.filename)])
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (earlier === undefined) return undefined;
    const { scan_status, status_detail, threat_detected, threat_member, threat_facts, media_type, engines, coverage } = earlier;
    return withList(this.options.matchHash, row, {
      scan_status,
      status_detail,
      threat_detected,
      threat_member,
      threat_facts,
      media_type,
      notes: earlier.notes,
      note_phrases: earlier.note_phrases,
      engines,
      coverage,
      edition: earlier.edition,
      answered_from: earlier.answered_from ?? earlier.scanned_at,
    });
  }

  readonly find = (id: string): Promise<ScanRow | undefined> => {
    return this.options.database.selectFrom('scans').selectAll().where('id', '=', id).executeTakeFirst();
  };

  /** The bytes. @throws Problem `not_found` when none are kept, `unavailable` when they cannot be decrypted, and like all of these `on_another_server`. */
  restore(row: ScanRow): Promise<Readable> {
    return this.keptFiles.restore(row);
  }

  /** Removes the kept bytes; the record stays. False when there are none. @throws Problem `conflict` while the file is read. */
  removeFile(row: ScanRow): Promise<boolean> {
    return this.keptFiles.removeFile(row);
  }

  /**
   * Reads a kept encrypted archive with its password, which is not stored or passed on. @throws Problem `invalid_field` for a wrong one, `conflict` when there is nothing to
   * open, `unavailable` when no engine answers, `not_found` when the record was deleted meanwhile.
   */
  unlock(row: ScanRow, password: string): Promise<ScanRow> {
    return this.keptFiles.unlock(row, password);
  }

  /** Reads the files that an earlier run left pending, and retries while engines come back. */
  resume(): Promise<void> {
    return this.waitingFiles.resume();
  }

  /**
   * An engine is back: scans waiting files. With new signatures (`afresh`) also those that were tried too often with the
   * old ones.
   */
  rescanWaiting(afresh: boolean): Promise<void> {
    return this.waitingFiles.rescanWaiting(afresh);
  }

  /** Call this when signatures have changed without a change of the engine's edition: rechecks everything. */
  signaturesChanged(): Promise<void> {
    return this.waitingFiles.signaturesChanged();
  }

  newScanId(): string {
    return newId();
  }

  /**
   * Takes a completely uploaded file, and returns its record once an engine has read it. As soon as the record is stored, the file will be scanned, now or after a restart,
   * even if the caller is gone; only the person can cancel. A small file's record is stored together with a quick verdict. @throws Problem `upload_cancelled` when the
   * person cancelled or deleted the record; the file and its record are then removed.
   */
  async scan({ id, user_id, filename, size, sha256, bytes, ...waiter }: Arrival): Promise<Scan> {
    const scanned_at = at(this.options.now);
    const arrived = newScan({ id, user_id, filename: displayName(filename), file_hash: sha256, size, scanned_at });
    // An empty file is clean without an engine.
    const row: ScanRow =
      size === 0
        ? { ...arrived, scan_status: 'clean', coverage: JSON.stringify(NO_COVERAGE), attempts: 1 }
        : {
            ...arrived,
            status_detail: 'queued',
            spooled: 1,
            attempts: 1,
            home: this.options.home,
            kept_until: waitsUntil(this.options.now()),
          };
    const record = createNewRecord({
      database: this.options.database,
      writer: this.recordWriter,
      leases: this.leases,
      spool: this.options.spool,
      scanStore: this.scanStore,
      row,
      news: this.news,
      meter: this.options.meter,
    });
    let known: Partial<Verdict> | undefined;
    this.arriving.add(id);
    try {
      if (bytes === undefined) await this.options.spool.keep(id);
      else this.options.spool.hold(id, bytes);
      const earlier = await this.options.database
        .selectFrom('scans')
        .select('first_seen_at')
        .where('user_id', '=', user_id)
        .where('file_hash', '=', sha256)
        .orderBy('id')
        .limit(1)
        .executeTakeFirst();
      if (earlier !== undefined) {
        row.first_seen_at = earlier.first_seen_at;
        Object.assign(row, await earlierDeaths(this.options.database, row));
      }
      known = size === 0 || earlier === undefined ? undefined : await this.earlierVerdict(row);
      // The bytes are not needed, so they are not kept.
      if (size === 0 || known?.scan_status === 'clean') return scanOf(await record.finish(known ?? {}));
      // Read a small file first: most are clean, so that one write is enough.
      if (known !== undefined || bytes === undefined) await record.store();
    } catch (error) {
      await this.scanStore.letGo(row);
      throw storageProblem(error);
    } finally {
      this.arriving.delete(id);
    }
    const verdict = known;
    let again_ms: number | undefined = 0;
    let scanned: ScanRow | undefined;
    try {
      scanned = await (verdict === undefined
        ? this.examinations.examine(row, { waiter, record })
        : this.examinations.settle(row, verdict, await record.store()));
      // An unread file is read when an engine is available; if this server is stopping, by another server at once.
      const waits_ms = this.closing ? 0 : this.retry_ms;
      again_ms = scanned !== undefined && isUnread(scanned) ? waits_ms : undefined;
    } catch (error) {
      // After any other error the record exists, and its file must be read again.
      if (error instanceof Problem && error.code === 'upload_cancelled') again_ms = undefined;
      throw storageProblem(error);
    } finally {
      record.release(again_ms);
    }
    if (scanned === undefined) throw refuse('scan.file_deleted');
    return scanOf(scanned);
  }

  /** Infected files on devices. Both functions write as part of a transaction, and return the function that reports the change after the commit. */
  readonly onDevices = {
    add: (transaction: ScanRecords, found: FoundOnDevice) => this.recordOnDevice(transaction, found),
    /** The agent deleted the copy, or restored it. */
    settle: async (transaction: ScanRecords, copy: CopyOnDevice, is_deleted: boolean): Promise<() => void> => {
      const rows = await settleCopy(transaction, copy, is_deleted ? { at: at(this.options.now), by: 'agent' } : null);
      return () => void this.settled(rows, is_deleted);
    },
  };

  /** Records that a person deleted the originals of infected files, or did not. Returns the number of changed records. */
  async settle(user_id: string, { scan_ids, deleted }: { scan_ids: readonly string[]; deleted: boolean }): Promise<number> {
    const end = deleted ? { at: at(this.options.now), by: 'person' as const } : null;
    const rows = await settleRecords(this.options.database, { user_id, scan_ids, end });
    await this.settled(rows, deleted);
    return rows.length;
  }

  /** The file itself stays on the device. */
  private async recordOnDevice(transaction: ScanRecords, { user_id, device, file }: FoundOnDevice): Promise<() => void> {
    const row = rowOnDevice({ user_id, device, file }, at(this.options.now));
    const copy = { user_id, device_id: device.id, path: file.path, file_hash: file.file_hash };
    // The agent removed a copy that it had left before.
    const over = row.closed_at === null ? [] : await settleCopy(transaction, copy, { at: row.closed_at, by: 'agent' });
    await transaction.insertInto('scans').values(row).execute();
    return () => {
      this.news.changed(row);
      if (over.length > 0) void this.settled(over, true);
    };
  }

  list(user_id: string, query: ScansQuery): Promise<Scan[]> {
    return this.scanList.page(user_id, query);
  }

  totals(user_id: string, search: string): Promise<ScanTotals> {
    return this.scanList.totals(user_id, search);
  }

  /** Those of the given scans that exist. */
  async some(ids: readonly string[]): Promise<Scan[]> {
    return (
      await inBatches(ids, (batch) => this.options.database.selectFrom('scans').selectAll().where('id', 'in', batch).execute())
    ).map(scanOf);
  }

  async detail(row: ScanRow): Promise<ScanDetail> {
    return { ...detailOf(row), report: await this.options.falseAlarms.of(row.id) };
  }

  /** Deletes a record with its bytes. A running scan ends without a record. @throws Problem `on_another_server` when the bytes are there. */
  async remove(row: ScanRow): Promise<void> {
    // The file is still on the device, and only this record says so.
    if (row.device_id !== null && row.scan_status === 'infected' && row.closed_at === null && !isTestFile(row))
      throw refuse('scan.not_deleted_yet');
    requireHere(row, this.scanStore, this.options.home);
    const is_running = this.examinations.isRunning(row.id);
    // Remove the shared copy first, so that a reported removal is complete.
    if (!is_running && row.in_store === 1) await this.scanStore.remove(row);
    await this.options.database.deleteFrom('scans').where('id', '=', row.id).execute();
    // Tell another server that reads it to stop.
    if (row.in_store === 1) await this.leases?.cancel(row.id);
    this.news.removed(row);
    // If the file is being read, its examination removes the bytes at the end.
    if (!this.examinations.isRunning(row.id)) await this.scanStore.remove({ ...row, in_store: is_running ? row.in_store : 0 });
  }

  /** Deletes a person's records as part of a transaction. Returns the function that removes their bytes, to be called after the commit. */
  async forgetPerson(transaction: Kysely<AntivirusTables>, user_id: string): Promise<() => Promise<void>> {
    const rows = await transaction.deleteFrom('scans').where('user_id', '=', user_id).returning(['id', 'in_store']).execute();
    return async () => {
      this.overviews.forget(user_id);
      await this.options.admission.dismiss(user_id);
      for (const file of rows) if (!this.examinations.isRunning(file.id)) await this.scanStore.letGo(file);
    };
  }

  /** The latest scans, newest first, at most `count`, and never more than 10. */
  async recent(user_id: string, count: number): Promise<Scan[]> {
    return (await this.overviews.of(user_id)).recent.slice(0, count);
  }

  async counts(user_id: string): Promise<ScanCounts> {
    return (await this.overviews.of(user_id)).counts;
  }

  /** Progress events of a person's files without a verdict. */
  progress(user_id: string): LiveEvent[] {
    return this.examinations.progress(user_id);
  }

  /** Whether a recheck of earlier scans by newer signatures is pending. */
  recheckDue(): Promise<boolean> {
    return this.waitingFiles.recheckDue();
  }

  /** The number of files that wait for an engine, on this server or in the shared store, and the ISO time of the oldest. */
  async unread(): Promise<{ files: number; oldest_at: string | null }> {
    const { files, oldest } = await this.options.database
      .selectFrom('scans')
      .select(({ fn }) => [fn.countAll<number>().as('files'), fn.min('id').as('oldest')])
      .where('spooled', '=', sql.lit(1))
      .where(({ eb, or }) =>
        or([eb('home', '=', this.options.home), ...(this.options.shared === undefined ? [] : [eb('in_store', '=', sql.lit(1))])]),
      )
      .where('status_detail', 'in', UNREAD)
      .executeTakeFirstOrThrow();
    return { files: Number(files), oldest_at: oldest === null ? null : new Date(timeOfId(oldest)).toISOString() };
  }

  async close(): Promise<void> {
    this.closing = true;
    await Promise.all([this.waitingFiles.close(), this.examinations.close()]);
  }
}

export function createAntivirus(options: AntivirusOptions): Antivirus {
  return new Antivirus(options);
}
