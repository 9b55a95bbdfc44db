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
  /** The data folders of the servers of this database that live. */
  livingHomes: () => Promise<readonly string[]>;
  engine: Engine;
  scanQueue: ScanQueue;
  admission: Pick<UploadAdmission, 'dismiss'>;
  spool: Spool;
  quarantine: Quarantine;
  /** The files that all servers keep together, where they share a store. */
  shared: Quarantine | undefined;
  /** Bytes of one person that are kept sealed. */
  quarantine_quota: number;
  /** The id of the data folder in which `spool` and `quarantine` are. */
  home: string;
  falseAlarms: Pick<FalseAlarms, 'of'>;
  now: () => number;
  logger: FastifyBaseLogger;
  /** Called for each infected file, again after a restart: take it once for each scan id. */
  onInfected: (file: InfectedFile) => Promise<void>;
  onCleared: (file: ClearedFile) => Promise<void>;
  /** Called with the records whose infections ended, or are open again. Never rejects. */
  /** `whole` are the rows without another open copy of the same bytes on their device. */
  onSettled?: ((rows: readonly ScanRow[], is_over: boolean, whole: readonly ScanRow[]) => Promise<void>) | undefined;
  /** Tells a person's pages what happened. */
  tell: (user_id: string, event: LiveEvent) => void;
  /** Looks a file up by its SHA-256 alone. */
  matchHash?: MatchHash | undefined;
  meter?: ScanMeter | undefined;
  /** Interval at which pending files are given to the engine again, in ms. */
  retry_ms?: number | undefined;
  /** Time that a small file may be read before it is recorded, in ms. */
  record_ms?: number | undefined;
}

const at = (now: () => number) => new Date(now()).toISOString();

/** The scans of all people. */
export class Antivirus implements KeptFiles, Pick<WaitingFiles, 'resume' | 'rescanWaiting' | 'signaturesChanged'> {
  private readonly meter: ScanMeter | undefined;
  private readonly retry_ms: number;
  private readonly admission: Pick<UploadAdmission, 'dismiss'>;
  private readonly database: Kysely<AntivirusTables & InstallationTables & JobTables>;
  private readonly engine: Engine;
  private readonly spool: Spool;
  private readonly shared: Quarantine | undefined;
  private readonly home: string;
  private readonly falseAlarms: Pick<FalseAlarms, 'of'>;
  private readonly now: () => number;
  private readonly matchHash: MatchHash | undefined;
  private readonly scanList: ReturnType<typeof createScanList>;
  private readonly leases: ReadingLeases | undefined;
  private readonly scanStore: ScanStore;
  private readonly recordWriter: RecordWriter;
  /** Files that are in the spool and have no record yet. */
  private readonly arriving = new Set<string>();
  private closing = false;
  // Asked for at each look at the dashboard.
  private readonly overviews: PersonCache<Overview>;
  private readonly news: RecordNews;
  private readonly examinations: Examinations;
  private readonly waitingFiles: WaitingFiles;
  private readonly keptFiles: KeptFiles;
  /** Tells of records whose infections ended, or are open again. */
  private readonly settled: (rows: readonly ScanRow[], is_over: boolean) => Promise<void>;

