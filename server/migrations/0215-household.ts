import { type Kysely, sql } from 'kysely';

/** Adds homes, their guardians, profiles, and requests for refused names. */
export async function up(database: Kysely<unknown>): Promise<void> {
  for (const statement of [
    sql`create table households (id text primary key, time_zone text not null, created_at text not null)`,
    sql`create table guardians (
      user_id text primary key references users(id) on delete cascade,
      household_id text not null references households(id) on delete cascade,
      joined_at text not null
    )`,
    sql`create index guardians_household_id on guardians (household_id)`,
    sql`create table household_invites (
      id text primary key,
      household_id text not null references households(id) on delete cascade,
      user_id text not null references users(id) on delete cascade,
      email text not null,
      token_hash text not null unique,
      created_at text not null,
      expires_at text not null
    )`,
    sql`create index household_invites_household_id on household_invites (household_id)`,
    sql`create index household_invites_user_id on household_invites (user_id)`,
    sql`create table profiles (
      id text primary key,
      household_id text not null references households(id) on delete cascade,
      name text not null,
      picture text not null,
      age_group text not null,
      shared_by text not null,
      rules text not null,
      ask_key text not null unique,
      paused_until text,
      created_at text not null
    )`,
    sql`create index profiles_household_id on profiles (household_id)`,
    sql`create table profile_names (
      id text primary key,
      profile_id text not null references profiles(id) on delete cascade,
      name text not null,
      verdict text not null,
      until text,
      created_at text not null
    )`,
    sql`create index profile_names_profile_id_name on profile_names (profile_id, name)`,
    sql`create table profile_asks (
      id text primary key,
      profile_id text not null references profiles(id) on delete cascade,
      device_id text references web_devices(id) on delete set null,
      name text not null,
      count integer not null,
      asked_at text not null,
      answer text not null,
      line text not null,
      answered_at text,
      until text
    )`,
    sql`create index profile_asks_profile_id on profile_asks (profile_id)`,
    sql`alter table web_devices add column profile_id text references profiles(id) on delete set null`,
    sql`create index web_devices_profile_id on web_devices (profile_id)`,
    sql`alter table web_refusals add column is_private integer not null default 0`,
  ])
    await statement.execute(database);
}
