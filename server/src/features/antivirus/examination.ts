import { existsSync } from 'node:fs';
import type { LiveEvent, ScanProgress } from '@palisade/contract/events';
import type { Together } from '@palisade/scanner/together';
import { verdictOf } from '@palisade/scanner/verdict';
import type { Engine, EngineOutcome } from '@palisade/scanner/yara-pool';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import { timeOfId } from '#platform/id.ts';
import { type JobTables, LeaseLost } from '#platform/jobs/job-tables.ts';
import { joinSignals } from '#platform/joined-signal.ts';
import { Problem } from '#platform/problem.ts';
import { refuse } from './antivirus.refusals.ts';
import type { AntivirusTables } from './antivirus.tables.ts';
import type { ClearedFile, InfectedFile, RecordNews, ScanMeter } from './examination-news.ts';
import { type MatchHash, withList } from './known-hashes.ts';
import type { NewRecord } from './new-record.ts';
import { createProgressBoard, type ProgressBoard } from './progress.ts';
import { isAnswered, keepsFinding, notesOfCleared, refuseWrongPassword } from './reading-outcome.ts';
import { current, deathsOf, keepDeaths, NO_TURN, type Reading, type ReadingState, takeAgain } from './reading-state.ts';
import type { ReadingLease } from './scan-jobs.ts';
import { type ScanQueue, SET_ASIDE } from './scan-queue.ts';
import { isTestFile, scanOf } from './scan-record.ts';
import { type Copy, isUnread, type ScanRow as Row, type Verdict } from './scan-row.ts';
import type { ScanStore } from './scan-store.ts';
import type { Spool } from './spool.ts';
import { columnsOf } from './verdict-columns.ts';

/** Accounts younger than this, in ms, come after older ones in the queue. */
const NEW_FOR_MS = 86_400_000;

/** Interval between checks of the disk, in ms: short enough that less than the reserve can be unpacked in it. */
const LOOK_AT_DISK_MS = 200;

/** A file that has waited this many ms for its verdict is recorded, so that it is read even if the server ends. Before that its sender has no answer yet, as during the upload. */
const RECORDED_AFTER_MS = 100;

/** Number of server runs that may end while reading a file before the file is assumed to be the cause. */
const UNENDED_MAXIMUM = 5;

interface ExaminationsOptions {
  database: Kysely<AntivirusTables & JobTables>;
  engine: Engine;
  scanQueue: ScanQueue;
  spool: Spool;
  scanStore: ScanStore;
  now: () => number;
  logger: FastifyBaseLogger;
  /** Called for each infected file, and again after a restart: handle each scan id once. */
  onInfected: (file: InfectedFile) => Promise<void>;
  onCleared: (file: ClearedFile) => Promise<void>;
  news: RecordNews;
  /** Sends a person's pages events that are not stored. */
  tell: (user_id: string, event: LiveEvent) => void;
  matchHash: MatchHash | undefined;
  meter?: ScanMeter | undefined;
  /** Time that a file may be read before it is recorded, in ms. */
  record_ms?: number | undefined;
}

/** Reads files and stores their verdicts: at most one call runs for each file. Each returns undefined if the record no longer exists. */
export class Examinations {
  private readonly record_ms: number;
  private readonly options: ExaminationsOptions;
  private readonly board: ProgressBoard;
  private readonly under_way = new Map<string, Promise<Row | undefined>>();
  private closed = false;

  constructor(options: ExaminationsOptions) {
    this.options = options;
    this.record_ms = options.record_ms ?? RECORDED_AFTER_MS;
    this.board = createProgressBoard(options.tell);
  }

  /** The person cancelled: removes the file. */
  private async withdraw(row: Row, record: NewRecord | undefined): Promise<never> {
    // The record was never stored, so it is unknown to others.
    if (record?.is_stored() === false) {
      await this.options.spool.remove(row.id);
      this.options.news.removed(row);
      throw new Problem('upload_cancelled');
    }
    await record?.store();
    await this.options.database.deleteFrom('scans').where('id', '=', row.id).where('scan_status', '=', 'pending').execute();
    await this.options.scanStore.letGo(row);
    this.options.news.removed(row);
    throw new Problem('upload_cancelled');
  }

  /** Another server has the file by now, or its record is gone: this reading does not count, and its files are removed. Returns the current record. */
  private async leave({ id }: Row): Promise<Row | undefined> {
    await this.options.spool.remove(id);
    return await current(this.options.database, id);
  }

