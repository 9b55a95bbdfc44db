import { copyFileSync, existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { describe, expect, onTestFinished, test } from 'vitest';
import { migrations } from '#migrations/all.ts';
import { freshDatabase } from '#test/harness.ts';
import { ownDatabase } from '#test/own-database.ts';
import { openDatabase } from './database.ts';
import { migrate } from './migrations.ts';
import { copyBeforeUpgrade, removeUpgradeCopy, upgradeCopyOf } from './upgrade-copy.ts';

const tableOf = (name: string): Migration => ({
  up: (database: Kysely<unknown>) => database.schema.createTable(name).addColumn('id', 'text').execute(),
});
const failing: Migration = {
  async up(database: Kysely<unknown>) {
    await database.schema.createTable('second').addColumn('id', 'text').execute();
    await sql`insert into second (id) values ('kept')`.execute(database);
    throw new Error('The disk is gone.');
  },
};

async function opened() {
  const { location, dispose } = await freshDatabase();
  onTestFinished(dispose);
  const database = openDatabase<Record<string, Record<string, string>>>(location);
  onTestFinished(() => database.destroy());
  return database;
}

/** An SQLite file with the first `count` migrations, and a person in it. */
async function older(count: number) {
  const { location } = ownDatabase();
  const database = openDatabase<{ users: Record<string, string> }>(location);
  onTestFinished(() => database.destroy());
  const names = Object.keys(migrations).sort().slice(0, count);
  await migrate(database, Object.fromEntries(names.flatMap((name) => (migrations[name] ? [[name, migrations[name]]] : []))));
  const person = { id: '1', email: 'a@example.com', username: 'a', username_key: 'a', password_hash: 'x', role: 'customer' };
  await database
    .insertInto('users')
    .values({ ...person, created_at: '2026-11-20T10:00:00.000Z' })
    .execute();
  return { database, sqlite: location.sqlite };
}

describe('migrations', () => {
  test('a failed one leaves no part of itself, and the next start repeats it', async () => {
    const database = await opened();
    const first = { '0001-first': tableOf('first') };
    await expect(migrate(database, { ...first, '0002-second': failing })).rejects.toThrow('The disk is gone.');
    const names = async () => (await database.introspection.getTables()).map(({ name }) => name).sort();
    expect(await names()).toEqual(['first']);
    await migrate(database, { ...first, '0002-second': tableOf('second') });
    expect(await names()).toEqual(['first', 'second']);
  });

  test('are each done once by processes that begin together', async () => {
    const { location, dispose } = await freshDatabase();
    onTestFinished(dispose);
    const shared = 'postgres' in location ? location : ownDatabase().location;
    const databases = Array.from({ length: 4 }, () => openDatabase<{ kysely_migration: { name: string } }>(shared));
    onTestFinished(async () => void (await Promise.all(databases.map((database) => database.destroy()))));
    await Promise.all(databases.map((database) => migrate(database, migrations)));
    const [database] = databases;
    const rows = (await database?.selectFrom('kysely_migration').select('name').orderBy('name').execute()) ?? [];
    expect(rows.map(({ name }) => name)).toEqual(Object.keys(migrations).sort());
  });

  test('refuse a database that has a later one and lacks an earlier one', async () => {
    const database = await opened();
    await migrate(database, { '0002-second': tableOf('second') });
    await expect(migrate(database, { '0001-first': tableOf('first'), '0002-second': tableOf('second') })).rejects.toThrow(
      'it has 0002-second, but not the earlier 0001-first. Start that version. Nothing was changed.',
    );
  });

  test('that older servers do not survive are not applied while one lives', async () => {
    const database = await opened();
    const all = { '0001-first': tableOf('first'), '0002-second': tableOf('second') };
    const breaking = new Set(['0002-second']);
    await migrate(database, { '0001-first': tableOf('first') }, { breaking });
    const beside = (living?: string) => migrate(database, all, { breaking, findLiving: () => Promise.resolve(living) });
    await expect(beside('process 7 on elsewhere, started 2026-11-20T10:00:00.000Z')).rejects.toThrow(
      'The upgrade removes what older servers use (0002-second), and one is still running: process 7 on elsewhere, started 2026-11-20T10:00:00.000Z. Stop them all, then start this one. Nothing was changed.',
    );
    expect((await database.introspection.getTables()).map(({ name }) => name)).toEqual(['first']);
    await beside();
    expect((await database.introspection.getTables()).map(({ name }) => name).sort()).toEqual(['first', 'second']);
  });

  test('say what to do with a database that an earlier version left in the middle of one', async () => {
    const { location } = ownDatabase();
    const half = new SqliteDatabase(location.sqlite);
    half.exec('create table users (id text)');
    const database = openDatabase(location);
    onTestFinished(() => database.destroy());
    const left = `An earlier upgrade of the database ${location.sqlite} was interrupted (0001-accounts). `;
    await expect(migrate(database, migrations)).rejects.toThrow(
      `${left}It’s empty: delete ${location.sqlite} and start again. Nothing was changed.`,
    );
    half.exec("insert into users (id) values ('1')");
    half.close();
    await expect(migrate(database, migrations)).rejects.toThrow(
      `${left}Restore the backup from before that upgrade (npm run restore) and start this version. Nothing was changed.`,
    );
  });
});

describe('before an upgrade the SQLite file is copied', () => {
  test('as a whole, and once until the new version has started', async () => {
    const { database, sqlite } = await older(5);
    await migrate(database, migrations, { beforeUpgrade: () => copyBeforeUpgrade(sqlite) });
    const copy = upgradeCopyOf(sqlite);
    const kept = new SqliteDatabase(copy, { readonly: true });
    expect(kept.prepare('select count(*) from kysely_migration').pluck().get()).toBe(5);
    expect(kept.prepare('select email from users').pluck().all()).toEqual(['a@example.com']);
    kept.close();
    copyBeforeUpgrade(sqlite);
    const again = new SqliteDatabase(copy, { readonly: true });
    expect(again.prepare('select count(*) from kysely_migration').pluck().get()).toBe(5);
    again.close();
    expect(removeUpgradeCopy(sqlite)).toBe(true);
    expect(removeUpgradeCopy(sqlite)).toBe(false);
  });

  test('unless it is new, or has no migration before it', async () => {
    const { location } = ownDatabase();
    const database = openDatabase(location);
    onTestFinished(() => database.destroy());
    let copies = 0;
    const beforeUpgrade = () => {
      copies += 1;
    };
    await migrate(database, migrations, { beforeUpgrade });
    await migrate(database, migrations, { beforeUpgrade });
    expect(copies).toBe(0);
  });

  test('and a disk without room for that is reported in one sentence, with nothing changed', async () => {
    const { database, sqlite } = await older(5);
    const upgrade = migrate(database, migrations, { beforeUpgrade: () => copyBeforeUpgrade(sqlite, 1024 ** 2) });
    await expect(upgrade).rejects.toThrow(
      /^The upgrade needs \d MB free in .* to copy the database, but only 1 MB is free\. Free some space, or start the previous version\. Nothing was changed\.$/,
    );
    expect(existsSync(upgradeCopyOf(sqlite))).toBe(false);
    const { rows } = await sql`select name from kysely_migration`.execute(database);
    expect(rows).toHaveLength(5);
  });

  test('over an interrupted copy', async () => {
    const { database, sqlite } = await older(5);
    const copy = upgradeCopyOf(sqlite);
    copyFileSync(sqlite, `${copy}.part`);
    await migrate(database, migrations, { beforeUpgrade: () => copyBeforeUpgrade(sqlite) });
    expect(readdirSync(dirname(sqlite)).filter((name) => name.includes('before-upgrade'))).toEqual([
      'palisade.before-upgrade.sqlite',
    ]);
    expect(existsSync(join(dirname(sqlite), 'palisade.before-upgrade.sqlite'))).toBe(true);
  });
});
