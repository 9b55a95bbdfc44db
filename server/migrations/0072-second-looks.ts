import type { Kysely } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
  // A second look by the server's scanner at a device's finding: its state, the order for the device, since when, the scan that answers, and the reason if there is none.
  for (const column of ['look_state', 'look_order_id', 'look_asked_at', 'look_received_at', 'look_scan_id', 'look_reason'])
    await database.schema.alterTable('device_findings').addColumn(column, 'text').execute();
  await database.schema.createIndex('device_findings_look').on('device_findings').column('look_order_id').execute();
}
