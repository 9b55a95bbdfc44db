import type { Engine } from '@palisade/scanner/yara-pool';
import type { FastifyBaseLogger } from 'fastify';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { inPages } from '#platform/batches.ts';
import { claimFact, type InstallationTables, readFact, readFacts, writeFact } from '#platform/installation.ts';
import { type Job, Postponed } from '#platform/jobs/job.ts';
import type { JobTables } from '#platform/jobs/job-tables.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { AntivirusTables } from './antivirus.tables.ts';
import type { Examinations } from './examination.ts';
import type { RecordNews } from './examination-news.ts';
import type { MatchHash } from './known-hashes.ts';
import { EDITION } from './recheck.ts';
import { BUSY, LEFT_WAITING, RECHECK, type ReadingLease, type ReadingLeases, SCAN, SWEEP } from './scan-jobs.ts';
import { isUnread, type ScanRow as Row, UNREAD } from './scan-row.ts';
import type { ScanStore } from './scan-store.ts';

/** The editions with which the whole store was rechecked: several during an upgrade of servers. */
const RECHECKED = 'rechecked_editions';
const EDITIONS_KEPT = 8;
const ROWS_AT_ONCE = 500;
/** Time that a recheck waits for files that are being read, in ms. */
const BUSY_PAUSE_MS = 5_000;

interface SharedFilesOptions {
  database: Kysely<AntivirusTables & InstallationTables & JobTables>;
  jobs: Jobs;
  leases: ReadingLeases;
  engine: Engine;
  examinations: Examinations;
  scanStore: ScanStore;
  news: RecordNews;
  matchHash: MatchHash | undefined;
  /** The data folder of this server. */
  home: string;
  /** The data folders of the servers that live. */
  livingHomes: () => Promise<readonly string[]>;
  giveUp: (row: Row) => Promise<Row | undefined>;
  /** Number of attempts for a file before it waits for new signatures, or for the next start of its server. */
  attempts: number;
  /** Time after which an unread file is tried again, in ms. */
  retry_ms: number;
  isClosing: () => boolean;
  logger: FastifyBaseLogger;
}

const find = (database: Kysely<AntivirusTables & InstallationTables & JobTables>, id: string) =>
  database.selectFrom('scans').selectAll().where('id', '=', id).executeTakeFirst();

const unread = (database: Kysely<AntivirusTables & InstallationTables & JobTables>) =>
  database
    .selectFrom('scans')
    .where('in_store', '=', sql.lit(1))
    .where('status_detail', 'in', UNREAD)
    .where('scan_status', '=', 'pending')
    .where(({ not, exists, selectFrom, ref }) =>
      not(
        exists(
          selectFrom('jobs')
            .select('jobs.id')
            .where('jobs.kind', '=', SCAN.name)
            .where('jobs.once', '=', ref('scans.id'))
            .where('jobs.dead_at', 'is', null),
        ),
      ),
    );

async function editions(
  database: Kysely<AntivirusTables & InstallationTables & JobTables>,
): Promise<readonly string[] | undefined> {
  const fact = await readFact(database, RECHECKED);
  return fact === undefined ? undefined : z.array(z.string()).parse(JSON.parse(fact));
}

async function remember(database: Kysely<AntivirusTables & InstallationTables & JobTables>, edition: string): Promise<void> {
  const before = (await editions(database)) ?? [];
  const all = [edition, ...before.filter((other) => other !== edition)].slice(0, EDITIONS_KEPT);
  await writeFact(database, RECHECKED, JSON.stringify(all));
}

/** Records of files in the store that an engine has read, or a list may know, in the order of their ids. */
async function* rowsWhere(
  database: Kysely<AntivirusTables & InstallationTables & JobTables>,
  only: 'kept' | 'not infected',
  { signal }: Job<unknown>,
): AsyncGenerator<Row> {
  const pages = inPages(ROWS_AT_ONCE, async (last?: Row) => {
    const query = database
      .selectFrom('scans')
      .selectAll()
      .where('in_store', '=', sql.lit(1))
      .where('id', '>', last?.id ?? '')
      .orderBy('id')
      .limit(ROWS_AT_ONCE);
    return await (only === 'kept'
      ? query.where('sealed', '=', sql.lit(1))
      : query.where('scan_status', '!=', 'infected')
    ).execute();
  });
  for await (const rows of pages) {
    for (const row of rows) {
      signal.throwIfAborted();
      yield row;
    }
  }
}

async function isNew(
  database: Kysely<AntivirusTables & InstallationTables & JobTables>,
  edition: string | undefined,
): Promise<boolean> {
  if (edition === undefined) return false;
  const known = await editions(database);
  return known !== undefined && !known.includes(edition);
}

/** Files in the shared store that no caller waits for: any server reads them, and each is read by one at a time. */
export class SharedFiles {
  private readonly options: SharedFilesOptions;

