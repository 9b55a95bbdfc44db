import { type Coverage, type Scan, type ScansQuery, type ScanTotals, scansQuerySchema } from '@palisade/contract/antivirus';
import type { LiveEvent } from '@palisade/contract/events';
import type { ScanDetail } from '@palisade/contract/quarantine';
import { displayName } from '@palisade/scanner/filename';
import type { Engine } from '@palisade/scanner/yara-pool';
import type { FastifyBaseLogger } from 'fastify';
import { type Kysely, sql } from 'kysely';
import { inBatches } from '#platform/batches.ts';
import { newId, timeOfId } from '#platform/id.ts';
import type { InstallationTables } from '#platform/installation.ts';
import type { JobTables } from '#platform/jobs/job-store.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import { createPersonCache } from '#platform/person-cache.ts';
import { Problem } from '#platform/problem.ts';
import { storageProblem } from '#platform/storage-problem.ts';
import type { AntivirusTables } from './antivirus.tables.ts';
import type { Arrivals } from './arrivals.ts';
import {
  type ClearedFile,
  createExaminations,
  type InfectedFile,
  type RecordNews,
  type ScanMeter,
  type Waiter,
} from './examination.ts';
import type { FalseAlarms } from './false-alarms.ts';
import { createKeeping, isUnread, type ScanRow, UNREAD, type Verdict, waitsUntil } from './keeping.ts';
import { createKeptFiles, type KeptFiles, requireHere } from './kept-files.ts';
import { type MatchHash, withList } from './known-hashes.ts';
import { createNewRecord } from './new-record.ts';
import type { Quarantine } from './quarantine.ts';
import { countScans, type ScanCounts } from './scan-counts.ts';
import { createReadingLeases } from './scan-jobs.ts';
import { createScanList } from './scan-list.ts';
import { detailOf, scanOf } from './scan-record.ts';
import type { Spool } from './spool.ts';
import type { Turns } from './turns.ts';
import { editionFor } from './verdict-columns.ts';
import { createWaitingFiles, RETRY_EVERY_MS, type WaitingFiles } from './waiting-files.ts';

/** A file that has arrived under `id`: in the spool's folder, or in memory. */
interface Arrival extends Waiter {
  id: string;
  user_id: string;
  /** As sent; hostile. */
  filename: string;
  /** Bytes. */
  size: number;
  sha256: string;
  bytes: Buffer | undefined;
}

/** A file that a device found. */
interface FoundOnDevice {
  user_id: string;
  device: { id: string; device_name: string };
  file: { path: string; file_hash: string; size: number; threat: string; member: string | null; found_at: string };
}

/** The scans of all people. */
export interface Antivirus extends KeptFiles, Pick<WaitingFiles, 'resume' | 'rescanWaiting' | 'signaturesChanged'> {
  newScanId(): string;
  /**
   * Takes over a file of which the upload is complete, and answers its record once an engine has spoken. From the moment the record is stored the file
   * is scanned, now or after a restart, whoever goes away; only the person can take it back. Of a small file the record is stored with its verdict, when that
   * comes at once.
   * @throws Problem `upload_cancelled` when they did, or deleted its record meanwhile. Nothing of the file is left then, its record included.
   */
  scan(arrival: Arrival): Promise<Scan>;
  /** Records what a device found where it lies, as part of `database`'s transaction: nothing of the file is here. Answers what tells of it, once that is committed. */
  recordOnDevice(database: Kysely<Pick<AntivirusTables, 'scans'>>, found: FoundOnDevice): Promise<() => void>;
  list(user_id: string, query: ScansQuery): Promise<Scan[]>;
  totals(user_id: string, search: string): Promise<ScanTotals>;
  find(id: string): Promise<ScanRow | undefined>;
  /** Those of some scans that there are. */
  some(ids: readonly string[]): Promise<Scan[]>;
  detail(row: ScanRow): Promise<ScanDetail>;
  /**
   * Takes a record out of the history, with its bytes. A scan that is under way ends without a record.
   * @throws Problem `on_another_server` when the bytes are there.
   */
  remove(row: ScanRow): Promise<void>;
  /** Removes a person's records as part of `database`'s transaction. Answers what removes their bytes, once it is committed. */
  forgetPerson(database: Kysely<AntivirusTables>, user_id: string): Promise<() => Promise<void>>;
  /** The latest scans, newest first, at most `count`, and never more than 10. */
  recent(user_id: string, count: number): Promise<Scan[]>;
  counts(user_id: string): Promise<ScanCounts>;
  /** How far a person's files are that have no verdict yet. */
  progress(user_id: string): LiveEvent[];
  /** Files whose bytes wait for an engine, of this server or in the store that servers share, and when the first of them came; ISO. */
  unread(): Promise<{ files: number; oldest_at: string | null }>;
  /** Whether what was scanned before is to be looked at again by newer signatures, and was not yet. */
  recheckDue(): Promise<boolean>;
  close(): Promise<void>;
}

