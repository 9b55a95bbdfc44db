import { stat } from 'node:fs/promises';
import {
  type Coverage,
  coverageSchema,
  type EngineAnswer,
  engineAnswerSchema,
  type Scan,
  type StatusDetail,
} from '@palisade/contract/antivirus';
import type { PageQuery } from '@palisade/contract/fields';
import { type ScanDetail, threatFactsSchema } from '@palisade/contract/quarantine';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely, Selectable, Updateable } from 'kysely';
import { z } from 'zod';
import { newId } from '#platform/id.ts';
import { createPersonCache } from '#platform/person-cache.ts';
import type { AntivirusTables } from './antivirus.tables.ts';
import { disguiseOf } from './disguise.ts';
import type { Engine, EngineOutcome } from './engines/yara-pool.ts';
import { displayName } from './filename.ts';
import { countScans, INDUSTRY_TEST_THREATS, type ScanCounts } from './scan-counts.ts';
import type { Spool } from './spool.ts';

/** A file that has arrived in the spool under `id`. */
interface Arrival {
  id: string;
  user_id: string;
  /** As sent; hostile. */
  filename: string;
  /** Bytes. */
  size: number;
  sha256: string;
}

/** A file in which something was found. */
export interface InfectedFile {
  user_id: string;
  scan: Scan;
  /** One of the industry's harmless test files. */
  is_test_file: boolean;
  /** Its bytes are gone from this server: seen to, not hoped for. */
  removed: boolean;
}

export interface Antivirus {
  newScanId(): string;
  /**
   * Takes over a file of which the upload is complete, and answers its record once an engine has spoken. From the moment the record is stored the file
   * is scanned, now or after a restart, whoever goes away.
   */
  scan(arrival: Arrival): Promise<Scan>;
  list(user_id: string, page: PageQuery): Promise<Scan[]>;
  find(id: string): Promise<ScanRow | undefined>;
  detail(row: ScanRow): ScanDetail;
  /** Takes a record out of the history, with its bytes. A scan that is under way ends without a record. */
  remove(row: ScanRow): Promise<void>;
  /** The latest scans, newest first, at most `count`, and never more than 10. */
  recent(user_id: string, count: number): Promise<Scan[]>;
  counts(user_id: string): Promise<ScanCounts>;
  /** Takes up what an earlier run of the server left pending, and goes on doing so while engines come back. */
  resume(): Promise<void>;
  close(): Promise<void>;
}

/** Of several reasons the record names the gravest: what an attacker would do first, what the person could mend last. */
const GRAVITY: readonly StatusDetail[] = [
  'bomb',
  'too_many_members',
  'depth',
  'too_large',
  'time_limit',
  'encrypted',
  'unsupported',
  'damaged',
];
/** How often a file is given to the engine in all before it waits for the next start of the server. */
const ATTEMPTS_MAXIMUM = 5;
const RETRY_EVERY_MS = 15_000;
/** Findings that are told again at a start: more than could be under way at once when the server was killed. */
const TOLD_AGAIN_MAXIMUM = 100;
const RECENT_MAXIMUM = 10;
const NO_COVERAGE: Coverage = {
  members_total: 0,
  members_scanned: 0,
  bytes_scanned: 0,
  encrypted: 0,
  whole_file_conditions: true,
};

/** A record as it is stored. */
type ScanRow = Selectable<AntivirusTables['scans']>;
type Row = ScanRow;
type Verdict = Pick<
  Updateable<AntivirusTables['scans']>,
  | 'scan_status'
  | 'status_detail'
  | 'threat_detected'
  | 'threat_member'
  | 'threat_facts'
  | 'media_type'
  | 'notes'
  | 'engines'
  | 'coverage'
  | 'spooled'
>;

const notesSchema = z.array(z.string());
const enginesSchema = z.array(engineAnswerSchema);

function scanOf({ user_id: _user, spooled: _spooled, attempts: _attempts, threat_facts: _facts, ...row }: Row): Scan {
  const disguise = disguiseOf(row.filename, row.media_type);
  return {
    ...row,
    notes: [...(disguise === undefined ? [] : [disguise]), ...notesSchema.parse(JSON.parse(row.notes))],
    engines: enginesSchema.parse(JSON.parse(row.engines)),
    coverage: row.coverage === null ? null : coverageSchema.parse(JSON.parse(row.coverage)),
  };
}

function isTestFile({ threat_detected }: Row): boolean {
  return INDUSTRY_TEST_THREATS.includes(threat_detected ?? '');
}

