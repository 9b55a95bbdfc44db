import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { UPLOAD_MAXIMUM } from '@palisade/contract/antivirus';
import { QUARANTINE_BYTES_MAXIMUM } from '@palisade/contract/quarantine';
import { createClamdPool } from '@palisade/scanner/clamd-pool';
import { hasEngineBinary } from '@palisade/scanner/engine-binary';
import { createEnginePair } from '@palisade/scanner/engine-pair';
import { SCAN_LIMITS } from '@palisade/scanner/limits';
import { verdictOf } from '@palisade/scanner/verdict';
import { createYaraPool } from '@palisade/scanner/yara-pool';
import type { Kysely } from 'kysely';
import { serveAntivirus } from '#features/antivirus/antivirus.routes.ts';
import { type Antivirus, createAntivirus } from '#features/antivirus/antivirus.ts';
import { type ArrivalLimits, createArrivals } from '#features/antivirus/arrivals.ts';
import { createFalseAlarms } from '#features/antivirus/false-alarms.ts';
import { serveQuarantine } from '#features/antivirus/quarantine.routes.ts';
import { createReceive, type UploadLimits } from '#features/antivirus/receive.ts';
import { createSharedSignatures } from '#features/antivirus/shared-signatures.ts';
import { clamdStatus, serveSignatures } from '#features/antivirus/signatures.routes.ts';
import { createSignatures } from '#features/antivirus/signatures.ts';
import { createTurns, SET_ASIDE, SMALL_BYTES } from '#features/antivirus/turns.ts';
import type { Audit } from '#platform/audit.ts';
import type { Blobs } from '#platform/blobs/blobs.ts';
import type { Counters } from '#platform/counters.ts';
import { logFailure } from '#platform/database-patience.ts';
import type { Api } from '#platform/serve.ts';
import type { SessionNews } from '#platform/session-news.ts';
import type { Surroundings } from './surroundings.ts';
import type { Tables } from './tables.ts';

const UPLOAD_LIMITS: Omit<UploadLimits, 'total_ms'> = {
  maximum: UPLOAD_MAXIMUM,
  stall_ms: 30_000,
  // 1 KiB/s: slower than any network that a person would upload files over.
  slow: { window_ms: 30_000, bytes: 30 * 1024 },
};
const ARRIVAL_LIMITS: ArrivalLimits = { per_person: 64, all: 1_000 };
/** A third of what one process does in a minute, and two files as slow as the time limit lets them be are beyond it. */
const PATIENCE_WITH_FILES = { quick_ms: 1_000, budget_ms: 20_000 } as const;
/** A process scans one file at a time and takes one core and some 100 MB. One more than cores, because one is kept for small files. */
const ENGINE_PROCESSES = { least: 3, most: 5 } as const;

/** Takes the next file at once when a slow one is set aside, whose process ends with it. */
const SPARE_PROCESSES = 1;

type ScannerTables = Pick<
  Tables,
  'scans' | 'quarantine_reports' | 'installation' | 'jobs' | 'mails' | 'audit_entries' | 'audit_head'
>;

/** A file that somebody is to know about, and nothing is to be recorded of. */
interface InspectedFile {
  id: string;
  user_id: string;
  path: string;
  /** Bytes. */
  size: number;
  sha256: string;
  name: string;
  signal: AbortSignal;
}

interface Inspection {
  status: 'clean' | 'infected' | 'unread' | 'failed';
  threat: string | null;
}

