import type { Kysely } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  // When the agent of a device last reported, and its health (JSON): a connected agent that does not report does not work.
  await database.schema.alterTable('devices').addColumn('reported_at', 'text').execute();
  await database.schema.alterTable('devices').addColumn('health', 'text').execute();
}
