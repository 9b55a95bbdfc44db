import { type Kysely, sql } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  // Systems without an agent that people ask for.
  await database.schema
    .createTable('device_wishes')
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('system', 'text', (column) => column.notNull().check(sql`system in ('windows', 'macos', 'phone')`))
    .addColumn('note', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('device_wishes_pk', ['user_id', 'system'])
    .execute();
}
