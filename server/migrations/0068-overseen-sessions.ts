import { type Kysely, sql } from 'kysely';

/** Administrators read the sessions of everybody page by page, those that were reported first. */
export async function up(database: Kysely<unknown>): Promise<void> {
  await sql`
    create index remote_sessions_overseen on remote_sessions ((case when reported_at is null then 1 else 0 end), id desc)
    where joined_at is not null`.execute(database);
}
