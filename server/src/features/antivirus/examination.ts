import { existsSync } from 'node:fs';
import { coverageSchema, type Scan } from '@palisade/contract/antivirus';
import type { LiveEvent, ScanProgress } from '@palisade/contract/events';
import { verdictOf } from '@palisade/scanner/verdict';
import type { Deaths, Engine, EngineOutcome } from '@palisade/scanner/yara-pool';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import { timeOfId } from '#platform/id.ts';
import { type JobTables, LeaseLost } from '#platform/jobs/job-store.ts';
import { invalidField, Problem } from '#platform/problem.ts';
import type { AntivirusTables } from './antivirus.tables.ts';
import { type Copy, isUnread, type Keeping, type ScanRow as Row, type Verdict } from './keeping.ts';
import { isOfItsFinders, type MatchHash, withList } from './known-hashes.ts';
import type { NewRecord } from './new-record.ts';
import { createProgressBoard, type ProgressBoard } from './progress.ts';
import type { ReadingLease } from './scan-jobs.ts';
import { isTestFile, notesSchema, scanOf } from './scan-record.ts';
import type { Spool } from './spool.ts';
import { SET_ASIDE, type Turns } from './turns.ts';
import { columnsOf } from './verdict-columns.ts';

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

/** Told what engines have done. */
export interface ScanMeter {
  /** An engine has read a file. `size` in bytes. */
  read(file: { size: number; ms: number }): void;
  /** A file got a verdict, by a reading or without one. */
  verdict(status: Row['scan_status']): void;
}

/** Who still waits for a scan, and may end it: what the page that sent the file has named it, and the signal that the person wants it back. */
export interface Waiter {
  key: string | undefined;
  signal: AbortSignal;
}

/** Who is told that a record has changed, or is gone. */
export interface RecordNews {
  changed(row: Row): void;
  removed(row: Pick<Row, 'id' | 'user_id'>): void;
}

/** How a file is read. */
interface Reading {
  waiter?: Waiter;
  record?: NewRecord;
  password?: string;
  lease?: ReadingLease | undefined;
  giveUp?: (row: Row) => Promise<Row | undefined>;
}

/** An account comes behind older ones for so long. */
const NEW_FOR_MS = 86_400_000;
/** In this time less is unpacked than the reserve of the disk. */
const LOOK_AT_DISK_MS = 200;
/**
 * A file is recorded when it has waited for its verdict for so long: from then on it is read even when the server ends meanwhile. Until then its sender has had no
 * answer, as while it was on its way.
 */
const RECORDED_AFTER_MS = 100;
/** Runs of the server that may end while they read a file, before it is held to be the cause. */
const UNENDED_MAXIMUM = 5;

/** Of a file whose turn does not come: it was taken back, or the server is stopping. */
const NO_TURN: EngineOutcome = { kind: 'failed', detail: 'engine_down' };

/** Whether every engine has said what it has to say, or what one has said is enough. */
function isAnswered(outcome: EngineOutcome): boolean {
  return outcome.kind === 'examined' && (outcome.second?.kind !== 'missing' || outcome.examination.threat !== null);
}

/** @throws Problem when the password opened no more than there was open without it. */
function refuseWrongPassword(row: Row, outcome: EngineOutcome): void {
  if (outcome.kind === 'failed' && outcome.detail === 'engine_failed')
    throw new Problem('unavailable', { detail: 'The scanner failed on this file twice. It is not read again.' });
  if (outcome.kind === 'failed')
    throw new Problem('unavailable', { detail: 'No engine could read the file. Try again in a moment.', retry_after: 5 });
  const { unread, threat, coverage } = outcome.examination;
  const before = row.coverage === null ? 0 : coverageSchema.parse(JSON.parse(row.coverage)).members_scanned;
  if (unread.includes('encrypted') && threat === null && coverage.members_scanned <= before) {
    throw invalidField('password', 'This password does not open the file.');
  }
}

