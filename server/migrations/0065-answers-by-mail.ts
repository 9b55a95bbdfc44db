import type { Kysely } from 'kysely';

/** Where an answer to a letter goes; null: nowhere but to the address that it comes from. */
export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema.alterTable('mails').addColumn('reply_to', 'text').execute();
}
