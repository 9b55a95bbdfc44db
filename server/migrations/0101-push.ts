import type { Kysely } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  const { schema } = database;
  // Browsers that get notices, with the keys that these are encrypted for.
  await schema
    .createTable('push_subscriptions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('endpoint', 'text', (column) => column.notNull())
    .addColumn('p256dh', 'text', (column) => column.notNull())
    .addColumn('auth', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute();
  await schema.createIndex('push_subscriptions_endpoint').unique().on('push_subscriptions').column('endpoint').execute();
  await schema.createIndex('push_subscriptions_user_id_id').on('push_subscriptions').columns(['user_id', 'id']).execute();
}