interface ExaminationsOptions {
  database: Kysely<AntivirusTables & JobTables>;
  engine: Engine;
  turns: Turns;
  spool: Spool;
  keeping: Keeping;
  now: () => number;
  logger: FastifyBaseLogger;
  /** Told of each infected file, again after a restart: take it once for each scan id. */
  onInfected: (file: InfectedFile) => Promise<void>;
  onCleared: (file: ClearedFile) => Promise<void>;
  news: RecordNews;
  /** Tells a person's pages what happens just now. */
  tell: (user_id: string, event: LiveEvent) => void;
  matchHash: MatchHash | undefined;
  meter?: ScanMeter | undefined;
  /** How long a file may be read before it is recorded, in ms. */
  record_ms?: number | undefined;
}

const current = (database: Kysely<AntivirusTables & JobTables>, id: string) =>
  database.selectFrom('scans').selectAll().where('id', '=', id).executeTakeFirst();

/** Takes a record up as it is now: whoever looked for what waits may have seen it earlier. Undefined when its bytes are no longer where they were. */
async function takeAgain(
  database: Kysely<AntivirusTables & JobTables>,
  { id, attempts, spooled, sealed }: Row,
): Promise<Row | undefined> {
  return await database
    .updateTable('scans')
    .set({ attempts: attempts + 1 })
    .where('id', '=', id)
    .where('spooled', '=', spooled)
    .where('sealed', '=', sealed)
    .returningAll()
    .executeTakeFirst();
}

const deathsOf = ({ engine_deaths, engine_deaths_edition }: Row): Deaths | undefined =>
  engine_deaths_edition === null ? undefined : { count: engine_deaths, edition: engine_deaths_edition };

async function keepDeaths(database: Kysely<AntivirusTables & JobTables>, id: string, { count, edition }: Deaths): Promise<void> {
  const kept = { engine_deaths: count, engine_deaths_edition: edition };
  await database.updateTable('scans').set(kept).where('id', '=', id).execute();
}

/** One file after the other is read and gets its verdict: for each at most one of these at a time, whoever asks for it. Each answers undefined for a record that is gone. */
export class Examinations {
  private readonly record_ms: number;
  private readonly database: Kysely<AntivirusTables & JobTables>;
  private readonly engine: Engine;
  private readonly turns: Turns;
  private readonly spool: Spool;
  private readonly keeping: Keeping;
  private readonly now: () => number;
  private readonly logger: FastifyBaseLogger;
  private readonly onInfected: (file: InfectedFile) => Promise<void>;
  private readonly onCleared: (file: ClearedFile) => Promise<void>;
  private readonly news: RecordNews;
  private readonly matchHash: MatchHash | undefined;
  private readonly meter: ScanMeter | undefined;
  private readonly board: ProgressBoard;
  private readonly under_way = new Map<string, Promise<Row | undefined>>();
  private closed = false;

  constructor(options: ExaminationsOptions) {
    this.record_ms = options.record_ms ?? RECORDED_AFTER_MS;
    this.database = options.database;
    this.engine = options.engine;
    this.turns = options.turns;
    this.spool = options.spool;
    this.keeping = options.keeping;
    this.now = options.now;
    this.logger = options.logger;
    this.onInfected = options.onInfected;
    this.onCleared = options.onCleared;
    this.news = options.news;
    this.matchHash = options.matchHash;
    this.meter = options.meter;
    this.board = createProgressBoard(options.tell);
  }

  /** The person wants the file back: nothing of it stays. */
  private async withdraw(row: Row, record: NewRecord | undefined): Promise<never> {
    // Nobody knows of it.
    if (record?.is_stored() === false) {
      await this.spool.remove(row.id);
      this.news.removed(row);
      throw new Problem('upload_cancelled');
    }
    await record?.store();
    await this.database.deleteFrom('scans').where('id', '=', row.id).where('scan_status', '=', 'pending').execute();
    await this.keeping.letGo(row);
    this.news.removed(row);
    throw new Problem('upload_cancelled');
  }

