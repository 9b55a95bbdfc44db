import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawnBound } from '@palisade/scanner/test/bound-process';
import SqliteDatabase from 'better-sqlite3';
import { type Kysely, sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { migrations } from '#migrations/all.ts';
import { type DatabaseLocation, openDatabase } from '#platform/database.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import { migrate } from '#platform/migrations.ts';
import { EFFECT, type EffectTables, effectWorker } from '#test/job-worker.ts';
import { POSTGRES_PROGRAMS, startPostgres } from '#test/postgres.ts';
import { insertRow, updateRows } from '#test/rows.ts';
import { type Job, Postponed } from './job.ts';
import { type JobKind, jobKind } from './job-kind.ts';
import { type JobTables, LeaseLost } from './job-tables.ts';
import { createJobs, type JobNews, type Jobs } from './jobs.ts';

const HOUR_MS = 3_600_000;
const soon = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { timeout: 60_000, interval: 5 });
const plain = (changes: Partial<Omit<Parameters<typeof jobKind>[0], 'payload'>> = {}) =>
  jobKind({ name: 'plain', payload: z.object({ n: z.number() }), ...changes });
const noPayload = z.object({});

/** A database that can be away for a while. */
interface Place {
  location: DatabaseLocation;
  away(): Promise<() => Promise<void>>;
}

function inSqlite(): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-jobs-'));
  const sqlite = join(folder, 'palisade.sqlite');
  return Promise.resolve({
    location: { sqlite },
    away() {
      const other = new SqliteDatabase(sqlite);
      other.exec('begin immediate');
      return Promise.resolve(() => {
        other.close();
        return Promise.resolve();
      });
    },
  });
}

async function inPostgres(): Promise<Place> {
  const postgres = await startPostgres();
  afterAll(postgres.dispose);
  return {
    location: { postgres: postgres.url },
    async away() {
      await postgres.stop();
      return postgres.start;
    },
  };
}

if (POSTGRES_PROGRAMS === undefined) process.stdout.write('skipped: no PostgreSQL on this machine to keep jobs in\n');

