import type { Readable } from 'node:stream';
import { type Coverage, coverageSchema, engineAnswerSchema, type Scan } from '@palisade/contract/antivirus';
import type { LiveEvent, ScanProgress } from '@palisade/contract/events';
import type { PageQuery } from '@palisade/contract/fields';
import { type ScanDetail, threatFactsSchema } from '@palisade/contract/quarantine';
import type { FastifyBaseLogger } from 'fastify';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { newId } from '#platform/id.ts';
import type { InstallationTables } from '#platform/installation.ts';
import { createPersonCache } from '#platform/person-cache.ts';
import { invalidField, Problem } from '#platform/problem.ts';
import { storageProblem } from '#platform/upload.ts';
import type { AntivirusTables } from './antivirus.tables.ts';
import { disguiseOf } from './disguise.ts';
import { digestOf } from './engines/digest.ts';
import type { Engine, EngineOutcome } from './engines/yara-pool.ts';
import type { FalseAlarms } from './false-alarms.ts';
import { displayName } from './filename.ts';
import { type Copy, createKeeping, type ScanRow, type Verdict, waitsUntil } from './keeping.ts';
import { createProgressBoard } from './progress.ts';
import type { Quarantine } from './quarantine.ts';
import { createRecheck, LIST_NAME, listAnswer, type MatchHash } from './recheck.ts';
import { countScans, INDUSTRY_TEST_THREATS, type ScanCounts } from './scan-counts.ts';
import type { Spool } from './spool.ts';
import type { Turns } from './turns.ts';
import { editionFor, verdictOf } from './verdict.ts';

/** A file that has arrived in the spool under `id`. */
interface Arrival {
  id: string;
  user_id: string;
  /** As sent; hostile. */
  filename: string;
  /** Bytes. */
  size: number;
  sha256: string;
  /** What the page that sent it has named it. */
  key: string | undefined;
  /** Aborted when the person wants the file back. */
  signal: AbortSignal;
}

/** Who still waits for a scan, and may end it. */
type Waiter = Pick<Arrival, 'key' | 'signal'>;

/** A file in which something was found. */
export interface InfectedFile {
  user_id: string;
  scan: Scan;
  /** One of the industry's harmless test files. */
  is_test_file: boolean;
  /** What became of its bytes: seen to, not hoped for. */
  copy: Copy;
  /** Perhaps for the second time: the server has started, and an earlier run may not have come to tell. */
  told_again: boolean;
}

/** A file in which something was found, and of which newer signatures say that there is nothing. */
export interface ClearedFile {
  user_id: string;
  scan: Scan;
  /** What was found in it before. */
  threat: string;
}

export interface Antivirus {
  newScanId(): string;
  /**
   * Takes over a file of which the upload is complete, and answers its record once an engine has spoken. From the moment the record is stored the file
   * is scanned, now or after a restart, whoever goes away; only the person can take it back.
   * @throws Problem `upload_cancelled` when they did, or deleted its record meanwhile. Nothing of the file is left then, its record included.
   */
  scan(arrival: Arrival): Promise<Scan>;
  list(user_id: string, page: PageQuery): Promise<Scan[]>;
  find(id: string): Promise<ScanRow | undefined>;
  detail(row: ScanRow): Promise<ScanDetail>;
  /** Takes a record out of the history, with its bytes. A scan that is under way ends without a record. */
  remove(row: ScanRow): Promise<void>;
  /** The kept bytes of a file. @throws Problem `not_found` when none are kept, `unavailable` when they do not open. */
  restore(row: ScanRow): Promise<Readable>;
  /** Removes the kept bytes; the record stays. False when there are none. @throws Problem `conflict` while the file is read. */
  removeFile(row: ScanRow): Promise<boolean>;
  /**
   * Reads a kept encrypted archive with its password, which goes nowhere else.
   * @throws Problem `invalid_field` for a wrong one, `conflict` when there is nothing to open, `unavailable` when no engine answers, `not_found` when the record
   * was deleted meanwhile.
   */
  unlock(row: ScanRow, password: string): Promise<ScanRow>;
  /** Removes a person's records as part of `database`'s transaction. Answers what removes their bytes, once it is committed. */
  forgetPerson(database: Kysely<AntivirusTables>, user_id: string): Promise<() => Promise<void>>;
  /** To be called when signatures have changed in a way that the engine's edition does not show: looks at everything again. */
  signaturesChanged(): Promise<void>;
  /** The latest scans, newest first, at most `count`, and never more than 10. */
  recent(user_id: string, count: number): Promise<Scan[]>;
  counts(user_id: string): Promise<ScanCounts>;
  /** How far a person's files are that have no verdict yet. */
  progress(user_id: string): LiveEvent[];
  /** Takes up what an earlier run of the server left pending, and goes on doing so while engines come back. */
  resume(): Promise<void>;
  /** An engine is back: scans what waits. With new signatures (`afresh`) also what was tried too often with the old ones. */
  rescanWaiting(afresh: boolean): Promise<void>;
  close(): Promise<void>;
}

