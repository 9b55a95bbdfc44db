import { MAX_DEVICES_DEFAULT, statusOf } from '@palisade/contract/subscription';
import type { Kysely } from 'kysely';
import type { SubscriptionTables } from './subscriptions.tables.ts';

/** The number of devices that a person's plan allows at a time (ms), read in the caller's transaction. Without a plan it is one. */
export async function deviceLimit(
  database: Kysely<Pick<SubscriptionTables, 'subscriptions'>>,
  user_id: string,
  now: number,
): Promise<number> {
  const row = await database
    .selectFrom('subscriptions')
    .selectAll()
    .where('user_id', '=', user_id)
    .where('ended_as', 'is', null)
    .executeTakeFirst();
  return row === undefined || statusOf(row, now) !== 'active' ? MAX_DEVICES_DEFAULT : row.max_devices;
}
