import { type Kysely, sql } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('firewall_rules')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('rule_name', 'text', (column) => column.notNull())
    .addColumn('direction', 'text', (column) => column.notNull().check(sql`direction in ('inbound', 'outbound')`))
    .addColumn('action', 'text', (column) => column.notNull().check(sql`action in ('allow', 'block')`))
    .addColumn('protocol', 'text', (column) => column.notNull().check(sql`protocol in ('tcp', 'udp', 'icmp', 'all')`))
    .addColumn('source_ip', 'text', (column) => column.notNull())
    .addColumn('destination_ip', 'text', (column) => column.notNull())
    .addColumn('port', 'text', (column) => column.notNull())
    .addColumn('enabled', 'integer', (column) => column.notNull().check(sql`enabled in (0, 1)`))
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute();
  await database.schema.createIndex('firewall_rules_user_id_id').on('firewall_rules').columns(['user_id', 'id']).execute();

  // The number of a person's rules, so that of several additions at once the database decides which one is too many.
  await database.schema
    .createTable('firewall_rule_counts')
    .addColumn('user_id', 'text', (column) => column.primaryKey().references('users.id').onDelete('cascade'))
    .addColumn('rules', 'integer', (column) => column.notNull())
    .execute();
}