/** How often a file is given to the engine in all before it waits for the next start of the server. */
const ATTEMPTS_MAXIMUM = 5;
const RETRY_EVERY_MS = 15_000;
const SWEEP_EVERY_MS = 3_600_000;
/** Findings that are told again at a start: more than could be under way at once when the server was killed. */
const TOLD_AGAIN_MAXIMUM = 100;
const RECENT_MAXIMUM = 10;
/** Of a file whose turn does not come: it was taken back, or the server is stopping. */
const NO_TURN: EngineOutcome = { kind: 'failed', detail: 'engine_down' };
const DELETED = 'You deleted this file while it was scanned. Nothing of it is kept.';
const NO_COVERAGE: Coverage = {
  members_total: 0,
  members_scanned: 0,
  bytes_scanned: 0,
  encrypted: 0,
  whole_file_conditions: true,
};

type Row = ScanRow;

const notesSchema = z.array(z.string());
const enginesSchema = z.array(engineAnswerSchema);

function scanOf({
  user_id: _user,
  spooled: _spooled,
  attempts: _attempts,
  threat_facts: _facts,
  sealed: _sealed,
  kept_until: _until,
  edition: _edition,
  answered_from: _from,
  ...row
}: Row): Scan {
  const disguise = disguiseOf(row.filename, row.media_type);
  return {
    ...row,
    notes: [...(disguise === undefined ? [] : [disguise]), ...notesSchema.parse(JSON.parse(row.notes))],
    engines: enginesSchema.parse(JSON.parse(row.engines)),
    coverage: row.coverage === null ? null : coverageSchema.parse(JSON.parse(row.coverage)),
  };
}

/** The engines that found something. A list of hashes asks nobody, and is asked always. */
function findersOf(row: Row): string[] {
  return enginesSchema
    .parse(JSON.parse(row.engines))
    .flatMap(({ name, verdict }) => (verdict === 'infected' && name !== LIST_NAME ? [name] : []));
}

function haveAnswered(names: readonly string[], { engines = '[]' }: Partial<Verdict>): boolean {
  const answered = new Set(enginesSchema.parse(JSON.parse(engines)).map(({ name }) => name));
  return names.every((name) => answered.has(name));
}

function isTestFile({ threat_detected }: Row): boolean {
  return INDUSTRY_TEST_THREATS.includes(threat_detected ?? '');
}

function detailOf(row: Row): Omit<ScanDetail, 'report'> {
  return {
    ...scanOf(row),
    threat_facts: row.threat_facts === null ? null : threatFactsSchema.parse(JSON.parse(row.threat_facts)),
    is_test_file: isTestFile(row),
    kept: row.sealed === 1 ? 'sealed' : row.spooled === 1 ? 'waiting' : 'no',
    kept_until: row.kept_until,
    answered_from: row.answered_from,
  };
}

