import type { Kysely } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  const scans = () => database.schema.alterTable('scans');
  // The number of engine deaths over these bytes, and the edition of those engines.
  await scans()
    .addColumn('engine_deaths', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  await scans().addColumn('engine_deaths_edition', 'text').execute();
  // Readings by runs of the server that did not see their end.
  await scans()
    .addColumn('unended_readings', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
}
