import { type Kysely, SqliteAdapter, sql } from 'kysely';
import { inBatches } from '#platform/batches.ts';
import { type DatabaseClock, databaseClock } from '#platform/database-clock.ts';
import { newId } from '#platform/id.ts';
import type { JobKind } from './job-kind.ts';
import { type Asked, type Claim, type JobRow, type JobTables, LeaseLost } from './job-tables.ts';

/** The `once` key of the single row of a recurring kind. */
export const RECURRING = 'recurring';

/** Time for which given-up jobs are kept, in ms, and their maximum number. */
const DEAD_KEPT_MS = 30 * 86_400_000;

const DEAD_MAXIMUM = 1_000;

const ERROR_LENGTH_MAXIMUM = 500;

interface JobStoreOptions {
  database: Kysely<JobTables>;
  worker: string;
  lease_ms: number;
  shift_ms?: (() => number) | undefined;
}

const free = { claimed_by: null, lease_until: null };

/** The rows of jobs: each function is one atomic step in the database. `shift_ms` is for tests in which the database's clock jumps. */
export class JobStore {
  private readonly database: Kysely<JobTables>;
  private readonly worker: string;
  private readonly lease_ms: number;
  private readonly shift_ms: () => number;
  private readonly isSqlite: boolean;
  private readonly clock: DatabaseClock;

  constructor(options: JobStoreOptions) {
    this.database = options.database;
    this.worker = options.worker;
    this.lease_ms = options.lease_ms;
    this.shift_ms = options.shift_ms ?? (() => 0);
    this.isSqlite = this.database.getExecutor().adapter instanceof SqliteAdapter;
    this.clock = databaseClock(this.database);
  }

  private at(offset_ms = 0) {
    return this.clock(offset_ms + this.shift_ms());
  }

  private mine(from: Kysely<JobTables>, { id, claims }: Claim) {
    return {
      update: () =>
        from.updateTable('jobs').where('id', '=', id).where('claimed_by', '=', this.worker).where('claims', '=', claims),
      remove: () =>
        from.deleteFrom('jobs').where('id', '=', id).where('claimed_by', '=', this.worker).where('claims', '=', claims),
    };
  }

  /** Adds jobs as part of `transaction`. */
  async add(transaction: Kysely<JobTables>, all: readonly ({ kind: JobKind<unknown>; payload: unknown } & Asked)[]) {
    const rows = all.map(({ kind, payload, once, delay_ms = 0, priority = kind.priority }) => ({
      id: newId(),
      kind: kind.name,
      once: once ?? null,
      payload: JSON.stringify(kind.payload.parse(payload)),
      priority,
      run_at: this.at(delay_ms),
      attempts: 0,
      ...free,
      claims: 0,
      asked_again: 0,
      cancelled: 0,
      last_error: null,
      created_at: this.at(),
      dead_at: null,
    }));
    await inBatches(rows, (batch) =>
      transaction
        .insertInto('jobs')
        .values(batch)
        .onConflict((conflict) =>
          conflict
            .columns(['kind', 'once'])
            .where('once', 'is not', null)
            .where('dead_at', 'is', null)
            .doUpdateSet(({ ref, fn, eb }) => ({
              payload: ref('excluded.payload'),
              asked_again: eb.case().when('jobs.claimed_by', 'is', null).then(0).else(1).end(),
              // Asking for a failed or planned job makes it due now.
              run_at: this.isSqlite
                ? fn<string>('min', ['excluded.run_at', 'jobs.run_at'])
                : fn<string>('least', ['excluded.run_at', 'jobs.run_at']),
            })),
        )
        .execute(),
    );
  }

