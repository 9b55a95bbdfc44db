import { type Kysely, sql } from 'kysely';

/** Adds indexes for statistics about all people: new accounts and alerts by day, and open serious alerts. */
export async function up(database: Kysely<unknown>): Promise<void> {
  await sql`create index users_created_at on users (created_at)`.execute(database);
  await sql`create index alerts_created_at on alerts (created_at)`.execute(database);
  await sql`
    create index alerts_serious on alerts (user_id)
    where simulated = 0 and outcome <> 'blocked' and status <> 'resolved' and severity in ('high', 'critical')
  `.execute(database);
}
