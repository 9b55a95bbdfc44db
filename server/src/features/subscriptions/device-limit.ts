import { MAX_DEVICES_DEFAULT, MAX_WEB_DEVICES_DEFAULT, statusOf } from '@palisade/contract/subscription';
import type { Kysely } from 'kysely';
import type { SubscriptionTables } from './subscriptions.tables.ts';

type Database = Kysely<Pick<SubscriptionTables, 'subscriptions'>>;

async function activePlan(database: Database, user_id: string, now: number) {
  const row = await database
    .selectFrom('subscriptions')
    .selectAll()
    .where('user_id', '=', user_id)
    .where('ended_as', 'is', null)
    .executeTakeFirst();
  return row === undefined || statusOf(row, now) !== 'active' ? undefined : row;
}

/** The number of devices that a person's plan allows at a time (ms), read in the caller's transaction. Without a plan it is one. */
export async function deviceLimit(database: Database, user_id: string, now: number): Promise<number> {
  return (await activePlan(database, user_id, now))?.max_devices ?? MAX_DEVICES_DEFAULT;
}

/** As `deviceLimit`, for devices of web protection. */
export async function webDeviceLimit(database: Database, user_id: string, now: number): Promise<number> {
  return (await activePlan(database, user_id, now))?.max_web_devices ?? MAX_WEB_DEVICES_DEFAULT;
}
