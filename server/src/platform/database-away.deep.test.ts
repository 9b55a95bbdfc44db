import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { currentUser, login, recoverUsername, register } from '@palisade/contract/auth';
import { sendMessage } from '@palisade/contract/chat';
import { listMessages } from '@palisade/contract/chat-read';
import { listRules } from '@palisade/contract/firewall';
import { readReadiness } from '@palisade/contract/platform';
import { needing } from '@palisade/scanner/test/needs';
import SqliteDatabase from 'better-sqlite3';
import { sql } from 'kysely';
import { Client } from 'pg';
import { pino } from 'pino';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { problemOf, startScanningApp, type TestApp } from '#test/harness.ts';
import { POSTGRES_PROGRAMS, startPostgres } from '#test/postgres.ts';
import { startRelay } from '#test/relay.ts';
import { startSmtpServer } from '#test/smtp-server.ts';
import { openDatabase } from './database.ts';
import type { DatabaseTrouble } from './database-errors.ts';
import { newWait, waitingAs } from './database-patience.ts';

/** Here the caller waits 1 s for it. */
const ANSWERED_MS = 5_000;
const PATIENCE = { DATABASE_TIMEOUT: '1', DATABASE_POOL: '3' };
const PASSWORD = 'a long enough password';

interface Answered {
  status: number;
  took_ms: number;
}

/** Many requests of different kinds at once, and their answers, each as the API promises it. */
async function askAll({ call }: TestApp, token: string): Promise<Answered[]> {
  const email = 'maria@example.com';
  const requests = [
    () => call(readReadiness),
    () => call(login, { body: { email, password: PASSWORD } }),
    () => call(register, { body: { email: 'new@example.com', username: 'new', password: PASSWORD } }),
    () => call(currentUser, { token }),
    () => call(listRules, { token }),
    () => call(listMessages, { token }),
    () => call(sendMessage, { token, body: { message: 'Is anybody there?', sender: 'user' } }),
  ];
  return await Promise.all(
    [...requests, ...requests].map(async (request) => {
      const began = performance.now();
      const answer = await request();
      const took_ms = performance.now() - began;
      if (!answer.ok && answer.status === 503) {
        expect(answer.problem.detail).toMatch(/database/);
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      }
      return { status: answer.status, took_ms };
    }),
  );
}

async function expectRefused(app: TestApp, token: string): Promise<void> {
  const answers = await askAll(app, token);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 503));
  expect(Math.max(...answers.map(({ took_ms }) => took_ms))).toBeLessThan(ANSWERED_MS);
}

/** Expects the server to recover without a restart. */
async function expectServed({ call }: TestApp, token: string): Promise<void> {
  const statuses = async () => [
    (await call(readReadiness)).status,
    (await call(currentUser, { token })).status,
    (await call(listMessages, { token })).status,
  ];
  await expect.poll(statuses, { timeout: 20_000 }).toEqual([200, 200, 200]);
}

