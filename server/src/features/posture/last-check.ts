import { type PostureScan, postureScanSchema } from '@palisade/contract/anti-hacking';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { PostureTables } from './posture.tables.ts';

const storedSchema = z
  .string()
  .transform((text): unknown => JSON.parse(text))
  .pipe(postureScanSchema);

/** Keeps the result of a security check in place of the person's earlier one. `now` is in ms. */
export async function keepCheck(database: Kysely<PostureTables>, user_id: string, scan: PostureScan, now: number): Promise<void> {
  const kept = { checked_at: new Date(now).toISOString(), result: JSON.stringify(scan) };
  await database
    .insertInto('security_checks')
    .values({ user_id, ...kept })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(kept))
    .execute();
}

/** The newest security check of a person; null before the first one, and for a result of another version that no longer parses. */
export async function readCheck(
  database: Kysely<PostureTables>,
  user_id: string,
): Promise<{ checked_at: string; result: PostureScan } | null> {
  const row = await database
    .selectFrom('security_checks')
    .select(['checked_at', 'result'])
    .where('user_id', '=', user_id)
    .executeTakeFirst();
  if (!row) return null;
  const result = storedSchema.safeParse(row.result);
  return result.success ? { checked_at: row.checked_at, result: result.data } : null;
}
