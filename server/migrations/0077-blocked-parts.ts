import type { Kysely } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  // The part of an agent's log of dropped packets that was counted last: it is repeated until it is confirmed, and counts once.
  await database.schema.alterTable('devices').addColumn('blocked_log', 'text').execute();
  await database.schema
    .alterTable('devices')
    .addColumn('blocked_number', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute();
}
