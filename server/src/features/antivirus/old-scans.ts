import { type Kysely, sql } from 'kysely';
import { inPages } from '#platform/batches.ts';
import type { AntivirusTables } from './antivirus.tables.ts';

const REMOVED_AT_ONCE = 1_000;

/**
 * Deletes the records of scans from before `before` (ISO), of all people, with their reports. A file that waits for an engine or is in quarantine keeps its record until its
 * own time is over.
 */
export async function forgetOldScans(database: Kysely<Pick<AntivirusTables, 'scans'>>, before: string): Promise<void> {
  const pages = inPages(REMOVED_AT_ONCE, () =>
    database
      .selectFrom('scans')
      .select('id')
      .where('scanned_at', '<', before)
      .where('spooled', '=', sql.lit(0))
      .where('sealed', '=', sql.lit(0))
      .limit(REMOVED_AT_ONCE)
      .execute(),
  );
  for await (const old of pages) {
    await database
      .deleteFrom('scans')
      .where('id', 'in', ['', ...old.map(({ id }) => id)])
      .where('spooled', '=', sql.lit(0))
      .where('sealed', '=', sql.lit(0))
      .execute();
  }
}
