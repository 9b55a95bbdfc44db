import { type Kysely, sql } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('users')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('username', 'text', (column) => column.notNull())
    // The username in the form in which two are the same: NFKC, lower case.
    .addColumn('username_key', 'text', (column) => column.notNull())
    .addColumn('password_hash', 'text', (column) => column.notNull())
    .addColumn('role', 'text', (column) => column.notNull().check(sql`role in ('customer', 'support', 'admin')`))
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addUniqueConstraint('users_email_unique', ['email'])
    .addUniqueConstraint('users_username_key_unique', ['username_key'])
    .execute();

  await database.schema
    .createTable('sessions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('token_hash', 'text', (column) => column.notNull().unique())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('last_used_at', 'text', (column) => column.notNull())
    .execute();
  await database.schema.createIndex('sessions_user_id').on('sessions').column('user_id').execute();

  // Facts of which an installation has one each; the primary key decides who was first.
  await database.schema
    .createTable('installation')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('value', 'text', (column) => column.notNull())
    .execute();
}
