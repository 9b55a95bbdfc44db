import type { Kysely } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  // The phrases of the server's own sentences in a message, in their order, as JSON; null for words of a person, and in rows from before.
  await database.schema.alterTable('chat_messages').addColumn('phrases', 'text').execute();
}
