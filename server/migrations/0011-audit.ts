import { type Kysely, sql } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('audit_entries')
    .addColumn('seq', 'integer', (column) => column.primaryKey())
    .addColumn('at', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    // Ids alone, and no reference: an entry outlives the account.
    .addColumn('subject_id', 'text', (column) => column.notNull())
    .addColumn('actor_id', 'text')
    // Personal data: deleted with the account, while the chain keeps its hash.
    .addColumn('personal', 'text')
    .addColumn('personal_hash', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .execute();
  await database.schema.createIndex('audit_entries_subject_id_seq').on('audit_entries').columns(['subject_id', 'seq']).execute();

  // One row: the end of the chain. An addition of an entry locks it first.
  await database.schema
    .createTable('audit_head')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('seq', 'integer', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .execute();
  await sql`insert into audit_head (id, seq, hash) values (1, 0, ${'0'.repeat(64)})`.execute(database);
}
