import type { ScanJob } from '@palisade/contract/agent';
import {
  BLOCKED_WINDOW_MS,
  type BlockedSource,
  type Device,
  type DeviceChanges,
  type DeviceFinding,
  type DeviceScan,
  OFFLINE_ALERT_MS,
  type RuleCount,
} from '@palisade/contract/devices';
import type { PageQuery } from '@palisade/contract/fields';
import { directionSchema } from '@palisade/contract/firewall';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import type { Audit, AuditTables, Doer } from '#platform/audit.ts';
import { type DatabaseClock, databaseClock } from '#platform/database-clock.ts';
import { newId } from '#platform/id.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import { jobKind } from '#platform/jobs/job-kind.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import { Problem } from '#platform/problem.ts';
import type { PersonsRules } from './desired-state.ts';
import { type DeviceIncident, incidentOfSilence } from './device-alerts.ts';
import {
  type DeviceRow,
  deviceOf,
  deviceScanOf,
  type FindingRow,
  keyFingerprint,
  SCANS_OVER,
  type ScanRow,
} from './device-record.ts';
import { refuse } from './devices.refusals.ts';
import type { DeviceTables } from './devices.tables.ts';
import type { SecondLooks } from './second-looks.ts';

type Tables = DeviceTables & AuditTables;

const SILENCE = jobKind({ name: 'device-silence', payload: z.object({}), every_ms: 3_600_000 });
const SILENT_AT_ONCE = 200;
const SOURCES_MAXIMUM = 500;

interface DevicesOptions {
  database: Kysely<Tables>;
  audit: Audit;
  rules: PersonsRules;
  jobs: Pick<Jobs, 'handle'>;
  raise: (incident: DeviceIncident) => Promise<void>;
  secondLooks: Pick<SecondLooks, 'withLooks'>;
  /** Sends a device its desired state, on whichever server its agent is connected; also a revoked one. */
  nudge: (device_id: string) => void;
  now: () => number;
}

const at = (now: () => number) => new Date(now()).toISOString();

/** Revokes a device, in a transaction; returns whether this call did so. */
async function end(now: () => number, transaction: Kysely<Tables>, { id, user_id }: DeviceRow): Promise<boolean> {
  const ended = await transaction
    .updateTable('devices')
    .set({ revoked_at: at(now), connection_id: null, connected_until: null, pending_since: null })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  if (ended === undefined) return false;
  await transaction
    .updateTable('device_counts')
    .set(({ eb }) => ({ devices: eb('devices', '-', 1) }))
    .where('user_id', '=', user_id)
    .execute();
  return true;
}

const auditTables = (transaction: Kysely<Tables>) => transaction.$pickTables<'audit_entries' | 'audit_head'>();

/** A person's side of devices. */
export class Devices {
  private readonly database: Kysely<Tables>;
  private readonly audit: Audit;
  private readonly rules: PersonsRules;
  private readonly raise: (incident: DeviceIncident) => Promise<void>;
  private readonly nudge: (device_id: string) => void;
  private readonly now: () => number;
  private readonly secondLooks: Pick<SecondLooks, 'withLooks'>;
  private readonly clock: DatabaseClock;

  constructor(options: DevicesOptions) {
    this.database = options.database;
    this.audit = options.audit;
    this.rules = options.rules;
    this.raise = options.raise;
    this.nudge = options.nudge;
    this.now = options.now;
    this.secondLooks = options.secondLooks;
    this.clock = databaseClock(this.database);
    options.jobs.handle(SILENCE, this.tellOfSilence);
  }

  private select() {
    return this.database
      .selectFrom('devices')
      .selectAll()
      .select(sql<number>`case when connected_until > ${this.clock()} then 1 else 0 end`.as('online'));
  }

  private async records(user_id: string, rows: readonly (DeviceRow & { online: number })[]): Promise<Device[]> {
    if (rows.length === 0) return [];
    const { rev, rules: all } = await this.rules.enforced(user_id);
    const latest = await this.database
      .selectFrom('device_scans')
      .selectAll()
      .where('id', 'in', ({ selectFrom }) =>
        selectFrom('device_scans')
          .select(({ fn }) => fn.max('id').as('id'))
          .where('user_id', '=', user_id)
          .groupBy('device_id'),
      )
      .execute();
    const scans = new Map(latest.map((scan) => [scan.device_id, scan]));
    return rows.map(({ online, ...row }) =>
      deviceOf(row, {
        rules_rev: rev,
        rules_count: all.filter(({ device_ids }) => device_ids.length === 0 || device_ids.includes(row.id)).length,
        is_online: online === 1,
        scan: scans.get(row.id),
        now: this.now(),
      }),
    );
  }

