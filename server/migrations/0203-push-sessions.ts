import type { Kysely } from 'kysely';

/** The session in which a browser asked for notices, with which they end. Earlier subscriptions have none and get nothing, until their own browser renews them. */
export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .alterTable('push_subscriptions')
    .addColumn('session_id', 'text', (column) => column.references('sessions.id').onDelete('cascade'))
    .execute();
  await database.schema.createIndex('push_subscriptions_session_id').on('push_subscriptions').column('session_id').execute();
}
