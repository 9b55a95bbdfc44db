import type { ScanJob } from '@palisade/contract/agent';
import {
  BLOCKED_WINDOW_MS,
  type BlockedSource,
  type Device,
  type DeviceFinding,
  type DeviceScan,
  OFFLINE_ALERT_MS,
  type RuleCount,
} from '@palisade/contract/devices';
import type { PageQuery } from '@palisade/contract/fields';
import { directionSchema } from '@palisade/contract/firewall';
import { type Kysely, sql, type Updateable } from 'kysely';
import { z } from 'zod';
import type { Audit, AuditTables, Doer } from '#platform/audit.ts';
import { databaseClock } from '#platform/database-clock.ts';
import { newId } from '#platform/id.ts';
import { jobKind } from '#platform/jobs/job-kind.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import { Problem } from '#platform/problem.ts';
import type { PersonsRules } from './desired-state.ts';
import { type DeviceIncident, incidentOfSilence } from './device-alerts.ts';
import { type DeviceRow, deviceOf, deviceScanOf, type FindingRow, SCANS_OVER, type ScanRow } from './device-record.ts';
import type { DeviceTables } from './devices.tables.ts';
import type { SecondLooks } from './second-looks.ts';

type Tables = DeviceTables & AuditTables;

/** A person's side of devices. */
export interface Devices {
  list(user_id: string, page: PageQuery): Promise<Device[]>;
  /** All that are not revoked. */
  living(user_id: string): Promise<Device[]>;
  find(id: string): Promise<DeviceRow | undefined>;
  read(row: DeviceRow): Promise<Device>;
  rename(row: DeviceRow, device_name: string): Promise<Device>;
  setDefaults(row: DeviceRow, defaults: Device['defaults']): Promise<Device>;
  setFolders(row: DeviceRow, folders: Pick<Device, 'is_watching' | 'watched' | 'exclusions'>): Promise<Device>;
  /** Its token is worth nothing from here on. @throws Problem `conflict` for one that is revoked. */
  revoke(row: DeviceRow, by: Doer): Promise<Device>;
  /** Takes it out of the list, with all that it said. */
  remove(row: DeviceRow, by: Doer): Promise<void>;
  counters(user_id: string): Promise<RuleCount[]>;
  blocked(user_id: string): Promise<{ packets: number; packets_total: number; sources: BlockedSource[] }>;
  scans(device: DeviceRow, page: PageQuery): Promise<DeviceScan[]>;
  findScan(id: string): Promise<ScanRow | undefined>;
  /** @throws Problem `conflict` while one is under way, and for a device that is revoked or cannot scan. */
  startScan(device: DeviceRow, scan: Pick<DeviceScan, 'scan' | 'path'>): Promise<DeviceScan>;
  /** @throws Problem `conflict` for one that is over. */
  steerScan(scan: ScanRow, wanted: ScanJob['wanted']): Promise<DeviceScan>;
  findings(user_id: string, page: PageQuery): Promise<DeviceFinding[]>;
  findFinding(id: string): Promise<FindingRow | undefined>;
  /** @throws Problem `conflict` for a file that is not in quarantine. */
  order(finding: FindingRow, action: 'restore' | 'delete'): Promise<DeviceFinding>;
  /** The rules of a person are not as they were: their devices have something to do from now on. Has them told, and answers how many they are. */
  rulesChanged(user_id: string): Promise<number>;
}

const SILENCE = jobKind({ name: 'device-silence', payload: z.object({}), every_ms: 3_600_000 });
const SILENT_AT_ONCE = 200;
const SOURCES_MAXIMUM = 500;

