import type { Kysely } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  // Since when who has a conversation is expected to answer: given to them, or come back to them. Null: since its customer waits.
  await database.schema.alterTable('conversations').addColumn('held_since', 'text').execute();
}
