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
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely, Selectable, Updateable } from 'kysely';
import { z } from 'zod';
import { newId } from '#platform/id.ts';
import { createPersonCache } from '#platform/person-cache.ts';
import type { AntivirusTables } from './antivirus.tables.ts';
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
  /** The latest scans, newest first, at most `count`, and never more than 10. */
  recent(user_id: string, count: number): Promise<Scan[]>;
  counts(user_id: string): Promise<ScanCounts>;
  /** Takes up what an earlier run of the server left pending, and goes on doing so while engines come back. */
  resume(): Promise<void>;
  /** An engine is back: scans what waits. With new signatures (`afresh`) also what was tried too often with the old ones. */
  rescanWaiting(afresh: boolean): Promise<void>;
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

type Row = Selectable<AntivirusTables['scans']>;
type Verdict = Pick<
  Updateable<AntivirusTables['scans']>,
  | 'scan_status'
  | 'status_detail'
  | 'threat_detected'
  | 'threat_member'
  | 'notes'
  | 'engines'
  | 'coverage'
  | 'spooled'
  | 'attempts'
>;

const notesSchema = z.array(z.string());
const enginesSchema = z.array(engineAnswerSchema);

function scanOf({ user_id: _user, spooled: _spooled, attempts: _attempts, ...row }: Row): Scan {
  return {
    ...row,
    notes: notesSchema.parse(JSON.parse(row.notes)),
    engines: enginesSchema.parse(JSON.parse(row.engines)),
    coverage: row.coverage === null ? null : coverageSchema.parse(JSON.parse(row.coverage)),
  };
}

const gravest = (details: readonly StatusDetail[]): StatusDetail | null =>
  GRAVITY.find((detail) => details.includes(detail)) ?? details[0] ?? null;

/** The record that the outcome makes: the worst verdict of all engines. `clean` only here, and only when nothing was left unread. */
function verdictOf(outcome: EngineOutcome): Verdict {
  const { second } = outcome;
  const answers = second?.kind === 'given' ? [second.answer] : [];
  const hit = answers.find((answer) => answer.verdict === 'infected')?.threat ?? null;
  const unseen = second?.kind === 'missing';
  const beside = second?.kind === 'given' && second.detail !== null ? [second.detail] : [];
  if (outcome.kind === 'failed') {
    if (hit !== null) {
      const status_detail = outcome.detail === 'engine_down' ? null : outcome.detail;
      return { scan_status: 'infected', status_detail, threat_detected: hit, engines: JSON.stringify(answers), spooled: 0 };
    }
    // A file that the engine could not finish in time will not be finished next time.
    const status_detail = unseen ? 'engine_down' : outcome.detail;
    return {
      scan_status: 'pending',
      status_detail,
      engines: JSON.stringify(answers),
      spooled: status_detail === 'engine_down' ? 1 : 0,
    };
  }
  const { examination, name, version, signatures_version, duration_ms } = outcome;
  const own_detail = gravest(examination.unread);
  const threat = examination.threat ?? hit;
  // Found by one: no need of the other. Found by none: not before both have read it.
  const waits = unseen && threat === null;
  const status_detail = waits ? 'engine_down' : gravest([...examination.unread, ...beside]);
  const statusOf = (found: string | null, detail: StatusDetail | null) =>
    found !== null ? 'infected' : detail !== null ? 'pending' : 'clean';
  const own: EngineAnswer = {
    name,
    version,
    signatures_version,
    verdict: statusOf(examination.threat, own_detail),
    threat: examination.threat,
    duration_ms: Math.round(duration_ms * 1000) / 1000,
  };
  return {
    scan_status: statusOf(threat, status_detail),
    status_detail,
    threat_detected: threat,
    threat_member: examination.threat_member === null ? null : displayTrail(examination.threat_member),
    notes: JSON.stringify(examination.notes),
    engines: JSON.stringify([own, ...answers]),
    coverage: JSON.stringify(examination.coverage),
    spooled: waits ? 1 : 0,
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
  let resumed = false;
  let closed = false;

  const at = () => new Date(now()).toISOString();
  const update = (id: string, verdict: Verdict) =>
    database
      .updateTable('scans')
      .set({ ...verdict, scanned_at: at() })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst();

  /** Counts an attempt. False: two that looked for what waits both saw this one, and the other has finished it. */
  async function takeUp(row: Row): Promise<boolean> {
    const { numUpdatedRows } = await database
      .updateTable('scans')
      .set({ attempts: row.attempts + 1 })
      .where('id', '=', row.id)
      .where('spooled', '=', 1)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** `isNew`: the record was stored just now, with this attempt. */
  async function examine(row: Row, isNew: boolean): Promise<Scan> {
    if (!isNew && !(await takeUp(row))) {
      return scanOf(await database.selectFrom('scans').selectAll().where('id', '=', row.id).executeTakeFirstOrThrow());
    }
    const outcome = await engine.scan({
      id: row.id,
      path: spool.path(row.id),
      size: row.size,
      name: row.filename,
      folder: spool.unpacked(row.id),
    });
    // The server is stopping: the record stays queued, and the next start scans it.
    if (closed && outcome.kind === 'failed') return scanOf(row);
    const verdict = verdictOf(outcome);
    // An engine that was away has not tried.
    if (outcome.kind === 'examined' && outcome.second?.kind === 'missing' && !outcome.second.asked)
      verdict.attempts = isNew ? 0 : row.attempts;
    const updated = await update(row.id, verdict);
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
    const is_test_file = INDUSTRY_TEST_THREATS.includes(row.threat_detected ?? '');
    try {
      await onInfected({ user_id: row.user_id, scan: scanOf(row), is_test_file, removed });
    } catch (error) {
      logger.error({ err: error, scan: row.id }, 'an infected file could not be told of');
    }
  }

  /** One examination of a file at a time, whoever asks for it. */
  function run(row: Row, isNew = false): Promise<Scan> {
    const already = running.get(row.id);
    if (already) return already;
    const examination = examine(row, isNew).finally(() => running.delete(row.id));
    running.set(row.id, examination);
    return examination;
  }

  async function retryPending(): Promise<void> {
    // Before that nobody has seen whether the bytes are still all there.
    if (!resumed || !engine.complete()) return;
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
      const row: Row = {
        id,
        user_id,
        filename: displayName(filename),
        scan_status: size === 0 ? 'clean' : 'pending',
        status_detail: size === 0 ? null : 'queued',
        scanned_at: at(),
        threat_detected: null,
        threat_member: null,
        file_hash: sha256,
        size,
        notes: '[]',
        engines: '[]',
        // Nothing to read was read whole; no engine is asked.
        coverage: size === 0 ? JSON.stringify(NO_COVERAGE) : null,
        spooled: size === 0 ? 0 : 1,
        attempts: 1,
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
      return await run(row, true);
    },

    list,
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
      resumed = true;
    },

    async rescanWaiting(afresh) {
      if (afresh) await database.updateTable('scans').set({ attempts: 0 }).where('spooled', '=', 1).execute();
      await retryPending();
    },

    async close() {
      closed = true;
      clearTimeout(retry);
      await engine.close();
      await Promise.allSettled(running.values());
    },
  };
}
