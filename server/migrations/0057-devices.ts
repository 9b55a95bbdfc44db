import { type Kysely, sql } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  const { schema } = database;
  // Computers that an agent runs on.
  await schema
    .createTable('devices')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('device_name', 'text', (column) => column.notNull())
    .addColumn('hostname', 'text', (column) => column.notNull())
    // JSON, as the agent says it.
    .addColumn('os', 'text', (column) => column.notNull())
    .addColumn('public_key', 'text', (column) => column.notNull())
    // SHA-256 in hex of 32 random bytes.
    .addColumn('token_hash', 'text', (column) => column.notNull().unique())
    .addColumn('agent_version', 'text', (column) => column.notNull())
    .addColumn('enrolled_at', 'text', (column) => column.notNull())
    .addColumn('revoked_at', 'text')
    .addColumn('last_seen_at', 'text')
    // The holder of its one connection, and the end of its lease, by the clock of the database.
    .addColumn('instance', 'text')
    .addColumn('connection_id', 'text')
    .addColumn('connected_until', 'text')
    .addColumn('capabilities', 'text')
    .addColumn('skew_ms', 'bigint')
    .addColumn('default_inbound', 'text', (column) => column.notNull().check(sql`default_inbound in ('allow', 'block')`))
    .addColumn('default_outbound', 'text', (column) => column.notNull().check(sql`default_outbound in ('allow', 'block')`))
    // Changes of its own that make a revision, beside those of its person's rules; and of any other part of its desired state.
    .addColumn('own_rev', 'integer', (column) => column.notNull())
    .addColumn('told_rev', 'integer', (column) => column.notNull())
    // Its last answer to a revision.
    .addColumn('ack_rev', 'integer', (column) => column.notNull())
    .addColumn('ack_state', 'text')
    .addColumn('ack_errors', 'text', (column) => column.notNull())
    .addColumn('applied_rev', 'integer', (column) => column.notNull())
    .addColumn('applied_at', 'text')
    .addColumn('pending_since', 'text')
    // The report that was counted last, of which start of the agent.
    .addColumn('report_instance', 'text')
    .addColumn('report_seq', 'bigint', (column) => column.notNull())
    .addColumn('blocked_total', 'bigint', (column) => column.notNull())
    .addColumn('telemetry', 'text')
    .addColumn('telemetry_at', 'text')
    .addColumn('posture', 'text', (column) => column.notNull())
    .addColumn('foreign_tables', 'text', (column) => column.notNull())
    .addColumn('is_watching', 'integer', (column) => column.notNull().check(sql`is_watching in (0, 1)`))
    .addColumn('watched', 'text', (column) => column.notNull())
    .addColumn('exclusions', 'text', (column) => column.notNull())
    .addColumn('last_full_scan_at', 'text')
    // When its person was notified of a long silence; null once it is heard again.
    .addColumn('silence_told_at', 'text')
    .addUniqueConstraint('devices_key', ['user_id', 'public_key'])
    .execute();
  await schema.createIndex('devices_user_id_id').on('devices').columns(['user_id', 'id']).execute();

  // The number of a person's devices that are not revoked, so that of several enrolments at once the database decides which one is too many.
  await schema
    .createTable('device_counts')
    .addColumn('user_id', 'text', (column) => column.primaryKey().references('users.id').onDelete('cascade'))
    .addColumn('devices', 'integer', (column) => column.notNull())
    .execute();

  await schema
    .createTable('enrolment_codes')
    .addColumn('code_hash', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .execute();
  await schema.createIndex('enrolment_codes_user_id').on('enrolment_codes').column('user_id').execute();

  // Decisions of each rule, or of a direction's default: of the counter's present epoch, and of those before.
  await schema
    .createTable('device_counters')
    .addColumn('device_id', 'text', (column) => column.notNull().references('devices.id').onDelete('cascade'))
    .addColumn('of', 'text', (column) => column.notNull())
    .addColumn('epoch', 'text', (column) => column.notNull())
    .addColumn('packets', 'bigint', (column) => column.notNull())
    .addColumn('bytes', 'bigint', (column) => column.notNull())
    .addColumn('packets_before', 'bigint', (column) => column.notNull())
    .addColumn('bytes_before', 'bigint', (column) => column.notNull())
    .addColumn('last_at', 'text')
    .addPrimaryKeyConstraint('device_counters_pk', ['device_id', 'of'])
    .execute();

  // Recently dropped packets, in parts of five minutes.
  await schema
    .createTable('device_blocked')
    .addColumn('device_id', 'text', (column) => column.notNull().references('devices.id').onDelete('cascade'))
    .addColumn('part', 'text', (column) => column.notNull())
    .addColumn('direction', 'text', (column) => column.notNull())
    .addColumn('protocol', 'text', (column) => column.notNull())
    .addColumn('address', 'text', (column) => column.notNull())
    // -1 where there is none.
    .addColumn('port', 'integer', (column) => column.notNull())
    .addColumn('packets', 'bigint', (column) => column.notNull())
    .addColumn('first_at', 'text', (column) => column.notNull())
    .addColumn('last_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('device_blocked_pk', ['device_id', 'part', 'direction', 'protocol', 'address', 'port'])
    .execute();

  // Received events, so that each counts once in spite of repeats.
  await schema
    .createTable('device_events')
    .addColumn('device_id', 'text', (column) => column.notNull().references('devices.id').onDelete('cascade'))
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('heard_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('device_events_pk', ['device_id', 'id'])
    .execute();

  await schema
    .createTable('device_scans')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('device_id', 'text', (column) => column.notNull().references('devices.id').onDelete('cascade'))
    .addColumn('scan', 'text', (column) => column.notNull())
    .addColumn('path', 'text')
    .addColumn('wanted', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('reason', 'text')
    .addColumn('requested_at', 'text', (column) => column.notNull())
    .addColumn('started_at', 'text')
    .addColumn('ended_at', 'text')
    .addColumn('signatures_version', 'text')
    .addColumn('progress', 'text')
    .addColumn('files_found', 'integer', (column) => column.notNull())
    .execute();
  await schema.createIndex('device_scans_device_id_id').on('device_scans').columns(['device_id', 'id']).execute();

  await schema
    .createTable('device_findings')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('device_id', 'text', (column) => column.notNull().references('devices.id').onDelete('cascade'))
    // As the device names it.
    .addColumn('finding_id', 'text', (column) => column.notNull())
    .addColumn('scan_id', 'text')
    .addColumn('path', 'text', (column) => column.notNull())
    .addColumn('file_hash', 'text', (column) => column.notNull())
    .addColumn('size', 'bigint', (column) => column.notNull())
    .addColumn('threat', 'text', (column) => column.notNull())
    .addColumn('member', 'text')
    .addColumn('found_at', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('reason', 'text')
    // The person's order that the device has not carried out.
    .addColumn('order_id', 'text')
    .addColumn('order_action', 'text')
    .addUniqueConstraint('device_findings_of_device', ['device_id', 'finding_id'])
    .execute();
  await schema.createIndex('device_findings_user_id_id').on('device_findings').columns(['user_id', 'id']).execute();

  // A record of a file on a device, which was never uploaded: where it was found.
  for (const name of ['device_id', 'device_name', 'device_path'])
    await schema.alterTable('scans').addColumn(name, 'text').execute();
}
