import { type Kysely, sql } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  const { schema } = database;
  // Mails of customers as they arrived, until a person has had them for 30 days. `state`: `unverified` ones are no words of the customer's.
  await schema
    .createTable('arrived_mails')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('conversation_id', 'text', (column) => column.notNull().references('conversations.id').onDelete('cascade'))
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    // The same for each copy of a mail.
    .addColumn('mail_key', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull().check(sql`state in ('unverified', 'message')`))
    .addColumn('size', 'integer', (column) => column.notNull())
    .addColumn('sha256', 'text', (column) => column.notNull())
    // The message or the note that it became.
    .addColumn('message_id', 'text', (column) => column.references('chat_messages.id').onDelete('set null'))
    .addColumn('arrived_at', 'text', (column) => column.notNull())
    // Time since when a member of staff has read that.
    .addColumn('read_at', 'text')
    .execute();
  await schema.createIndex('arrived_mails_key').unique().on('arrived_mails').columns(['conversation_id', 'mail_key']).execute();
  await schema.createIndex('arrived_mails_user_id_id').on('arrived_mails').columns(['user_id', 'id']).execute();
  await schema.createIndex('arrived_mails_read_at').on('arrived_mails').column('read_at').execute();
}
