import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Kysely, sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from './database.ts';
import { inTransaction } from './in-transaction.ts';

/** A loop of microtasks alone has one turn, however long it takes. */
const WANTED_TURNS = 4;
const MOST_QUESTIONS = 2000;

/** Asks until the event loop had `WANTED_TURNS`, and answers the number of turns that it had. */
async function turnsDuring(ask: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let is_over = false;
  const count = () => {
    turns += 1;
    if (!is_over) setImmediate(count);
  };
  setImmediate(count);
  for (let asked = 0; turns < WANTED_TURNS && asked < MOST_QUESTIONS; asked += 1) await ask();
  is_over = true;
  return turns;
}

const question = (database: Kysely<unknown>) => () =>
  sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000) select max(i) from n`.execute(database);

test.each<[string, (database: Kysely<unknown>) => Promise<number>]>([
  ['one loop', (database) => turnsDuring(question(database))],
  ['several at once', (database) => turnsDuring(() => Promise.all([1, 2, 3, 4].map(question(database))))],
  ['a transaction', (database) => inTransaction(database, (transaction) => turnsDuring(question(transaction)))],
])('awaited queries give way to the event loop: %s', async (_, work) => {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-turns-'));
  const database = openDatabase<unknown>({ sqlite: join(folder, 'turns.sqlite') });
  onTestFinished(async () => {
    await database.destroy();
    rmSync(folder, { recursive: true });
  });
  expect(await work(database)).toBe(WANTED_TURNS);
});
