import { copyFileSync, existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { describe, expect, onTestFinished, test } from 'vitest';
import { BASELINE, migrations } from '#migrations/all.ts';
import { schemaOf } from '#platform/schema.ts';
import { freshDatabase, isPostgres } from '#test/harness.ts';
import { recorded, recordMigrations, SCHEMA_OF_509B6C4C, schemaDigest, upToBaseline } from '#test/old-schemas.ts';
import { ownDatabase } from '#test/own-database.ts';
import { openDatabase } from './database.ts';
import { migrate, requireKnownVersion } from './migrations.ts';
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

const PERSON = {
  ...{ id: '1', email: 'a@example.com', username: 'a', username_key: 'a', password_hash: 'x', role: 'customer' },
  created_at: '2026-11-20T10:00:00.000Z',
};

async function opened() {
  const { location, dispose } = await freshDatabase();
  onTestFinished(dispose);
  const database = openDatabase<Record<string, Record<string, string>>>(location);
  onTestFinished(() => database.destroy());
  return database;
}

/** An SQLite file as commit 509b6c4c left it, and a person in it. */
async function older() {
  const { location } = ownDatabase();
  const database = openDatabase<{ users: Record<string, string> }>(location);
  onTestFinished(() => database.destroy());
  await migrate(database, upToBaseline);
  await recordMigrations(database);
  await database.insertInto('users').values(PERSON).execute();
  return {
    database,
    sqlite: location.sqlite,
    upgrade: (beforeUpgrade: () => void) => migrate(database, migrations, { baseline: BASELINE, beforeUpgrade }),
  };
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
});

describe('the baseline', () => {
  const LIVING = 'process 7 on elsewhere, started 2026-11-20T10:00:00.000Z';
  const OLD_DATA =
    'This database is from before commit 509b6c4c, the oldest that this version upgrades: start that commit once on the data, then this version. Nothing was changed.';

  test('makes the schema that the migrations of commit 509b6c4c made', async () => {
    const database = await opened();
    await migrate(database, upToBaseline);
    expect(await schemaDigest(database)).toBe(SCHEMA_OF_509B6C4C[isPostgres() ? 'postgres' : 'sqlite']);
    const { rows } = await sql`select * from audit_head`.execute(database);
    const none = '0'.repeat(64);
    expect(rows).toEqual([{ id: 1, seq: 0, hash: none, keyed_from: null, anchor_seq: 0, anchor_hash: none, mac: null }]);
  });

  test('takes the place of all 58 records, and changes nothing else, also when four servers begin together', async () => {
    const { location, dispose } = await freshDatabase();
    onTestFinished(dispose);
    const shared = 'postgres' in location ? location : ownDatabase().location;
    const databases = Array.from({ length: 4 }, () => openDatabase<{ users: Record<string, string | null> }>(shared));
    onTestFinished(async () => void (await Promise.all(databases.map((one) => one.destroy()))));
    const [database] = databases;
    if (database === undefined) throw new Error('No database was opened.');
    await migrate(database, upToBaseline);
    await recordMigrations(database);
    expect(await recorded(database)).toHaveLength(58);
    await database.insertInto('users').values(PERSON).execute();
    const schema = await schemaOf(database);
    let looks = 0;
    const findLiving = () => {
      looks += 1;
      // A second look would find the first of the four, which serves meanwhile.
      return Promise.resolve(looks > 1 ? LIVING : undefined);
    };
    const later = { ...upToBaseline, '0201-later': tableOf('later') };
    await Promise.all(databases.map((one) => migrate(one, later, { baseline: BASELINE, findLiving })));
    expect(await recorded(database)).toEqual(['0200-baseline', '0201-later']);
    await database.schema.dropTable('later').execute();
    expect(await schemaOf(database)).toEqual(schema);
    expect(await database.selectFrom('users').select(['id', 'email']).execute()).toEqual([{ id: '1', email: 'a@example.com' }]);
  });

  test('is not taken beside an older server that lives', async () => {
    const database = await opened();
    await migrate(database, upToBaseline);
    await recordMigrations(database);
    const upgrade = (living?: string) =>
      migrate(database, upToBaseline, { baseline: BASELINE, findLiving: () => Promise.resolve(living) });
    await expect(upgrade(LIVING)).rejects.toThrow(
      `The upgrade removes what older servers use (0200-baseline), and one is still running: ${LIVING}. Stop them all, then start this one. Nothing was changed.`,
    );
    expect(await recorded(database)).toHaveLength(58);
    await upgrade();
    expect(await recorded(database)).toEqual(['0200-baseline']);
  });

  test.each([
    { of: 'the newest of them', names: BASELINE.replaces.slice(0, -1) },
    { of: 'one in the middle', names: BASELINE.replaces.toSpliced(20, 1) },
    { of: 'all but the first', names: BASELINE.replaces.slice(0, 1) },
  ])('refuses a database that lacks $of, and names the commit to start before', async ({ names }) => {
    const database = await opened();
    await migrate(database, upToBaseline);
    await recordMigrations(database, names);
    await expect(migrate(database, upToBaseline, { baseline: BASELINE })).rejects.toThrow(OLD_DATA);
    await expect(requireKnownVersion(database, upToBaseline, { complete: true, baseline: BASELINE })).rejects.toThrow(OLD_DATA);
    expect(await recorded(database)).toEqual(names.toSorted());
  });

  test.each([
    { beside: 'the baseline', names: ['0200-baseline', '0999-later'] },
    { beside: 'the 58', names: [...BASELINE.replaces, '0999-later'] },
  ])('leaves an unknown migration beside $beside a newer version', async ({ names }) => {
    const database = await opened();
    await migrate(database, upToBaseline);
    await recordMigrations(database, names);
    const newer = 'A newer Palisade version upgraded this database (unknown here: 0999-later).';
    await expect(migrate(database, upToBaseline, { baseline: BASELINE })).rejects.toThrow(newer);
  });

  test('is asked for by commands, which only read: a start of the server brings it', async () => {
    const database = await opened();
    await migrate(database, upToBaseline);
    await recordMigrations(database);
    const once = 'This database is from an older Palisade version. Start the server once to upgrade it.';
    await expect(requireKnownVersion(database, upToBaseline, { complete: true, baseline: BASELINE })).rejects.toThrow(once);
    await migrate(database, upToBaseline, { baseline: BASELINE });
    expect(await requireKnownVersion(database, upToBaseline, { complete: true, baseline: BASELINE })).toEqual(['0200-baseline']);
  });
});

