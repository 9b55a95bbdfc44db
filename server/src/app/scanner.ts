import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { UPLOAD_MAXIMUM } from '@palisade/contract/antivirus';
import { QUARANTINE_BYTES_MAXIMUM } from '@palisade/contract/quarantine';
import { createClamdPool } from '@palisade/scanner/clamd-pool';
import { createEnginePair } from '@palisade/scanner/engine-pair';
import { SCAN_LIMITS } from '@palisade/scanner/limits';
import { verdictOf } from '@palisade/scanner/verdict';
import type { Engine } from '@palisade/scanner/yara-pool';
import { createYaraPool } from '@palisade/scanner/yara-pool';
import type { Kysely } from 'kysely';
import { serveAntivirus } from '#features/antivirus/antivirus.routes.ts';
import { type Antivirus, createAntivirus } from '#features/antivirus/antivirus.ts';
import { createFalseAlarms } from '#features/antivirus/false-alarms.ts';
import { serveQuarantine } from '#features/antivirus/quarantine.routes.ts';
import { createReceive, type UploadLimits } from '#features/antivirus/receive.ts';
import { createScanQueue, type ScanQueue, SET_ASIDE, SMALL_BYTES } from '#features/antivirus/scan-queue.ts';
import { createSharedSignatures } from '#features/antivirus/shared-signatures.ts';
import { clamdStatus, serveSignatures } from '#features/antivirus/signatures.routes.ts';
import { createSignatures } from '#features/antivirus/signatures.ts';
import type { Spool } from '#features/antivirus/spool.ts';
import { createUploadAdmission, type UploadAdmissionLimits } from '#features/antivirus/upload-admission.ts';
import type { Audit } from '#platform/audit.ts';
import type { Blobs } from '#platform/blobs/blobs.ts';
import type { Counters } from '#platform/counters.ts';
import { logFailure } from '#platform/database-patience.ts';
import type { Api } from '#platform/serve.ts';
import type { SessionNews } from '#platform/session-news.ts';
import type { Tables } from '#platform/tables.ts';
import type { AppOptions } from './app-options.ts';

const UPLOAD_LIMITS: Omit<UploadLimits, 'total_ms'> = {
  maximum: UPLOAD_MAXIMUM,
  stall_ms: 30_000,
  // 1 KiB/s: slower than any network that is used for uploads.
  slow: { window_ms: 30_000, bytes: 30 * 1024 },
};
const ADMISSION_LIMITS: UploadAdmissionLimits = { per_person: 64, all: 1_000 };
/** Budget per person for slow scans: 20 s is a third of one process's minute; two files that reach the time limit exceed it. */
const PATIENCE_WITH_FILES = { quick_ms: 1_000, budget_ms: 20_000 } as const;
/** Limits of the number of engine processes. The default is cores + 1, because one process is reserved for small files. A process scans one file at a time, and uses one core and about 100 MB. */
const ENGINE_PROCESSES = { least: 3, most: 5 } as const;

/** A spare process takes the next file at once when the process of a slow file is ended. */
const SPARE_PROCESSES = 1;

type ScannerTables = Pick<
  Tables,
  'scans' | 'scan_counts' | 'quarantine_reports' | 'installation' | 'jobs' | 'mails' | 'audit_entries' | 'audit_head'
>;

/** A file to scan without storing a record. */
interface InspectedFile {
  id: string;
  user_id: string;
  path: string;
  /** Size in bytes. */
  size: number;
  sha256: string;
  name: string;
  signal: AbortSignal;
}

interface Inspection {
  status: 'clean' | 'infected' | 'unread' | 'failed';
  threat: string | null;
}

type ScannerParts = {
  database: Kysely<ScannerTables>;
  audit: Audit;
  accounts: Parameters<typeof createFalseAlarms>[0]['accounts'];
  counters: Counters;
  mail: Parameters<typeof createFalseAlarms>[0]['mail'];
  /** Called when files of a person have changed. */
  onFilesChanged: (user_id: string) => void;
  /** Messages between servers; undefined for a single server. */
  news: SessionNews | undefined;
  /** The store in which servers share downloaded signature feeds. */
  sharedSets: Blobs | undefined;
  now: () => number;
} & Pick<
  Parameters<typeof createAntivirus>[0],
  | 'jobs'
  | 'livingHomes'
  | 'spool'
  | 'quarantine'
  | 'shared'
  | 'home'
  | 'onInfected'
  | 'onCleared'
  | 'onSettled'
  | 'tell'
  | 'meter'
>;

/** Scans a file without storing a record. */
async function inspectFile(
  { id, user_id, path, size, sha256, name, signal }: InspectedFile,
  by: {
    scanQueue: Pick<ScanQueue, 'take'>;
    engine: Pick<Engine, 'scan'>;
    spool: Pick<Spool, 'unpacked'>;
    matchHash: (sha256: string) => string | undefined;
  },
): Promise<Inspection> {
  const { scanQueue, engine, spool, matchHash } = by;
  const outcome = await scanQueue.take({ user_id, size, signal }, async (stop, begun) => {
    const scan = { id, path, size, name, sha256, folder: spool.unpacked(id), onBegin: begun };
    const answer = await engine.scan({ ...scan, signal: AbortSignal.any([signal, stop]) });
    const was_stopped = stop.aborted && !signal.aborted;
    return was_stopped && answer.kind === 'failed' ? SET_ASIDE : answer;
  });
  if (outcome === undefined) return { status: 'failed', threat: null };
  const { scan_status, status_detail, threat_detected } = verdictOf(outcome);
  const listed = matchHash(sha256);
  const threat = threat_detected ?? listed ?? null;
  if (scan_status === 'infected' || threat !== null) return { status: 'infected', threat };
  if (scan_status === 'clean') return { status: 'clean', threat: null };
  return { status: status_detail === 'engine_down' ? 'failed' : 'unread', threat: null };
}