  private async readOne(id: string): Promise<Device> {
    const row = await this.select().where('id', '=', id).executeTakeFirst();
    const [device] = row === undefined ? [] : await this.records(row.user_id, [row]);
    if (device === undefined) throw new Problem('not_found');
    return device;
  }

  /** Reports devices that have been silent for a week, once. */
  private readonly tellOfSilence = async (): Promise<void> => {
    const before = new Date(this.now() - OFFLINE_ALERT_MS).toISOString();
    const silent = await this.database
      .selectFrom('devices')
      .select(['id', 'user_id', 'device_name', 'last_seen_at'])
      .where('revoked_at', 'is', null)
      .where('confirmed_at', 'is not', null)
      .where('silence_told_at', 'is', null)
      .where('last_seen_at', '<=', before)
      .limit(SILENT_AT_ONCE)
      .execute();
    for (const device of silent) {
      await this.raise(incidentOfSilence(device, device.last_seen_at ?? before, at(this.now)));
      await this.database
        .updateTable('devices')
        .set({ silence_told_at: at(this.now) })
        .where('id', '=', device.id)
        .execute();
    }
  };

  async list(user_id: string, { limit, cursor }: PageQuery): Promise<Device[]> {
    let query = this.select().where('user_id', '=', user_id).orderBy('id', 'desc').limit(limit);
    if (cursor !== undefined) query = query.where('id', '<', cursor);
    return await this.records(user_id, await query.execute());
  }

  /** All that are confirmed and not revoked. */
  async living(user_id: string): Promise<Device[]> {
    const rows = await this.select()
      .where('user_id', '=', user_id)
      .where('revoked_at', 'is', null)
      .where('confirmed_at', 'is not', null)
      .orderBy('id', 'desc')
      .execute();
    return await this.records(user_id, rows);
  }

  find(id: string): Promise<DeviceRow | undefined> {
    return this.database.selectFrom('devices').selectAll().where('id', '=', id).executeTakeFirst();
  }

  read({ id }: DeviceRow): Promise<Device> {
    return this.readOne(id);
  }

  /** Writes only the given settings, and sends the agent those that it uses. @throws Problem `conflict` for other defaults of a revoked device. */
  async change(row: DeviceRow, changes: DeviceChanges): Promise<Device> {
    const { device_name, defaults, is_watching, watched, exclusions } = changes;
    if (defaults !== undefined && row.revoked_at !== null) throw refuse('device.revoked');
    const { inbound = row.default_inbound, outbound = row.default_outbound } = defaults ?? {};
    const has_defaults = inbound !== row.default_inbound || outbound !== row.default_outbound;
    const has_folders = is_watching !== undefined || watched !== undefined || exclusions !== undefined;
    if (device_name === undefined && !has_defaults && !has_folders) return await this.readOne(row.id);
    await this.database
      .updateTable('devices')
      .set(({ eb }) => ({
        ...(device_name !== undefined && { device_name }),
        ...(has_defaults && {
          ...(defaults?.inbound !== undefined && { default_inbound: defaults.inbound }),
          ...(defaults?.outbound !== undefined && { default_outbound: defaults.outbound }),
          pending_since: row.pending_since ?? at(this.now),
          own_rev: eb('own_rev', '+', 1),
        }),
        ...(is_watching !== undefined && { is_watching: is_watching ? 1 : 0 }),
        ...(watched !== undefined && { watched: JSON.stringify(watched) }),
        ...(exclusions !== undefined && { exclusions: JSON.stringify(exclusions) }),
        ...(has_folders && { told_rev: eb('told_rev', '+', 1) }),
      }))
      .where('id', '=', row.id)
      .execute();
    if (has_defaults || has_folders) this.nudge(row.id);
    return await this.readOne(row.id);
  }

  /** Makes a new device count. @throws Problem `conflict` for another key than the one that its person saw, and for a revoked device. */
  async confirm(row: DeviceRow, fingerprint: string): Promise<Device> {
    if (fingerprint !== keyFingerprint(row.public_key)) throw refuse('device.other_fingerprint');
    if (row.revoked_at !== null) throw refuse('device.revoked');
    await this.database
      .updateTable('devices')
      .set(({ eb }) => ({ confirmed_at: at(this.now), pending_since: at(this.now), told_rev: eb('told_rev', '+', 1) }))
      .where('id', '=', row.id)
      .where('enrolled_at', '=', row.enrolled_at)
      .where('revoked_at', 'is', null)
      .execute();
    this.nudge(row.id);
    return await this.readOne(row.id);
  }

