import type { Kysely } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  // JSON: the number of folders that a device watches for new files, and the reason if not all; null where it watches none or has not reported.
  await database.schema.alterTable('devices').addColumn('watching', 'text').execute();
}
