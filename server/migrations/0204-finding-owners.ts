import type { Kysely } from 'kysely';

/** The owner of an infected file on a device, by the number that its system has for them: each has a part of the room for findings. */
export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema.alterTable('device_findings').addColumn('owner', 'bigint').execute();
}
