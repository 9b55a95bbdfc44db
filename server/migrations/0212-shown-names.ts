import { type Kysely, sql } from 'kysely';

/** Adds answered names of devices that are recorded on request, and the latest reported silence. */
export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of [
    sql`alter table web_devices add column names_until text`,
    sql`alter table web_devices add column silence_told text`,
    sql`create table web_shown_names (
      id text primary key,
      user_id text not null references users(id) on delete cascade,
      device_id text not null references web_devices(id) on delete cascade,
      name text not null,
      count integer not null,
      last_at text not null
    )`,
    sql`create unique index web_shown_names_device_id_name on web_shown_names (device_id, name)`,
    sql`create index web_shown_names_user_id on web_shown_names (user_id)`,
    sql`create index web_shown_names_last_at on web_shown_names (last_at)`,
  ])
    await statement.execute(database);
}
