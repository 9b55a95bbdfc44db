import { type Kysely, sql } from 'kysely';

/** Adds whether guardians know the key of a profile's page, and the device's profile at the time of counted queries. */
export async function up(database: Kysely<unknown>): Promise<void> {
  await sql`alter table profiles add column is_key_shown integer not null default 1`.execute(database);
  await sql`alter table web_counts add column profile_id text`.execute(database);
}