  /** Another server reads the file by now, or its record is gone: what was read here counts for nothing, and nothing of it stays here. Answers the record as it is. */
  private async leave({ id }: Row): Promise<Row | undefined> {
    await this.spool.remove(id);
    return await current(this.database, id);
  }

  /** Stores a verdict, sees to the bytes, and tells of what has changed by it. Undefined when the record is gone. */
  private async conclude(row: Row, verdict: Partial<Verdict>, lease?: ReadingLease): Promise<Row | undefined> {
    const concluded = await this.keeping.conclude(row, verdict, lease).catch((error: unknown) => {
      if (error instanceof LeaseLost) return undefined;
      throw error;
    });
    if (concluded === undefined) return await this.leave(row);
    const { row: updated, copy } = concluded;
    if (updated !== undefined) {
      this.news.changed(updated);
      this.meter?.verdict(updated.scan_status);
    }
    if (updated?.scan_status === 'infected' && row.scan_status !== 'infected') await this.tellInfected(updated, copy);
    if (updated?.scan_status === 'clean' && row.scan_status === 'infected') await this.tellCleared(updated, row);
    return updated;
  }

  /**
   * Counts the readings of a file that no run of the server has seen the end of. A server that is killed over a file, again and again, would otherwise take it up at each start for ever. Of what has just arrived the
   * first reading is not counted: that would be one more write for each upload.
   */
  private async counted(id: string, reading: () => Promise<EngineOutcome>): Promise<EngineOutcome> {
    const begun = await this.database
      .updateTable('scans')
      .set(({ eb }) => ({ unended_readings: eb('unended_readings', '+', 1) }))
      .where('id', '=', id)
      .returning('unended_readings')
      .executeTakeFirst();
    const is_given_up = (begun?.unended_readings ?? 0) > UNENDED_MAXIMUM;
    // While no engine is ready there is no edition to remember, so that the verdict serves nobody again.
    const outcome: EngineOutcome = is_given_up
      ? { kind: 'failed', detail: 'engine_failed', edition: this.engine.edition() ?? '' }
      : await reading();
    await this.database.updateTable('scans').set({ unended_readings: 0 }).where('id', '=', id).execute();
    return outcome;
  }

  /** Puts the bytes of a sealed file where an engine reads them. A store that is away is no attempt. */
  private async recalled(row: Row, attempts: number): Promise<boolean> {
    try {
      return await this.keeping.recall(row);
    } catch (error) {
      await this.database.updateTable('scans').set({ attempts }).where('id', '=', row.id).execute();
      throw error;
    }
  }

