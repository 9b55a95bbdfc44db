import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from './database.ts';

interface Tables {
  things: { id: string; owner: string; count: number; weight: number | null; bytes: Buffer | null; open: number };
}

const folder = mkdtempSync(join(tmpdir(), 'palisade-statements-'));

describe.each([
  ['in memory', ':memory:'],
  ['in a file', join(folder, 'one.sqlite')],
])('statements of a database %s', (_, location) => {
  let database: Kysely<Tables>;

  beforeAll(async () => {
    database = openDatabase<Tables>({ sqlite: location });
    await sql`create table things (id text primary key, owner text not null, count integer not null, weight real, bytes blob, open integer not null)`.execute(
      database,
    );
    await sql`create index things_owner on things (owner, id)`.execute(database);
    await sql`create index things_open on things (count) where open = 1`.execute(database);
    const rows = [
      { id: 'a', owner: '1', count: 1, weight: 1.5, bytes: Buffer.from([0, 1, 255]), open: 1 },
      { id: 'b', owner: '1', count: 0, weight: null, bytes: null, open: 0 },
      { id: 'c', owner: '+2', count: -7, weight: 0.1, bytes: Buffer.alloc(0), open: 1 },
    ];
    for (const row of rows) await database.insertInto('things').values(row).execute();
  });
  afterAll(() => database.destroy());

  const things = () => database.selectFrom('things').selectAll().orderBy('id');
  const plan = async (query: { compile(): { sql: string; parameters: readonly unknown[] } }) => {
    const { sql: text } = query.compile();
    const { rows } = await sql<{ detail: string }>`explain query plan ${sql.raw(text.replaceAll('+?', "+'1'"))}`.execute(
      database,
    );
    return rows.map(({ detail }) => detail).join('\n');
  };

  it('write values so that SQLite does not look at them when it makes its plan', () => {
    expect(things().where('owner', '=', 'x').limit(5).compile().sql).toBe(
      'select * from "things" where "owner" = +? order by "id" limit +?',
    );
  });

  it('give values back as they came, of each type', async () => {
    expect(await things().execute()).toEqual([
      { id: 'a', owner: '1', count: 1, weight: 1.5, bytes: Buffer.from([0, 1, 255]), open: 1 },
      { id: 'b', owner: '1', count: 0, weight: null, bytes: null, open: 0 },
      { id: 'c', owner: '+2', count: -7, weight: 0.1, bytes: Buffer.alloc(0), open: 1 },
    ]);
  });

  it.each([
    ['a text that is a number', () => things().where('owner', '=', '1'), ['a', 'b']],
    ['a text with a sign', () => things().where('owner', '=', '+2'), ['c']],
    ['a number', () => things().where('count', '<', 0), ['c']],
    ['a fraction', () => things().where('weight', '=', 0.1), ['c']],
    ['bytes', () => things().where('bytes', '=', Buffer.from([0, 1, 255])), ['a']],
    ['one of several', () => things().where('id', 'in', ['a', 'c', 'x']), ['a', 'c']],
    ['a beginning', () => things().where('owner', 'like', '+%'), ['c']],
    ['a limit and an offset', () => things().limit(1).offset(1), ['b']],
    ['nothing', () => things().where('weight', 'is', null), ['b']],
  ])('find by %s what a bare value finds', async (_name, query, ids) => {
    expect((await query().execute()).map(({ id }) => id)).toEqual(ids);
    // Again, from the statement that is kept by now.
    expect((await query().execute()).map(({ id }) => id)).toEqual(ids);
  });

  it('use indexes, and partial ones where their condition is written out', async () => {
    expect(await plan(things().where('owner', '=', '1'))).toContain('things_owner (owner=?)');
    const counted = things().where('count', '=', 1);
    expect(await plan(counted.where('open', '=', sql.lit(1)))).toContain('things_open (count=?)');
    expect(await plan(counted.where('open', '=', 1))).not.toContain('things_open');
  });
});
