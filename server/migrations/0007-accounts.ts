import { type Kysely, sql } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  // One row for each account: a new token takes the place of the one before it.
  await database.schema
    .createTable('reset_tokens')
    .addColumn('user_id', 'text', (column) => column.primaryKey().references('users.id').onDelete('cascade'))
    // SHA-256 of the token in hex.
    .addColumn('token_hash', 'text', (column) => column.notNull().unique())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .addColumn('used_at', 'text')
    .execute();

  await database.schema
    .createTable('mails')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('recipient', 'text', (column) => column.notNull())
    .addColumn('subject', 'text', (column) => column.notNull())
    // Null once it was sent.
    .addColumn('text', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('sent_at', 'text')
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('last_error', 'text')
    // When it is given to the mail server next; null when never.
    .addColumn('next_attempt_at', 'text')
    .execute();
  await database.schema
    .createIndex('mails_next_attempt_at')
    .on('mails')
    .column('next_attempt_at')
    .where(sql.ref('next_attempt_at'), 'is not', null)
    .execute();

  await database.schema.alterTable('sessions').addColumn('user_agent', 'text').execute();
  await database.schema.alterTable('sessions').addColumn('source', 'text').execute();
}
