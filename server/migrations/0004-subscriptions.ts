import { type Kysely, sql } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('subscription_templates')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('template_name', 'text', (column) => column.notNull())
    // The name in the form in which two are the same: NFKC, lower case.
    .addColumn('template_name_key', 'text', (column) => column.notNull())
    .addColumn('base_price_cents', 'integer', (column) => column.notNull().check(sql`base_price_cents >= 0`))
    .addColumn('currency', 'text', (column) => column.notNull())
    .addColumn('duration_months', 'integer', (column) => column.notNull())
    .addColumn('max_devices', 'integer', (column) => column.notNull())
    .addColumn('is_premium', 'integer', (column) => column.notNull())
    .addColumn('features', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addUniqueConstraint('subscription_templates_template_name_key_unique', ['template_name_key'])
    .execute();

  await database.schema
    .createTable('subscriptions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('plan_name', 'text', (column) => column.notNull())
    .addColumn('price_cents', 'integer', (column) => column.notNull().check(sql`price_cents >= 0`))
    .addColumn('currency', 'text', (column) => column.notNull())
    .addColumn('duration_months', 'integer', (column) => column.notNull())
    .addColumn('max_devices', 'integer', (column) => column.notNull())
    .addColumn('is_premium', 'integer', (column) => column.notNull())
    .addColumn('features', 'text', (column) => column.notNull())
    .addColumn('starts_at', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'text')
    .addColumn('ended_as', 'text', (column) => column.check(sql`ended_as in ('replaced', 'cancelled')`))
    .addColumn('ended_at', 'text')
    .execute();
  await database.schema.createIndex('subscriptions_user_id_id').on('subscriptions').columns(['user_id', 'id']).execute();
  // However many admins assign at once, one subscription of a person is left.
  await database.schema
    .createIndex('subscriptions_one_user_id')
    .unique()
    .on('subscriptions')
    .column('user_id')
    .where(sql.ref('ended_as'), 'is', null)
    .execute();

  await database.schema
    .createTable('subscription_requests')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('template_id', 'text', (column) => column.notNull().references('subscription_templates.id').onDelete('cascade'))
    .addColumn('status', 'text', (column) => column.notNull().check(sql`status in ('open', 'granted', 'declined', 'withdrawn')`))
    .addColumn('requested_at', 'text', (column) => column.notNull())
    .addColumn('decided_at', 'text')
    .execute();
  await database.schema
    .createIndex('subscription_requests_user_id_id')
    .on('subscription_requests')
    .columns(['user_id', 'id'])
    .execute();
  await database.schema
    .createIndex('subscription_requests_open_template_id')
    .unique()
    .on('subscription_requests')
    .columns(['user_id', 'template_id'])
    .where(sql.ref('status'), '=', sql.lit('open'))
    .execute();
}
