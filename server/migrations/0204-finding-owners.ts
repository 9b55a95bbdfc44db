import type { Kysely } from 'kysely';

/** Adds the user id of an infected file's owner on a device: the limit for findings is divided between owners. */
export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema.alterTable('device_findings').addColumn('owner', 'bigint').execute();
}
