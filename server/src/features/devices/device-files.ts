import type { Found, ScanReport, Told } from '@palisade/contract/agent';
import { type Kysely, sql } from 'kysely';
import { newId } from '#platform/id.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import { type DeviceIncident, incidentOfFile } from './device-alerts.ts';
import { momentOn } from './device-moment.ts';
import { type DeviceRow, SCANS_OVER } from './device-record.ts';
import type { DeviceTables } from './devices.tables.ts';

/** A file that was found, as a record of its person's scans. */
export interface FoundOnDevice {
  user_id: string;
  device: { id: string; device_name: string };
  file: Found;
}

/** Records of scans for files found on devices. Both functions write as part of a transaction, and return the function that reports the change after the commit. */
export interface FoundRecords<Database = Kysely<DeviceTables>> {
  add(database: Database, found: FoundOnDevice): Promise<() => void>;
  /** The agent deleted the file, or restored it: its infection ends, or is open again. */
  settle(database: Database, copy: CopyOnDevice, is_deleted: boolean): Promise<() => void>;
}

/** Where a copy of a file lies on a device. */
interface CopyOnDevice {
  user_id: string;
  device_id: string;
  path: string;
  file_hash: string;
}

/** Devices' reports about scanned, found, restored and deleted files. */
export interface DeviceFiles {
  hearScan(device: DeviceRow, report: ScanReport): Promise<Told[]>;
  /** A file command was carried out, or failed. */
  finishOrder(device: DeviceRow, done: { order_id: string; ok: boolean; message: string | null }): Promise<void>;
}

/** Findings of one device that are kept. */
const FINDINGS_KEPT = 5_000;

/**
 * Makes room for a new finding: deletes the oldest closed one, or else the oldest one of the person with the most findings. A person who fills their folders with infected
 * files thus displaces only their own findings.
 */