  /** Invalidates the device's token. @throws Problem `conflict` for a revoked one. */
  async revoke(row: DeviceRow, by: Doer): Promise<Device> {
    await inTransaction(this.database, async (transaction) => {
      if (!(await end(this.now, transaction, row))) throw refuse('device.already_revoked');
      const { user_id: subject_id, device_name } = row;
      await this.audit.record(auditTables(transaction), { kind: 'device_revoked', subject_id, details: { device_name }, ...by });
    });
    this.nudge(row.id);
    return await this.readOne(row.id);
  }

  /** Takes it out of the list, with all its reports. */
  async remove(row: DeviceRow, by: Doer): Promise<void> {
    await inTransaction(this.database, async (transaction) => {
      await end(this.now, transaction, row);
      const gone = await transaction.deleteFrom('devices').where('id', '=', row.id).returning('id').executeTakeFirst();
      if (gone === undefined) throw new Problem('not_found');
      const { user_id: subject_id, device_name } = row;
      await this.audit.record(auditTables(transaction), { kind: 'device_removed', subject_id, details: { device_name }, ...by });
    });
    this.nudge(row.id);
  }

  async counters(user_id: string): Promise<RuleCount[]> {
    const rows = await this.database
      .selectFrom('device_counters')
      .innerJoin('devices', 'devices.id', 'device_counters.device_id')
      .select(['device_id', 'of', 'packets', 'bytes', 'packets_before', 'bytes_before', 'last_at'])
      .where('devices.user_id', '=', user_id)
      .where('devices.revoked_at', 'is', null)
      .execute();
    return rows.map(({ packets_before, bytes_before, ...row }) => ({
      ...row,
      packets: Math.min(row.packets + packets_before, Number.MAX_SAFE_INTEGER),
      bytes: Math.min(row.bytes + bytes_before, Number.MAX_SAFE_INTEGER),
    }));
  }

  async blocked(user_id: string): Promise<{ packets: number; packets_total: number; sources: BlockedSource[] }> {
    const since = new Date(this.now() - BLOCKED_WINDOW_MS).toISOString();
    const own = this.database.selectFrom('devices').select('id').where('user_id', '=', user_id).where('revoked_at', 'is', null);
    const [{ total }, rows] = await Promise.all([
      this.database
        .selectFrom('devices')
        .select(({ fn }) => fn.sum<number | string | null>('blocked_total').as('total'))
        .where('user_id', '=', user_id)
        .where('revoked_at', 'is', null)
        .executeTakeFirstOrThrow(),
      this.database
        .selectFrom('device_blocked')
        .select(({ fn }) => [
          ...(['device_id', 'direction', 'protocol', 'address', 'port'] as const),
          fn.sum<number | string>('packets').as('packets'),
          fn.min('first_at').as('first_at'),
          fn.max('last_at').as('last_at'),
        ])
        .where('device_id', 'in', own)
        .where('last_at', '>', since)
        .groupBy(['device_id', 'direction', 'protocol', 'address', 'port'])
        .execute(),
    ]);
    const all = rows
      .map(({ direction, port, packets, ...row }) => ({
        ...row,
        direction: directionSchema.parse(direction),
        port: port === -1 ? null : port,
        packets: Math.min(Number(packets), Number.MAX_SAFE_INTEGER),
      }))
      .sort((one, other) => other.packets - one.packets);
    // Packets without a known source are counted, but assigned to none.
    const sources = all.filter(({ address }) => address !== '');
    return {
      packets: Math.min(
        all.reduce((sum, { packets }) => sum + packets, 0),
        Number.MAX_SAFE_INTEGER,
      ),
      packets_total: Math.min(Number(total ?? 0), Number.MAX_SAFE_INTEGER),
      sources: sources.slice(0, SOURCES_MAXIMUM),
    };
  }

  async scans({ id }: DeviceRow, { limit, cursor }: PageQuery): Promise<DeviceScan[]> {
    let query = this.database
      .selectFrom('device_scans')
      .selectAll()
      .where('device_id', '=', id)
      .orderBy('id', 'desc')
      .limit(limit);
    if (cursor !== undefined) query = query.where('id', '<', cursor);
    return (await query.execute()).map(deviceScanOf);
  }