  /** Stores a verdict, seals or removes the bytes, and reports the change. Undefined when the record is gone. */
  private async conclude(row: Row, verdict: Partial<Verdict>, lease?: ReadingLease): Promise<Row | undefined> {
    const concluded = await this.options.scanStore.conclude(row, verdict, lease).catch((error: unknown) => {
      if (error instanceof LeaseLost) return undefined;
      throw error;
    });
    if (concluded === undefined) return await this.leave(row);
    const { row: updated, copy } = concluded;
    if (updated !== undefined) {
      this.options.news.changed(updated);
      this.options.meter?.verdict(updated.scan_status);
    }
    if (updated?.scan_status === 'infected' && row.scan_status !== 'infected') await this.tellInfected(updated, copy);
    if (updated?.scan_status === 'clean' && row.scan_status === 'infected') await this.tellCleared(updated, row);
    return updated;
  }

  /**
   * Counts readings whose end no server run has seen; otherwise a file that crashes its server would be read again at each start for ever. The first reading of a new file
   * is not counted, which saves one write for each upload.
   */
  private async counted(id: string, reading: () => Promise<EngineOutcome>): Promise<EngineOutcome> {
    const begun = await this.options.database
      .updateTable('scans')
      .set(({ eb }) => ({ unended_readings: eb('unended_readings', '+', 1) }))
      .where('id', '=', id)
      .returning('unended_readings')
      .executeTakeFirst();
    const is_given_up = (begun?.unended_readings ?? 0) > UNENDED_MAXIMUM;
    // Without a ready engine there is no edition, so the verdict is not reused.
    const outcome: EngineOutcome = is_given_up
      ? { kind: 'failed', detail: 'engine_failed', edition: this.options.engine.edition() ?? '' }
      : await reading();
    await this.options.database.updateTable('scans').set({ unended_readings: 0 }).where('id', '=', id).execute();
    return outcome;
  }

  /** Copies the bytes of a sealed file to where an engine can read them. If the store is away, no attempt is counted. */
  private async recalled(row: Row, attempts: number): Promise<boolean> {
    try {
      return await this.options.scanStore.recall(row);
    } catch (error) {
      await this.options.database.updateTable('scans').set({ attempts }).where('id', '=', row.id).execute();
      throw error;
    }
  }

  /** The stages of one reading: admit, wait and read, judge, store, tell. @returns the record afterwards, undefined if it was deleted */
  private async read(seen: Row, how: Reading): Promise<Row | undefined> {
    const admitted = await this.admit(seen, how);
    if (!admitted.is_readable) return admitted.row;
    const { row } = admitted;
    const reading = this.begin(row, how);
    try {
      const outcome = await this.waitAndRead(reading, how);
      clearTimeout(reading.recording);
      return await this.end(reading, how, outcome, seen.attempts);
    } finally {
      clearTimeout(reading.recording);
      reading.release();
      // Only the sealed copy of a sealed file is kept.
      if (row.sealed === 1) await this.options.spool.remove(row.id);
    }
  }

  /** Claims the record and makes its bytes readable for an engine. If that is impossible, `row` is the result. */
  private async admit(
    seen: Row,
    { waiter, password, giveUp }: Reading,
  ): Promise<{ is_readable: true; row: Row } | { is_readable: false; row: Row | undefined }> {
    const row = waiter === undefined ? await takeAgain(this.options.database, seen) : seen;
    if (row === undefined) {
      const now_is = await current(this.options.database, seen.id);
      if (now_is === undefined) await this.options.scanStore.letGo(seen);
      return { is_readable: false, row: now_is };
    }
    // If a server took over another's file, or lost its folder, the bytes are only in the store.
    const is_away = row.sealed === 1 || (row.in_store === 1 && !existsSync(this.options.spool.path(row.id)));
    if (!is_away || (await this.recalled(row, seen.attempts))) return { is_readable: true, row };
    if (password !== undefined) throw refuse('scan.copy_unreadable');
    return { is_readable: false, row: giveUp !== undefined && isUnread(row) ? await giveUp(row) : row };
  }

  /** Starts the timer after which a new record is stored, and follows the lease. */
  private begin(row: Row, { waiter, record, lease }: Reading): ReadingState {
    const lost = new AbortController();
    const follow = (held: ReadingLease | undefined) => {
      if (held?.signal.aborted) lost.abort(held.signal.reason);
      held?.signal.addEventListener('abort', () => lost.abort(held.signal.reason), { once: true });
      return held;
    };
    follow(lease);
    const store = async () => follow(await record?.store());
    const recording = record && setTimeout(() => void store().catch((error: unknown) => lost.abort(error)), this.record_ms);
    const { signal: given_up, release } = joinSignals(waiter === undefined ? [lost.signal] : [waiter.signal, lost.signal]);
    return {
      row,
      lost: lost.signal,
      fail: (error) => lost.abort(error),
      given_up,
      release,
      store,
      recording,
    };
  }

