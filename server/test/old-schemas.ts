import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { migrations } from '#migrations/all.ts';
import type { DatabaseLocation } from '#platform/database.ts';
import { openDatabase } from '#platform/database.ts';
import { migrate } from '#platform/migrations.ts';

/** Number of migrations of the three oldest landed schemas: to 0007-accounts, to 0010-common-passwords, and to 0011-audit. */
export const OLDEST_SCHEMAS = [7, 9, 10] as const;
const AT = '2026-11-20T10:00:00.000Z';
const ROWS_AT_ONCE = 500;

type Rows = Record<string, string | number | null>;
type OldTables = Record<'users' | 'scans' | 'chat_messages' | 'alerts', Rows>;

/** The first `count` migrations. */
function firstMigrations(count: number): Record<string, Migration> {
  const names = Object.keys(migrations).sort().slice(0, count);
  return Object.fromEntries(Object.entries(migrations).filter(([name]) => names.includes(name)));
}

/** Makes a database as the version with `count` migrations left it, with people and their data: `scans` scans, and as many messages and alerts. */
export async function fillOldSchema(location: DatabaseLocation, count: number, scans: number): Promise<void> {
  const database = openDatabase<OldTables>(location);
  await migrate(database, firstMigrations(count));
  const people = Array.from({ length: 40 }, (_, index) => ({
    ...{ id: `user-${index}`, email: `person${index}@example.com`, username: `person${index}`, username_key: `person${index}` },
    ...{ password_hash: 'x', role: index === 0 ? 'admin' : 'customer', created_at: AT },
  }));
  await database.insertInto('users').values(people).execute();
  const numbers = Array.from({ length: scans }, (_, index) => index);
  const id = (index: number) => `${String(index).padStart(8, '0')}-0000-7000-8000-000000000000`;
  const insert = async (table: keyof OldTables, rowOf: (index: number) => Rows) => {
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
  await insert('chat_messages', (index) => ({ message: `Message ${index}`, sender: 'user', timestamp: AT, is_read: 1 }));
  await insert('alerts', (index) => ({
    ...{ threat_type: 'malware', severity: 'low', description: `Alert ${index}`, created_at: AT, blocked: 0, simulated: 0 },
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
    (select count(*) from chat_messages where message like 'Message %') as messages,
    (select count(*) from alerts where description like 'Alert %') as alerts`.execute(database);
  return Object.fromEntries(Object.entries(rows[0] ?? {}).map(([name, value]) => [name, Number(value ?? 0)]));
}

/** Tables and columns of a database, as text. */
export async function shapeOf<Tables>(database: Kysely<Tables>): Promise<string[]> {
  const tables = await database.introspection.getTables();
  return tables
    .map(({ name, columns }) => `${name}: ${columns.map((column) => `${column.name} ${column.dataType}`).sort()}`)
    .sort();
}
