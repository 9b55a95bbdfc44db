import { OFFLINE_ALERT_MS } from '@palisade/contract/devices';
import { type Kysely, sql } from 'kysely';
import type { DeviceTables } from './devices.tables.ts';

/** True if a device that is in use has not been heard for a week. `now` is in ms. */
const isSilent = (now: number) =>
  sql<boolean>`revoked_at is null and confirmed_at is not null
    and coalesce(last_seen_at, enrolled_at) <= ${new Date(now - OFFLINE_ALERT_MS).toISOString()}`;

/** True if the person of a row of `users` has a silent device. */
export const hasSilentDevice = (now: number) =>
  sql<boolean>`exists (select 1 from devices where devices.user_id = users.id and ${isSilent(now)})`;

/** Devices of all people that are in use, and the silent ones among them. */
export async function countDevices(
  database: Kysely<Pick<DeviceTables, 'devices'>>,
  now: number,
): Promise<{ all: number; silent: number }> {
  const row = await database
    .selectFrom('devices')
    .select(({ fn }) => [
      fn.countAll<number>().as('all'),
      fn.sum<number | null>(sql`case when ${isSilent(now)} then 1 else 0 end`).as('silent'),
    ])
    .where('revoked_at', 'is', null)
    .where('confirmed_at', 'is not', null)
    .executeTakeFirstOrThrow();
  return { all: Number(row.all), silent: Number(row.silent ?? 0) };
}

/** Those of these people who have a silent device. */
export async function ownersOfSilent(
  database: Kysely<Pick<DeviceTables, 'devices'>>,
  user_ids: readonly string[],
  now: number,
): Promise<ReadonlySet<string>> {
  const owners = database.selectFrom('devices').select('user_id').distinct().where('user_id', 'in', user_ids);
  return new Set((await owners.where(isSilent(now)).execute()).map(({ user_id }) => user_id));
}
