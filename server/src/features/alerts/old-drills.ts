import { type Kysely, sql } from 'kysely';
import type { AlertTables } from './alerts.tables.ts';

/** Time for which drills are kept: they do not affect an account's score. */
const DRILLS_KEPT_MS = 90 * 86_400_000;

/** Deletes expired drills of all people. `now` is in ms. */
export async function forgetOldDrills(database: Kysely<AlertTables>, now: number): Promise<void> {
  await database
    .deleteFrom('alerts')
    .where('simulated', '=', sql.lit(1))
    .where('created_at', '<', new Date(now - DRILLS_KEPT_MS).toISOString())
    .execute();
}