const RECENT_MAXIMUM = 10;
const DELETED = 'You deleted this file while it was scanned. Nothing of it is kept.';
const NO_COVERAGE: Coverage = {
  members_total: 0,
  members_scanned: 0,
  bytes_scanned: 0,
  encrypted: 0,
  bytes_raw: 0,
  whole_file_conditions: true,
};

const UPLOADED = { device_id: null, device_name: null, device_path: null } as const;

export function createAntivirus(parts: {
  database: Kysely<AntivirusTables & InstallationTables & JobTables>;
  jobs: Jobs;
  /** The data folders of the servers of this database that live. */
  livingHomes: () => Promise<readonly string[]>;
  engine: Engine;
  turns: Turns;
  arrivals: Pick<Arrivals, 'dismiss'>;
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
  /** Told of each infected file, again after a restart: take it once for each scan id. */
  onInfected: (file: InfectedFile) => Promise<void>;
  onCleared: (file: ClearedFile) => Promise<void>;
  /** Tells a person's pages what happened. */
  tell: (user_id: string, event: LiveEvent) => void;
  /** What is known of files by their SHA-256 alone. */
  matchHash?: MatchHash | undefined;
  meter?: ScanMeter | undefined;
  /** How often pending files are given to the engine again, in ms. */
  retry_ms?: number | undefined;
  /** How long a small file may be read before it is recorded, in ms. */
  record_ms?: number | undefined;
}): Antivirus {
  const { database, jobs, engine, spool, quarantine, shared, quarantine_quota, home, falseAlarms, now, logger, tell, matchHash } =
    parts;
  const scanList = createScanList(database);
  const leases = shared && createReadingLeases(database.$pickTables<'jobs'>(), jobs);
  const keeping = createKeeping({ database, leases, spool, quarantine, shared, home, quota: quarantine_quota, now, logger });
  /** Files that are in the spool and have no record yet. */
  const arriving = new Set<string>();
  let closing = false;
  // Thousands of scans may be counted, at each look at the dashboard.
  const overviews = createPersonCache({
    read: async (user_id) => {
      const [counts, recent] = await Promise.all([
        countScans(database, user_id, now()),
        scanList.page(user_id, scansQuerySchema.parse({ limit: RECENT_MAXIMUM })),
      ]);
      return { counts, recent };
    },
    now,
  });
  const news: RecordNews = {
    changed(row) {
      overviews.forget(row.user_id);
      tell(row.user_id, { kind: 'scan_changed', scan: scanOf(row) });
    },
    removed({ id, user_id }) {
      overviews.forget(user_id);
      tell(user_id, { kind: 'scan_removed', scan_id: id });
    },
  };
  const examinations = createExaminations({ ...parts, keeping, news, matchHash });
  const waitingFiles = createWaitingFiles({
    ...parts,
    ...{ examinations, keeping, leases, news, matchHash },
    arriving: () => [...arriving],
  });
  const keptFiles = createKeptFiles({ examinations, keeping, leases, home, find, logger });

  const at = () => new Date(now()).toISOString();

  /** The verdict of an earlier upload of these bytes by this person, where engine and signatures are still the same. */
  async function earlierVerdict(row: ScanRow): Promise<Partial<Verdict> | undefined> {
    const edition = engine.edition();
    if (edition === undefined) return undefined;
    const earlier = await database
      .selectFrom('scans')
      .selectAll()
      .where('user_id', '=', row.user_id)
      .where('file_hash', '=', row.file_hash)
      .where('edition', 'in', [edition, editionFor(edition, row.filename)])
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (earlier === undefined) return undefined;
    const { scan_status, status_detail, threat_detected, threat_member, threat_facts, media_type, notes, engines, coverage } =
      earlier;
    return withList(matchHash, row, {
      ...{ scan_status, status_detail, threat_detected, threat_member, threat_facts, media_type, notes, engines, coverage },
      edition: earlier.edition,
      answered_from: earlier.answered_from ?? earlier.scanned_at,
    });
  }

  function find(id: string): Promise<ScanRow | undefined> {
    return database.selectFrom('scans').selectAll().where('id', '=', id).executeTakeFirst();
  }

  /** What engines died of before, they are not given anew as often. */
  async function earlierDeaths({ user_id, file_hash }: ScanRow): Promise<Partial<ScanRow>> {
    const earlier = await database
      .selectFrom('scans')
      .select(['engine_deaths', 'engine_deaths_edition'])
      .where('user_id', '=', user_id)
      .where('file_hash', '=', file_hash)
      .where('engine_deaths', '>', 0)
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
    return earlier ?? {};
  }

  return {
    ...keptFiles,
    resume: waitingFiles.resume,
    rescanWaiting: waitingFiles.rescanWaiting,
    signaturesChanged: waitingFiles.signaturesChanged,

    newScanId: newId,

    async scan({ id, user_id, filename, size, sha256, bytes, ...waiter }) {
      const scanned_at = at();
      const row: ScanRow = {
        id,
        user_id,
        filename: displayName(filename),
        scan_status: size === 0 ? 'clean' : 'pending',
        status_detail: size === 0 ? null : 'queued',
        scanned_at,
        threat_detected: null,
        threat_member: null,
        file_hash: sha256,
        size,
        media_type: null,
        first_seen_at: scanned_at,
        threat_facts: null,
        notes: '[]',
        engines: '[]',
        // Nothing to read was read whole; no engine is asked.
        coverage: size === 0 ? JSON.stringify(NO_COVERAGE) : null,
        spooled: size === 0 ? 0 : 1,
        attempts: 1,
        engine_deaths: 0,
        engine_deaths_edition: null,
        unended_readings: 0,
        sealed: 0,
        in_store: 0,
        sealed_sha256: null,
        home: size === 0 ? null : home,
        kept_until: size === 0 ? null : waitsUntil(now()),
        edition: null,
        answered_from: null,
        ...UPLOADED,
      };
      const record = createNewRecord({ database, leases, spool, keeping, row, news, meter: parts.meter });
      let known: Partial<Verdict> | undefined;
      arriving.add(id);
      try {
        if (bytes === undefined) await spool.keep(id);
        else spool.hold(id, bytes);
        const earlier = await database
          .selectFrom('scans')
          .select('first_seen_at')
          .where('user_id', '=', user_id)
          .where('file_hash', '=', sha256)
          .orderBy('id')
          .limit(1)
          .executeTakeFirst();
        if (earlier !== undefined) {
          row.first_seen_at = earlier.first_seen_at;
          Object.assign(row, await earlierDeaths(row));
        }
        known = size === 0 || earlier === undefined ? undefined : await earlierVerdict(row);
        // Nothing of it is needed any more, so nothing of it is kept.
        if (size === 0 || known?.scan_status === 'clean') return scanOf(await record.finish(known ?? {}));
        // A small file is read first: most are clean, and then one write is enough.
        if (known !== undefined || bytes === undefined) await record.store();
      } catch (error) {
        await keeping.letGo(row);
        throw storageProblem(error);
      } finally {
        arriving.delete(id);
      }
      const verdict = known;
      let again_ms: number | undefined = 0;
      let scanned: ScanRow | undefined;
      try {
        scanned = await (verdict === undefined
          ? examinations.examine(row, { waiter, record })
          : examinations.settle(row, verdict, await record.store()));
        // What no engine could read is read when one can; at once, by another server, when this one stops.
        const waits_ms = closing ? 0 : (parts.retry_ms ?? RETRY_EVERY_MS);
        again_ms = scanned !== undefined && isUnread(scanned) ? waits_ms : undefined;
      } catch (error) {
        // Whatever else went wrong, the record is there, and its file is to be read.
        if (error instanceof Problem && error.code === 'upload_cancelled') again_ms = undefined;
        throw storageProblem(error);
      } finally {
        record.release(again_ms);
      }
      if (scanned === undefined) throw new Problem('upload_cancelled', { detail: DELETED });
      return scanOf(scanned);
    },

    async recordOnDevice(transaction, { user_id, device, file }) {
      const scanned_at = at();
      const row: ScanRow = {
        ...{ id: newId(), user_id, filename: displayName(file.path), scan_status: 'infected', status_detail: null, scanned_at },
        ...{ threat_detected: file.threat, threat_member: file.member, file_hash: file.file_hash, size: file.size },
        ...{ media_type: null, first_seen_at: scanned_at, threat_facts: null, notes: '[]', engines: '[]', coverage: null },
        ...{ spooled: 0, attempts: 0, engine_deaths: 0, engine_deaths_edition: null, unended_readings: 0, sealed: 0 },
        ...{ in_store: 0, sealed_sha256: null, home: null, kept_until: null, edition: null, answered_from: null },
        ...{ device_id: device.id, device_name: device.device_name, device_path: file.path },
      };
      await transaction.insertInto('scans').values(row).execute();
      return () => news.changed(row);
    },

    list: scanList.page,
    totals: scanList.totals,
    find,
    some: async (ids) =>
      (await inBatches(ids, (batch) => database.selectFrom('scans').selectAll().where('id', 'in', batch).execute())).map(scanOf),
    detail: async (row) => ({ ...detailOf(row), report: await falseAlarms.of(row.id) }),

    async remove(row) {
      requireHere(row, keeping, home);
      const is_running = examinations.isRunning(row.id);
      // What servers share is removed first: who is told that it is gone can rely on it.
      if (!is_running && row.in_store === 1) await keeping.remove(row);
      await database.deleteFrom('scans').where('id', '=', row.id).execute();
      // Another server that reads it is told to stop.
      if (row.in_store === 1) await leases?.cancel(row.id);
      news.removed(row);
      // Of one that is being read, the examination removes the bytes when it ends.
      if (!examinations.isRunning(row.id)) await keeping.remove({ ...row, in_store: is_running ? row.in_store : 0 });
    },

    async forgetPerson(transaction, user_id) {
      const rows = await transaction.deleteFrom('scans').where('user_id', '=', user_id).returning(['id', 'in_store']).execute();
      return async () => {
        overviews.forget(user_id);
        await parts.arrivals.dismiss(user_id);
        for (const file of rows) if (!examinations.isRunning(file.id)) await keeping.letGo(file);
      };
    },

    recent: async (user_id, count) => (await overviews.of(user_id)).recent.slice(0, count),
    counts: async (user_id) => (await overviews.of(user_id)).counts,
    progress: examinations.progress,
    recheckDue: waitingFiles.recheckDue,

    async unread() {
      const { files, oldest } = await database
        .selectFrom('scans')
        .select(({ fn }) => [fn.countAll<number>().as('files'), fn.min('id').as('oldest')])
        .where('spooled', '=', sql.lit(1))
        .where(({ eb, or }) => or([eb('home', '=', home), ...(shared === undefined ? [] : [eb('in_store', '=', sql.lit(1))])]))
        .where('status_detail', 'in', UNREAD)
        .executeTakeFirstOrThrow();
      return { files: Number(files), oldest_at: oldest === null ? null : new Date(timeOfId(oldest)).toISOString() };
    },

    async close() {
      closing = true;
      await Promise.all([waitingFiles.close(), examinations.close()]);
    },
  };
}
