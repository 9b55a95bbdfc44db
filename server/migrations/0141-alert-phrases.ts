import type { Kysely } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  // The code and the parameters of a description, as JSON; null in rows from before.
  for (const table of ['alerts', 'alert_suppressions'])
    await database.schema.alterTable(table).addColumn('phrase', 'text').execute();
}
