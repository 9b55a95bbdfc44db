import type { Kysely } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  // A score that was found again and again, without a pause of a day in between, is one row.
  await database.schema
    .createTable('score_history')
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    // When it was found first, and last.
    .addColumn('since', 'text', (column) => column.notNull())
    .addColumn('until', 'text', (column) => column.notNull())
    .addColumn('score', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('score_history_pk', ['user_id', 'since'])
    .execute();
  await database.schema.createIndex('score_history_user_id_until').on('score_history').columns(['user_id', 'until']).execute();
}
