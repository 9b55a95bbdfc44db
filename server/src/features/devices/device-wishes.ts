import { type DeviceWish, WISH_NOTES_SHOWN, type WishedFor, type WishedSystem } from '@palisade/contract/devices';
import type { Kysely } from 'kysely';
import type { DeviceTables } from './devices.tables.ts';

type Tables = Pick<DeviceTables, 'device_wishes'>;

/** A person's wishes, the oldest first. */
export function wishesOf(database: Kysely<Tables>, user_id: string): Promise<DeviceWish[]> {
  return database
    .selectFrom('device_wishes')
    .select(['system', 'note', 'created_at'])
    .where('user_id', '=', user_id)
    .orderBy('created_at')
    .orderBy('system')
    .execute();
}

/** Stores a wish; a second one for the same system has another note, and the date of the first. `now` in ms. */
export function saveWish(
  database: Kysely<Tables>,
  wish: { user_id: string; system: WishedSystem; note: string },
  now: number,
): Promise<DeviceWish> {
  return database
    .insertInto('device_wishes')
    .values({ ...wish, created_at: new Date(now).toISOString() })
    .onConflict((conflict) => conflict.columns(['user_id', 'system']).doUpdateSet({ note: wish.note }))
    .returning(['system', 'note', 'created_at'])
    .executeTakeFirstOrThrow();
}

export async function deleteWish(database: Kysely<Tables>, user_id: string, system: WishedSystem): Promise<void> {
  await database.deleteFrom('device_wishes').where('user_id', '=', user_id).where('system', '=', system).execute();
}

/** The wishes of all people for each system, the most wanted first, with the newest notes. */
export async function countWishes(database: Kysely<Tables>): Promise<WishedFor[]> {
  const counted = await database
    .selectFrom('device_wishes')
    .select(['system', ({ fn }) => fn.countAll<number>().as('people')])
    .groupBy('system')
    .execute();
  const wished: WishedFor[] = [];
  for (const { system, people } of counted) {
    const rows = await database
      .selectFrom('device_wishes')
      .select('note')
      .where('system', '=', system)
      .where('note', '!=', '')
      .orderBy('created_at', 'desc')
      .limit(WISH_NOTES_SHOWN)
      .execute();
    wished.push({ system, people: Number(people), notes: rows.map(({ note }) => note) });
  }
  return wished.toSorted((one, other) => other.people - one.people || (one.system < other.system ? -1 : 1));
}
