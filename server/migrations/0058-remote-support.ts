import { type Kysely, sql } from 'kysely';

const MINUTE_MS = 60_000;

export async function up(database: Kysely<unknown>): Promise<void> {
  const { schema } = database;
  // Made anew: SQLite cannot change the check of a column.
  await schema
    .createTable('remote_sessions_anew')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    // Names as they were: of the customer when the session was created, of the technician who asked, and for whom they work.
    .addColumn('customer', 'text', (column) => column.notNull())
    .addColumn('session_code', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) =>
      column.notNull().check(sql`status in ('active', 'pending', 'completed', 'cancelled')`),
    )
    .addColumn('started_at', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .addColumn('joined_at', 'text')
    .addColumn('ended_at', 'text')
    // Not checked here, but by the application: a later version ends sessions for further reasons.
    .addColumn('end_reason', 'text')
    .addColumn('agent_id', 'text', (column) => column.references('users.id').onDelete('set null'))
    .addColumn('support_agent', 'text')
    .addColumn('version', 'integer', (column) => column.notNull().defaultTo(1))
    .addColumn('provider', 'text')
    .addColumn('staff_since', 'text')
    // Until when the customer has to answer who asks.
    .addColumn('consent_by', 'text')
    .addColumn('approved_at', 'text')
    .addColumn('view', 'text')
    .addColumn('reaffirmed_at', 'text')
    // JSON: the connections on which something is shown; and since when there is none.
    .addColumn('shares', 'text', (column) => column.notNull().defaultTo('[]'))
    .addColumn('has_shared', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('unshared_at', 'text')
    .addColumn('paused_at', 'text')
    // The page of each side, the end of its lease, and since when there is none and why.
    .addColumn('customer_seat', 'text')
    .addColumn('customer_until', 'text')
    .addColumn('customer_lost_at', 'text')
    .addColumn('customer_lost_by', 'text')
    .addColumn('technician_seat', 'text')
    .addColumn('technician_until', 'text')
    .addColumn('technician_lost_at', 'text')
    .addColumn('technician_lost_by', 'text')
    // When the clock ends it unless something happens.
    .addColumn('due_at', 'text')
    // Entries of the audit log about it, and messages in it.
    .addColumn('noted', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('last_seq', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('notes', 'text', (column) => column.notNull().defaultTo(''))
    .addColumn('rating', 'integer')
    .addColumn('rating_comment', 'text')
    .addColumn('reported_at', 'text')
    .addColumn('report_reason', 'text')
    .addColumn('report_comment', 'text')
    .execute();
  const kept = sql.raw(
    'id, user_id, customer, session_code, status, started_at, expires_at, joined_at, ended_at, end_reason, agent_id, support_agent',
  );
  // A running session was joined without a question: it continues only if both sides come back.
  const now = new Date().toISOString();
  const over = new Date(Date.parse(now) + MINUTE_MS).toISOString();
  await sql`
    insert into remote_sessions_anew (${kept}, approved_at, reaffirmed_at, view,
      customer_lost_at, customer_lost_by, technician_lost_at, technician_lost_by, due_at)
    select ${kept},
      joined_at,
      case when status = 'active' then ${now} end,
      case when joined_at is not null then 'talk' end,
      case when status = 'active' then ${now} end, case when status = 'active' then 'server' end,
      case when status = 'active' then ${now} end, case when status = 'active' then 'server' end,
      case when status = 'pending' then expires_at when status = 'active' then ${over} end
    from remote_sessions`.execute(database);
  await schema.dropTable('remote_sessions').execute();
  await schema.alterTable('remote_sessions_anew').renameTo('remote_sessions').execute();
  await schema.createIndex('remote_sessions_user_id_id').on('remote_sessions').columns(['user_id', 'id']).execute();
  await schema.createIndex('remote_sessions_agent_id_id').on('remote_sessions').columns(['agent_id', 'id']).execute();
  // Among sessions that wait or run a code leads to one; and a person has one code at a time that a technician can join with.
  await schema
    .createIndex('remote_sessions_session_code_open')
    .unique()
    .on('remote_sessions')
    .column('session_code')
    .where(sql<boolean>`status in ('active', 'pending')`)
    .execute();
  await schema
    .createIndex('remote_sessions_user_id_pending')
    .unique()
    .on('remote_sessions')
    .column('user_id')
    .where(sql<boolean>`status = 'pending'`)
    .execute();

  await schema
    .createTable('remote_messages')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('session_id', 'text', (column) => column.notNull().references('remote_sessions.id').onDelete('cascade'))
    // The session's customer, not the author.
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('seq', 'integer', (column) => column.notNull())
    .addColumn('side', 'text', (column) => column.notNull().check(sql`side in ('customer', 'technician')`))
    // The username, as it was.
    .addColumn('author', 'text', (column) => column.notNull())
    .addColumn('message', 'text', (column) => column.notNull())
    .addColumn('client_message_id', 'text')
    .addColumn('sent_at', 'text', (column) => column.notNull())
    .addUniqueConstraint('remote_messages_seq', ['session_id', 'seq'])
    .addUniqueConstraint('remote_messages_client_message_id', ['session_id', 'side', 'client_message_id'])
    .execute();
  await schema.createIndex('remote_messages_user_id_id').on('remote_messages').columns(['user_id', 'id']).execute();

  // Time since when a person is of the staff: from the log, else unknown.
  await schema.alterTable('users').addColumn('staff_since', 'text').execute();
  await sql`
    update users set staff_since = coalesce(
      (select max(at) from audit_entries where kind = 'role_changed' and subject_id = users.id),
      case when admin_by_email_at = created_at then created_at end)
    where role in ('support', 'admin')`.execute(database);
}