needing('PostgreSQL', POSTGRES_PROGRAMS !== undefined).describe('a PostgreSQL server', async () => {
  if (POSTGRES_PROGRAMS === undefined) {
    process.stdout.write('skipped: no PostgreSQL server on this machine, so that none can be taken away\n');
    return;
  }
  const postgres = await startPostgres();
  afterAll(postgres.dispose);
  const { port } = new URL(postgres.url);

  // A server over a network that can fail, with a person signed in.
  const relay = await startRelay(Number(port));
  const url = new URL(postgres.url);
  url.port = String(relay.port);
  const lines: { level: number; msg: string }[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const smtp = await startSmtpServer();
  let clock = Date.now();
  const app = await startScanningApp({
    environment: { ...PATIENCE, RESET_DELIVERY: 'email', SMTP_URL: smtp.url },
    surroundings: {
      database: { postgres: url.href },
      logger,
      now: () => clock,
      mail_look_ms: 20,
      every_ms: { retention: 50, detection: 50, 'known-browsers': 50, digests: 50 },
      volumes_fold_ms: 20,
    },
  });
  const { token } = await app.signIn('maria');
  /** Answers that are kept in memory are no longer believed. */
  const forget = () => {
    clock += 10_000;
  };

  // proves: attack-C.18-1
  test('that stops is answered for with 503, logged once in spite of many queries, and used again when it is back', async () => {
    await postgres.stop();
    forget();
    await expectRefused(app, token);
    forget();
    await expectRefused(app, token);
    // Work with an interval of 50 ms has been tried many times by now.
    const errors = () => lines.filter(({ level }) => level >= 50).map(({ msg }) => msg);
    expect(errors()).toEqual(['the database cannot be used: what needs it is refused with 503 until it can']);
    await postgres.start();
    await expectServed(app, token);
    expect(lines.map(({ msg }) => msg)).toContain('the database answers again');
    expect(errors()).toEqual(['the database cannot be used: what needs it is refused with 503 until it can']);
    expect((await app.call(recoverUsername, { body: { email: 'maria@example.com' } })).status).toBe(200);
    await expect.poll(() => smtp.received.length, { timeout: 20_000 }).toBe(1);
  });

  // proves: attack-C.18-1
  test('a hanging database is answered for in time, and queries meanwhile do not run later', async () => {
    postgres.freeze();
    try {
      forget();
      await expectRefused(app, token);
    } finally {
      postgres.thaw();
    }
    await expectServed(app, token);
    const known = await app.app.database.selectFrom('users').select('email').execute();
    expect(known.map(({ email }) => email)).not.toContain('new@example.com');
  });

  test('behind a network that swallows everything is answered for in time, and reached anew when the network is mended', async () => {
    await expectServed(app, token);
    relay.swallow();
    forget();
    await expectRefused(app, token);
    relay.mend();
    await expectServed(app, token);
  });

  test('that is slow, or has no connection left, is answered for in time, and no query stays in it', async () => {
    const other = new Client({ connectionString: postgres.url });
    await other.connect();
    onTestFinished(() => other.end());
    await other.query(
      'begin; lock table users, installation, conversations, chat_messages, firewall_rules in access exclusive mode',
    );
    forget();
    await expectRefused(app, token);
    const waiting = async () =>
      (await other.query("select 1 from pg_stat_activity where datname = 'postgres' and wait_event_type = 'Lock'")).rows.length;
    await expect.poll(waiting, { timeout: 20_000 }).toBe(0);
    await other.query('rollback');
    await expectServed(app, token);
  });

  test('makes a request wait no longer in all than it may for one answer', async () => {
    const database = openDatabase({ postgres: postgres.url }, { timeout_ms: 1_000, connections: 3 });
    onTestFinished(() => database.destroy());
    const nap = (seconds: number) => sql`select pg_sleep(${sql.lit(seconds)})`.execute(database);
    const wait = newWait();
    await waitingAs(wait, () => nap(0.6));
    await expect(waitingAs(wait, () => nap(0.6))).rejects.toMatchObject({ trouble: 'away' } satisfies Partial<DatabaseTrouble>);
    await waitingAs(newWait(), () => Promise.all([nap(0.6), nap(0.6), nap(0.6)]));
    // A background job may wait ten times as long as a request.
    await nap(1.2);
  });

  // proves: attack-C.18-3
  test('has as many connections as DATABASE_POOL says, and is waited for as long as DATABASE_TIMEOUT says', async () => {
    const other = new Client({ connectionString: postgres.url });
    await other.connect();
    onTestFinished(() => other.end());
    await other.query('create database of_settings');
    const place = new URL(postgres.url);
    place.pathname = '/of_settings';
    const locker = new Client({ connectionString: place.href });
    await locker.connect();
    onTestFinished(() => locker.end());
    const start = async (DATABASE_POOL: string, DATABASE_TIMEOUT: string) => {
      const named = new URL(place);
      named.searchParams.set('application_name', `pool-${DATABASE_POOL}`);
      // Servers on one database have their keys in common.
      const keys = Object.fromEntries(
        ['QUARANTINE', 'TWO_FACTOR', 'AUDIT'].map((name) => [`${name}_KEY_FILE`, join(folder, `${name}.key`)]),
      );
      const {
        app: started,
        call,
        signIn,
      } = await startScanningApp({
        environment: { DATABASE_POOL, DATABASE_TIMEOUT, ...keys },
        surroundings: { database: { postgres: named.href }, shares_database: true },
      });
      const session = await signIn();
      return { started, call, token: session.token, name: `pool-${DATABASE_POOL}` };
    };
    const folder = mkdtempSync(join(tmpdir(), 'palisade-pool-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const [small, large] = [await start('2', '2'), await start('5', '4')];
    await locker.query('begin; lock table conversations in access exclusive mode');
    let order = '';
    const ask = async ({ call, token, name }: typeof small) => {
      const began = performance.now();
      const answers = await Promise.all(Array.from({ length: 12 }, () => call(listMessages, { token })));
      order += ` ${name}`;
      return { took_ms: performance.now() - began, statuses: new Set(answers.map(({ status }) => status)) };
    };
    const most = new Map<string, number>();
    const began = performance.now();
    const asked = Promise.all([ask(small), ask(large)]);
    // Before the first of them gives up: a connection that did not answer stands beside the one in its place until the server has let it go.
    while (performance.now() - began < 1_500) {
      const { rows } = await other.query<{ name: string; count: number }>(
        "select application_name as name, count(*)::int as count from pg_stat_activity where application_name like 'pool-%' group by 1",
      );
      if (performance.now() - began > 1_900) break;
      for (const { name, count } of rows) most.set(name, Math.max(most.get(name) ?? 0, count));
    }
    const [short, long] = await asked;
    expect(Object.fromEntries(most)).toEqual({ 'pool-2': 2, 'pool-5': 5 });
    expect([short.statuses, long.statuses]).toEqual([new Set([503]), new Set([503])]);
    expect(order).toBe(' pool-2 pool-5');
    expect(short.took_ms).toBeGreaterThan(1_900);
    expect(long.took_ms).toBeGreaterThan(3_900);
    await locker.query('rollback');
    for (const { call, token } of [small, large])
      await expect.poll(async () => (await call(listMessages, { token })).status, { timeout: 20_000 }).toBe(200);
  });
});

describe('an SQLite file that another program has locked', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-locked-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'palisade.sqlite');
  const lines: string[] = [];
  const logger = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
  const app = await startScanningApp({ environment: PATIENCE, surroundings: { database: { sqlite: path }, logger } });
  const { token } = await app.signIn('maria');

  test('is answered for with 503 in time, and is written again when it is free', async () => {
    const other = new SqliteDatabase(path);
    onTestFinished(() => void other.close());
    other.exec('begin immediate');
    const writes = Array.from({ length: 8 }, async () => {
      const began = performance.now();
      const answer = await app.call(sendMessage, { token, body: { message: 'Is anybody there?', sender: 'user' } });
      return { status: answer.status, in_time: performance.now() - began < ANSWERED_MS };
    });
    const ready = app.call(readReadiness);
    expect(await Promise.all(writes)).toEqual(writes.map(() => ({ status: 503, in_time: true })));
    expect(problemOf(await ready)).toMatchObject({ status: 503, code: 'unavailable' });
    expect(lines.filter((line) => line.includes('the database cannot be used'))).toHaveLength(1);
    other.exec('rollback');
    await expectServed(app, token);
    expect((await app.call(sendMessage, { token, body: { message: 'Here again.', sender: 'user' } })).ok).toBe(true);
  });
});