function detailOf(row: Row): ScanDetail {
  return {
    ...scanOf(row),
    threat_facts: row.threat_facts === null ? null : threatFactsSchema.parse(JSON.parse(row.threat_facts)),
    is_test_file: isTestFile(row),
  };
}

/** The record that an engine's outcome makes. `clean` only here, and only when nothing was left unread. */
function verdictOf(outcome: EngineOutcome): Verdict {
  if (outcome.kind === 'failed') {
    // A file that the engine could not finish in time will not be finished next time.
    return { scan_status: 'pending', status_detail: outcome.detail, spooled: outcome.detail === 'engine_down' ? 1 : 0 };
  }
  const { examination, name, version, signatures_version, duration_ms } = outcome;
  const status_detail = GRAVITY.find((detail) => examination.unread.includes(detail)) ?? examination.unread[0] ?? null;
  const scan_status = examination.threat !== null ? 'infected' : status_detail !== null ? 'pending' : 'clean';
  const answer: EngineAnswer = {
    name,
    version,
    signatures_version,
    verdict: scan_status,
    threat: examination.threat,
    duration_ms: Math.round(duration_ms * 1000) / 1000,
  };
  return {
    scan_status,
    status_detail,
    threat_detected: examination.threat,
    threat_member: examination.threat_member === null ? null : displayTrail(examination.threat_member),
    threat_facts: examination.threat_facts === null ? null : JSON.stringify(examination.threat_facts),
    media_type: examination.media_type,
    notes: JSON.stringify(examination.notes),
    engines: JSON.stringify([answer]),
    coverage: JSON.stringify(examination.coverage),
    spooled: 0,
  };
}

/** A path inside archives: each part as hostile as a file's name. */
function displayTrail(trail: string): string {
  return trail.split(' / ').map(displayName).join(' / ');
}