  findScan(id: string): Promise<ScanRow | undefined> {
    return this.database.selectFrom('device_scans').selectAll().where('id', '=', id).executeTakeFirst();
  }

  /** @throws Problem `conflict` while one is under way, and for a device that is revoked or cannot scan. */
  async startScan(device: DeviceRow, { scan, path }: Pick<DeviceScan, 'scan' | 'path'>): Promise<DeviceScan> {
    const row = await inTransaction(this.database, async (transaction) => {
      // A new scan locks its device until it is stored: of two at once one is too many.
      const held = await transaction
        .updateTable('devices')
        .set(({ eb }) => ({ told_rev: eb('told_rev', '+', 1) }))
        .where('id', '=', device.id)
        .where('revoked_at', 'is', null)
        .returning('id')
        .executeTakeFirst();
      if (held === undefined) throw refuse('device.revoked');
      const running = await transaction
        .selectFrom('device_scans')
        .select('id')
        .where('device_id', '=', device.id)
        .where('state', 'not in', SCANS_OVER)
        .limit(1)
        .executeTakeFirst();
      if (running !== undefined) throw refuse('device.already_scanning');
      return await transaction
        .insertInto('device_scans')
        .values({
          id: newId(),
          user_id: device.user_id,
          device_id: device.id,
          scan,
          path,
          wanted: 'run',
          state: 'queued',
          reason: null,
          requested_at: at(this.now),
          started_at: null,
          ended_at: null,
          signatures_version: null,
          progress: null,
          files_found: 0,
        })
        .returningAll()
        .executeTakeFirstOrThrow();
    });
    this.nudge(device.id);
    return deviceScanOf(row);
  }

  /** @throws Problem `conflict` for one that is over. */
  async steerScan({ id, device_id }: ScanRow, wanted: ScanJob['wanted']): Promise<DeviceScan> {
    const row = await this.database
      .updateTable('device_scans')
      .set({ wanted })
      .where('id', '=', id)
      .where('state', 'not in', SCANS_OVER)
      .returningAll()
      .executeTakeFirst();
    if (row === undefined) throw refuse('device.scan_finished');
    await this.database
      .updateTable('devices')
      .set(({ eb }) => ({ told_rev: eb('told_rev', '+', 1) }))
      .where('id', '=', device_id)
      .execute();
    this.nudge(device_id);
    return deviceScanOf(row);
  }

  async findings(user_id: string, { limit, cursor }: PageQuery): Promise<DeviceFinding[]> {
    let query = this.database
      .selectFrom('device_findings')
      .selectAll()
      .where('user_id', '=', user_id)
      .orderBy('id', 'desc')
      .limit(limit);
    if (cursor !== undefined) query = query.where('id', '<', cursor);
    return await this.secondLooks.withLooks(await query.execute());
  }

  findFinding(id: string): Promise<FindingRow | undefined> {
    return this.database.selectFrom('device_findings').selectAll().where('id', '=', id).executeTakeFirst();
  }

  /** @throws Problem `conflict` for a file that is not in quarantine. */
  async order({ id, device_id }: FindingRow, action: 'restore' | 'delete'): Promise<DeviceFinding> {
    const row = await this.database
      .updateTable('device_findings')
      .set({ order_id: newId(), order_action: action, reason: null })
      .where('id', '=', id)
      .where('state', '=', 'quarantined')
      .returningAll()
      .executeTakeFirst();
    if (row === undefined) throw refuse('device.file_not_quarantined');
    await this.database
      .updateTable('devices')
      .set(({ eb }) => ({ told_rev: eb('told_rev', '+', 1) }))
      .where('id', '=', device_id)
      .execute();
    this.nudge(device_id);
    const [finding] = await this.secondLooks.withLooks([row]);
    if (finding === undefined) throw new Problem('not_found');
    return finding;
  }

  /** Informs a person's devices that the rules have changed. Returns their number. */
  async rulesChanged(user_id: string): Promise<number> {
    await this.database
      .updateTable('devices')
      .set({ pending_since: at(this.now) })
      .where('user_id', '=', user_id)
      .where('revoked_at', 'is', null)
      .where('pending_since', 'is', null)
      .execute();
    const rows = await this.database
      .selectFrom('devices')
      .select('id')
      .where('user_id', '=', user_id)
      .where('revoked_at', 'is', null)
      .where('confirmed_at', 'is not', null)
      .execute();
    for (const { id } of rows) this.nudge(id);
    return rows.length;
  }
}

export function createDevices(options: DevicesOptions): Devices {
  return new Devices(options);
}
