import { type Kysely, sql } from 'kysely';

/** Keys of pages that guardians have seen, and the profile that a device had when it was counted. */
export async function up(database: Kysely<unknown>): Promise<void> {
  await sql`alter table profiles add column is_key_shown integer not null default 1`.execute(database);
  await sql`alter table web_counts add column profile_id text`.execute(database);
}
