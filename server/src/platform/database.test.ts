import { listSessions } from '@palisade/contract/sessions';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { isPostgres, startListeningApp } from '#test/harness.ts';

// Over a port, as pages ask: the pool hears of broken connections before the next question arrives.
const { app, call, signIn } = await startListeningApp();
if (!isPostgres()) process.stdout.write('skipped: only a database of its own process can break connections off\n');

test.runIf(isPostgres())('a database server that breaks off every idle connection ends nothing', async () => {
  const { database } = app;
  const { token } = await signIn();
  const answers = () => Promise.all(Array.from({ length: 5 }, async () => (await call(listSessions, { token })).status));
  expect(await answers()).toEqual([200, 200, 200, 200, 200]);
  const others = sql`from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
  const broken = await sql`select pg_terminate_backend(pid) ${others}`.execute(database);
  expect(broken.rows.length).toBeGreaterThan(0);
  await expect.poll(async () => (await sql`select pid ${others}`.execute(database)).rows).toEqual([]);
  expect(await answers()).toEqual([200, 200, 200, 200, 200]);
});
