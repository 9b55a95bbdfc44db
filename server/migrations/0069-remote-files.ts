import { type Kysely, sql } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  const { schema } = database;
  await schema
    .createTable('remote_files')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('session_id', 'text', (column) => column.notNull().references('remote_sessions.id').onDelete('cascade'))
    // The session's customer, not the sender.
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('kind', 'text', (column) => column.notNull().check(sql`kind in ('file', 'recording')`))
    .addColumn('side', 'text', (column) => column.notNull().check(sql`side in ('customer', 'technician')`))
    // The username, as it was.
    .addColumn('author', 'text', (column) => column.notNull())
    .addColumn('filename', 'text', (column) => column.notNull())
    .addColumn('size', 'integer', (column) => column.notNull())
    .addColumn('sha256', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) =>
      column.notNull().check(sql`status in ('recording', 'scanning', 'clean', 'infected', 'unread', 'failed', 'refused')`),
    )
    .addColumn('threat', 'text')
    .addColumn('sent_at', 'text', (column) => column.notNull())
    // Since when it is being scanned.
    .addColumn('arrived_at', 'text')
    .execute();
  await schema.createIndex('remote_files_session').on('remote_files').columns(['session_id', 'id']).execute();
  await schema.createIndex('remote_files_user_id_id').on('remote_files').columns(['user_id', 'id']).execute();
}
