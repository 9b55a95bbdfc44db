import type { Kysely } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  // JSON: how many folders a device watches for new files, and why not more; null where it watches none or has not said.
  await database.schema.alterTable('devices').addColumn('watching', 'text').execute();
}
