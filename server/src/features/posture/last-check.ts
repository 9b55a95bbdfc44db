import type { Kysely } from 'kysely';
import type { PostureTables } from './posture.tables.ts';

/** The previous version stores a result there, and treats unreadable text as missing. */
const NO_RESULT = '{}';

/** Notes that a person asked for a security check. `now` is in ms. */
export async function noteCheck(database: Kysely<PostureTables>, user_id: string, now: number): Promise<void> {
  const kept = { checked_at: new Date(now).toISOString(), result: NO_RESULT };
  await database
    .insertInto('security_checks')
    .values({ user_id, ...kept })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(kept))
    .execute();
}

/** When a person last asked for a security check; ISO time, undefined before the first. */
export async function lastCheckAt(database: Kysely<PostureTables>, user_id: string): Promise<string | undefined> {
  const row = await database.selectFrom('security_checks').select('checked_at').where('user_id', '=', user_id).executeTakeFirst();
  return row?.checked_at;
}