  /** Has a file read, and answers its record as it is then: undefined when it is gone. */
  private async read(seen: Row, { waiter, record, password, lease, giveUp }: Reading): Promise<Row | undefined> {
    const row = waiter === undefined ? await takeAgain(this.database, seen) : seen;
    if (row === undefined) {
      const now_is = await current(this.database, seen.id);
      if (now_is === undefined) await this.keeping.letGo(seen);
      return now_is;
    }
    // A server that took the file up in place of another one, or lost its folder, has it in the store alone.
    const is_away = row.sealed === 1 || (row.in_store === 1 && !existsSync(this.spool.path(row.id)));
    if (is_away && !(await this.recalled(row, seen.attempts))) {
      if (password !== undefined)
        throw new Problem('unavailable', { detail: 'The kept copy of the file does not open. Upload the file again.' });
      return giveUp !== undefined && isUnread(row) ? await giveUp(row) : row;
    }
    const { id, user_id, size } = row;
    const { key, signal } = waiter ?? {};
    const report = (progress: ScanProgress) => this.board.report({ id, user_id, key }, progress);
    const onPlace = (place: number) => report({ stage: 'queued', place });
    /** Aborted when the file cannot be recorded, or is read by another server by now: nobody is told of it then. */
    const lost = new AbortController();
    const heed = (held: ReadingLease | undefined) => {
      if (held?.signal.aborted) lost.abort(held.signal.reason);
      held?.signal.addEventListener('abort', () => lost.abort(held.signal.reason), { once: true });
      return held;
    };
    const store = async (of: NewRecord) => heed(await of.store());
    heed(lease);
    const recording = record && setTimeout(() => void store(record).catch((error: unknown) => lost.abort(error)), this.record_ms);
    const given_up = AbortSignal.any([...(signal === undefined ? [] : [signal]), lost.signal]);
    try {
      let began_at: number | undefined;
      const scanFor = (begun: () => void) => (stop: AbortSignal) =>
        this.engine.scan({
          id: row.id,
          path: this.spool.path(row.id),
          bytes: this.spool.held(row.id),
          size: row.size,
          name: row.filename,
          sha256: row.file_hash,
          folder: this.spool.unpacked(row.id),
          password,
          onBegin() {
            // What no engine takes up was not tried.
            if (began_at === undefined) lease?.countAttempt().catch((error: unknown) => lost.abort(error));
            began_at ??= performance.now();
            begun();
          },
          signal: AbortSignal.any([given_up, stop]),
          onProgress: (progress) => report({ stage: 'reading', ...progress }),
          deaths: deathsOf(row),
          onDeath: async (deaths) => {
            if (record !== undefined) await store(record);
            await keepDeaths(this.database, row.id, deaths);
          },
        });
      const is_new = this.now() - timeOfId(user_id) < NEW_FOR_MS;
      const turn = this.turns.take({ user_id, size, is_new, signal: given_up, onPlace }, async (stop, begun) => {
        const scan = scanFor(begun);
        const reading = async () => {
          const first = await this.whileRoom(id, stop, scan);
          return this.isOutdated(first) ? await this.whileRoom(id, stop, scan) : first;
        };
        const outcome = await (waiter === undefined ? this.counted(id, reading) : reading());
        const was_stopped = stop.aborted && !given_up.aborted && !this.closed;
        return was_stopped && !isAnswered(outcome) ? SET_ASIDE : outcome;
      });
      const outcome = (await turn.finally(() => this.board.clear(id))) ?? NO_TURN;
      if (outcome.kind === 'examined' && began_at !== undefined) this.meter?.read({ size, ms: performance.now() - began_at });
      clearTimeout(recording);
      if (signal?.aborted && !isAnswered(outcome)) return await this.withdraw(row, record);
      const verdict = withList(this.matchHash, row, columnsOf(verdictOf(outcome), row.filename));
      if (record?.is_stored() === false && verdict.scan_status === 'clean')
        return await record.finish(verdict, new Date(this.now()).toISOString());
      const held = lease ?? (await record?.store());
      if (lost.signal.aborted && !isAnswered(outcome)) return await this.leave(row);
      // The server is stopping: the record stays as it is, and the next start scans it.
      if (this.closed && outcome.kind === 'failed') return row;
      // An engine that was away has not tried.
      if (outcome.second?.kind === 'missing' && !outcome.second.asked) verdict.attempts = seen.attempts;
      if (password !== undefined) {
        refuseWrongPassword(row, outcome);
        // Without the password the bytes say less.
        verdict.edition = null;
      }
      // What was found once stays found until a whole reading says otherwise, by whoever found it among others.
      const was_found = row.scan_status === 'infected' && verdict.scan_status !== 'infected';
      if (was_found && (verdict.scan_status === 'pending' || !isOfItsFinders(row, verdict))) return row;
      if (row.scan_status === 'infected' && verdict.scan_status === 'clean') {
        const before = `On ${row.scanned_at.slice(0, 10)} it was called ${row.threat_detected}. Checked again with newer lists of known threats: nothing was found.`;
        verdict.notes = JSON.stringify([...notesSchema.parse(JSON.parse(verdict.notes ?? '[]')), before]);
      }
      return await this.conclude(row, verdict, held);
    } finally {
      clearTimeout(recording);
      // What stays of a sealed file is the sealed one.
      if (row.sealed === 1) await this.spool.remove(row.id);
    }
  }

