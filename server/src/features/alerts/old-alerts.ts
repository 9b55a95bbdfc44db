import { type Kysely, sql } from 'kysely';
import { inPages } from '#platform/batches.ts';
import type { AlertTables } from './alerts.tables.ts';

const REMOVED_AT_ONCE = 1_000;

/**
 * Deletes alerts of all people whose last occurrence was before `before` (ISO), with their decisions. An alert that was neither blocked nor resolved stays, because it still
 * counts against the account.
 */
export async function forgetOldAlerts(database: Kysely<Pick<AlertTables, 'alerts'>>, before: string): Promise<void> {
  const pages = inPages(REMOVED_AT_ONCE, () =>
    database
      .selectFrom('alerts')
      .select('id')
      .where('last_seen', '<', before)
      .where(({ or, eb }) => or([eb('status', '=', 'resolved'), eb('outcome', '=', 'blocked'), eb('simulated', '=', sql.lit(1))]))
      .limit(REMOVED_AT_ONCE)
      .execute(),
  );
  for await (const old of pages) {
    await database
      .deleteFrom('alerts')
      .where('id', 'in', ['', ...old.map(({ id }) => id)])
      .where('last_seen', '<', before)
      .execute();
  }
}
