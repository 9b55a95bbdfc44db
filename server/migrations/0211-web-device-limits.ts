import type { Kysely } from 'kysely';

/** Adds the maximum number of web protection devices to plans. */
export async function up(database: Kysely<unknown>): Promise<void> {
  for (const table of ['subscription_templates', 'subscriptions'])
    await database.schema
      .alterTable(table)
      .addColumn('max_web_devices', 'integer', (column) => column.notNull().defaultTo(10))
      .execute();
}
