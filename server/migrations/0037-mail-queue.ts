import { type Kysely, sql } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  // 0 goes first. What waits since before is in the middle: nobody knows any more what it is.
  await database.schema
    .alterTable('mails')
    .addColumn('priority', 'integer', (column) => column.notNull().defaultTo(1))
    .execute();
  await database.schema.dropIndex('mails_next_attempt_at').execute();
  await database.schema
    .createIndex('mails_due')
    .on('mails')
    .columns(['priority', 'next_attempt_at'])
    .where(sql.ref('next_attempt_at'), 'is not', null)
    .execute();

  // How far the digests of a week are written: up to when they tell, and the person whose was the last. Null while none are being written.
  await database.schema.alterTable('alert_digest').addColumn('until', 'text').execute();
  await database.schema.alterTable('alert_digest').addColumn('written_to', 'text').execute();
}
