import { type Kysely, sql } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('alerts')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('threat_type', 'text', (column) => column.notNull())
    .addColumn('severity', 'text', (column) => column.notNull().check(sql`severity in ('low', 'medium', 'high', 'critical')`))
    .addColumn('description', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('blocked', 'integer', (column) => column.notNull())
    .addColumn('ip_address', 'text')
    .addColumn('simulated', 'integer', (column) => column.notNull())
    // Each incident raises one alert, however often it is reported.
    .addColumn('dedupe_key', 'text', (column) => column.notNull().unique())
    .execute();
  await database.schema.createIndex('alerts_user_id_id').on('alerts').columns(['user_id', 'id']).execute();
  await database.schema
    .createIndex('alerts_counts')
    .on('alerts')
    .columns(['user_id', 'simulated', 'blocked', 'threat_type', 'created_at'])
    .execute();
  // For the counts of the dashboard, and for the reports that a start of the server repeats.
  await database.schema.createIndex('scans_user_id_scan_status').on('scans').columns(['user_id', 'scan_status', 'id']).execute();
  await database.schema.createIndex('scans_scan_status_id').on('scans').columns(['scan_status', 'id']).execute();
}
