import { type Kysely, sql } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable('jobs')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('kind', 'text', (column) => column.notNull())
    // Of a kind there is one such row at most; null: as many as are asked for.
    .addColumn('once', 'text')
    .addColumn('payload', 'text', (column) => column.notNull())
    // 0 goes first.
    .addColumn('priority', 'integer', (column) => column.notNull())
    .addColumn('run_at', 'text', (column) => column.notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull())
    // The worker, the end of its lease, and the number of claims: a worker's outcome counts only while that number is the one that it claimed.
    .addColumn('claimed_by', 'text')
    .addColumn('lease_until', 'text')
    .addColumn('claims', 'integer', (column) => column.notNull())
    .addColumn('asked_again', 'integer', (column) => column.notNull())
    .addColumn('cancelled', 'integer', (column) => column.notNull())
    .addColumn('last_error', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    // When it was given up.
    .addColumn('dead_at', 'text')
    .execute();
  await database.schema
    .createIndex('jobs_due')
    .on('jobs')
    .columns(['kind', 'priority', 'run_at', 'id'])
    .where(sql.ref('dead_at'), 'is', null)
    .execute();
  await sql`create unique index jobs_once on jobs (kind, once) where once is not null and dead_at is null`.execute(database);
}