  constructor(options: SharedFilesOptions) {
    this.options = options;
    this.options.jobs.handle(
      SCAN,
      async (job) => {
        const row = await find(this.options.database, job.payload.scan_id);
        if (row === undefined) return;
        if (!isUnread(row)) {
          // The previous reader may have stopped before it reported the finding.
          if (row.scan_status === 'infected')
            await options.examinations.tellInfected(row, row.sealed === 1 ? 'sealed' : 'deleted', true);
          return;
        }
        if (row.attempts >= this.options.attempts) return;
        const read = await options.examinations.examine(row, { lease: job, giveUp: options.giveUp });
        // If this server is stopping, another one reads it at once.
        if (read !== undefined && isUnread(read)) throw new Postponed(options.isClosing() ? 0 : options.retry_ms);
      },
      () => this.options.engine.complete(),
    );
    this.options.jobs.handle(SWEEP, async ({ signal }) => {
      for (const row of await options.scanStore.sweepShared(signal)) options.news.changed(row);
    });
    this.options.jobs.handle(LEFT_WAITING, async () => {
      const living = await options.livingHomes();
      const left = await unread(this.options.database)
        .select('id')
        .where('attempts', '<', this.options.attempts)
        .where('home', 'not in', ['', this.options.home, ...living])
        .limit(ROWS_AT_ONCE)
        .execute();
      await this.options.leases.ask(left.map(({ id }) => id));
    });
    this.options.jobs.handle(
      RECHECK,
      async (job) => {
        const { edition } = job.payload;
        // Engines have changed, or this server has others: a server with that edition asks again.
        if (this.options.engine.edition() !== edition || (await editions(this.options.database))?.includes(edition) === true)
          return;
        if (this.options.matchHash !== undefined)
          await this.withEach(this.listed(rowsWhere(this.options.database, 'not infected', job)), job, (row, lease) =>
            options.examinations.settle(row, {}, lease),
          );
        await this.withEach(rowsWhere(this.options.database, 'kept', job), job, (row, lease) =>
          options.examinations.examine({ ...row, attempts: 0 }, { lease }),
        );
        if (this.options.engine.edition() === edition) await remember(this.options.database, edition);
      },
      () => this.options.engine.edition() !== undefined,
    );
  }

  /** Calls `work` for each file, with its record, once no other server reads it. */
  private async withEach(
    rows: AsyncIterable<Row>,
    { signal }: Job<unknown>,
    work: (row: Row, lease: ReadingLease) => Promise<Row | undefined>,
  ): Promise<void> {
    const one = async (id: string): Promise<boolean> => {
      const done = await this.options.leases.during(id, async (lease) => {
        const row = await find(this.options.database, id);
        return row === undefined || isUnread(row) ? row : await work(row, lease);
      });
      if (done === BUSY) return false;
      // A file that waits for an engine is read when there is one.
      if (done !== undefined && isUnread(done)) await this.options.leases.ask([id]);
      return true;
    };
    let busy: string[] = [];
    for await (const { id } of rows) if (!(await one(id))) busy.push(id);
    while (busy.length > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, BUSY_PAUSE_MS);
        signal.addEventListener('abort', () => resolve(clearTimeout(timer)), { once: true });
      });
      const still: string[] = [];
      for (const id of busy) {
        signal.throwIfAborted();
        if (!(await one(id))) still.push(id);
      }
      busy = still;
    }
  }

  private async *listed(rows: AsyncIterable<Row>): AsyncGenerator<Row> {
    for await (const row of rows) if (this.options.matchHash?.(row.file_hash) !== undefined) yield row;
  }

  /** Has the files read that an earlier run of this server left: it had given them up, or was of an earlier version. */
  async resume(): Promise<void> {
    // Earlier versions noted it for each data folder.
    const noted = [...(await readFacts(this.options.database, `${EDITION}:`)).values()];
    if (noted.length > 0) await claimFact(this.options.database, RECHECKED, JSON.stringify(noted));
    await this.options.database
      .updateTable('scans')
      .set({ attempts: 0 })
      .where('home', '=', this.options.home)
      .where('in_store', '=', sql.lit(1))
      .where('status_detail', 'in', UNREAD)
      .execute();
    const left = await unread(this.options.database).select('id').where('home', '=', this.options.home).execute();
    if (left.length > 0) this.options.logger.info({ files: left.length }, 'files that nobody was to read are read');
    await this.options.leases.ask(left.map(({ id }) => id));
  }

  /**
   * An engine is back, here: waiting files are read. With new signatures (`afresh`) also those that were tried too often with the
   * old ones.
   */
  async rescan(afresh: boolean): Promise<void> {
    if (afresh) {
      await this.options.database
        .updateTable('scans')
        .set({ attempts: 0 })
        .where('in_store', '=', sql.lit(1))
        .where('status_detail', '=', 'engine_down')
        .execute();
    }
    // Files with a waiting job: this makes the job due.
    const waiting = await this.options.database
      .selectFrom('scans')
      .select('id')
      .where('in_store', '=', sql.lit(1))
      .where('status_detail', '=', 'engine_down')
      .where('attempts', '<', this.options.attempts)
      .orderBy('id')
      .limit(ROWS_AT_ONCE)
      .execute();
    await this.options.leases.ask(waiting.map(({ id }) => id));
  }

  /** Requests a recheck if the engine differs from those of the last one, unless one was requested. */
  async look(): Promise<void> {
    const edition = this.options.engine.edition();
    if (edition === undefined) return;
    if ((await editions(this.options.database)) === undefined) return await remember(this.options.database, edition);
    if (!(await isNew(this.options.database, edition))) return;
    await this.options.jobs.enqueue(this.options.database.$pickTables<'jobs'>(), RECHECK, { edition }, { once: edition });
    this.options.jobs.wake(RECHECK);
  }

  /** Whether a recheck is under way, or is to come. */
  recheckDue(): Promise<boolean> {
    return isNew(this.options.database, this.options.engine.edition());
  }
}

export function createSharedFiles(options: SharedFilesOptions): SharedFiles {
  return new SharedFiles(options);
}
