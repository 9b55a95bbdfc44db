import type { Kysely } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  // The newest security check of each person, with its whole result as JSON.
  await database.schema
    .createTable('security_checks')
    .addColumn('user_id', 'text', (column) => column.primaryKey().references('users.id').onDelete('cascade'))
    .addColumn('checked_at', 'text', (column) => column.notNull())
    .addColumn('result', 'text', (column) => column.notNull())
    .execute();
}