export function createAntivirus(parts: {
  database: Kysely<AntivirusTables & InstallationTables>;
  engine: Engine;
  turns: Turns;
  spool: Spool;
  quarantine: Quarantine;
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
  /** How often pending files are given to the engine again, in ms. */
  retry_ms?: number | undefined;
}): Antivirus {
  const { database, engine, turns, spool, quarantine, falseAlarms, now, logger, tell, retry_ms = RETRY_EVERY_MS } = parts;
  const keeping = createKeeping({ database, spool, quarantine, now, logger });
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
  const board = createProgressBoard(tell);
  const running = new Map<string, Promise<Row | undefined>>();
  let swept_at = Number.NEGATIVE_INFINITY;
  let retry: NodeJS.Timeout | undefined;
  let resumed = false;
  let resuming: Promise<void> = Promise.resolve();
  let tending: Promise<void> = Promise.resolve();
  let closed = false;

  const at = () => new Date(now()).toISOString();
  const find = (id: string) => database.selectFrom('scans').selectAll().where('id', '=', id).executeTakeFirst();

  /** The person wants the file back: nothing of it stays. */
  async function withdraw(row: Row): Promise<never> {
    await database.deleteFrom('scans').where('id', '=', row.id).where('scan_status', '=', 'pending').execute();
    overviews.forget(row.user_id);
    await spool.remove(row.id);
    tell(row.user_id, { kind: 'scan_removed', scan_id: row.id });
    throw new Problem('upload_cancelled');
  }

  /** A list of hashes is right about the bytes that it names, whatever an engine says that may have an older one. */
  function withList(row: Row, verdict: Partial<Verdict>): Partial<Verdict> {
    if ((verdict.scan_status ?? row.scan_status) === 'infected') return verdict;
    const threat = parts.matchHash?.(row.file_hash);
    if (threat === undefined) return verdict;
    const engines = [...enginesSchema.parse(JSON.parse(verdict.engines ?? row.engines)), listAnswer(threat)];
    const found = { threat_detected: threat, threat_member: null, threat_facts: null, engines: JSON.stringify(engines) };
    return { ...verdict, scan_status: 'infected', status_detail: null, edition: null, ...found };
  }

  /** Stores a verdict, sees to the bytes, and tells of what has changed by it. Undefined when the record is gone. */
  async function conclude(row: Row, read: Partial<Verdict>): Promise<Row | undefined> {
    const { row: updated, copy } = await keeping.conclude(row, withList(row, read));
    overviews.forget(row.user_id);
    if (updated !== undefined) tell(row.user_id, { kind: 'scan_changed', scan: scanOf(updated) });
    if (updated?.scan_status === 'infected' && row.scan_status !== 'infected') await tellInfected(updated, copy);
    if (updated?.scan_status === 'clean' && row.scan_status === 'infected') await tellCleared(updated, row);
    return updated;
  }

  /** Takes a record up as it is now: whoever looked for what waits may have seen it earlier. Undefined when its bytes are no longer where they were. */
  async function takeAgain({ id, attempts, spooled, sealed }: Row): Promise<Row | undefined> {
    return await database
      .updateTable('scans')
      .set({ attempts: attempts + 1 })
      .where('id', '=', id)
      .where('spooled', '=', spooled)
      .where('sealed', '=', sealed)
      .returningAll()
      .executeTakeFirst();
  }

  /** Has a file read, and answers its record as it is then: undefined when it is gone. */
  async function examine(seen: Row, { waiter, password }: { waiter?: Waiter; password?: string } = {}): Promise<Row | undefined> {
    const row = waiter === undefined ? await takeAgain(seen) : seen;
    if (row === undefined) {
      const current = await find(seen.id);
      if (current === undefined) await keeping.remove(seen.id);
      return current;
    }
    if (row.sealed === 1 && !(await keeping.recall(row))) {
      if (password !== undefined)
        throw new Problem('unavailable', { detail: 'The kept copy of the file does not open. Upload the file again.' });
      return row;
    }
    const { id, user_id, size } = row;
    const { key, signal } = waiter ?? {};
    const report = (progress: ScanProgress) => board.report({ id, user_id, key }, progress);
    const onPlace = (place: number) => report({ stage: 'queued', place });
    try {
      const read = () =>
        engine.scan({
          id: row.id,
          path: spool.path(row.id),
          size: row.size,
          name: row.filename,
          sha256: row.file_hash,
          folder: spool.unpacked(row.id),
          password,
          signal,
          onProgress: (progress) => report({ stage: 'reading', ...progress }),
        });
      const turn = turns.take({ user_id, size, signal, onPlace }, async () => {
        const outcome = await read();
        return isOutdated(outcome) ? await read() : outcome;
      });
      const outcome = (await turn.finally(() => board.clear(id))) ?? NO_TURN;
      if (signal?.aborted && !isAnswered(outcome)) return await withdraw(row);
      // The server is stopping: the record stays as it is, and the next start scans it.
      if (closed && outcome.kind === 'failed') return row;
      const verdict = verdictOf(outcome, row.filename);
      // An engine that was away has not tried.
      if (outcome.second?.kind === 'missing' && !outcome.second.asked) verdict.attempts = seen.attempts;
      if (password !== undefined) {
        refuseWrongPassword(row, outcome);
        // Without the password the bytes say less.
        verdict.edition = null;
      }
      // What was found once stays found until a whole reading says otherwise, by whoever found it among others.
      const was_found = row.scan_status === 'infected' && verdict.scan_status !== 'infected';
      if (was_found && (verdict.scan_status === 'pending' || !haveAnswered(findersOf(row), verdict))) return row;
      if (row.scan_status === 'infected' && verdict.scan_status === 'clean') {
        const before = `On ${row.scanned_at.slice(0, 10)} it was called ${row.threat_detected}. Newer signatures find nothing in it.`;
        verdict.notes = JSON.stringify([...notesSchema.parse(JSON.parse(verdict.notes ?? '[]')), before]);
      }
      return await conclude(row, verdict);
    } finally {
      // What stays of a sealed file is the sealed one.
      if (row.sealed === 1) await spool.remove(row.id);
    }
  }

  /** Whether every engine has said what it has to say, or what one has said is enough. */
  function isAnswered(outcome: EngineOutcome): boolean {
    return outcome.kind === 'examined' && (outcome.second?.kind !== 'missing' || outcome.examination.threat !== null);
  }

  /** Nothing was found, by signatures that others have replaced meanwhile: a recheck for these may have passed the file by while it was read. */
  function isOutdated(outcome: EngineOutcome): boolean {
    if (outcome.kind === 'failed' || outcome.examination.threat !== null || outcome.second?.kind === 'missing') return false;
    const edition = engine.edition();
    return edition !== undefined && edition !== outcome.edition;
  }

  /** @throws Problem when the password opened no more than there was open without it. */
  function refuseWrongPassword(row: Row, outcome: EngineOutcome): void {
    if (outcome.kind === 'failed')
      throw new Problem('unavailable', { detail: 'No engine could read the file. Try again in a moment.', retry_after: 5 });
    const { unread, threat, coverage } = outcome.examination;
    const before = row.coverage === null ? 0 : coverageSchema.parse(JSON.parse(row.coverage)).members_scanned;
    if (unread.includes('encrypted') && threat === null && coverage.members_scanned <= before) {
      throw invalidField('password', 'This password does not open the file.');
    }
  }

  /** A person who waits for a verdict gets it, whatever becomes of the telling. */
  async function tellInfected(row: Row, copy: Copy, told_again = false): Promise<void> {
    try {
      await parts.onInfected({ user_id: row.user_id, scan: scanOf(row), is_test_file: isTestFile(row), copy, told_again });
    } catch (error) {
      logger.error({ err: error, scan: row.id }, 'an infected file could not be told of');
    }
  }

  async function tellCleared(row: Row, { threat_detected }: Row): Promise<void> {
    try {
      await parts.onCleared({ user_id: row.user_id, scan: scanOf(row), threat: threat_detected ?? 'A threat' });
    } catch (error) {
      logger.error({ err: error, scan: row.id }, 'a cleared file could not be told of');
    }
  }

  /** One examination of a file at a time, whoever asks for it. */
  function run(row: Row, work: () => Promise<Row | undefined> = () => examine(row)): Promise<Row | undefined> {
    const already = running.get(row.id);
    if (already) return already;
    const examination = work().finally(() => running.delete(row.id));
    running.set(row.id, examination);
    return examination;
  }

  /** The bytes are gone, or not those that were uploaded (a disk was replaced, a machine lost power): say so, and never scan something else instead. */
  async function giveUp(row: Row): Promise<void> {
    const given_up = await database
      .updateTable('scans')
      .set({ scan_status: 'pending', status_detail: 'damaged', spooled: 0, kept_until: null, scanned_at: at() })
      .where('id', '=', row.id)
      // Else it has its verdict, and its bytes went with that.
      .where('spooled', '=', sql.lit(1))
      .returningAll()
      .executeTakeFirst();
    if (given_up === undefined) return;
    overviews.forget(row.user_id);
    tell(row.user_id, { kind: 'scan_changed', scan: scanOf(given_up) });
    await spool.remove(row.id);
  }

  /** Has scanned what an earlier run of the server has left, in its order. */
  async function takeUp(rows: readonly Row[]): Promise<void> {
    for (const row of rows) {
      if (closed) return;
      const sha256 = await digestOf(spool.path(row.id)).catch(() => undefined);
      const work = sha256 === row.file_hash ? run({ ...row, attempts: 0 }) : giveUp(row);
      work.catch((error: unknown) => logger.error({ err: error, scan: row.id }, 'pending file could not be taken up'));
    }
    resumed = true;
  }

  const recheck = createRecheck({
    database,
    edition: () => engine.edition(),
    matchHash: parts.matchHash,
    onListed: async ({ id }) => {
      // What is being read just now is looked up when it has been.
      if (running.has(id)) return;
      const row = await find(id);
      if (row !== undefined && row.scan_status !== 'infected') await run(row, () => conclude(row, {}));
    },
    // A file that an engine has yet to read is read anyway.
    readAgain: (row) => run({ ...row, attempts: 0 }),
    logger,
  });

  /** The verdict of an earlier upload of these bytes by this person, where engine and signatures are still the same. */
  async function earlierVerdict(row: Row): Promise<Partial<Verdict> | undefined> {
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
    return withList(row, {
      ...{ scan_status, status_detail, threat_detected, threat_member, threat_facts, media_type, notes, engines, coverage },
      edition: earlier.edition,
      answered_from: earlier.answered_from ?? earlier.scanned_at,
    });
  }

  /** Removes what is over its time, once an hour by the clock. */
  async function sweepWhenDue(): Promise<void> {
    if (now() - swept_at < SWEEP_EVERY_MS) return;
    swept_at = now();
    for (const user_id of await keeping.sweep(() => [...running.keys()])) overviews.forget(user_id);
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
      // Takes as long as there are files, and holds up nothing.
      recheck.look().catch((error: unknown) => logger.error({ err: error }, 'earlier scans could not be rechecked'));
      tending = sweepWhenDue()
        .catch((error: unknown) => logger.error({ err: error }, 'expired files could not be removed'))
        .then(retryPending)
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

    async scan({ id, user_id, filename, size, sha256, ...waiter }) {
      const scanned_at = at();
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
        first_seen_at: scanned_at,
        threat_facts: null,
        notes: '[]',
        engines: '[]',
        // Nothing to read was read whole; no engine is asked.
        coverage: size === 0 ? JSON.stringify(NO_COVERAGE) : null,
        spooled: size === 0 ? 0 : 1,
        attempts: 1,
        sealed: 0,
        kept_until: size === 0 ? null : waitsUntil(now()),
        edition: null,
        answered_from: null,
      };
      let known: Partial<Verdict> | undefined;
      try {
        await spool.keep(id);
        const earlier = await database
          .selectFrom('scans')
          .select('first_seen_at')
          .where('user_id', '=', user_id)
          .where('file_hash', '=', sha256)
          .orderBy('id')
          .limit(1)
          .executeTakeFirst();
        if (earlier !== undefined) row.first_seen_at = earlier.first_seen_at;
        known = size === 0 || earlier === undefined ? undefined : await earlierVerdict(row);
        if (known?.scan_status === 'clean') {
          // Nothing of it is needed any more, so nothing of it is kept.
          Object.assign(row, known, { spooled: 0, kept_until: null });
        }
        await database.insertInto('scans').values(row).execute();
        overviews.forget(user_id);
        tell(user_id, { kind: 'scan_changed', scan: scanOf(row) });
      } catch (error) {
        await spool.remove(id);
        throw storageProblem(error);
      }
      if (row.spooled === 0) {
        await spool.remove(id);
        return scanOf(row);
      }
      const verdict = known;
      const scanned = await run(row, () => (verdict ? conclude(row, verdict) : examine(row, { waiter }))).catch(
        (error: unknown) => {
          throw storageProblem(error);
        },
      );
      if (scanned === undefined) throw new Problem('upload_cancelled', { detail: DELETED });
      return scanOf(scanned);
    },

    list,
    find,
    detail: async (row) => ({ ...detailOf(row), report: await falseAlarms.of(row.id) }),

    async remove(row) {
      await database.deleteFrom('scans').where('id', '=', row.id).execute();
      overviews.forget(row.user_id);
      tell(row.user_id, { kind: 'scan_removed', scan_id: row.id });
      // Of one that is being read, the examination removes the bytes when it ends.
      if (!running.has(row.id)) await keeping.remove(row.id);
    },

    async restore(row) {
      if (row.sealed !== 1) throw new Problem('not_found', { detail: 'No copy of this file is kept.' });
      try {
        return await quarantine.read(row);
      } catch (error) {
        logger.error({ err: error, scan: row.id }, 'a sealed file could not be opened');
        throw new Problem('unavailable', { detail: 'The kept copy does not open. Ask support.', cause: error });
      }
    },

    async removeFile(row) {
      if (running.has(row.id))
        throw new Problem('conflict', { detail: 'The file is being read right now. Try again in a moment.' });
      return await keeping.removeFile(row);
    },

    async unlock(row, password) {
      if (running.has(row.id))
        throw new Problem('conflict', { detail: 'The file is being read right now. Try again in a moment.' });
      if (row.sealed !== 1 || row.scan_status !== 'pending' || row.status_detail !== 'encrypted') {
        throw new Problem('conflict', { detail: 'There is no kept file here that waits for a password. Upload it again.' });
      }
      const opened = await run(row, () => examine(row, { password }));
      if (opened === undefined) throw new Problem('not_found');
      return opened;
    },

    async forgetPerson(transaction, user_id) {
      const rows = await transaction.deleteFrom('scans').where('user_id', '=', user_id).returning('id').execute();
      return async () => {
        overviews.forget(user_id);
        for (const { id } of rows) if (!running.has(id)) await keeping.remove(id);
      };
    },

    signaturesChanged: () => recheck.run(),

    recent: async (user_id, count) => (await overviews.of(user_id)).recent.slice(0, count),
    counts: async (user_id) => (await overviews.of(user_id)).counts,
    progress: board.of,

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
      for (const row of found) await tellInfected(row, row.sealed === 1 ? 'sealed' : 'deleted', true);
      await database
        .updateTable('scans')
        .set({ attempts: 0 })
        .where('sealed', '=', sql.lit(1))
        .where('status_detail', '=', 'engine_down')
        .execute();
      scheduleRetry();
      // Takes as long as reading them does, and holds up nothing.
      resuming = takeUp(rows);
    },

    async rescanWaiting(afresh) {
      if (afresh) await database.updateTable('scans').set({ attempts: 0 }).where('status_detail', '=', 'engine_down').execute();
      await retryPending();
    },

    async close() {
      closed = true;
      clearTimeout(retry);
      turns.close();
      await engine.close();
      await resuming;
      await Promise.allSettled(running.values());
      await tending;
      await recheck.close();
    },
  };
}
