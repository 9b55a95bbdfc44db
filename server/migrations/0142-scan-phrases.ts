import type { Kysely } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  // The notes as phrases, in their order, as JSON; null in rows from before.
  await database.schema.alterTable('scans').addColumn('note_phrases', 'text').execute();
}
