import type { Kysely } from 'kysely';

/** Adds the session of a push subscription, which ends with the session. Earlier subscriptions have none, and get no notifications until their browser renews them. */
export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .alterTable('push_subscriptions')
    .addColumn('session_id', 'text', (column) => column.references('sessions.id').onDelete('cascade'))
    .execute();
  await database.schema.createIndex('push_subscriptions_session_id').on('push_subscriptions').column('session_id').execute();
}
