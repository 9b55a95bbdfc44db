import { type Kysely, sql } from 'kysely';

/** Adds devices of web protection, the choices of their owners, numbers of DNS queries, and refused names. */
export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of [
    sql`create table web_devices (
      id text primary key,
      user_id text not null references users(id) on delete cascade,
      name text not null,
      kind text not null,
      key text not null,
      created_at text not null,
      last_question_at text
    )`,
    sql`create index web_devices_user_id_id on web_devices (user_id, id)`,
    sql`create unique index web_devices_key on web_devices (key)`,
    sql`create table web_policies (
      user_id text primary key references users(id) on delete cascade,
      categories text not null,
      services text not null,
      safe_search text not null check (safe_search in ('off', 'moderate', 'strict')),
      paused_until text
    )`,
    sql`create table web_names (
      id text primary key,
      user_id text not null references users(id) on delete cascade,
      name text not null,
      verdict text not null check (verdict in ('allow', 'block')),
      created_at text not null
    )`,
    sql`create unique index web_names_user_id_name on web_names (user_id, name)`,
    sql`create table web_counts (
      id text primary key,
      device_id text not null references web_devices(id) on delete cascade,
      user_id text not null references users(id) on delete cascade,
      hour text not null,
      category text not null,
      count integer not null
    )`,
    sql`create index web_counts_user_id_hour on web_counts (user_id, hour)`,
    sql`create index web_counts_device_id on web_counts (device_id)`,
    sql`create index web_counts_hour on web_counts (hour)`,
    sql`create table web_refusals (
      id text primary key,
      user_id text not null references users(id) on delete cascade,
      device_id text not null references web_devices(id) on delete cascade,
      name text not null,
      rule text not null,
      category text not null,
      count integer not null,
      last_at text not null
    )`,
    sql`create unique index web_refusals_device_id_name on web_refusals (device_id, name)`,
    sql`create index web_refusals_user_id_id on web_refusals (user_id, id)`,
    sql`create index web_refusals_last_at on web_refusals (last_at)`,
  ])
    await statement.execute(database);
}
