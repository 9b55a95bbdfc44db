import { type Kysely, sql } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  // The rules' present counts: short-lived, and shared by all servers.
  await database.schema
    .createTable('detection_windows')
    .addColumn('rule', 'text', (column) => column.notNull())
    .addColumn('key', 'text', (column) => column.notNull())
    // JSON; empty without counts.
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('detection_windows_place', ['rule', 'key'])
    .execute();
  await database.schema.createIndex('detection_windows_expires_at').on('detection_windows').column('expires_at').execute();

  // Devices that people have signed in with.
  await database.schema
    .createTable('known_devices')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    // The browser's identifier; empty for one that keeps none.
    .addColumn('device_id', 'text', (column) => column.notNull())
    .addColumn('client', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('first_seen', 'text', (column) => column.notNull())
    .addColumn('last_seen', 'text', (column) => column.notNull())
    .addColumn('trusted_at', 'text')
    // 0 while it was new, without a decision of its person.
    .addColumn('reviewed', 'integer', (column) => column.notNull().check(sql`reviewed in (0, 1)`))
    .addUniqueConstraint('known_devices_seen', ['user_id', 'device_id', 'client', 'source'])
    .execute();
  await database.schema.createIndex('known_devices_last_seen').on('known_devices').column('last_seen').execute();
}
