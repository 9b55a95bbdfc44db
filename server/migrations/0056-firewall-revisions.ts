import { type Kysely, sql } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  const rules = () => database.schema.alterTable('firewall_rules');
  // When a temporary rule switches itself off; null for one that lasts.
  await rules().addColumn('expires_at', 'text').execute();
  // JSON: the ids of the devices that it is for; empty for all of them.
  await rules()
    .addColumn('device_ids', 'text', (column) => column.notNull().defaultTo('[]'))
    .execute();
  await sql`create index firewall_rules_expires_at on firewall_rules (expires_at) where enabled = 1 and expires_at is not null`.execute(
    database,
  );
  // Rises by one with each change of a person's rules.
  await database.schema
    .alterTable('firewall_rule_counts')
    .addColumn('rev', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  await database.schema
    .createTable('firewall_revisions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('rev', 'integer', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('rule_name', 'text')
    .addColumn('added', 'integer', (column) => column.notNull())
    .addColumn('changed', 'integer', (column) => column.notNull())
    .addColumn('removed', 'integer', (column) => column.notNull())
    // JSON: each rule as it was before and is after, null where it was not or is not there.
    .addColumn('changes', 'text', (column) => column.notNull())
    .addUniqueConstraint('firewall_revisions_rev', ['user_id', 'rev'])
    .execute();
}
