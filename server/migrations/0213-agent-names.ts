import { type Kysely, sql } from 'kysely';

/** Devices of the agent that ask this server for names, and what their agents say of it. */
export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of [
    sql`alter table devices add column web_protection text`,
    sql`alter table web_devices add column device_id text references devices(id) on delete cascade`,
    sql`create unique index web_devices_device_id on web_devices (device_id)`,
  ])
    await statement.execute(database);
}
