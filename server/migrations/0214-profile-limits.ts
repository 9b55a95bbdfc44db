import type { Kysely } from 'kysely';

/** Adds the maximum number of profiles to plans. */
export async function up(database: Kysely<unknown>): Promise<void> {
  for (const table of ['subscription_templates', 'subscriptions'])
    await database.schema
      .alterTable(table)
      .addColumn('max_profiles', 'integer', (column) => column.notNull().defaultTo(5))
      .execute();
}
