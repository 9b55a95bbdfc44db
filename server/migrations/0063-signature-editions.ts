import type { Kysely } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  // Sets of signatures that devices were offered: the number rises with each change, so that a device can tell an older one.
  await database.schema
    .createTable('signature_editions')
    .addColumn('number', 'integer', (column) => column.notNull())
    .addColumn('sha256', 'text', (column) => column.notNull())
    .addColumn('issued_at', 'text', (column) => column.notNull())
    .addUniqueConstraint('signature_editions_number', ['number'])
    .execute();
}
