import type { SecondLook } from '@palisade/contract/agent';
import { type Scan, UPLOAD_MAXIMUM } from '@palisade/contract/antivirus';
import type { DeviceFinding, FindingsSecondLook } from '@palisade/contract/devices';
import type { Kysely, Updateable } from 'kysely';
import type { Audit, AuditTables, Doer } from '#platform/audit.ts';
import { newId } from '#platform/id.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import { Problem } from '#platform/problem.ts';
import { asWritten } from '#platform/sentence.ts';
import { capabilitiesOf, type DeviceRow, type FindingRow, findingOf } from './device-record.ts';
import { refuse } from './devices.refusals.ts';
import type { DeviceTables } from './devices.tables.ts';

type Tables = DeviceTables & AuditTables;

/** The actor; null for the device itself. */
type BySomebody = Omit<Doer, 'actor_id'> & { actor_id: string | null };

/** A file that a device was asked for and begins to send. */
interface Awaited {
  finding: FindingRow;
  order_id: string;
}

/** A file that is read has a record by then, or its server ended before it could make one. ms. */
const RECORDED_WITHIN_MS = 15 * 60_000;
const WANTED_AT_ONCE = 200;

interface SecondLooksOptions {
  database: Kysely<Tables>;
  audit: Audit;
  /** The scans of some ids, as far as there are any. */
  scans: (ids: readonly string[]) => Promise<readonly Scan[]>;
  nudge: (device_id: string) => void;
  now: () => number;
}

const at = (now: () => number) => new Date(now()).toISOString();

const auditTables = (transaction: Kysely<Tables>) => transaction.$pickTables<'audit_entries' | 'audit_head'>();

function lookOf(now: () => number, row: FindingRow, scan: Scan | undefined): FindingsSecondLook | null {
  if (row.look_state === null || row.look_asked_at === null) return null;
  const kept = { asked_at: row.look_asked_at, reason: row.look_reason };
  if (scan !== undefined) {
    const { id, scan_status, status_detail, scanned_at, threat_detected, is_test_file, engines } = scan;
    const waits = scan_status === 'pending' && (status_detail === 'queued' || status_detail === 'engine_down');
    return {
      ...kept,
      state: waits ? 'scanning' : 'answered',
      scan: { id, scan_status, status_detail, scanned_at, threat_detected, is_test_file, engines },
    };
  }
  const is_late = now() - Date.parse(row.look_received_at ?? row.look_asked_at) > RECORDED_WITHIN_MS;
  const is_gone = row.look_state === 'answered' || (row.look_state === 'scanning' && is_late);
  return { ...kept, state: is_gone ? 'gone' : row.look_state, scan: null };
}

const deviceOf = async (database: Kysely<Tables>, id: string) => {
  const device = await database.selectFrom('devices').selectAll().where('id', '=', id).executeTakeFirst();
  if (device === undefined) throw new Problem('not_found');
  return device;
};

/**
 * Second looks: a found file of a device is sent to this server, because its person asked for it, and read by the server's
 * scanner.
 */
export class SecondLooks {
  private readonly database: Kysely<Tables>;
  private readonly audit: Audit;
  private readonly scans: (ids: readonly string[]) => Promise<readonly Scan[]>;
  private readonly nudge: (device_id: string) => void;
  private readonly now: () => number;

  constructor(options: SecondLooksOptions) {
    this.database = options.database;
    this.audit = options.audit;
    this.scans = options.scans;
    this.nudge = options.nudge;
    this.now = options.now;
  }

  /** Findings as replies have them, each with what became of its second look. */
  async withLooks(rows: readonly FindingRow[]): Promise<DeviceFinding[]> {
    const ids = rows.flatMap(({ look_scan_id }) => look_scan_id ?? []);
    const known = new Map((ids.length === 0 ? [] : await this.scans(ids)).map((scan) => [scan.id, scan]));
    return rows.map((row) => ({
      ...findingOf(row),
      second_look: lookOf(this.now, row, row.look_scan_id === null ? undefined : known.get(row.look_scan_id)),
    }));
  }

  private async one(row: FindingRow): Promise<DeviceFinding> {
    const [finding] = await this.withLooks([row]);
    if (finding === undefined) throw new Problem('not_found');
    return finding;
  }

  /** Changes the order for a device and logs it; undefined if `order_id` is not its present order. */
  private async change(
    { id, device_id, user_id, path, file_hash }: FindingRow,
    order_id: string | null,
    set: Updateable<DeviceTables['device_findings']>,
    entry: BySomebody & { kind: Parameters<Audit['record']>[1]['kind']; details?: Record<string, string> },
  ): Promise<FindingRow | undefined> {
    const device = await deviceOf(this.database, device_id);
    const changed = await inTransaction(this.database, async (transaction) => {
      const row = await transaction
        .updateTable('device_findings')
        .set(set)
        .where('id', '=', id)
        .where((where) =>
          order_id === null
            ? where.or([where('look_state', 'is', null), where('look_state', 'not in', ['asked', 'scanning'])])
            : where('look_order_id', '=', order_id),
        )
        .returningAll()
        .executeTakeFirst();
      if (row === undefined) return undefined;
      await transaction
        .updateTable('devices')
        .set(({ eb }) => ({ told_rev: eb('told_rev', '+', 1) }))
        .where('id', '=', device_id)
        .execute();
      const { kind, actor_id, origin, details = {} } = entry;
      const named = { device_name: device.device_name, path, file_hash, ...details };
      await this.audit.record(auditTables(transaction), { kind, subject_id: user_id, actor_id, origin, details: named });
      return row;
    });
    if (changed !== undefined) this.nudge(device_id);
    return changed;
  }

