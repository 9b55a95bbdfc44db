import { type Kysely, sql } from 'kysely';

const KEPT_OPEN_MS = 30 * 86_400_000;

/**
 * Adds the end of each infection, and who ended it. Of earlier records, files that a device quarantined or deleted count as ended by its agent. Infected uploads of the last 30 days stay open, because only
 * these were shown as open.
 */
export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema.alterTable('scans').addColumn('closed_at', 'text').execute();
  await database.schema.alterTable('scans').addColumn('closed_by', 'text').execute();
  await sql`update scans set closed_at = scanned_at, closed_by = 'agent'
    where scan_status = 'infected' and device_id is not null and exists (select 1 from device_findings
      where device_findings.device_id = scans.device_id and device_findings.path = scans.device_path
        and device_findings.file_hash = scans.file_hash and device_findings.state in ('quarantined', 'deleted'))`.execute(
    database,
  );
  await sql`update scans set closed_at = scanned_at, closed_by = 'upgrade'
    where scan_status = 'infected' and closed_at is null and device_id is null
      and scanned_at < ${new Date(Date.now() - KEPT_OPEN_MS).toISOString()}`.execute(database);
  await sql`create index scans_open_infections on scans (user_id, id) where scan_status = 'infected' and closed_at is null`.execute(
    database,
  );
}
