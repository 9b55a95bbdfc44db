import { type Kysely, sql } from 'kysely';

/** Adds web protection of computers with the agent, and the state that their agents report. */
export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of [
    sql`alter table devices add column web_protection text`,
    sql`alter table web_devices add column device_id text references devices(id) on delete cascade`,
    sql`create unique index web_devices_device_id on web_devices (device_id)`,
  ])
    await statement.execute(database);
}