  /** Has the device send the file. @throws Problem `conflict` with the reason where that cannot be asked for. */
  async ask(finding: FindingRow, by: Doer): Promise<DeviceFinding> {
    const device = await deviceOf(this.database, finding.device_id);
    if (device.revoked_at !== null) throw refuse('device.revoked');
    if (finding.state === 'deleted') throw refuse('server_rescan.file_deleted');
    if (finding.size > UPLOAD_MAXIMUM) throw refuse('server_rescan.file_too_large');
    const capabilities = capabilitiesOf(device);
    if (capabilities?.second_look !== true) {
      // The device's own reason.
      const reason = capabilities?.second_look_reason ?? undefined;
      throw reason === undefined ? refuse('server_rescan.agent_too_old') : new Problem('conflict', { says: asWritten(reason) });
    }
    const [before] = await this.withLooks([finding]);
    // A look whose server ended meanwhile gets no answer.
    const is_lost = finding.look_state === 'scanning' && before?.second_look?.state === 'gone';
    if (is_lost)
      await this.database.updateTable('device_findings').set({ look_state: 'failed' }).where('id', '=', finding.id).execute();
    const asked: Updateable<DeviceTables['device_findings']> = {
      look_state: 'asked',
      look_order_id: newId(),
      look_asked_at: at(this.now),
      look_received_at: null,
      look_scan_id: null,
      look_reason: null,
    };
    const row = await this.change(finding, null, asked, { kind: 'second_look_asked', ...by });
    if (row === undefined) throw refuse('server_rescan.running');
    return await this.one(row);
  }

  /** @throws Problem `conflict` once the file has come, and without an order. */
  async withdraw(finding: FindingRow, by: Doer): Promise<DeviceFinding> {
    const none: Updateable<DeviceTables['device_findings']> = {
      look_state: null,
      look_order_id: null,
      look_asked_at: null,
      look_reason: null,
    };
    const { look_order_id } = finding;
    const row =
      look_order_id === null
        ? undefined
        : await this.change(finding, look_order_id, none, { kind: 'second_look_withdrawn', ...by });
    if (row === undefined) throw refuse('server_rescan.arrived');
    return await this.one(row);
  }

  /** The files that a device is asked for. */
  async wanted(device_id: string): Promise<SecondLook[]> {
    const rows = await this.database
      .selectFrom('device_findings')
      .select(['look_order_id', 'finding_id', 'file_hash'])
      .where('device_id', '=', device_id)
      .where('look_order_id', 'is not', null)
      .orderBy('id')
      .limit(WANTED_AT_ONCE)
      .execute();
    return rows.flatMap(({ look_order_id: id, finding_id, file_hash }) => (id === null ? [] : [{ id, finding_id, file_hash }]));
  }

  /** Finds the request for a file that a device sends. @throws Problem `not_found` if it is not (or no longer) requested. */
  async find({ id: device_id }: DeviceRow, order_id: string): Promise<Awaited> {
    const finding = await this.database
      .selectFrom('device_findings')
      .selectAll()
      .where('look_order_id', '=', order_id)
      .where('device_id', '=', device_id)
      .executeTakeFirst();
    if (finding === undefined) throw refuse('server_rescan.not_requested');
    return { finding, order_id };
  }

  /** Takes a file that has come, before anything reads it. @throws Problem `conflict` for another file than the one that was found, `not_found` where nobody asks for it any more. */
  async accept(
    { finding, order_id }: Awaited,
    look_scan_id: string,
    { size, sha256 }: { size: number; sha256: string },
    by: BySomebody,
  ): Promise<void> {
    if (sha256 !== finding.file_hash || size !== finding.size) {
      const refusal = refuse('server_rescan.other_file');
      const refused = { look_state: 'failed', look_order_id: null, look_reason: refusal.message } as const;
      await this.change(finding, order_id, refused, { kind: 'second_look_refused', ...by, details: { sent_hash: sha256 } });
      throw refusal;
    }
    const taken = { look_state: 'scanning', look_order_id: null, look_received_at: at(this.now), look_scan_id } as const;
    const row = await this.change(finding, order_id, taken, { kind: 'second_look_received', ...by });
    // It was withdrawn meanwhile, or arrived twice.
    if (row === undefined) throw refuse('server_rescan.not_requested');
  }

  /** The scan has ended, with an answer or without one. */
  async ended(scan_id: string, failure: string | null): Promise<void> {
    await this.database
      .updateTable('device_findings')
      .set({ look_state: failure === null ? 'answered' : 'failed', look_reason: failure })
      .where('look_scan_id', '=', scan_id)
      .execute();
  }

  /** The device could not send the file. A file without an order is ignored. */
  async failed({ id: device_id }: DeviceRow, order_id: string, look_reason: string): Promise<void> {
    await this.database
      .updateTable('device_findings')
      .set({ look_state: 'failed', look_order_id: null, look_reason })
      .where('device_id', '=', device_id)
      .where('look_order_id', '=', order_id)
      .execute();
  }
}

export function createSecondLooks(options: SecondLooksOptions): SecondLooks {
  return new SecondLooks(options);
}