/** Opens the clamds of the settings, or searches the usual addresses; undefined if there are no addresses. */
function openClamd(
  { settings, logger, usual_scanners = [], scanner_let_go_ms, scanner_look_ms }: AppOptions,
  time_ms: number,
  onRenewed: Parameters<typeof createClamdPool>[0]['onRenewed'],
) {
  const usual = settings.look_for_scanner ? usual_scanners : [];
  const addresses = settings.scanners.length > 0 ? settings.scanners : usual;
  if (addresses.length === 0) return undefined;
  return createClamdPool({
    addresses,
    looked_for: settings.scanners.length === 0,
    let_go_ms: scanner_let_go_ms,
    time_ms,
    logger,
    onRenewed,
    look_ms: scanner_look_ms,
  });
}

/** Builds the scanner: signatures, engines, records and stored files. */
export async function buildScanner(appOptions: AppOptions, parts: ScannerParts) {
  const { settings, logger } = appOptions;
  const { database, jobs, livingHomes, audit, accounts, counters, spool, quarantine, shared, home, now } = parts;
  const { onInfected, onCleared, onSettled, tell, meter } = parts;
  const engine_processes =
    appOptions.engine_processes ?? Math.min(ENGINE_PROCESSES.most, Math.max(ENGINE_PROCESSES.least, availableParallelism() + 1));
  const limits = appOptions.scan_limits ?? SCAN_LIMITS;
  const signatures = await createSignatures({
    folder: join(settings.data_dir, 'signatures'),
    signatures_folder: appOptions.signatures_folder,
    feeds: settings.signature_feeds,
    now,
    logger,
    look_ms: appOptions.signatures_look_ms,
    fetch_limits: appOptions.feed_limits,
    together: parts.sharedSets && {
      shared: createSharedSignatures({ database: database.$pickTables<'installation'>(), blobs: parts.sharedSets }),
      database: database.$pickTables<'jobs'>(),
      jobs,
    },
  });
  const embedded =
    appOptions.embedded_engine ??
    createYaraPool({
      signatures: signatures.files(),
      size: engine_processes + (engine_processes > 1 ? SPARE_PROCESSES : 0),
      limits,
      memory: appOptions.engine_memory,
      logger,
    });
  const matchHash = appOptions.match_hash ?? ((sha256: string) => signatures.matchHash(sha256));
  signatures.watch(async (files) => {
    const took_over = await embedded.reload(files);
    if (took_over) {
      antivirus.signaturesChanged().catch((error: unknown) => logFailure(logger, error, 'could not recheck earlier scans'));
    }
    return took_over;
  });
  const clamd = openClamd(appOptions, limits.time_ms, (change) => {
    antivirus
      .rescanWaiting(change === 'signatures')
      .catch((error: unknown) => logFailure(logger, error, 'could not scan waiting files'));
  });
  const engine = clamd === undefined ? embedded : createEnginePair(embedded, clamd);
  const falseAlarms = createFalseAlarms({
    database,
    ...{ audit, accounts, jobs, now },
    mail: parts.mail,
    public_url: settings.public_url,
    onChange: parts.onFilesChanged,
    told_after_ms: appOptions.false_alarm_told_ms,
  });
  const admission = createUploadAdmission(appOptions.admission_limits ?? ADMISSION_LIMITS, counters, parts.news);
  const scanQueue = createScanQueue({ slots: engine_processes, small_bytes: SMALL_BYTES, ...PATIENCE_WITH_FILES });
  const antivirus: Antivirus = createAntivirus({
    database: database.$pickTables<'scans' | 'scan_counts' | 'quarantine_reports' | 'installation' | 'jobs'>(),
    jobs,
    livingHomes,
    engine,
    scanQueue,
    admission,
    spool,
    quarantine,
    shared,
    quarantine_quota: appOptions.quarantine_quota ?? QUARANTINE_BYTES_MAXIMUM,
    home,
    falseAlarms,
    now,
    logger,
    onInfected,
    onCleared,
    onSettled,
    tell,
    meter,
    matchHash,
    retry_ms: appOptions.scan_retry_ms,
    record_ms: appOptions.scan_record_ms,
  });

  const receive = createReceive({
    ...{ antivirus, spool, admission },
    limits: { ...UPLOAD_LIMITS, total_ms: settings.upload_ms, ...appOptions.upload_limits },
  });

  return {
    inspect: (file: InspectedFile) => inspectFile(file, { scanQueue, engine, spool, matchHash }),
    receive,
    signatures,
    embedded,
    engine,
    antivirus,
    openFalseAlarms: () => falseAlarms.countOpen(),
    waiting: () => scanQueue.waiting(),
    /** The process states of the embedded engine and of the clamds. */
    processes: () => [embedded.status(), ...(clamd?.present() === true ? [clamdStatus(clamd)] : [])],

    serve(api: Api): void {
      serveAntivirus(api, { antivirus, admission, receive });
      serveQuarantine(api, antivirus, falseAlarms, (kind, { user_id, filename, file_hash }, origin) =>
        audit.record(database.$pickTables<'audit_entries' | 'audit_head'>(), {
          kind,
          subject_id: user_id,
          actor_id: user_id,
          origin,
          details: { filename, file_hash },
        }),
      );
      serveSignatures(api, { signatures, embedded, clamd, limits });
    },

    async close(): Promise<void> {
      // Concurrently, because the load of new signatures waits for the engines.
      await Promise.all([signatures.close(), antivirus.close()]);
    },
  };
}

export type Scanner = Awaited<ReturnType<typeof buildScanner>>;
