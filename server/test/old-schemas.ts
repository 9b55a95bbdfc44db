import { createHash } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { BASELINE, migrations } from '#migrations/all.ts';
import { type DatabaseLocation, openDatabase } from '#platform/database.ts';
import { migrate } from '#platform/migrations.ts';
import { schemaOf } from '#platform/schema.ts';

/** SHA-256 of `schemaOf` a database that the 58 migrations of commit 509b6c4c made. */
export const SCHEMA_OF_509B6C4C = {
  sqlite: '98247af6329732cc107cfa184ed52f81ebd123774ae2d94bee347da73877412f',
  postgres: 'c57709b888e2962a25dfde7b8e8759e708f5dfacf350b49aff47b7505165cda5',
};

const AT = '2026-11-20T10:00:00.000Z';
const ROWS_AT_ONCE = 500;

type Rows = Record<string, string | number | null>;
type Filled = Record<'users' | 'scans' | 'alerts', Rows>;

/** The migrations that a database of commit 509b6c4c has the schema of. */
export const upToBaseline = Object.fromEntries(Object.entries(migrations).filter(([name]) => name === BASELINE.name));

/** Makes a database up to the baseline one of commit 509b6c4c, or with `names` one of an earlier commit: their schema is the same, their records of migrations are not. */
export async function recordMigrations<Tables>(database: Kysely<Tables>, names: readonly string[] = BASELINE.replaces) {
  await sql`delete from kysely_migration`.execute(database);
  for (const name of names) await sql`insert into kysely_migration (name, timestamp) values (${name}, ${AT})`.execute(database);
}

/** Names of the migrations that a database has. */
export async function recorded<Tables>(database: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(database);
  return rows.map(({ name }) => name);
}

/** Makes a database as commit 509b6c4c left it, with people and their data: `scans` scans, and as many alerts. */
export async function fillOldSchema(location: DatabaseLocation, scans: number): Promise<void> {
  const database = openDatabase<Filled>(location);
  await migrate(database, upToBaseline);
  await recordMigrations(database);
  const people = Array.from({ length: 40 }, (_, index) => ({
    ...{ id: `user-${index}`, email: `person${index}@example.com`, username: `person${index}`, username_key: `person${index}` },
    ...{ password_hash: 'x', role: index === 0 ? 'admin' : 'customer', created_at: AT },
  }));
  await database.insertInto('users').values(people).execute();
  const numbers = Array.from({ length: scans }, (_, index) => index);
  const id = (index: number) => `${String(index).padStart(8, '0')}-0000-7000-8000-000000000000`;
  const insert = async (table: keyof Filled, rowOf: (index: number) => Rows) => {
    for (let from = 0; from < scans; from += ROWS_AT_ONCE)
      await database
        .insertInto(table)
        .values(
          numbers
            .slice(from, from + ROWS_AT_ONCE)
            .map((index) => ({ id: id(index), user_id: `user-${index % 40}`, ...rowOf(index) })),
        )
        .execute();
  };
  await insert('scans', (index) => ({
    ...{ filename: `file-${index}.bin`, scan_status: 'clean', scanned_at: AT, file_hash: 'ab'.repeat(32), size: index },
    ...{ notes: '[]', engines: '[]', spooled: 0, attempts: 1 },
  }));
  await insert('alerts', (index) => ({
    ...{ threat_type: 'malware', severity: 'low', description: `Alert ${index}`, created_at: AT, simulated: 0 },
    dedupe_key: `alert-${index}`,
  }));
  await database.destroy();
}

/** Data of `fillOldSchema` in a database: the number of rows and the sum of their distinguishing values. */
export async function readKept<Tables>(database: Kysely<Tables>): Promise<Record<string, number>> {
  const { rows } = await sql<Record<string, number | string>>`select
    (select count(*) from users where email like 'person%') as people,
    (select count(*) from scans where filename like 'file-%') as scans,
    (select sum(size) from scans where filename like 'file-%') as sizes,
    (select sum(clean) from scan_counts) as counted,
    (select count(*) from alerts where description like 'Alert %') as alerts`.execute(database);
  return Object.fromEntries(Object.entries(rows[0] ?? {}).map(([name, value]) => [name, Number(value ?? 0)]));
}

/** Migrations that a later version could have: they rewrite each row, so that an interruption finds an upgrade of 509b6c4c in the middle. */
export const UPGRADED: Record<string, Migration> = {
  ...migrations,
  '0901-marks': {
    async up(database: Kysely<unknown>) {
      await sql`create table scan_marks (id text primary key, mark text not null)`.execute(database);
      await sql`insert into scan_marks (id, mark) select id, file_hash from scans`.execute(database);
    },
  },
  '0902-rewrite': {
    async up(database: Kysely<unknown>) {
      await sql`alter table scans add column mark text`.execute(database);
      await sql`update scans set mark = (select mark from scan_marks where scan_marks.id = scans.id)`.execute(database);
    },
  },
  '0903-contract': {
    async up(database: Kysely<unknown>) {
      await sql`drop table scan_marks`.execute(database);
      await sql`alter table alerts add column mark text`.execute(database);
      await sql`update alerts set mark = id || description`.execute(database);
      await sql`create index alerts_mark on alerts (mark)`.execute(database);
    },
  },
};

/** SHA-256 of `schemaOf`, in hex. */
export async function schemaDigest<Tables>(database: Kysely<Tables>): Promise<string> {
  return createHash('sha256')
    .update((await schemaOf(database)).join('\n'))
    .digest('hex');
}
