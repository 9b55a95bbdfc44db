import type { Kysely } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  // The data folder that has, or had, the uploaded bytes of the record. Null: no bytes were kept, or they were kept before there was this column.
  await database.schema.alterTable('scans').addColumn('home', 'text').execute();
}
