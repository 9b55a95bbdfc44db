import type { Kysely } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  // Refusals of sign-in for a while: of a source and an account together, or of a source alone.
  await database.schema
    .createTable('blocks')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    // SHA-256 of the email in hex, known or not; null for a whole source.
    .addColumn('account', 'text')
    .addColumn('user_id', 'text', (column) => column.references('users.id').onDelete('cascade'))
    .addColumn('rule', 'text', (column) => column.notNull())
    .addColumn('since', 'text', (column) => column.notNull())
    .addColumn('until', 'text', (column) => column.notNull())
    // 1 for the first, 2 for the next, which is longer.
    .addColumn('level', 'integer', (column) => column.notNull())
    // 0 once it no longer makes the next one longer.
    .addColumn('counts', 'integer', (column) => column.notNull())
    .addColumn('lifted_at', 'text')
    .addColumn('lifted_by', 'text')
    .execute();
  await database.schema.createIndex('blocks_source_until').on('blocks').columns(['source', 'until']).execute();
  await database.schema.createIndex('blocks_user_id_id').on('blocks').columns(['user_id', 'id']).execute();
  await database.schema.createIndex('blocks_until').on('blocks').column('until').execute();

  // Where the owners of accounts have signed in from.
  await database.schema
    .createTable('sign_in_sources')
    .addColumn('account', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('last_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('sign_in_sources_pk', ['account', 'source'])
    .execute();
  await database.schema.createIndex('sign_in_sources_user_id').on('sign_in_sources').column('user_id').execute();
}
