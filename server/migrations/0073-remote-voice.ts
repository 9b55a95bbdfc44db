import type { Kysely } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  // How each side takes part in the talk by voice: off, muted or open.
  for (const name of ['customer_voice', 'technician_voice'])
    await database.schema
      .alterTable('remote_sessions')
      .addColumn(name, 'text', (column) => column.notNull().defaultTo('off'))
      .execute();
}
