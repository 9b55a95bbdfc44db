import type { Kysely } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  // Indexes to find expired rows.
  const index = (table: string, column: string) =>
    database.schema.createIndex(`${table}_${column}`).on(table).column(column).execute();
  await index('scans', 'scanned_at');
  await index('alerts', 'last_seen');
  await index('sessions', 'last_used_at');
  await index('sessions', 'created_at');
}
