import { type Kysely, sql } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  const { schema } = database;
  // Scam checks that their person kept. `excerpt` is the beginning of the text; the input itself is not stored.
  await schema
    .createTable('scam_checks')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('verdict', 'text', (column) =>
      column.notNull().check(sql`verdict in ('dangerous', 'suspicious', 'nothing_found', 'not_checked')`),
    )
    .addColumn('excerpt', 'text', (column) => column.notNull())
    // JSON: the answer.
    .addColumn('answer', 'text', (column) => column.notNull())
    .execute();
  await schema.createIndex('scam_checks_user_id_id').on('scam_checks').columns(['user_id', 'id']).execute();
  // Domains that a person trusts. The provider's own lists have a table of their own: they belong to no account.
  await schema
    .createTable('scam_trusted')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('domain', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute();
  await schema.createIndex('scam_trusted_user_id_domain').unique().on('scam_trusted').columns(['user_id', 'domain']).execute();
  await schema
    .createTable('scam_domains')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('list', 'text', (column) => column.notNull().check(sql`list in ('trusted', 'dangerous')`))
    .addColumn('domain', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute();
  await schema.createIndex('scam_domains_domain').unique().on('scam_domains').column('domain').execute();
}
