import type { Kysely } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  // Each side's part in the voice call: off, muted or open.
  for (const name of ['customer_voice', 'technician_voice'])
    await database.schema
      .alterTable('remote_sessions')
      .addColumn(name, 'text', (column) => column.notNull().defaultTo('off'))
      .execute();
}