  /** Ends a reading that unpacks to the disk before it takes the room that the database needs. */
  private async whileRoom(
    id: string,
    stop: AbortSignal,
    scan: (stop: AbortSignal) => Promise<EngineOutcome>,
  ): Promise<EngineOutcome> {
    const full = new AbortController();
    const watch = setInterval(() => {
      if (!existsSync(this.spool.unpacked(id)) || this.spool.hasRoom()) return;
      this.logger.warn({ scan: id }, 'a file was not read further, because the disk is nearly full');
      full.abort();
    }, LOOK_AT_DISK_MS);
    return await scan(AbortSignal.any([stop, full.signal])).finally(() => clearInterval(watch));
  }

  /** Nothing was found, by signatures that others have replaced meanwhile: a recheck for these may have passed the file by while it was read. */
  private isOutdated(outcome: EngineOutcome): boolean {
    if (outcome.kind === 'failed' || outcome.examination.threat !== null || outcome.second?.kind === 'missing') return false;
    const edition = this.engine.edition();
    return edition !== undefined && edition !== outcome.edition;
  }

  /** A person who waits for a verdict gets it, whatever becomes of the telling. */
  async tellInfected(row: Row, copy: Copy, told_again: boolean = false): Promise<void> {
    try {
      await this.onInfected({ user_id: row.user_id, scan: scanOf(row), is_test_file: isTestFile(row), copy, told_again });
    } catch (error) {
      this.logger.error({ err: error, scan: row.id }, 'an infected file could not be told of');
    }
  }

  private async tellCleared(row: Row, { threat_detected }: Row): Promise<void> {
    try {
      await this.onCleared({ user_id: row.user_id, scan: scanOf(row), threat: threat_detected ?? 'A threat' });
    } catch (error) {
      this.logger.error({ err: error, scan: row.id }, 'a cleared file could not be told of');
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
   * Has a file read, and answers its record as it is then. With a `password` what is kept of it is opened. A `record` that is not stored yet is stored when the
   * reading takes long, or ends with anything but a clean file. Of a file that servers share the `lease` is asked before the verdict is stored: a server that has lost it stores none.
   * `giveUp` is done with a file whose bytes are no longer what was uploaded.
   * @throws Problem `upload_cancelled` when the waiter wanted it back; `invalid_field` for a wrong password, `unavailable` when it could not be tried; what storing
   * the record throws.
   */
  examine(row: Row, how: Reading = {}): Promise<Row | undefined> {
    return this.alone(row.id, () => this.read(row, how));
  }

  /** Stores a verdict that is known without reading, and sees to the bytes. */
  settle(row: Row, verdict: Partial<Verdict>, lease?: ReadingLease): Promise<Row | undefined> {
    return this.alone(row.id, () => this.conclude(row, withList(this.matchHash, row, verdict), lease));
  }

  /** Seals what was read when there was no room for it. */
  seal(row: Row): Promise<Row | undefined> {
    return this.alone(row.id, async () => {
      const sealed = await this.keeping.sealWaiting(row);
      if (sealed !== undefined) this.news.changed(sealed);
      return sealed;
    });
  }

  isRunning(id: string): boolean {
    return this.under_way.has(id);
  }

  /** Ids of the files under way. */
  running(): string[] {
    return [...this.under_way.keys()];
  }

  /** How far a person's files are that have no verdict yet. */
  progress(user_id: string): LiveEvent[] {
    return this.board.of(user_id);
  }

  /** Ends the engine. What it had not read stays as it is, for the next start. */
  async close(): Promise<void> {
    this.closed = true;
    this.turns.close();
    await this.engine.close();
    await Promise.allSettled(this.under_way.values());
  }
}

export function createExaminations(options: ExaminationsOptions): Examinations {
  return new Examinations(options);
}
