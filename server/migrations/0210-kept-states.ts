import type { Kysely } from 'kysely';

/** The state of a person beside each kept score. It is unknown in earlier rows. */
export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema.alterTable('score_history').addColumn('state', 'text').execute();
}
