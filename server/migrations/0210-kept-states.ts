import type { Kysely } from 'kysely';

/** Adds the state of a person to each stored score. It is unknown in earlier rows. */
export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema.alterTable('score_history').addColumn('state', 'text').execute();
}