async function makeRoom(database: Kysely<DeviceTables>, device_id: string, kept: number): Promise<void> {
  const of = () => database.selectFrom('device_findings').where('device_id', '=', device_id);
  const { findings } = await of()
    .select(({ fn }) => fn.countAll<number>().as('findings'))
    .executeTakeFirstOrThrow();
  for (let over = Number(findings) - kept; over > 0; over -= 1) {
    const closed = await of()
      .select('id')
      .where('state', 'in', ['restored', 'deleted'])
      .orderBy('id')
      .limit(1)
      .executeTakeFirst();
    const { owner } = await of()
      .select(({ fn }) => ['owner', fn.countAll<number>().as('findings')])
      .groupBy('owner')
      .orderBy('findings', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow();
    const oldest = of()
      .select('id')
      .where('owner', owner === null ? 'is' : '=', owner)
      .orderBy('id')
      .limit(1);
    await database
      .deleteFrom('device_findings')
      .where('id', 'in', closed === undefined ? oldest : [closed.id])
      .execute();
  }
}

/** Handles the device's answer to a file command. */
async function finishOrder(
  { database, records }: { database: Kysely<DeviceTables>; records: Pick<FoundRecords, 'settle'> },
  device: DeviceRow,
  { order_id, ok, message }: { order_id: string; ok: boolean; message: string | null },
): Promise<void> {
  const ordered = await database
    .selectFrom('device_findings')
    .select(['user_id', 'device_id', 'path', 'file_hash', 'order_action'])
    .where('device_id', '=', device.id)
    .where('order_id', '=', order_id)
    .execute();
  // First, so that a repetition of an interrupted answer still finds its command.
  if (ok) for (const { order_action, ...copy } of ordered) (await records.settle(database, copy, order_action === 'delete'))();
  await database
    .updateTable('device_findings')
    .set(({ eb, ref }) => ({
      ...(ok && {
        state: eb
          .case()
          .when('order_action', '=', 'restore')
          .then(sql<'restored'>`'restored'`)
          .when('order_action', '=', 'delete')
          .then(sql<'deleted'>`'deleted'`)
          .else(ref('state'))
          .end(),
      }),
      reason: message,
      order_id: null,
      order_action: null,
    }))
    .where('device_id', '=', device.id)
    .where('order_id', '=', order_id)
    .execute();
  await database
    .updateTable('devices')
    .set(({ eb }) => ({ told_rev: eb('told_rev', '+', 1) }))
    .where('id', '=', device.id)
    .execute();
}

export function createDeviceFiles(parts: {
  database: Kysely<DeviceTables>;
  raise: (incident: DeviceIncident) => Promise<void>;
  records: FoundRecords;
  now: () => number;
  findings_kept?: number | undefined;
}): DeviceFiles {
  const { database, raise, records, now, findings_kept = FINDINGS_KEPT } = parts;
  const at = () => new Date(now()).toISOString();

  /** Returns whether it is new. An interrupted report is repeated from the start: first the person is notified, once despite repetitions, and then the finding is stored with its record. */
  async function keepFinding(device: DeviceRow, scan_id: string | null, said: Found): Promise<boolean> {
    const file = { ...said, found_at: momentOn(device, said.found_at, now()) };
    const known = await database
      .selectFrom('device_findings')
      .select('id')
      .where('device_id', '=', device.id)
      .where('finding_id', '=', file.id)
      .executeTakeFirst();
    if (known !== undefined) return false;
    await raise(incidentOfFile(device, file));
    const tell = await inTransaction(database, async (transaction) => {
      await transaction
        .insertInto('device_findings')
        .values({
          ...{ id: newId(), user_id: device.user_id, device_id: device.id, finding_id: file.id, scan_id },
          ...{ path: file.path, file_hash: file.file_hash, size: file.size, threat: file.threat, member: file.member },
          owner: file.owner ?? null,
          ...{ found_at: file.found_at, state: file.outcome, reason: file.reason, order_id: null, order_action: null },
        })
        .execute();
      await makeRoom(transaction, device.id, findings_kept);
      return await records.add(transaction, { user_id: device.user_id, device, file });
    });
    tell();
    return true;
  }

  async function hearScan(device: DeviceRow, report: ScanReport): Promise<Told[]> {
    const { job_id, state, reason, progress, signatures_version } = report;
    // A scan that ended while the server was unreachable ended at that time.
    const moment = report.at === undefined ? at() : momentOn(device, report.at, now());
    const is_over = SCANS_OVER.includes(state);
    // A job of another device does not count for this one.
    const job =
      job_id === null
        ? undefined
        : await database
            .selectFrom('device_scans')
            .selectAll()
            .where('id', '=', job_id)
            .where('device_id', '=', device.id)
            .executeTakeFirst();
    let fresh = 0;
    for (const file of report.found) if (await keepFinding(device, job?.id ?? null, file)) fresh += 1;
    if (job !== undefined) {
      await database
        .updateTable('device_scans')
        .set(({ eb }) => ({
          ...{ state, reason, signatures_version, progress: JSON.stringify(progress) },
          files_found: eb('files_found', '+', fresh),
          ...(job.started_at === null && state !== 'queued' && { started_at: moment }),
          ...(is_over && { ended_at: moment }),
        }))
        .where('id', '=', job.id)
        // A finished scan stays finished, whatever a repeated report says.
        .where('state', 'not in', SCANS_OVER)
        .execute();
    }
    const was_over = job !== undefined && SCANS_OVER.includes(job.state);
    // Findings by watching have no job to confirm to the device.
    if (is_over && !was_over && report.scan !== 'watch') {
      const is_full = state === 'done' && report.scan === 'full' && (job === undefined ? job_id === null : job.scan === 'full');
      await database
        .updateTable('devices')
        .set(({ eb }) => ({ told_rev: eb('told_rev', '+', 1), ...(is_full && { last_full_scan_at: moment }) }))
        .where('id', '=', device.id)
        .execute();
    }
    return [{ kind: 'noted', seq: report.seq, events: [] }];
  }

  return { hearScan, finishOrder: (device, answer) => finishOrder({ database, records }, device, answer) };
}