describe('before an upgrade the SQLite file is copied', () => {
  test('as a whole, and once until the new version has started', async () => {
    const { sqlite, upgrade } = await older();
    await upgrade(() => copyBeforeUpgrade(sqlite));
    const copy = upgradeCopyOf(sqlite);
    const kept = new SqliteDatabase(copy, { readonly: true });
    expect(kept.prepare('select count(*) from kysely_migration').pluck().get()).toBe(58);
    expect(kept.prepare('select email from users').pluck().all()).toEqual(['a@example.com']);
    kept.close();
    copyBeforeUpgrade(sqlite);
    const again = new SqliteDatabase(copy, { readonly: true });
    expect(again.prepare('select count(*) from kysely_migration').pluck().get()).toBe(58);
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
    const { database, sqlite, upgrade } = await older();
    await expect(upgrade(() => copyBeforeUpgrade(sqlite, 1024 ** 2))).rejects.toThrow(
      /^The upgrade needs \d MB free in .* to copy the database, but only 1 MB is free\. Free some space, or start the previous version\. Nothing was changed\.$/,
    );
    expect(existsSync(upgradeCopyOf(sqlite))).toBe(false);
    const { rows } = await sql`select name from kysely_migration`.execute(database);
    expect(rows).toHaveLength(58);
  });

  test('over an interrupted copy', async () => {
    const { sqlite, upgrade } = await older();
    const copy = upgradeCopyOf(sqlite);
    copyFileSync(sqlite, `${copy}.part`);
    await upgrade(() => copyBeforeUpgrade(sqlite));
    expect(readdirSync(dirname(sqlite)).filter((name) => name.includes('before-upgrade'))).toEqual([
      'palisade.before-upgrade.sqlite',
    ]);
    expect(existsSync(join(dirname(sqlite), 'palisade.before-upgrade.sqlite'))).toBe(true);
  });
});
