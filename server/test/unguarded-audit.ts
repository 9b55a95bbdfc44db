import { type Kysely, PostgresAdapter, sql } from 'kysely';
import type { Tables } from '#platform/tables.ts';

/** A person with the database and its rights. */
export async function unguard(database: Kysely<Tables>): Promise<void> {
  if (database.getExecutor().adapter instanceof PostgresAdapter) {
    for (const table of ['audit_entries', 'audit_head'])
      await sql`alter table ${sql.table(table)} disable trigger user`.execute(database);
    return;
  }
  for (const trigger of ['audit_entries_update', 'audit_entries_delete', 'audit_head_update', 'audit_head_delete'])
    await sql`drop trigger ${sql.ref(trigger)}`.execute(database);
}
