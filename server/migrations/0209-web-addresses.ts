import { type Kysely, sql } from 'kysely';

/** Adds the source address of a device's plain DNS queries. */
export async function up(database: Kysely<unknown>): Promise<void> {
  await sql`alter table web_devices add column address text`.execute(database);
  await sql`create unique index web_devices_address on web_devices (address)`.execute(database);
}