  /** Waits for the file's turn, then has an engine read it. */
  private async waitAndRead(reading: ReadingState, how: Reading): Promise<EngineOutcome> {
    const { row, given_up } = reading;
    const { id, user_id, size } = row;
    const report = (progress: ScanProgress) => this.board.report({ id, user_id, key: how.waiter?.key }, progress);
    const place = {
      user_id,
      size,
      is_held: this.options.spool.held(id) !== undefined,
      is_new: this.options.now() - timeOfId(user_id) < NEW_FOR_MS,
      signal: given_up,
      onPlace: (at: number) => report({ stage: 'queued', place: at }),
    };
    let began_at: number | undefined;
    const turn = this.options.scanQueue.take(place, async (stop, begun, sharing) => {
      let is_set_aside = false;
      const onSetAside = () => {
        is_set_aside = true;
      };
      const together = sharing && { ...sharing, onSetAside };
      const onBegin = () => {
        // An attempt counts once an engine has started on the file.
        if (began_at === undefined) how.lease?.countAttempt().catch(reading.fail);
        began_at ??= performance.now();
        begun();
      };
      const scan = (until: AbortSignal) => this.scan(reading, how, { onBegin, onProgress: report, until, together });
      const readOnce = async () => {
        const first = await this.whileRoom(id, [given_up, stop], scan);
        return this.isOutdated(first) ? await this.whileRoom(id, [given_up, stop], scan) : first;
      };
      const outcome = await (how.waiter === undefined ? this.counted(id, readOnce) : readOnce());
      const was_stopped = stop.aborted && !given_up.aborted && !this.closed;
      return (was_stopped && !isAnswered(outcome)) || is_set_aside ? SET_ASIDE : outcome;
    });
    const outcome = (await turn.finally(() => this.board.clear(id))) ?? NO_TURN;
    if (outcome.kind === 'examined' && began_at !== undefined)
      this.options.meter?.read({ size, ms: performance.now() - began_at });
    return outcome;
  }

  /** One call of the engine. */
  private scan(
    { row, store }: ReadingState,
    { record, password }: Reading,
    {
      onBegin,
      onProgress,
      until,
      together,
    }: {
      onBegin: () => void;
      onProgress: (progress: ScanProgress) => void;
      until: AbortSignal;
      together: Together | undefined;
    },
  ): Promise<EngineOutcome> {
    return this.options.engine.scan({
      id: row.id,
      path: this.options.spool.path(row.id),
      bytes: this.options.spool.held(row.id),
      size: row.size,
      name: row.filename,
      sha256: row.file_hash,
      folder: this.options.spool.unpacked(row.id),
      password,
      onBegin,
      signal: until,
      onProgress: (progress) => onProgress({ stage: 'reading', ...progress }),
      deaths: deathsOf(row),
      together,
      onDeath: async (deaths) => {
        if (record !== undefined) await store();
        await keepDeaths(this.options.database, row.id, deaths);
      },
    });
  }

  /** Derives the verdict from the engines' answers, stores and reports it. @param attempts before this reading */
  private async end(
    { row, lost }: ReadingState,
    { waiter, record, password, lease }: Reading,
    outcome: EngineOutcome,
    attempts: number,
  ): Promise<Row | undefined> {
    if (waiter?.signal.aborted && !isAnswered(outcome)) return await this.withdraw(row, record);
    const verdict = withList(this.options.matchHash, row, columnsOf(verdictOf(outcome), row.filename));
    if (record?.is_stored() === false && verdict.scan_status === 'clean')
      return await record.finish(verdict, new Date(this.options.now()).toISOString());
    const held = lease ?? (await record?.store());
    if (lost.aborted && !isAnswered(outcome)) return await this.leave(row);
    // The server is stopping: the record stays as it is, and the next start scans it.
    if (this.closed && outcome.kind === 'failed') return row;
    // An engine that was unavailable has not tried.
    if (outcome.second?.kind === 'missing' && !outcome.second.asked) verdict.attempts = attempts;
    if (password !== undefined) {
      refuseWrongPassword(row, outcome);
      // Without the password the same bytes would get another verdict.
      verdict.edition = null;
    }
    if (keepsFinding(row, verdict)) return row;
    if (row.scan_status === 'infected' && verdict.scan_status === 'clean') Object.assign(verdict, notesOfCleared(row, verdict));
    return await this.conclude(row, verdict, held);
  }

