import { type Kysely, sql } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('chat_messages')
    .addColumn('id', 'text', (column) => column.primaryKey())
    // The conversation's customer, not the author.
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('message', 'text', (column) => column.notNull())
    .addColumn('sender', 'text', (column) => column.notNull().check(sql`sender in ('user', 'support')`))
    .addColumn('timestamp', 'text', (column) => column.notNull())
    .addColumn('is_read', 'integer', (column) => column.notNull())
    .execute();
  await database.schema.createIndex('chat_messages_user_id_id').on('chat_messages').columns(['user_id', 'id']).execute();

  await database.schema
    .createTable('remote_sessions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    // Names as they were: of the customer when the session was created, of the technician who joined.
    .addColumn('customer', 'text', (column) => column.notNull())
    .addColumn('session_code', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) =>
      column.notNull().check(sql`status in ('active', 'pending', 'completed', 'cancelled')`),
    )
    .addColumn('started_at', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .addColumn('joined_at', 'text')
    .addColumn('ended_at', 'text')
    .addColumn('end_reason', 'text', (column) => column.check(sql`end_reason in ('cancelled', 'expired', 'replaced')`))
    .addColumn('agent_id', 'text', (column) => column.references('users.id').onDelete('set null'))
    .addColumn('support_agent', 'text')
    .execute();
  await database.schema.createIndex('remote_sessions_user_id_id').on('remote_sessions').columns(['user_id', 'id']).execute();
  await database.schema.createIndex('remote_sessions_agent_id_id').on('remote_sessions').columns(['agent_id', 'id']).execute();
  // Among sessions that wait or run a code leads to one; and a person has one code at a time that a technician can join with.
  await database.schema
    .createIndex('remote_sessions_session_code_open')
    .unique()
    .on('remote_sessions')
    .column('session_code')
    .where(sql<boolean>`status in ('active', 'pending')`)
    .execute();
  await database.schema
    .createIndex('remote_sessions_user_id_pending')
    .unique()
    .on('remote_sessions')
    .column('user_id')
    .where(sql<boolean>`status = 'pending'`)
    .execute();
}
