import { type Kysely, sql } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('scans')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('filename', 'text', (column) => column.notNull())
    .addColumn('scan_status', 'text', (column) => column.notNull().check(sql`scan_status in ('clean', 'infected', 'pending')`))
    .addColumn('status_detail', 'text')
    .addColumn('scanned_at', 'text', (column) => column.notNull())
    .addColumn('threat_detected', 'text')
    .addColumn('threat_member', 'text')
    .addColumn('file_hash', 'text', (column) => column.notNull())
    .addColumn('size', 'bigint', (column) => column.notNull())
    .addColumn('notes', 'text', (column) => column.notNull())
    .addColumn('engines', 'text', (column) => column.notNull())
    .addColumn('coverage', 'text')
    // 1 while the uploaded bytes are kept in the spool because an engine has yet to read them.
    .addColumn('spooled', 'integer', (column) => column.notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .execute();
  await database.schema.createIndex('scans_user_id_id').on('scans').columns(['user_id', 'id']).execute();
  await database.schema
    .createIndex('scans_spooled')
    .on('scans')
    .column('spooled')
    .where(sql.ref('spooled'), '=', sql.lit(1))
    .execute();
}
