import type { Kysely } from 'kysely';

/** The number of profiles of people in a plan. */
export async function up(database: Kysely<unknown>): Promise<void> {
  for (const table of ['subscription_templates', 'subscriptions'])
    await database.schema
      .alterTable(table)
      .addColumn('max_profiles', 'integer', (column) => column.notNull().defaultTo(5))
      .execute();
}
