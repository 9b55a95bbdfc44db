import { type Kysely, sql } from 'kysely';

/** Adds indexes for reading the audit log by kind and time, and the time of the last sign-in to accounts. */
export async function up(database: Kysely<unknown>): Promise<void> {
  await sql`create index audit_entries_kind_seq on audit_entries (kind, seq)`.execute(database);
  await sql`create index audit_entries_at on audit_entries (at)`.execute(database);
  await sql`alter table users add column last_signed_in_at text`.execute(database);
  await sql`update users set last_signed_in_at =
    (select max(at) from audit_entries where subject_id = users.id and kind = 'signed_in')`.execute(database);
}
