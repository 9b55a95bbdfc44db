import type { Kysely } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  const { schema } = database;
  // JSON: the grants that hold, and which ended last and why.
  await schema
    .alterTable('remote_sessions')
    .addColumn('grants', 'text', (column) => column.notNull().defaultTo('[]'))
    .execute();
  await schema.alterTable('remote_sessions').addColumn('grants_ended', 'text').execute();
}