export function createAntivirus(parts: {
  database: Kysely<AntivirusTables>;
  engine: Engine;
  spool: Spool;
  now: () => number;
  logger: FastifyBaseLogger;
  /** Told of each infected file, again after a restart: take it once for each scan id. */
  onInfected: (file: InfectedFile) => Promise<void>;
  /** How often pending files are given to the engine again, in ms. */
  retry_ms?: number | undefined;
}): Antivirus {
  const { database, engine, spool, now, logger, onInfected, retry_ms = RETRY_EVERY_MS } = parts;
  // Thousands of scans may be counted, at each look at the dashboard.
  const overviews = createPersonCache({
    read: async (user_id) => {
      const [counts, recent] = await Promise.all([
        countScans(database, user_id, now()),
        list(user_id, { limit: RECENT_MAXIMUM }),
      ]);
      return { counts, recent };
    },
    now,
  });
  const running = new Map<string, Promise<Scan>>();
  let retry: NodeJS.Timeout | undefined;
  let closed = false;

  const at = () => new Date(now()).toISOString();
  const update = (id: string, verdict: Verdict) =>
    database
      .updateTable('scans')
      .set({ ...verdict, scanned_at: at() })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst();

  async function examine(row: Row): Promise<Scan> {
    await database
      .updateTable('scans')
      .set({ attempts: row.attempts + 1 })
      .where('id', '=', row.id)
      .execute();
    const outcome = await engine.scan({
      id: row.id,
      path: spool.path(row.id),
      size: row.size,
      name: row.filename,
      folder: spool.unpacked(row.id),
    });
    // The server is stopping: the record stays queued, and the next start scans it.
    if (closed && outcome.kind === 'failed') return scanOf(row);
    const updated = await update(row.id, verdictOf(outcome));
    overviews.forget(row.user_id);
    let removed = false;
    if (updated === undefined || updated.spooled === 0) {
      try {
        await spool.remove(row.id);
        removed = true;
      } catch (error) {
        // The verdict stands; the next start removes what stayed.
        logger.error({ err: error, scan: row.id }, 'the bytes of a finished scan could not be removed');
      }
    }
    if (updated?.scan_status === 'infected') await tellInfected(updated, removed);
    return scanOf(updated ?? row);
  }

  /** A person who waits for a verdict gets it, whatever becomes of the telling. */
  async function tellInfected(row: Row, removed: boolean): Promise<void> {
    try {
      await onInfected({ user_id: row.user_id, scan: scanOf(row), is_test_file: isTestFile(row), removed });
    } catch (error) {
      logger.error({ err: error, scan: row.id }, 'an infected file could not be told of');
    }
  }

  /** One examination of a file at a time, whoever asks for it. */
  function run(row: Row): Promise<Scan> {
    const already = running.get(row.id);
    if (already) return already;
    const examination = examine(row).finally(() => running.delete(row.id));
    running.set(row.id, examination);
    return examination;
  }

  async function retryPending(): Promise<void> {
    if (!engine.ready()) return;
    const rows = await database
      .selectFrom('scans')
      .selectAll()
      .where('spooled', '=', 1)
      .where('attempts', '<', ATTEMPTS_MAXIMUM)
      .orderBy('id')
      .limit(100)
      .execute();
    for (const row of rows) {
      if (closed) return;
      if (!running.has(row.id)) await run(row);
    }
  }

  function scheduleRetry(): void {
    retry = setTimeout(() => {
      retryPending()
        .catch((error: unknown) => logger.error({ err: error }, 'pending files could not be taken up'))
        .finally(() => {
          if (!closed) scheduleRetry();
        });
    }, retry_ms);
    retry.unref();
  }

  async function list(user_id: string, { limit, cursor }: PageQuery): Promise<Scan[]> {
    let query = database.selectFrom('scans').selectAll().where('user_id', '=', user_id).orderBy('id', 'desc').limit(limit);
    if (cursor !== undefined) query = query.where('id', '<', cursor);
    return (await query.execute()).map(scanOf);
  }

  return {
    newScanId: newId,

    async scan({ id, user_id, filename, size, sha256 }) {
      const scanned_at = at();
      const earlier = await database
        .selectFrom('scans')
        .select('first_seen_at')
        .where('user_id', '=', user_id)
        .where('file_hash', '=', sha256)
        .orderBy('id')
        .limit(1)
        .executeTakeFirst();
      const row: Row = {
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
        first_seen_at: earlier?.first_seen_at ?? scanned_at,
        threat_facts: null,
        notes: '[]',
        engines: '[]',
        // Nothing to read was read whole; no engine is asked.
        coverage: size === 0 ? JSON.stringify(NO_COVERAGE) : null,
        spooled: size === 0 ? 0 : 1,
        attempts: 0,
      };
      try {
        await spool.keep(id);
        await database.insertInto('scans').values(row).execute();
        overviews.forget(user_id);
      } catch (error) {
        await spool.remove(id);
        throw error;
      }
      if (size === 0) {
        await spool.remove(id);
        return scanOf(row);
      }
      return await run(row);
    },

    list,
    find: (id) => database.selectFrom('scans').selectAll().where('id', '=', id).executeTakeFirst(),
    detail: detailOf,

    async remove(row) {
      await database.deleteFrom('scans').where('id', '=', row.id).execute();
      overviews.forget(row.user_id);
      // Of one that is being read, the examination removes the bytes when it ends.
      if (!running.has(row.id)) await spool.remove(row.id);
    },

    recent: async (user_id, count) => (await overviews.of(user_id)).recent.slice(0, count),
    counts: async (user_id) => (await overviews.of(user_id)).counts,

    async resume() {
      const rows = await database.selectFrom('scans').selectAll().where('spooled', '=', 1).orderBy('id').execute();
      const ids = new Set(rows.map((row) => row.id));
      await spool.recover((id) => ids.has(id));
      const found = await database
        .selectFrom('scans')
        .selectAll()
        .where('scan_status', '=', 'infected')
        .orderBy('id', 'desc')
        .limit(TOLD_AGAIN_MAXIMUM)
        .execute();
      // What the spool still held of them, `recover` has just removed.
      for (const row of found) await tellInfected(row, true);
      scheduleRetry();
      for (const row of rows) {
        const kept = await stat(spool.path(row.id)).catch(() => undefined);
        if (kept?.size !== row.size) {
          // The bytes are gone or cut short (a disk was replaced, a machine lost power): say so, and never scan something else instead.
          await update(row.id, { scan_status: 'pending', status_detail: 'damaged', spooled: 0 });
          overviews.forget(row.user_id);
          await spool.remove(row.id);
          continue;
        }
        run({ ...row, attempts: 0 }).catch((error: unknown) =>
          logger.error({ err: error, scan: row.id }, 'pending file could not be scanned'),
        );
      }
    },

    async close() {
      closed = true;
      clearTimeout(retry);
      await engine.close();
      await Promise.allSettled(running.values());
    },
  };
}
