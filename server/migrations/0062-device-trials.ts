import type { Kysely } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  // Since when a device tries out the revision of `ack_rev`; null while it tries none.
  await database.schema.alterTable('devices').addColumn('trial_at', 'text').execute();
}
