import type { Kysely } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  // 1 while the sealed bytes of the record are in the store that servers share; 0: in a folder of its `home`, or nowhere.
  await database.schema
    .alterTable('scans')
    .addColumn('in_store', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  // Checksum of the sealed bytes, so that a store, a move and a backup can be checked without the key. Null: sealed before there was this column, or not sealed.
  await database.schema.alterTable('scans').addColumn('sealed_sha256', 'text').execute();
}