/** Builds what scans files: signatures, engines, records and what is kept. */
export async function buildScanner(
  surroundings: Surroundings,
  parts: {
    database: Kysely<ScannerTables>;
    audit: Audit;
    accounts: Parameters<typeof createFalseAlarms>[0]['accounts'];
    counters: Counters;
    mail: Parameters<typeof createFalseAlarms>[0]['mail'];
    /** Called with a person whose files have changed. */
    onFilesChanged: (user_id: string) => void;
    /** By which servers ask each other; undefined for one alone. */
    news: SessionNews | undefined;
    /** Where servers share what feeds brought. */
    sharedSets: Blobs | undefined;
    now: () => number;
  } & Pick<
    Parameters<typeof createAntivirus>[0],
    'jobs' | 'livingHomes' | 'spool' | 'quarantine' | 'shared' | 'home' | 'onInfected' | 'onCleared' | 'tell' | 'meter'
  >,
) {
  const { settings, logger } = surroundings;
  if (!hasEngineBinary())
    logger.warn(
      { platform: process.platform, cpu: process.arch },
      'the scanning engine has no binary for this platform: files stay pending',
    );
  const { database, jobs, livingHomes, audit, accounts, counters, spool, quarantine, shared, home, now } = parts;
  const { onInfected, onCleared, tell, meter } = parts;
  const engine_processes =
    surroundings.engine_processes ??
    Math.min(ENGINE_PROCESSES.most, Math.max(ENGINE_PROCESSES.least, availableParallelism() + 1));
  const limits = surroundings.scan_limits ?? SCAN_LIMITS;
  const signatures = await createSignatures({
    folder: join(settings.data_dir, 'signatures'),
    signatures_folder: surroundings.signatures_folder,
    feeds: settings.signature_feeds,
    now,
    logger,
    look_ms: surroundings.signatures_look_ms,
    fetch_limits: surroundings.feed_limits,
    together: parts.sharedSets && {
      shared: createSharedSignatures({ database: database.$pickTables<'installation'>(), blobs: parts.sharedSets }),
      database: database.$pickTables<'jobs'>(),
      jobs,
    },
  });
  const embedded =
    surroundings.embedded_engine ??
    createYaraPool({
      signatures: signatures.files(),
      size: engine_processes + (engine_processes > 1 ? SPARE_PROCESSES : 0),
      limits,
      memory: surroundings.engine_memory,
      logger,
    });
  const matchHash = surroundings.match_hash ?? ((sha256: string) => signatures.matchHash(sha256));
  signatures.watch(async (files) => {
    const took_over = await embedded.reload(files);
    if (took_over) {
      antivirus.signaturesChanged().catch((error: unknown) => logFailure(logger, error, 'could not recheck earlier scans'));
    }
    return took_over;
  });
  const usual = settings.look_for_scanner ? (surroundings.usual_scanners ?? []) : [];
  const addresses = settings.scanners.length > 0 ? settings.scanners : usual;
  const clamd =
    addresses.length === 0
      ? undefined
      : createClamdPool({
          addresses,
          looked_for: settings.scanners.length === 0,
          let_go_ms: surroundings.scanner_let_go_ms,
          time_ms: limits.time_ms,
          logger,
          onRenewed: (change) => {
            antivirus
              .rescanWaiting(change === 'signatures')
              .catch((error: unknown) => logFailure(logger, error, 'could not scan waiting files'));
          },
          look_ms: surroundings.scanner_look_ms,
        });
  const engine = clamd === undefined ? embedded : createEnginePair(embedded, clamd);
  const falseAlarms = createFalseAlarms({
    database,
    ...{ audit, accounts, jobs, now },
    mail: parts.mail,
    public_url: settings.public_url,
    onChange: parts.onFilesChanged,
    told_after_ms: surroundings.false_alarm_told_ms,
  });
  const arrivals = createArrivals(surroundings.arrival_limits ?? ARRIVAL_LIMITS, counters, parts.news);
  const turns = createTurns({ slots: engine_processes, small_bytes: SMALL_BYTES, ...PATIENCE_WITH_FILES });
  const antivirus: Antivirus = createAntivirus({
    database: database.$pickTables<'scans' | 'quarantine_reports' | 'installation' | 'jobs'>(),
    jobs,
    livingHomes,
    engine,
    turns,
    arrivals,
    spool,
    quarantine,
    shared,
    quarantine_quota: surroundings.quarantine_quota ?? QUARANTINE_BYTES_MAXIMUM,
    home,
    falseAlarms,
    now,
    logger,
    onInfected,
    onCleared,
    tell,
    meter,
    matchHash,
    retry_ms: surroundings.scan_retry_ms,
    record_ms: surroundings.scan_record_ms,
  });

  const receive = createReceive({
    ...{ antivirus, spool, arrivals },
    limits: { ...UPLOAD_LIMITS, total_ms: settings.upload_ms, ...surroundings.upload_limits },
  });

  /** Scans a file without a record. */
  async function inspect({ id, user_id, path, size, sha256, name, signal }: InspectedFile): Promise<Inspection> {
    const outcome = await turns.take({ user_id, size, signal }, async (stop, begun) => {
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

  return {
    inspect,
    receive,
    signatures,
    embedded,
    engine,
    antivirus,
    openFalseAlarms: () => falseAlarms.countOpen(),
    waiting: () => turns.waiting(),
    /** The processes of each engine: ours, and the clamds that are asked. */
    processes: () => [embedded.status(), ...(clamd?.present() === true ? [clamdStatus(clamd)] : [])],

    serve(api: Api): void {
      serveAntivirus(api, { antivirus, arrivals, receive });
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
      // At once: signatures that are on their way into the engines wait for these.
      await Promise.all([signatures.close(), antivirus.close()]);
    },
  };
}

export type Scanner = Awaited<ReturnType<typeof buildScanner>>;