  constructor(options: AntivirusOptions) {
    this.meter = options.meter;
    this.retry_ms = options.retry_ms ?? RETRY_EVERY_MS;
    this.admission = options.admission;
    this.database = options.database;
    this.engine = options.engine;
    this.spool = options.spool;
    this.shared = options.shared;
    this.home = options.home;
    this.falseAlarms = options.falseAlarms;
    this.now = options.now;
    this.matchHash = options.matchHash;
    this.scanList = createScanList(this.database);
    this.leases = this.shared && createReadingLeases(this.database.$pickTables<'jobs'>(), options.jobs);
    this.recordWriter = new RecordWriter(this.database);
    this.scanStore = createScanStore({
      database: this.database,
      leases: this.leases,
      spool: this.spool,
      quarantine: options.quarantine,
      shared: this.shared,
      home: this.home,
      quota: options.quarantine_quota,
      now: this.now,
      logger: options.logger,
    });
    this.overviews = createPersonCache({
      read: async (user_id) => {
        const recent = await this.scanList.page(user_id, scansQuerySchema.parse({ limit: RECENT_MAXIMUM }));
        return { counts: await countScans(this.database, { user_id, recent, now: this.now() }), recent };
      },
      now: this.now,
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
      await options.onSettled?.(rows, is_over, is_over ? await lastCopies(this.database, rows) : rows);
    };
    this.examinations = createExaminations({ ...options, scanStore: this.scanStore, news: this.news, matchHash: this.matchHash });
    this.waitingFiles = createWaitingFiles({
      ...options,
      examinations: this.examinations,
      scanStore: this.scanStore,
      leases: this.leases,
      news: this.news,
      matchHash: this.matchHash,
      arriving: () => [...this.arriving],
    });
    this.keptFiles = createKeptFiles({
      examinations: this.examinations,
      scanStore: this.scanStore,
      leases: this.leases,
      home: this.home,
      find: this.find,
      logger: options.logger,
    });
  }

  /** The verdict of an earlier upload of these bytes by this person, where engine and signatures are still the same. */
  private async earlierVerdict(row: ScanRow): Promise<Partial<Verdict> | undefined> {
    const edition = this.engine.edition();
    if (edition === undefined) return undefined;
    const earlier = await this.database
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
    return withList(this.matchHash, row, {
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
    return this.database.selectFrom('scans').selectAll().where('id', '=', id).executeTakeFirst();
  };

  /** The bytes. @throws Problem `not_found` when none are kept, `unavailable` when they do not open, `on_another_server` as all of these do. */
  restore(row: ScanRow): Promise<Readable> {
    return this.keptFiles.restore(row);
  }

  /** Removes the kept bytes; the record stays. False when there are none. @throws Problem `conflict` while the file is read. */
  removeFile(row: ScanRow): Promise<boolean> {
    return this.keptFiles.removeFile(row);
  }

  /**
   * Reads a kept encrypted archive with its password, which goes nowhere else.
   * @throws Problem `invalid_field` for a wrong one, `conflict` when there is nothing to open, `unavailable` when no engine answers, `not_found` when the record
   * was deleted meanwhile.
   */
  unlock(row: ScanRow, password: string): Promise<ScanRow> {
    return this.keptFiles.unlock(row, password);
  }

  /** Takes up the files that an earlier run of the server left pending, and continues while engines come back. */
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

  /** To be called when signatures have changed in a way that the engine's edition does not show: looks at everything again. */
  signaturesChanged(): Promise<void> {
    return this.waitingFiles.signaturesChanged();
  }

  newScanId(): string {
    return newId();
  }

  /**
   * Takes over a file of which the upload is complete, and answers its record once an engine has spoken. From the moment the record is stored the file is
   * scanned, now or after a restart, even without a waiting caller; only the person can take it back. Of a small file the record is stored with its verdict,
   * when that comes at once.
   * @throws Problem `upload_cancelled` when they did, or deleted its record meanwhile. The file and its record are removed then.
   */
  async scan({ id, user_id, filename, size, sha256, bytes, ...waiter }: Arrival): Promise<Scan> {
    const scanned_at = at(this.now);
    const arrived = newScan({ id, user_id, filename: displayName(filename), file_hash: sha256, size, scanned_at });
    // An empty file is clean; no engine is asked.
    const row: ScanRow =
      size === 0
        ? { ...arrived, scan_status: 'clean', coverage: JSON.stringify(NO_COVERAGE), attempts: 1 }
        : { ...arrived, status_detail: 'queued', spooled: 1, attempts: 1, home: this.home, kept_until: waitsUntil(this.now()) };
    const record = createNewRecord({
      database: this.database,
      writer: this.recordWriter,
      leases: this.leases,
      spool: this.spool,
      scanStore: this.scanStore,
      row,
      news: this.news,
      meter: this.meter,
    });
    let known: Partial<Verdict> | undefined;
    this.arriving.add(id);
    try {
      if (bytes === undefined) await this.spool.keep(id);
      else this.spool.hold(id, bytes);
      const earlier = await this.database
        .selectFrom('scans')
        .select('first_seen_at')
        .where('user_id', '=', user_id)
        .where('file_hash', '=', sha256)
        .orderBy('id')
        .limit(1)
        .executeTakeFirst();
      if (earlier !== undefined) {
        row.first_seen_at = earlier.first_seen_at;
        Object.assign(row, await earlierDeaths(this.database, row));
      }
      known = size === 0 || earlier === undefined ? undefined : await this.earlierVerdict(row);
      // The bytes are not needed any more, so they are not kept.
      if (size === 0 || known?.scan_status === 'clean') return scanOf(await record.finish(known ?? {}));
      // A small file is read first: most are clean, and then one write is enough.
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
      // An unread file is read when an engine is there; at once, by another server, when this one stops.
      const waits_ms = this.closing ? 0 : this.retry_ms;
      again_ms = scanned !== undefined && isUnread(scanned) ? waits_ms : undefined;
    } catch (error) {
      // After any other error the record is there, and its file is to be read.
      if (error instanceof Problem && error.code === 'upload_cancelled') again_ms = undefined;
      throw storageProblem(error);
    } finally {
      record.release(again_ms);
    }
    if (scanned === undefined) throw refuse('scan.file_deleted');
    return scanOf(scanned);
  }

  /** Infected files on devices. Both write as part of a transaction, and answer what tells of it, once that is committed. */
  readonly onDevices = {
    add: (transaction: ScanRecords, found: FoundOnDevice) => this.recordOnDevice(transaction, found),
    /** The agent deleted the copy, or restored it. */
    settle: async (transaction: ScanRecords, copy: CopyOnDevice, is_deleted: boolean): Promise<() => void> => {
      const rows = await settleCopy(transaction, copy, is_deleted ? { at: at(this.now), by: 'agent' } : null);
      return () => void this.settled(rows, is_deleted);
    },
  };

  /** Says of infected files that their person deleted the originals, or did not. Answers how many records changed. */
  async settle(user_id: string, { scan_ids, deleted }: { scan_ids: readonly string[]; deleted: boolean }): Promise<number> {
    const end = deleted ? { at: at(this.now), by: 'person' as const } : null;
    const rows = await settleRecords(this.database, { user_id, scan_ids, end });
    await this.settled(rows, deleted);
    return rows.length;
  }

  /** The file itself stays on the device. */
  private async recordOnDevice(transaction: ScanRecords, { user_id, device, file }: FoundOnDevice): Promise<() => void> {
    const row = rowOnDevice({ user_id, device, file }, at(this.now));
    const copy = { user_id, device_id: device.id, path: file.path, file_hash: file.file_hash };
    // The agent took away a copy that it had left before.
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
      await inBatches(ids, (batch) => this.database.selectFrom('scans').selectAll().where('id', 'in', batch).execute())
    ).map(scanOf);
  }

  async detail(row: ScanRow): Promise<ScanDetail> {
    return { ...detailOf(row), report: await this.falseAlarms.of(row.id) };
  }

  /**
   * Takes a record out of the history, with its bytes. A scan that is under way ends without a record.
   * @throws Problem `on_another_server` when the bytes are there.
   */
  async remove(row: ScanRow): Promise<void> {
    // The file still lies there: without its record nothing would say so.
    if (row.device_id !== null && row.scan_status === 'infected' && row.closed_at === null && !isTestFile(row))
      throw refuse('scan.not_deleted_yet');
    requireHere(row, this.scanStore, this.home);
    const is_running = this.examinations.isRunning(row.id);
    // The shared copy is removed first: a reported removal is complete.
    if (!is_running && row.in_store === 1) await this.scanStore.remove(row);
    await this.database.deleteFrom('scans').where('id', '=', row.id).execute();
    // Another server that reads it is told to stop.
    if (row.in_store === 1) await this.leases?.cancel(row.id);
    this.news.removed(row);
    // The examination of a file that is being read removes its bytes when it ends.
    if (!this.examinations.isRunning(row.id)) await this.scanStore.remove({ ...row, in_store: is_running ? row.in_store : 0 });
  }

  /** Removes a person's records as part of `database`'s transaction. Answers what removes their bytes, once it is committed. */
  async forgetPerson(transaction: Kysely<AntivirusTables>, user_id: string): Promise<() => Promise<void>> {
    const rows = await transaction.deleteFrom('scans').where('user_id', '=', user_id).returning(['id', 'in_store']).execute();
    return async () => {
      this.overviews.forget(user_id);
      await this.admission.dismiss(user_id);
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

  /** Progress of a person's files that have no verdict yet. */
  progress(user_id: string): LiveEvent[] {
    return this.examinations.progress(user_id);
  }

  /** Whether earlier scans are to be rechecked by newer signatures, and were not yet. */
  recheckDue(): Promise<boolean> {
    return this.waitingFiles.recheckDue();
  }

  /** Files whose bytes wait for an engine, of this server or in the store that servers share, and when the first of them came; ISO. */
  async unread(): Promise<{ files: number; oldest_at: string | null }> {
    const { files, oldest } = await this.database
      .selectFrom('scans')
      .select(({ fn }) => [fn.countAll<number>().as('files'), fn.min('id').as('oldest')])
      .where('spooled', '=', sql.lit(1))
      .where(({ eb, or }) =>
        or([eb('home', '=', this.home), ...(this.shared === undefined ? [] : [eb('in_store', '=', sql.lit(1))])]),
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
