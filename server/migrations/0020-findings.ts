import type { Kysely } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  // Findings of rules, kept until all recipients have been notified.
  await database.schema
    .createTable('detection_findings')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('created_at', 'text', (column) => column.notNull())
    // JSON.
    .addColumn('found', 'text', (column) => column.notNull())
    // JSON: the ids of the notified recipients.
    .addColumn('told', 'text', (column) => column.notNull())
    .execute();

  // An alert of several files is no file that lies in the open: the rule is counted by, too.
  await database.schema.dropIndex('alerts_counts').execute();
  await database.schema
    .createIndex('alerts_counts')
    .on('alerts')
    .columns([
      'user_id',
      'simulated',
      'outcome',
      'threat_type',
      'rule',
      'severity',
      'status',
      'resolved_reason',
      'hidden_by',
      'created_at',
    ])
    .execute();
}