describe.each([['SQLite', inSqlite] as const, ...(POSTGRES_PROGRAMS === undefined ? [] : [['PostgreSQL', inPostgres] as const])])(
  'jobs in %s',
  { timeout: 120_000 },
  async (_name, open) => {
    const { location, away } = await open();
    // SQLite that is away is waited for; PostgreSQL refuses at once, and a busy one may answer late.
    const timeout_ms = 'sqlite' in location ? 200 : 20_000;
    const database: Kysely<JobTables & EffectTables> = openDatabase(location, { timeout_ms });
    afterAll(() => database.destroy());
    await migrate(database, migrations);
    await sql`create table effects (job text not null, worker text not null)`.execute(database);
    const tables = database.$pickTables<'jobs'>();
    const rows = () => database.selectFrom('jobs').selectAll().orderBy('id').execute();
    const row = async (id: string) => (await rows()).find((one) => one.id === id);
    const effects = () => database.selectFrom('effects').selectAll().execute();
    const logged: { level: number; msg: string; job?: string }[] = [];
    const logger = pino({ level: 'warn' }, { write: (line: string) => void logged.push(JSON.parse(line)) });

    /** One of the servers; it finds jobs by looking, unless it hears of them. */
    function server(options: Partial<Parameters<typeof createJobs>[0]> = {}): Jobs {
      const jobs = createJobs({ database: tables, logger, look_ms: 20, ...options });
      onTestFinished(() => jobs.close());
      return jobs;
    }
    afterEach(async () => void (await database.deleteFrom('jobs').execute()));
    const gone = () => soon(async () => expect(await rows()).toEqual([]));
    /** A server with the work of a kind. */
    function working<Payload>(kind: JobKind<Payload>, work: (job: Job<Payload>) => void | Promise<void>): Jobs {
      const jobs = server();
      jobs.handle(kind, async (job) => await work(job));
      return jobs;
    }
    /** A kind whose jobs are held until they are let go, by the number in their payload. */
    function held(kind: JobKind<{ n: number }>) {
      const begun: Job<{ n: number }>[] = [];
      const waiting = new Map<number, { let: () => void; fail: (error: Error) => void }>();
      return {
        begun,
        letGo: (n: number) => waiting.get(n)?.let(),
        on(jobs: Jobs, heeds = true) {
          jobs.handle(kind, async (job) => {
            begun.push(job);
            const go = Promise.withResolvers<void>();
            waiting.set(job.payload.n, { let: go.resolve, fail: go.reject });
            if (heeds) job.signal.addEventListener('abort', () => go.reject(job.signal.reason));
            await go.promise;
          });
        },
      };
    }
    /** The messages between servers. */
    function between(): () => JobNews {
      const listeners: Parameters<JobNews['listen']>[0][] = [];
      return () => ({
        tell: (news) => void listeners.map((listener) => listener(news)),
        listen: (listener) => void listeners.push(listener),
      });
    }

    test('are done if and only if the transaction that asked for them is committed', async () => {
      const done: number[] = [];
      const kind = plain();
      const jobs = working(kind, ({ payload }) => void done.push(payload.n));
      await jobs.start();
      const asked = inTransaction(database, async (transaction) => {
        await jobs.enqueue(transaction.$pickTables<'jobs'>(), kind, { n: 1 });
        throw new Error('not after all');
      });
      await expect(asked).rejects.toThrow('not after all');
      await inTransaction(database, (transaction) => jobs.enqueue(transaction.$pickTables<'jobs'>(), kind, { n: 2 }));
      jobs.wake(kind);
      await gone();
      expect(done).toEqual([2]);
    });

    test('1,000 of them over 4 workers are done once each, and no row stays', async () => {
      const kind = plain({ at_once: 10 });
      const done: number[] = [];
      const by = new Set<number>();
      const workers = Array.from({ length: 4 }, (_, worker) => {
        return working(kind, ({ payload }) => {
          done.push(payload.n);
          by.add(worker);
        });
      });
      const all = Array.from({ length: 1_000 }, (_, n) => n);
      const payloads = all.map((n) => ({ payload: { n } }));
      await workers[0]?.enqueueAll(tables, kind, payloads);
      await Promise.all(workers.map((jobs) => jobs.start()));
      await soon(async () => expect(await rows()).toHaveLength(0));
      expect(done.toSorted((one, other) => one - other)).toEqual(all);
      expect(by.size).toBe(4);
    });

    test('of a worker that was killed are done by another once its lease is over, once', async () => {
      const lease_ms = 1_500;
      const path = fileURLToPath(new URL('../../../test/job-worker.ts', import.meta.url));
      const child = spawnBound(process.execPath, [path, JSON.stringify(location), 'killed', String(lease_ms)], {});
      const ended = once(child, 'exit');
      const asking = server();
      await asking.enqueueAll(tables, EFFECT, [{ payload: { held_by: 'killed' } }, { payload: { held_by: null } }]);
      await soon(async () => expect([await effects(), await rows()]).toMatchObject([[{}], [{ claims: 1 }]]));
      const [left] = await rows();
      const other = effectWorker({ location, name: 'other', lease_ms });
      onTestFinished(() => other.database.destroy());
      onTestFinished(() => other.jobs.close());
      await other.jobs.start();
      // It lives for longer than a lease, and has it all the while.
      await soon(async () => expect((await row(left?.id ?? ''))?.lease_until).not.toBe(left?.lease_until));
      expect(await effects()).toHaveLength(1);
      child.kill('SIGKILL');
      await ended;
      await gone();
      expect((await effects()).map(({ worker }) => worker)).toEqual(['killed', 'other']);
      await database.deleteFrom('effects').execute();
    });

    test('that were lost while they were worked on are not concluded, and their worker learns it', async () => {
      const kind = plain();
      // It looks once, so that the lost job is the other server's.
      const slow = server({ lease_ms: 300, look_ms: HOUR_MS });
      const outcome = Promise.withResolvers<unknown>();
      const learned = Promise.withResolvers<unknown>();
      slow.handle(kind, async (job) => {
        job.signal.addEventListener('abort', () => learned.resolve(job.signal.reason));
        await learned.promise;
        const work = inTransaction(database, async (transaction) => {
          await transaction.insertInto('effects').values({ job: job.id, worker: 'slow' }).execute();
          await job.conclude(transaction.$pickTables<'jobs'>());
        });
        await work.catch(outcome.resolve);
        await work;
      });
      await slow.enqueue(tables, kind, { n: 1 });
      await slow.start();
      await soon(async () => expect((await rows())[0]?.claimed_by).not.toBeNull());
      const quick = server();
      const quickly = held(kind);
      quickly.on(quick);
      await quick.start();
      await soon(async () => {
        // As if this worker had been stopped for a minute.
        await database.updateTable('jobs').set({ lease_until: '2000-01-01T00:00:00.000Z' }).where('claims', '=', 1).execute();
        expect(quickly.begun).toHaveLength(1);
      });
      expect(await learned.promise).toBeInstanceOf(LeaseLost);
      expect(await outcome.promise).toBeInstanceOf(LeaseLost);
      expect(await effects()).toEqual([]);
      expect(await rows()).toMatchObject([{ claims: 2 }]);
      quickly.letGo(1);
      await gone();
      await soon(async () => expect(await slow.figures()).toMatchObject([{ kind: 'plain', done: 0, failed: 0, lost: 1 }]));
      await soon(async () => expect(await quick.figures()).toMatchObject([{ kind: 'plain', done: 1 }]));
    });

    test('directly claimed jobs belong to their server until it ends, releases or loses them', async () => {
      const kind = plain();
      const [mine, other] = [server({ lease_ms: 1_500 }), server()];
      const taken = held(kind);
      taken.on(other);
      await mine.start();
      await other.start();
      // Rolled back with its parent row.
      const undone = inTransaction(database, async (transaction) => {
        await mine.begin(transaction.$pickTables<'jobs'>(), kind, { n: 0 }, 'file');
        throw new Error('undone');
      });
      await expect(undone).rejects.toThrow('undone');
      expect(await rows()).toEqual([]);

      const first = await mine.begin(tables, kind, { n: 1 }, 'file');
      first?.keep();
      expect(await other.begin(tables, kind, { n: 1 }, 'file')).toBeUndefined();
      await inTransaction(database, async (transaction) => await first?.confirm(transaction.$pickTables<'jobs'>()));
      // It is renewed for as long as it is held.
      const until = (await rows())[0]?.lease_until ?? '';
      await soon(async () => expect((await rows())[0]?.lease_until?.localeCompare(until)).toBe(1));
      await first?.letGo(0);
      await soon(() => expect(taken.begun).toHaveLength(1));
      taken.letGo(1);
      await gone();

      const second = await mine.begin(tables, kind, { n: 2 }, 'file');
      second?.keep();
      const lost = new Promise((resolve) => second?.signal.addEventListener('abort', () => resolve(second.signal.reason)));
      await soon(async () => {
        // As if this server had stood still for a minute.
        await database.updateTable('jobs').set({ lease_until: '2000-01-01T00:00:00.000Z' }).where('claims', '=', 1).execute();
        expect(taken.begun).toHaveLength(2);
      });
      expect(await lost).toBeInstanceOf(LeaseLost);
      await expect(second?.confirm(tables)).rejects.toBeInstanceOf(LeaseLost);
      // Its outcome is ignored.
      await second?.end();
      expect(await rows()).toMatchObject([{ claims: 2 }]);
      taken.letGo(2);
      await gone();

      const third = await mine.begin(tables, kind, { n: 3 }, 'file');
      third?.keep();
      await third?.end();
      expect(await rows()).toEqual([]);
    });

    test('that are put off are done later, without an attempt, and none is taken up by a server that is not ready', async () => {
      const kind = plain({ attempts: { most: 1 } });
      const done: [string, number][] = [];
      const [ready, waiting] = [server(), server()];
      let is_ready = false;
      let put_off = 0;
      ready.handle(kind, ({ attempts }) => {
        if (put_off < 3) {
          put_off += 1;
          throw new Postponed(20);
        }
        return Promise.resolve(void done.push(['ready', attempts]));
      });
      waiting.handle(
        kind,
        ({ attempts }) => Promise.resolve(void done.push(['waiting', attempts])),
        () => is_ready,
      );
      await waiting.start();
      await waiting.enqueue(tables, kind, { n: 1 });
      waiting.wake(kind);
      await ready.start();
      await gone();
      expect([put_off, done.map(([who]) => who)]).toEqual([3, ['ready']]);
      is_ready = true;
      ready.drain();
      await waiting.enqueue(tables, kind, { n: 2 });
      await soon(() => expect(done.map(([who]) => who)).toEqual(['ready', 'waiting']));
    });

    test('that are on their way to a draining server are given back, for others', async () => {
      const kind = plain({ attempts: { most: 1 } });
      const done: string[] = [];
      const other = working(kind, () => void done.push('other'));
      // A server that is drained before its look begins claims nothing; another one is drained then, until a job was on its way.
      for (let was_claimed = false; !was_claimed; ) {
        await database.deleteFrom('jobs').execute();
        // On a busy machine the job of an earlier turn may have been done.
        done.length = 0;
        const leaving = server({ look_ms: HOUR_MS });
        leaving.handle(kind, () => Promise.resolve(void done.push('leaving')));
        await leaving.start();
        await other.enqueue(tables, kind, { n: 1 });
        leaving.wake(kind);
        leaving.drain();
        await leaving.close();
        was_claimed = (await rows()).some(({ claims }) => claims === 1);
      }
      expect(await rows()).toMatchObject([{ claimed_by: null, claims: 1 }]);
      await other.start();
      await gone();
      expect(done).toEqual(['other']);
    });

    test('outlast a database that is away for a while, whether they were being done or waited', async () => {
      const kind = plain();
      const jobs = server();
      const work = held(kind);
      work.on(jobs);
      await jobs.enqueueAll(tables, kind, [{ payload: { n: 1 } }, { payload: { n: 2 } }]);
      await jobs.start();
      await soon(() => expect(work.begun).toHaveLength(1));
      const comeBack = await away();
      work.letGo(1);
      const refused = await jobs.enqueue(tables, kind, { n: 3 }).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(Error);
      await comeBack();
      await soon(() => expect(work.begun).toHaveLength(2));
      work.letGo(2);
      await gone();
      expect(work.begun.map(({ payload }) => payload.n)).toEqual([1, 2]);
    });

    test('that cannot be read, or always fail, are given up after their attempts, and administrators see it', async () => {
      logged.length = 0;
      const kind = plain({ attempts: { most: 3, first_ms: 20, most_ms: 40 } });
      const jobs = server();
      const tried: number[] = [];
      jobs.handle(kind, ({ payload, attempts }) => {
        if (payload.n === 2) return Promise.resolve();
        tried.push(attempts);
        throw new Error('It never works.');
      });
      await jobs.enqueueAll(tables, kind, [{ payload: { n: 1 } }, { payload: { n: 0 } }, { payload: { n: 2 } }]);
      const [, poison] = await rows();
      await updateRows(database, 'jobs', { id: poison?.id ?? '' }, { payload: '{"n":"not a number"}' });
      await jobs.start();
      await soon(async () => expect(await jobs.countDead()).toBe(2));
      expect(tried).toEqual([1, 2, 3]);
      const given_up = { attempts: 3, claimed_by: null };
      const dead = await rows();
      expect(dead).toMatchObject([{ ...given_up, last_error: 'It never works.' }, given_up]);
      expect(dead[1]?.last_error).toContain('expected number');
      expect(logged.filter(({ level }) => level === 50).map(({ msg }) => msg)).toContain(
        'a job failed too often and is given up',
      );
      const figures = { kind: 'plain', waiting: 0, running: 0, late: 0, dead: 2, done: 1, failed: 6 };
      expect(await jobs.figures()).toMatchObject([figures]);
    });

    test('that end every server that takes them up are given up, and a recurring one is left out once', async () => {
      const attempts = { most: 2 };
      const kind = plain({ attempts });
      const recurring = jobKind({ name: 'recurring', payload: noPayload, attempts, every_ms: HOUR_MS });
      const done: string[] = [];
      const jobs = working(kind, () => void done.push('plain'));
      jobs.handle(recurring, () => Promise.resolve(void done.push('recurring')));
      await jobs.enqueueAll(tables, kind, [{ payload: { n: 1 } }]);
      await jobs.enqueue(tables, recurring, {}, { once: 'recurring' });
      // As two servers leave them that were killed by them.
      await database.updateTable('jobs').set({ attempts: 2 }).execute();
      await jobs.start();
      await soon(async () => expect(await jobs.countDead()).toBe(1));
      await soon(async () => expect((await rows())[1]).toMatchObject({ attempts: 0, dead_at: null, claimed_by: null }));
      expect(done).toEqual([]);
      expect(Date.parse((await rows())[1]?.run_at ?? '')).toBeGreaterThan(Date.now() + HOUR_MS / 2);
    });

    test('count an attempt only on request, if their kind says so', async () => {
      const kind = plain({ attempts: { counted: 'told', first_ms: 20, most: 2 } });
      const jobs = server();
      const seen: [string, number][] = [];
      jobs.handle(kind, async (job) => {
        const is_first = seen.length === 0;
        seen.push(['begun', job.attempts]);
        if (is_first) throw new Error('It has read nothing yet.');
        await job.countAttempt();
        seen.push(['counted', (await row(job.id))?.attempts ?? 0]);
        throw new Error('It could not be read.');
      });
      await jobs.enqueue(tables, kind, { n: 1 });
      await jobs.start();
      await soon(async () => expect(await jobs.countDead()).toBe(1));
      expect(seen.map(([what, attempts]) => `${what} ${attempts}`).join()).toBe('begun 0,begun 0,counted 1,begun 1,counted 2');
    });

    test('of a kind that a newer version knows are left alone', async () => {
      const kind = plain();
      const done: number[] = [];
      const jobs = working(kind, ({ payload }) => void done.push(payload.n));
      const newer = jobKind({ name: 'of-tomorrow', payload: z.object({ what: z.string() }) });
      await jobs.enqueue(tables, newer, { what: 'nobody knows' });
      const before = await rows();
      await jobs.start();
      await jobs.enqueue(tables, kind, { n: 1 });
      await soon(() => expect(done).toEqual([1]));
      await soon(async () => expect(await rows()).toEqual(before));
      const run_at = new Date(Date.now() - HOUR_MS).toISOString();
      await database.updateTable('jobs').set({ run_at }).execute();
      const figures = (await jobs.figures()).find(({ kind: of }) => of === 'of-tomorrow');
      expect(figures).toMatchObject({ waiting: 1, running: 0, late: 1 });
      expect(figures?.late_ms).toBeGreaterThan(HOUR_MS / 2);
    });

    test('are done in the order of their priority, and not before their time', async () => {
      const kind = plain();
      const done: number[] = [];
      const jobs = working(kind, ({ payload }) => void done.push(payload.n));
      await jobs.enqueueAll(tables, kind, [
        { payload: { n: 3 }, priority: 2 },
        { payload: { n: 2 } },
        { payload: { n: 1 }, priority: 0 },
        { payload: { n: 0 }, priority: 0, delay_ms: HOUR_MS },
      ]);
      await jobs.start();
      await soon(() => expect(done).toEqual([1, 2, 3]));
      await soon(async () => expect(await rows()).toHaveLength(1));
      const [late] = await rows();
      expect(Date.parse(late?.run_at ?? '')).toBeGreaterThan(Date.now() + HOUR_MS / 2);
      await database.updateTable('jobs').set({ run_at: '2000-01-01T00:00:00.000Z' }).execute();
      await soon(() => expect(done).toEqual([1, 2, 3, 0]));
    });

    test("of one kind do not delay another's, and run no more at once than their kind says", async () => {
      const many = plain({ at_once: 3 });
      const other = jobKind({ name: 'other', payload: noPayload });
      const jobs = server();
      const work = held(many);
      work.on(jobs);
      let others = 0;
      jobs.handle(other, async () => {
        others += 1;
      });
      const payloads = Array.from({ length: 50 }, (_, n) => ({ payload: { n } }));
      await jobs.enqueueAll(tables, many, payloads);
      await jobs.start();
      await soon(() => expect(work.begun).toHaveLength(3));
      await jobs.enqueueAll(tables, other, [{ payload: {} }, { payload: {} }]);
      jobs.wake(other);
      await soon(() => expect(others).toBe(2));
      expect(work.begun).toHaveLength(3);
      expect(await jobs.figures()).toContainEqual(expect.objectContaining({ kind: 'plain', running: 3, waiting: 47, late: 47 }));
      work.letGo(0);
      await soon(() => expect(work.begun).toHaveLength(4));
    });

    test('that recur exist once however many servers start, and are planned anew as they end', async () => {
      const kind = jobKind({ name: 'recurring', payload: noPayload, every_ms: HOUR_MS });
      const done: number[] = [];
      const servers = [server(), server(), server()];
      for (const [index, jobs] of servers.entries()) jobs.handle(kind, () => Promise.resolve(void done.push(index)));
      await Promise.all(servers.map((jobs) => jobs.start()));
      await soon(async () => expect(await rows()).toMatchObject([{ once: 'recurring', claimed_by: null, claims: 1 }]));
      expect(done).toHaveLength(1);
      const [planned] = await rows();
      expect(Date.parse(planned?.run_at ?? '')).toBeGreaterThan(Date.now() + HOUR_MS / 2);
      for (const jobs of servers) await jobs.close();
      // One that wants it more often does not wait for the hour, nor for its next look.
      await database.updateTable('jobs').set({ run_at: '2000-01-01T00:00:00.000Z' }).execute();
      const sooner = server({ every_ms: { recurring: 3 }, look_ms: HOUR_MS });
      sooner.handle(kind, () => Promise.resolve(void done.push(3)));
      await sooner.start();
      await soon(() => expect(done.filter((index) => index === 3).length).toBeGreaterThan(100));
      expect(await rows()).toHaveLength(1);
    });

    test('that exist once are brought forward when they are asked for, and done again if they were being done', async () => {
      const kind = plain();
      const jobs = server();
      const work = held(kind);
      work.on(jobs);
      await jobs.start();
      await jobs.enqueue(tables, kind, { n: 1 }, { once: 'this', delay_ms: HOUR_MS });
      await jobs.enqueue(tables, kind, { n: 2 }, { once: 'this' });
      await soon(() => expect(work.begun.map(({ payload }) => payload.n)).toEqual([2]));
      for (const n of [3, 4]) await jobs.enqueue(tables, kind, { n }, { once: 'this' });
      expect(await rows()).toHaveLength(1);
      work.letGo(2);
      await soon(() => expect(work.begun.map(({ payload }) => payload.n)).toEqual([2, 4]));
      work.letGo(4);
      await gone();
    });

    test('can be cancelled while they wait and while they are done, by another server, too', async () => {
      const kind = plain();
      const news = between();
      const jobs = server({ news: news() });
      const other = server({ news: news() });
      const work = held(kind);
      work.on(jobs);
      await jobs.start();
      await jobs.enqueue(tables, kind, { n: 1 }, { once: 'one' });
      await soon(() => expect(work.begun).toHaveLength(1));
      await jobs.enqueue(tables, kind, { n: 2 }, { once: 'two' });
      expect(await other.cancel({ kind: 'plain', once: 'two' })).toBe(true);
      expect(await rows()).toHaveLength(1);
      // Long before the next renewal, at 20 s.
      expect(await other.cancel({ kind: 'plain', once: 'one' })).toBe(true);
      await gone();
      expect(work.begun[0]?.signal.aborted).toBe(true);
      expect(work.begun).toHaveLength(1);
      expect(await other.cancel({ kind: 'plain', once: 'one' })).toBe(false);
    });

    test('are given back by a server that stops, at once and without an attempt', async () => {
      const kind = plain();
      const news = between();
      const stopping = server({ news: news() });
      const first = held(kind);
      first.on(stopping);
      await stopping.start();
      await stopping.enqueue(tables, kind, { n: 1 });
      await soon(() => expect(first.begun).toHaveLength(1));
      const other = server({ news: news(), look_ms: HOUR_MS });
      const second = held(kind);
      second.on(other);
      await other.start();
      stopping.drain();
      expect(first.begun[0]?.signal.aborted).toBe(false);
      await stopping.close();
      await soon(() => expect(second.begun).toHaveLength(1));
      expect(second.begun[0]?.attempts).toBe(1);
      second.letGo(1);
      await gone();
    });

    test('go by the clock of the database, and outlast that one’s jumps', async () => {
      const kind = plain();
      const recurring = jobKind({ name: 'recurring', payload: noPayload, every_ms: HOUR_MS });
      let done = 0;
      // The database's clock was years ahead when these were planned and claimed, and is right again.
      const [now, ahead] = ['2026-01-01T00:00:00.000Z', '2090-01-01T00:00:00.000Z'];
      const row = { payload: '{"n":1}', priority: 1, attempts: 1, claims: 1, asked_again: 0, cancelled: 0, created_at: now };
      const open = { ...row, last_error: null, dead_at: null };
      await insertRow(database, 'jobs', [
        { ...open, id: 'jumped-0', kind: 'recurring', once: 'recurring', run_at: ahead, claimed_by: null, lease_until: null },
        { ...open, id: 'jumped-1', kind: 'plain', once: null, run_at: now, claimed_by: 'gone', lease_until: ahead },
      ]);
      const jobs = server({ lease_ms: 200 });
      jobs.handle(recurring, () => Promise.resolve());
      jobs.handle(kind, async () => {
        done += 1;
      });
      await jobs.start();
      await soon(() => expect(done).toBe(1));
      const [planned] = await rows();
      expect(planned?.id).toBe('jumped-0');
      expect(Date.parse(planned?.run_at ?? '')).toBeLessThan(Date.now() + 2 * HOUR_MS);
      // A server whose own clock is wrong asks and claims like any other.
      vi.useFakeTimers({ now: 0, toFake: ['Date'] });
      onTestFinished(() => void vi.useRealTimers());
      await jobs.enqueue(tables, kind, { n: 2 });
      await soon(() => expect(done).toBe(2));
    });

    test('that were given up stay to be seen for 30 days', async () => {
      const kind = plain({ attempts: { most: 1 } });
      const jobs = working(kind, () => Promise.reject(new Error('no')));
      await jobs.enqueueAll(tables, kind, [{ payload: { n: 1 } }, { payload: { n: 2 } }]);
      await jobs.start();
      await soon(async () => expect(await jobs.countDead()).toBe(2));
      const [old] = await rows();
      const before = new Date(Date.now() - 31 * 24 * HOUR_MS).toISOString();
      await updateRows(database, 'jobs', { id: old?.id ?? '' }, { dead_at: before });
      await server().start();
      await soon(async () => expect(await jobs.countDead()).toBe(1));
    });
  },
);
