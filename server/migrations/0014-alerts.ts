import { type Kysely, sql } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  const alerts = () => database.schema.alterTable('alerts');
  const addText = (name: string) =>
    alerts()
      .addColumn(name, 'text', (column) => column.notNull().defaultTo(''))
      .execute();
  await addText('rule');
  // The network or address that it came from, or the file that it is about; null where there are several, or none.
  await alerts().addColumn('source', 'text').execute();
  // `blocked`, `allowed` or `unknown`, in place of the flag.
  await addText('outcome');
  // JSON, as the contract has it.
  await addText('evidence');
  await alerts()
    .addColumn('count', 'integer', (column) => column.notNull().defaultTo(1))
    .execute();
  await addText('last_seen');
  // An id of its latest occurrence: the list's order, and its cursor.
  await addText('last_id');
  await alerts()
    .addColumn('status', 'text', (column) => column.notNull().defaultTo('open'))
    .execute();
  for (const name of ['resolved_reason', 'resolved_note', 'resolved_until', 'resolved_at', 'resolved_by', 'device_id'])
    await alerts().addColumn(name, 'text').execute();
  // JSON: the ids of the sessions that it is about.
  await alerts()
    .addColumn('session_ids', 'text', (column) => column.notNull().defaultTo('[]'))
    .execute();
  // The suppression that keeps it out of the list.
  await alerts().addColumn('hidden_by', 'text').execute();

  await sql`update alerts set
    rule = case
      when simulated = 1 then 'drill'
      when threat_type = 'false_alarm' then 'false_alarm.cleared'
      else 'malware_detected.infected' end,
    outcome = case when blocked = 1 then 'blocked' else 'unknown' end,
    evidence = case
      when simulated = 1 then '{"threshold":"None: a drill is asked for","events":[]}'
      else '{"threshold":"One file is enough","events":[]}' end,
    last_seen = created_at,
    last_id = id`.execute(database);
  await database.schema.dropIndex('alerts_counts').execute();
  await database.schema.dropIndex('alerts_user_id_id').execute();
  await alerts().dropColumn('blocked').execute();
  await database.schema.createIndex('alerts_user_id_last_id').on('alerts').columns(['user_id', 'last_id']).execute();
  // Whole, so that counting looks at nothing else.
  await database.schema
    .createIndex('alerts_counts')
    .on('alerts')
    .columns([
      'user_id',
      'simulated',
      'outcome',
      'threat_type',
      'severity',
      'status',
      'resolved_reason',
      'hidden_by',
      'created_at',
    ])
    .execute();

  await database.schema
    .createTable('alert_decisions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('alert_id', 'text', (column) => column.notNull().references('alerts.id').onDelete('cascade'))
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('at', 'text', (column) => column.notNull())
    .addColumn('by', 'text', (column) => column.notNull())
    .addColumn('reason', 'text')
    .addColumn('note', 'text')
    .addColumn('until', 'text')
    .execute();
  await database.schema.createIndex('alert_decisions_alert_id_id').on('alert_decisions').columns(['alert_id', 'id']).execute();

  await database.schema
    .createTable('alert_suppressions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('rule', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('description', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('until', 'text', (column) => column.notNull())
    .addColumn('hidden_count', 'integer', (column) => column.notNull())
    .addColumn('last_hidden_at', 'text')
    .addUniqueConstraint('alert_suppressions_rule_source', ['user_id', 'rule', 'source'])
    .execute();

  // One row for each person, key and day that a mail was written about.
  await database.schema
    .createTable('alert_mails')
    .addColumn('dedupe_key', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('day', 'text', (column) => column.notNull())
    .execute();

  // One row: the server that moves `next_at` writes the digests.
  await database.schema
    .createTable('alert_digest')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('since', 'text', (column) => column.notNull())
    .addColumn('next_at', 'text', (column) => column.notNull())
    .execute();
}
