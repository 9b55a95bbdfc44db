import { type Kysely, sql } from 'kysely';

/** Adds the time at which a person confirmed a new device. Earlier devices count as confirmed. */
export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema.alterTable('devices').addColumn('confirmed_at', 'text').execute();
  await sql`update devices set confirmed_at = enrolled_at`.execute(database);
}
