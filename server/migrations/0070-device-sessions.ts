import type { Kysely } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  const { schema } = database;
  // Remote sessions during which a device was connected, and the changes that it found afterwards.
  await schema
    .createTable('device_sessions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('device_id', 'text', (column) => column.notNull().references('devices.id').onDelete('cascade'))
    .addColumn('session_id', 'text', (column) => column.notNull().references('remote_sessions.id').onDelete('cascade'))
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('asked_at', 'text', (column) => column.notNull())
    .addColumn('ended_at', 'text')
    // JSON.
    .addColumn('measured', 'text')
    .addUniqueConstraint('device_sessions_once', ['session_id', 'device_id'])
    .execute();
  await schema.createIndex('device_sessions_device').on('device_sessions').columns(['device_id', 'state']).execute();
  await schema.createIndex('device_sessions_user').on('device_sessions').columns(['user_id', 'id']).execute();
}