  /** Stops a reading that unpacks to the disk before it uses the space that the database needs. */
  private async whileRoom(
    id: string,
    stops: readonly AbortSignal[],
    scan: (until: AbortSignal) => Promise<EngineOutcome>,
  ): Promise<EngineOutcome> {
    const until = joinSignals(stops);
    const watch = setInterval(() => {
      if (!existsSync(this.options.spool.unpacked(id)) || this.options.spool.hasRoom()) return;
      this.options.logger.warn({ scan: id }, 'a file was not read further, because the disk is nearly full');
      until.abort();
    }, LOOK_AT_DISK_MS);
    return await scan(until.signal).finally(() => {
      clearInterval(watch);
      until.release();
    });
  }

  /** Whether a clean result came from signatures that were replaced meanwhile: the recheck for the new ones may have missed the file while it was being read. */
  private isOutdated(outcome: EngineOutcome): boolean {
    if (outcome.kind === 'failed' || outcome.examination.threat !== null || outcome.second?.kind === 'missing') return false;
    const edition = this.options.engine.edition();
    return edition !== undefined && edition !== outcome.edition;
  }

  /** Reports an infected file. The waiting person gets the verdict even if the report fails. */
  async tellInfected(row: Row, copy: Copy, told_again: boolean = false): Promise<void> {
    try {
      await this.options.onInfected({ user_id: row.user_id, scan: scanOf(row), is_test_file: isTestFile(row), copy, told_again });
    } catch (error) {
      this.options.logger.error({ err: error, scan: row.id }, 'an infected file could not be told of');
    }
  }

  private async tellCleared(row: Row, { threat_detected }: Row): Promise<void> {
    try {
      await this.options.onCleared({ user_id: row.user_id, scan: scanOf(row), threat: threat_detected ?? 'A threat' });
    } catch (error) {
      this.options.logger.error({ err: error, scan: row.id }, 'a cleared file could not be told of');
    }
  }

  private alone(id: string, work: () => Promise<Row | undefined>): Promise<Row | undefined> {
    const already = this.under_way.get(id);
    if (already) return already;
    const examination = work().finally(() => this.under_way.delete(id));
    this.under_way.set(id, examination);
    return examination;
  }

  /**
   * Reads a file, and returns its record afterwards. With a `password` its kept bytes are opened. A `record` that is not stored yet is stored if the reading takes long, or
   * ends with anything but a clean file. For a shared file the `lease` is checked before the verdict is stored: a server that has lost it stores none. `giveUp` is called
   * for a file whose bytes differ from the upload. @throws Problem `upload_cancelled` when the waiter cancelled; `invalid_field` for a wrong password, `unavailable` when it
   * could not be tried; the errors of storing the record.
   */
  examine(row: Row, how: Reading = {}): Promise<Row | undefined> {
    return this.alone(row.id, () => this.read(row, how));
  }

  /** Stores a verdict that needs no reading, and seals or removes the bytes. */
  settle(row: Row, verdict: Partial<Verdict>, lease?: ReadingLease): Promise<Row | undefined> {
    return this.alone(row.id, () => this.conclude(row, withList(this.options.matchHash, row, verdict), lease));
  }

  /** Seals a file for which there was no room before. */
  seal(row: Row): Promise<Row | undefined> {
    return this.alone(row.id, async () => {
      const sealed = await this.options.scanStore.sealWaiting(row);
      if (sealed !== undefined) this.options.news.changed(sealed);
      return sealed;
    });
  }

  isRunning(id: string): boolean {
    return this.under_way.has(id);
  }

  /** Ids of the files being read. */
  running(): string[] {
    return [...this.under_way.keys()];
  }

  /** Progress of a person's files that have no verdict yet. */
  progress(user_id: string): LiveEvent[] {
    return this.board.of(user_id);
  }

  /** Closes the engine. Unread files stay for the next start. */
  async close(): Promise<void> {
    this.closed = true;
    this.options.scanQueue.close();
    await this.options.engine.close();
    await Promise.allSettled(this.under_way.values());
  }
}

export function createExaminations(options: ExaminationsOptions): Examinations {
  return new Examinations(options);
}
