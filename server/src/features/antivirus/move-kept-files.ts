import { type Kysely, sql } from 'kysely';
import { inPages } from '#platform/batches.ts';
import { type Blobs, StoreAwayError } from '#platform/blobs/blobs.ts';
import type { AntivirusTables } from './antivirus.tables.ts';

const ROWS_AT_ONCE = 100;

/**
 * Moves the sealed files of a data folder into the shared store, with the server running or not. They stay encrypted, so no key is needed. A repeated run continues after
 * the files that were moved. @throws StoreAwayError
 */
export async function moveKeptFiles(parts: {
  database: Kysely<Pick<AntivirusTables, 'scans'>>;
  /** The id of the data folder. */
  home: string;
  from: Blobs;
  to: Blobs;
  /** Called for each file that cannot be moved, with the error; the file stays in its place. */
  onFailed: (scan_id: string, error: unknown) => void;
}): Promise<{ moved: number; bytes: number; failed: number }> {
  const { database, home, from, to, onFailed } = parts;
  const done = { moved: 0, bytes: 0, failed: 0 };
  const pages = inPages(ROWS_AT_ONCE, (last?: { id: string }) =>
    database
      .selectFrom('scans')
      .select(['id', 'sealed_sha256'])
      .where('home', '=', home)
      .where('sealed', '=', sql.lit(1))
      .where('in_store', '=', sql.lit(0))
      .where('id', '>', last?.id ?? '')
      .orderBy('id')
      .limit(ROWS_AT_ONCE)
      .execute(),
  );
  for await (const rows of pages) {
    for (const { id, sealed_sha256 } of rows) {
      try {
        const { size } = await from.stat(id);
        const expected = sealed_sha256 === null ? undefined : { size, sha256: sealed_sha256 };
        const { sha256 } = await to.put(id, await from.get(id, { expected }), { size });
        const { numUpdatedRows } = await database
          .updateTable('scans')
          .set({ in_store: 1, sealed_sha256: sha256 })
          .where('id', '=', id)
          .where('sealed', '=', sql.lit(1))
          .where('in_store', '=', sql.lit(0))
          .executeTakeFirst();
        if (numUpdatedRows === 0n) {
          // Deleted by its owner meanwhile.
          await to.delete(id);
          continue;
        }
        await from.delete(id);
        done.moved += 1;
        done.bytes += size;
      } catch (error) {
        if (error instanceof StoreAwayError) throw error;
        done.failed += 1;
        onFailed(id, error);
      }
    }
  }
  return done;
}
