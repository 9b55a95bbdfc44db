import { type Kysely, sql } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  const scans = () => database.schema.alterTable('scans');
  await scans().addColumn('media_type', 'text').execute();
  // When this person first uploaded these bytes.
  await scans()
    .addColumn('first_seen_at', 'text', (column) => column.notNull().defaultTo(''))
    .execute();
  await sql`update scans set first_seen_at = scanned_at`.execute(database);
  // JSON: what the signatures say of the threat.
  await scans().addColumn('threat_facts', 'text').execute();
  await database.schema.createIndex('scans_user_id_file_hash').on('scans').columns(['user_id', 'file_hash', 'id']).execute();
}
