import SqliteDatabase from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { BREAKING_MIGRATIONS, migrations } from '#migrations/all.ts';

/**
 * Removals that the version before no longer used: the migration, the removal in the words of the test below, and the migration of the version that last used it. That is an earlier one: expand, then contract in the next version.
 */
const CONTRACTED: readonly { migration: string; takes: string; unused_since: string }[] = [];

const columnSchema = z.object({ name: z.string(), type: z.string(), notnull: z.number(), dflt_value: z.string().nullable() });
type Shape = Map<string, { columns: Map<string, z.infer<typeof columnSchema>>; unique: Map<string, string[]> }>;

function shapeOf(database: SqliteDatabase.Database): Shape {
  const names = z.array(z.string()).parse(database.prepare("select name from sqlite_master where type = 'table'").pluck().all());
  return new Map(
    names.map((name) => {
      const columns = z.array(columnSchema).parse(database.prepare('select * from pragma_table_info(?)').all(name));
      const indexes = z
        .array(z.string())
        .parse(database.prepare('select name from pragma_index_list(?) where "unique" = 1').pluck().all(name));
      const columnsOf = (index: string) =>
        z
          .array(z.string().nullable())
          .parse(database.prepare('select name from pragma_index_info(?)').pluck().all(index))
          .map(String);
      return [
        name,
        {
          columns: new Map(columns.map((column) => [column.name, column])),
          unique: new Map(indexes.map((index) => [columnsOf(index).join(', '), columnsOf(index)])),
        },
      ];
    }),
  );
}

/** Breaks for the code of the version before, as far as a schema shows them: each as a line. */
function taken(before: Shape, after: Shape): string[] {
  return [...before].flatMap(([table, was]) => {
    const is = after.get(table);
    if (is === undefined) return [`table ${table} is gone`];
    const columns = [...was.columns].flatMap(([name, column]) => {
      const now = is.columns.get(name);
      if (now === undefined) return [`${table}.${name} is gone`];
      return [
        ...(now.type === column.type ? [] : [`${table}.${name} has another type`]),
        ...(now.notnull > column.notnull ? [`${table}.${name} must not be null any more`] : []),
      ];
    });
    const asked = [...is.columns.values()].filter(
      ({ name, notnull, dflt_value }) => !was.columns.has(name) && notnull === 1 && dflt_value === null,
    );
    // One over columns that there were: rows that the version before writes may break it.
    const unique = [...is.unique].filter(([name, of]) => !was.unique.has(name) && of.every((column) => was.columns.has(column)));
    return [
      ...columns,
      ...asked.map(({ name }) => `${table}.${name} is asked for`),
      ...unique.map(([name]) => `${table} (${name}) must be unique`),
    ];
  });
}

/** Each migration with the columns and tables that it removes. */
async function allTaken(): Promise<[string, string][]> {
  const file = new SqliteDatabase(':memory:');
  const database = new Kysely<unknown>({ dialect: new SqliteDialect({ database: file }) });
  onTestFinished(() => database.destroy());
  const found: [string, string][] = [];
  for (const name of Object.keys(migrations).sort()) {
    const before = shapeOf(file);
    await migrations[name]?.up(database);
    found.push(...taken(before, shapeOf(file)).map((line): [string, string] => [name, line]));
  }
  return found;
}

test('a migration removes nothing that the version before still uses', async () => {
  expect(await allTaken()).toEqual(CONTRACTED.map(({ migration, takes }) => [migration, takes]));
  for (const { migration, unused_since } of CONTRACTED) {
    expect(Object.keys(migrations)).toContain(unused_since);
    expect(unused_since < migration).toBe(true);
  }
  expect([...BREAKING_MIGRATIONS].filter((name) => !(name in migrations))).toEqual([]);
});

test.each([
  ['drop table reset_tokens', ['table reset_tokens is gone']],
  ['alter table alerts drop column blocked', ['alerts.blocked is gone']],
  ["alter table alerts add column rule text not null default ''", []],
  ['create table devices (id text primary key)', []],
  ['create unique index alerts_once on alerts (user_id)', ['alerts (user_id) must be unique']],
  [
    'drop table alerts; create table alerts (id text primary key, user_id text not null, blocked text, seq integer not null)',
    ['alerts.user_id must not be null any more', 'alerts.blocked has another type', 'alerts.seq is asked for'],
  ],
])('%s breaks the version before in %j', (change, expected) => {
  const file = new SqliteDatabase(':memory:');
  onTestFinished(() => void file.close());
  file.exec('create table reset_tokens (id text primary key)');
  file.exec('create table alerts (id text primary key, user_id text, blocked integer not null)');
  const before = shapeOf(file);
  file.exec(change);
  expect(taken(before, shapeOf(file))).toEqual(expected);
});