export function createDevices(parts: {
  database: Kysely<Tables>;
  audit: Audit;
  rules: PersonsRules;
  jobs: Pick<Jobs, 'handle'>;
  raise: (incident: DeviceIncident) => Promise<void>;
  secondLooks: Pick<SecondLooks, 'withLooks'>;
  /** Has a device told what it is to do, wherever its agent is connected; also one that may do nothing any more. */
  nudge: (device_id: string) => void;
  now: () => number;
}): Devices {
  const { database, audit, rules, jobs, raise, nudge, now } = parts;
  const { withLooks } = parts.secondLooks;
  const at = () => new Date(now()).toISOString();
  const clock = databaseClock(database);

  const select = () =>
    database
      .selectFrom('devices')
      .selectAll()
      .select(sql<number>`case when connected_until > ${clock()} then 1 else 0 end`.as('online'));

  async function records(user_id: string, rows: readonly (DeviceRow & { online: number })[]): Promise<Device[]> {
    if (rows.length === 0) return [];
    const { rev, rules: all } = await rules.enforced(user_id);
    const latest = await database
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
        now: now(),
      }),
    );
  }

  async function readOne(id: string): Promise<Device> {
    const row = await select().where('id', '=', id).executeTakeFirst();
    const [device] = row === undefined ? [] : await records(row.user_id, [row]);
    if (device === undefined) throw new Problem('not_found');
    return device;
  }

  async function change(row: DeviceRow, set: Updateable<DeviceTables['devices']>): Promise<Device> {
    await database.updateTable('devices').set(set).where('id', '=', row.id).execute();
    nudge(row.id);
    return await readOne(row.id);
  }

  /** Ends a device that is not ended, in a transaction; whether it was this call that did. */
  async function end(transaction: Kysely<Tables>, { id, user_id }: DeviceRow): Promise<boolean> {
    const ended = await transaction
      .updateTable('devices')
      .set({ revoked_at: at(), connection_id: null, connected_until: null, pending_since: null })
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

  /** Tells of devices that have been silent for a week, once. */
  async function tellOfSilence(): Promise<void> {
    const before = new Date(now() - OFFLINE_ALERT_MS).toISOString();
    const silent = await database
      .selectFrom('devices')
      .select(['id', 'user_id', 'device_name', 'last_seen_at'])
      .where('revoked_at', 'is', null)
      .where('silence_told_at', 'is', null)
      .where('last_seen_at', '<=', before)
      .limit(SILENT_AT_ONCE)
      .execute();
    for (const device of silent) {
      await raise(incidentOfSilence(device, device.last_seen_at ?? before, at()));
      await database.updateTable('devices').set({ silence_told_at: at() }).where('id', '=', device.id).execute();
    }
  }
  jobs.handle(SILENCE, tellOfSilence);

  return {
    async list(user_id, { limit, cursor }) {
      let query = select().where('user_id', '=', user_id).orderBy('id', 'desc').limit(limit);
      if (cursor !== undefined) query = query.where('id', '<', cursor);
      return await records(user_id, await query.execute());
    },

    async living(user_id) {
      const rows = await select().where('user_id', '=', user_id).where('revoked_at', 'is', null).orderBy('id', 'desc').execute();
      return await records(user_id, rows);
    },

    find: (id) => database.selectFrom('devices').selectAll().where('id', '=', id).executeTakeFirst(),
    read: ({ id }) => readOne(id),
    rename: (row, device_name) => change(row, { device_name }),

    async setDefaults(row, { inbound, outbound }) {
      if (row.revoked_at !== null) throw new Problem('conflict', { detail: 'This device was revoked.' });
      if (row.default_inbound === inbound && row.default_outbound === outbound) return await readOne(row.id);
      await database
        .updateTable('devices')
        .set(({ eb }) => ({
          ...{ default_inbound: inbound, default_outbound: outbound, pending_since: row.pending_since ?? at() },
          own_rev: eb('own_rev', '+', 1),
        }))
        .where('id', '=', row.id)
        .execute();
      nudge(row.id);
      return await readOne(row.id);
    },

    async setFolders(row, { is_watching, watched, exclusions }) {
      await database
        .updateTable('devices')
        .set(({ eb }) => ({
          ...{ is_watching: is_watching ? 1 : 0, watched: JSON.stringify(watched), exclusions: JSON.stringify(exclusions) },
          told_rev: eb('told_rev', '+', 1),
        }))
        .where('id', '=', row.id)
        .execute();
      nudge(row.id);
      return await readOne(row.id);
    },

    async revoke(row, by) {
      await database.transaction().execute(async (transaction) => {
        if (!(await end(transaction, row))) throw new Problem('conflict', { detail: 'This device was revoked already.' });
        const { user_id: subject_id, device_name } = row;
        await audit.record(auditTables(transaction), { kind: 'device_revoked', subject_id, details: { device_name }, ...by });
      });
      nudge(row.id);
      return await readOne(row.id);
    },

    async remove(row, by) {
      await database.transaction().execute(async (transaction) => {
        await end(transaction, row);
        const gone = await transaction.deleteFrom('devices').where('id', '=', row.id).returning('id').executeTakeFirst();
        if (gone === undefined) throw new Problem('not_found');
        const { user_id: subject_id, device_name } = row;
        await audit.record(auditTables(transaction), { kind: 'device_removed', subject_id, details: { device_name }, ...by });
      });
      nudge(row.id);
    },

    async counters(user_id) {
      const rows = await database
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
    },

    async blocked(user_id) {
      const since = new Date(now() - BLOCKED_WINDOW_MS).toISOString();
      const own = database.selectFrom('devices').select('id').where('user_id', '=', user_id).where('revoked_at', 'is', null);
      const [{ total }, rows] = await Promise.all([
        database
          .selectFrom('devices')
          .select(({ fn }) => fn.sum<number | string | null>('blocked_total').as('total'))
          .where('user_id', '=', user_id)
          .where('revoked_at', 'is', null)
          .executeTakeFirstOrThrow(),
        database
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
      // What is not told apart counts, and is nobody's.
      const sources = all.filter(({ address }) => address !== '');
      return {
        packets: Math.min(
          all.reduce((sum, { packets }) => sum + packets, 0),
          Number.MAX_SAFE_INTEGER,
        ),
        packets_total: Math.min(Number(total ?? 0), Number.MAX_SAFE_INTEGER),
        sources: sources.slice(0, SOURCES_MAXIMUM),
      };
    },

    async scans({ id }, { limit, cursor }) {
      let query = database.selectFrom('device_scans').selectAll().where('device_id', '=', id).orderBy('id', 'desc').limit(limit);
      if (cursor !== undefined) query = query.where('id', '<', cursor);
      return (await query.execute()).map(deviceScanOf);
    },

    findScan: (id) => database.selectFrom('device_scans').selectAll().where('id', '=', id).executeTakeFirst(),

    async startScan(device, { scan, path }) {
      const row = await database.transaction().execute(async (transaction) => {
        // Whoever starts one holds the device until it is stored: of two at once one is too many.
        const held = await transaction
          .updateTable('devices')
          .set(({ eb }) => ({ told_rev: eb('told_rev', '+', 1) }))
          .where('id', '=', device.id)
          .where('revoked_at', 'is', null)
          .returning('id')
          .executeTakeFirst();
        if (held === undefined) throw new Problem('conflict', { detail: 'This device was revoked.' });
        const running = await transaction
          .selectFrom('device_scans')
          .select('id')
          .where('device_id', '=', device.id)
          .where('state', 'not in', SCANS_OVER)
          .limit(1)
          .executeTakeFirst();
        if (running !== undefined)
          throw new Problem('conflict', { detail: 'A scan of this device is under way. Cancel it, or wait for its end.' });
        return await transaction
          .insertInto('device_scans')
          .values({
            ...{ id: newId(), user_id: device.user_id, device_id: device.id, scan, path, wanted: 'run', state: 'queued' },
            ...{ reason: null, requested_at: at(), started_at: null, ended_at: null, signatures_version: null, progress: null },
            files_found: 0,
          })
          .returningAll()
          .executeTakeFirstOrThrow();
      });
      nudge(device.id);
      return deviceScanOf(row);
    },

    async steerScan({ id, device_id }, wanted) {
      const row = await database
        .updateTable('device_scans')
        .set({ wanted })
        .where('id', '=', id)
        .where('state', 'not in', SCANS_OVER)
        .returningAll()
        .executeTakeFirst();
      if (row === undefined) throw new Problem('conflict', { detail: 'This scan is over.' });
      await database
        .updateTable('devices')
        .set(({ eb }) => ({ told_rev: eb('told_rev', '+', 1) }))
        .where('id', '=', device_id)
        .execute();
      nudge(device_id);
      return deviceScanOf(row);
    },

    async findings(user_id, { limit, cursor }) {
      let query = database
        .selectFrom('device_findings')
        .selectAll()
        .where('user_id', '=', user_id)
        .orderBy('id', 'desc')
        .limit(limit);
      if (cursor !== undefined) query = query.where('id', '<', cursor);
      return await withLooks(await query.execute());
    },

    findFinding: (id) => database.selectFrom('device_findings').selectAll().where('id', '=', id).executeTakeFirst(),

    async order({ id, device_id }, action) {
      const row = await database
        .updateTable('device_findings')
        .set({ order_id: newId(), order_action: action, reason: null })
        .where('id', '=', id)
        .where('state', '=', 'quarantined')
        .returningAll()
        .executeTakeFirst();
      if (row === undefined) throw new Problem('conflict', { detail: 'This file is not in quarantine.' });
      await database
        .updateTable('devices')
        .set(({ eb }) => ({ told_rev: eb('told_rev', '+', 1) }))
        .where('id', '=', device_id)
        .execute();
      nudge(device_id);
      const [finding] = await withLooks([row]);
      if (finding === undefined) throw new Problem('not_found');
      return finding;
    },

    async rulesChanged(user_id) {
      await database
        .updateTable('devices')
        .set({ pending_since: at() })
        .where('user_id', '=', user_id)
        .where('revoked_at', 'is', null)
        .where('pending_since', 'is', null)
        .execute();
      const rows = await database
        .selectFrom('devices')
        .select('id')
        .where('user_id', '=', user_id)
        .where('revoked_at', 'is', null)
        .execute();
      for (const { id } of rows) nudge(id);
      return rows.length;
    },
  };
}
