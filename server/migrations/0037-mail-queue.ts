import { type Kysely, sql } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  // 0 goes first. Mails that wait since before are in the middle: their kind is unknown.
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

  // Progress of a week's digests: the end of their period, and the person of the last one written. Null while none are being written.
  await database.schema.alterTable('alert_digest').addColumn('until', 'text').execute();
  await database.schema.alterTable('alert_digest').addColumn('written_to', 'text').execute();
}