  /** Ensures that a recurring kind has its row, planned no later than its interval. */
  async keepRecurring(kind: JobKind<unknown>, every_ms: number) {
    await this.database
      .insertInto('jobs')
      .values({
        id: newId(),
        kind: kind.name,
        once: RECURRING,
        payload: JSON.stringify(kind.payload.parse({})),
        priority: kind.priority,
        run_at: this.at(),
        attempts: 0,
        claims: 0,
        asked_again: 0,
        cancelled: 0,
        ...free,
        last_error: null,
        created_at: this.at(),
        dead_at: null,
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    await this.database
      .updateTable('jobs')
      .set({ run_at: this.at(every_ms) })
      .where('kind', '=', kind.name)
      .where('once', '=', RECURRING)
      .where('claimed_by', 'is', null)
      .where('run_at', '>', this.at(every_ms))
      .execute();
  }

  /** Claims up to `most` due rows of a kind for this worker, the most urgent first. */
  async claim(kind: JobKind<unknown>, most: number): Promise<JobRow[]> {
    const counted = kind.attempts.counted === 'claimed' ? 1 : 0;
    return await this.database
      .with(
        (expression) => expression('due').materialized(),
        (from) => {
          const due = from
            .selectFrom('jobs')
            .select('id')
            .where('kind', '=', kind.name)
            .where('dead_at', 'is', null)
            .where('cancelled', '=', sql.lit(0))
            .where('run_at', '<=', this.at())
            .where(({ eb, or }) => or([eb('lease_until', 'is', null), eb('lease_until', '<=', this.at())]))
            .orderBy('priority')
            .orderBy('run_at')
            .orderBy('id')
            .limit(most);
          // SQLite has one writer, so the rows cannot change between the statements.
          return this.isSqlite ? due : due.forUpdate().skipLocked();
        },
      )
      .updateTable('jobs')
      .set(({ eb }) => ({
        claimed_by: this.worker,
        lease_until: this.at(this.lease_ms),
        claims: eb('claims', '+', 1),
        attempts: eb('attempts', '+', counted),
        asked_again: 0,
      }))
      .where('id', 'in', (eb) => eb.selectFrom('due').select('due.id'))
      .returningAll()
      .execute();
  }

  /** Adds and claims a job for this worker as part of `transaction`, or claims the waiting job with the same `once`. Undefined while a worker runs that job, or it is being cancelled. */
  async begin(
    transaction: Kysely<JobTables>,
    { kind, payload, once }: { kind: JobKind<unknown>; payload: unknown; once: string },
  ): Promise<(Claim & Pick<JobRow, 'attempts'>) | undefined> {
    const counted = kind.attempts.counted === 'claimed' ? 1 : 0;
    const held = { claimed_by: this.worker, lease_until: this.at(this.lease_ms), asked_again: 0 };
    return await transaction
      .insertInto('jobs')
      .values({
        id: newId(),
        kind: kind.name,
        once,
        payload: JSON.stringify(kind.payload.parse(payload)),
        priority: kind.priority,
        run_at: this.at(),
        attempts: counted,
        ...held,
        claims: 1,
        cancelled: 0,
        last_error: null,
        created_at: this.at(),
        dead_at: null,
      })
      .onConflict((conflict) =>
        conflict
          .columns(['kind', 'once'])
          .where('once', 'is not', null)
          .where('dead_at', 'is', null)
          .doUpdateSet(({ eb }) => ({
            ...held,
            claims: eb('jobs.claims', '+', 1),
            attempts: eb('jobs.attempts', '+', counted),
          }))
          .where('jobs.cancelled', '=', sql.lit(0))
          .where(({ eb, or }) => or([eb('jobs.lease_until', 'is', null), eb('jobs.lease_until', '<=', this.at())])),
      )
      .returning(['id', 'claims', 'attempts'])
      .executeTakeFirst();
  }

  /** Ensures, as part of `transaction`, that the claim is still this worker's. @throws LeaseLost */
  async confirm(transaction: Kysely<JobTables>, claim: Claim): Promise<void> {
    const confirmed = await this.mine(transaction, claim)
      .update()
      .set({ lease_until: this.at(this.lease_ms) })
      .where('cancelled', '=', sql.lit(0))
      .returning('id')
      .executeTakeFirst();
    if (confirmed === undefined) throw new LeaseLost('Another server is doing this now.');
  }

  /** Postpones a job that could not run now and did not fail; an attempt that was `counted` is taken back. False if the claim is no longer this worker's. */
  async postpone(claim: Claim & { counted: boolean }, wait_ms: number): Promise<boolean> {
    const { update, remove } = this.mine(this.database, claim);
    const stopped = await remove().where('cancelled', '=', sql.lit(1)).returning('id').executeTakeFirst();
    if (stopped !== undefined) return true;
    const waits = await update()
      .set(({ eb }) => ({
        ...free,
        attempts: eb('attempts', '-', claim.counted ? 1 : 0),
        run_at: eb.case().when('asked_again', '=', 1).then(this.at()).else(this.at(wait_ms)).end(),
        asked_again: 0,
      }))
      .returning('id')
      .executeTakeFirst();
    return waits !== undefined;
  }

  /** Renews the leases of claims; returns those that this worker still has. */
  async renew(claims: readonly Claim[]): Promise<Pick<JobRow, 'id' | 'claims' | 'cancelled'>[]> {
    return await this.database
      .updateTable('jobs')
      .set({ lease_until: this.at(this.lease_ms) })
      .where('claimed_by', '=', this.worker)
      .where(
        'id',
        'in',
        claims.map(({ id }) => id),
      )
      .returning(['id', 'claims', 'cancelled'])
      .execute();
  }

  /** Ends a job as part of `transaction`: it is deleted, or planned again. @throws LeaseLost when it is no longer this worker's; the transaction must then be rolled back. */
  async finish(transaction: Kysely<JobTables>, claim: Claim, every_ms: number | undefined): Promise<'ended' | 'again'> {
    const { update, remove } = this.mine(transaction, claim);
    const ended = await remove()
      .where(({ eb, or }) =>
        every_ms === undefined
          ? or([eb('asked_again', '=', sql.lit(0)), eb('cancelled', '=', sql.lit(1))])
          : eb('cancelled', '=', sql.lit(1)),
      )
      .returning('id')
      .executeTakeFirst();
    if (ended !== undefined) return 'ended';
    const again = await update()
      .set(({ eb }) => ({
        ...free,
        attempts: 0,
        last_error: null,
        run_at: eb
          .case()
          .when('asked_again', '=', 1)
          .then(this.at())
          .else(this.at(every_ms ?? 0))
          .end(),
        asked_again: 0,
      }))
      .returning('id')
      .executeTakeFirst();
    if (again === undefined) throw new LeaseLost('Another server is doing this now.');
    return 'again';
  }

  /** Ends many non-recurring jobs; returns those that it did not end, because they were asked for again or are no longer this worker's. */
  async finishAll(claims: readonly Claim[]): Promise<Claim[]> {
    const ended = await this.database
      .deleteFrom('jobs')
      .where('claimed_by', '=', this.worker)
      .where(({ eb, or }) => or([eb('asked_again', '=', sql.lit(0)), eb('cancelled', '=', sql.lit(1))]))
      .where(({ eb, or, and }) => or(claims.map((one) => and([eb('id', '=', one.id), eb('claims', '=', one.claims)]))))
      .returning('id')
      .execute();
    const gone = new Set(ended.map(({ id }) => id));
    return claims.filter(({ id }) => !gone.has(id));
  }

  /** Records that a job failed: it is retried after a wait, or given up. With `afresh` its attempts start again. False if it is no longer this worker's. */
  async fail(claim: Claim, error: string, wait_ms: number | undefined, afresh = false): Promise<boolean> {
    const { update, remove } = this.mine(this.database, claim);
    const stopped = await remove().where('cancelled', '=', sql.lit(1)).returning('id').executeTakeFirst();
    if (stopped !== undefined) return true;
    const last_error = error.slice(0, ERROR_LENGTH_MAXIMUM);
    const noted = await update()
      .set(
        wait_ms === undefined
          ? { ...free, last_error, dead_at: this.at() }
          : { ...free, last_error, run_at: this.at(wait_ms), asked_again: 0, ...(afresh ? { attempts: 0 } : {}) },
      )
      .returning('id')
      .executeTakeFirst();
    return noted !== undefined;
  }

  /** Plans a recurring job again that was claimed too often without an outcome. */
  async skip(claim: Claim, every_ms: number): Promise<void> {
    await this.mine(this.database, claim)
      .update()
      .set({ ...free, attempts: 0, run_at: this.at(every_ms), last_error: 'Its servers stopped while working on it.' })
      .execute();
  }

  /** Counts an attempt before it is made, so that it counts even if this process dies. @throws LeaseLost when the job is no longer this worker's. */
  async countAttempt(claim: Claim): Promise<void> {
    const counted = await this.mine(this.database, claim)
      .update()
      .set(({ eb }) => ({ attempts: eb('attempts', '+', 1) }))
      .returning('id')
      .executeTakeFirst();
    if (counted === undefined) throw new LeaseLost('Another server is doing this now.');
  }

  /** Releases rows as if they had not been claimed. */
  async giveBack(claims: readonly (Claim & { counted: boolean })[]): Promise<void> {
    for (const claim of claims) {
      await this.mine(this.database, claim)
        .update()
        .set(({ eb }) => ({ ...free, attempts: eb('attempts', '-', claim.counted ? 1 : 0) }))
        .execute();
    }
  }

  /** Deletes waiting jobs and tells the workers of running ones to stop. Returns the ids of the latter. */
  async cancel(which: { id: string } | { kind: string; once: string }): Promise<{ removed: number; told: string[] }> {
    const removed = await this.database
      .deleteFrom('jobs')
      .where((eb) => eb.and(which))
      .where('dead_at', 'is', null)
      .where('claimed_by', 'is', null)
      .returning('id')
      .execute();
    const told = await this.database
      .updateTable('jobs')
      .set({ cancelled: 1, asked_again: 0 })
      .where((eb) => eb.and(which))
      .where('dead_at', 'is', null)
      .where('claimed_by', 'is not', null)
      .returning('id')
      .execute();
    return { removed: removed.length, told: told.map(({ id }) => id) };
  }

  /** Deletes expired rows, and corrects plans made with a wrong clock. Each server may do so at any time. */
  async tidy(recurring: readonly { name: string; every_ms: number }[]): Promise<void> {
    const over = this.database.deleteFrom('jobs');
    await over.where('cancelled', '=', sql.lit(1)).where('lease_until', '<=', this.at()).execute();
    await over.where('dead_at', '<=', this.at(-DEAD_KEPT_MS)).execute();
    await over
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('jobs')
          .select('id')
          .where('dead_at', 'is not', null)
          .orderBy('dead_at', 'desc')
          .limit(this.isSqlite ? -1 : DEAD_MAXIMUM * 10)
          .offset(DEAD_MAXIMUM),
      )
      .execute();
    await this.database
      .updateTable('jobs')
      .set({ lease_until: this.at(this.lease_ms) })
      .where('lease_until', '>', this.at(2 * this.lease_ms))
      .execute();
    for (const { name, every_ms } of recurring) {
      await this.database
        .updateTable('jobs')
        .set({ run_at: this.at(every_ms) })
        .where('kind', '=', name)
        .where('once', '=', RECURRING)
        .where('claimed_by', 'is', null)
        .where('run_at', '>', this.at(2 * every_ms))
        .execute();
    }
  }

  /** For each kind, the number of jobs that are due, running, and given up; and the time since when the oldest due one has been waiting. */
  async figures() {
    const now = Date.parse((await sql<{ now: string }>`select ${this.at()} as now`.execute(this.database)).rows[0]?.now ?? '');
    const rows = await this.database
      .selectFrom('jobs')
      .select(({ fn }) => [
        'kind',
        fn.countAll<number>().as('all'),
        fn.count<number>('dead_at').as('dead'),
        fn.sum<number>(sql`case when dead_at is null and lease_until > ${this.at()} then 1 else 0 end`).as('running'),
        fn
          .sum<number>(
            sql`case when dead_at is null and run_at <= ${this.at()} and (lease_until is null or lease_until <= ${this.at()}) then 1 else 0 end`,
          )
          .as('late'),
        sql<
          string | null
        >`min(case when dead_at is null and (lease_until is null or lease_until <= ${this.at()}) then run_at end)`.as('oldest'),
      ])
      .groupBy('kind')
      .execute();
    return rows.map(({ kind, all, dead, running, late, oldest }) => ({
      kind,
      waiting: Number(all) - Number(dead) - Number(running),
      running: Number(running),
      late: Number(late),
      late_ms: oldest === null ? 0 : Math.max(0, now - Date.parse(oldest)),
      dead: Number(dead),
    }));
  }

  async countDead(): Promise<number> {
    const row = await this.database
      .selectFrom('jobs')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('dead_at', 'is not', null)
      .executeTakeFirstOrThrow();
    return Number(row.count);
  }
}

export function createJobStore(options: JobStoreOptions): JobStore {
  return new JobStore(options);
}
