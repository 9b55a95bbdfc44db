import { type Kysely, sql } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  const scans = () => database.schema.alterTable('scans');
  await scans().addColumn('media_type', 'text').execute();
  // When this person first uploaded these bytes.
  await scans()
    .addColumn('first_seen_at', 'text', (column) => column.notNull().defaultTo(''))
    .execute();
  await sql`update scans set first_seen_at = scanned_at`.execute(database);
  // JSON: the signatures' facts about the threat.
  await scans().addColumn('threat_facts', 'text').execute();
  // 1 while the bytes are kept encrypted, in quarantine or until they can be read.
  await scans()
    .addColumn('sealed', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  // When bytes that are kept, sealed or not, are removed.
  await scans().addColumn('kept_until', 'text').execute();
  // Engine, signatures and limits that the verdict is of; null where it may not serve again.
  await scans().addColumn('edition', 'text').execute();
  // When the bytes were read, where the verdict is that of an earlier upload.
  await scans().addColumn('answered_from', 'text').execute();
  await database.schema
    .createIndex('scans_kept_until')
    .on('scans')
    .column('kept_until')
    .where(sql.ref('kept_until'), 'is not', null)
    .execute();
  await database.schema
    .createIndex('scans_sealed')
    .on('scans')
    .columns(['user_id', 'id'])
    .where(sql.ref('sealed'), '=', sql.lit(1))
    .execute();

  await database.schema
    .createTable('quarantine_reports')
    .addColumn('id', 'text', (column) => column.primaryKey())
    // A finding is reported once.
    .addColumn('scan_id', 'text', (column) => column.notNull().unique().references('scans.id').onDelete('cascade'))
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('reason', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull().check(sql`status in ('open', 'confirmed', 'rejected')`))
    .addColumn('reported_at', 'text', (column) => column.notNull())
    .addColumn('decided_at', 'text')
    .execute();
  await database.schema.createIndex('quarantine_reports_status_id').on('quarantine_reports').columns(['status', 'id']).execute();
  await database.schema.createIndex('scans_user_id_file_hash').on('scans').columns(['user_id', 'file_hash', 'id']).execute();
}
