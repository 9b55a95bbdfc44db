import type { Report, Told } from '@palisade/contract/agent';
import { BLOCKED_WINDOW_MS } from '@palisade/contract/devices';
import type { Kysely, Selectable } from 'kysely';
import { inBatches } from '#platform/batches.ts';
import type { PersonsRules } from './desired-state.ts';
import type { DeviceRow } from './device-record.ts';
import type { DeviceTables } from './devices.tables.ts';

/** What devices say every half a minute: counters of rules, who was dropped, and what they measured of themselves. */
export interface Reports {
  /** Keeps a report of one start of an agent, once however often it is said. */
  hear(device: DeviceRow, instance: string, report: Report): Promise<Told[]>;
}

/** Rows of what was dropped that one device has at most; what comes beyond them within the hour is counted in sum alone. */
const BLOCKED_ROWS_MAXIMUM = 3_000;
const PART_MS = 5 * 60_000;
const ROWS_AT_ONCE = 80;
/** More packets than any report can mean. */
const most = (count: number) => Math.min(count, Number.MAX_SAFE_INTEGER);

export function createReports(parts: {
  database: Kysely<DeviceTables>;
  rules: Pick<PersonsRules, 'ruleIds'>;
  now: () => number;
}): Reports {
  const { database, rules, now } = parts;
  const at = () => new Date(now()).toISOString();

  async function countCounters(device: DeviceRow, { epoch, counters }: Report): Promise<void> {
    const ids = new Set([...(await rules.ruleIds(device.user_id)), 'inbound', 'outbound']);
    const rows = await database.selectFrom('device_counters').selectAll().where('device_id', '=', device.id).execute();
    const known = new Map(rows.map((row) => [row.of, row]));
    const gone = rows.filter(({ of }) => !ids.has(of)).map(({ of }) => of);
    await inBatches(gone, async (some) => {
      await database.deleteFrom('device_counters').where('device_id', '=', device.id).where('of', 'in', some).execute();
      return [];
    });
    const time = at();
    const changed: Selectable<DeviceTables['device_counters']>[] = [];
    // Of a rule that is named twice the higher one counts.
    const said = new Map<string, { packets: number; bytes: number }>();
    for (const { of, packets, bytes } of counters) {
      const before = said.get(of);
      if (ids.has(of) && (before === undefined || before.packets < packets)) said.set(of, { packets, bytes });
    }
    for (const [of, { packets, bytes }] of said) {
      const row = known.get(of);
      // Of an epoch before the one that is counted: it was counted then. One that is yet to come was named by a clock that was wrong, and is before every other.
      if (row !== undefined && epoch < row.epoch && row.epoch <= time) continue;
      const is_same = row?.epoch === epoch;
      if (is_same && row.packets >= packets) continue;
      const before = { packets: row?.packets_before ?? 0, bytes: row?.bytes_before ?? 0 };
      changed.push({
        ...{ device_id: device.id, of, epoch, packets, bytes },
        packets_before: is_same ? before.packets : most(before.packets + (row?.packets ?? 0)),
        bytes_before: is_same ? before.bytes : most(before.bytes + (row?.bytes ?? 0)),
        last_at: packets > 0 ? time : (row?.last_at ?? null),
      });
    }
    for (let from = 0; from < changed.length; from += ROWS_AT_ONCE) {
      await database
        .insertInto('device_counters')
        .values(changed.slice(from, from + ROWS_AT_ONCE))
        .onConflict((conflict) =>
          conflict.columns(['device_id', 'of']).doUpdateSet(({ ref }) => ({
            epoch: ref('excluded.epoch'),
            packets: ref('excluded.packets'),
            bytes: ref('excluded.bytes'),
            packets_before: ref('excluded.packets_before'),
            bytes_before: ref('excluded.bytes_before'),
            last_at: ref('excluded.last_at'),
          })),
        )
        .execute();
    }
  }

  async function countBlocked(device: DeviceRow, { blocked }: Report): Promise<number> {
    const time = now();
    const last_at = new Date(time).toISOString();
    const part = new Date(Math.floor(time / PART_MS) * PART_MS).toISOString();
    await database
      .deleteFrom('device_blocked')
      .where('device_id', '=', device.id)
      .where('part', '<', new Date(time - BLOCKED_WINDOW_MS - PART_MS).toISOString())
      .execute();
    if (blocked.length === 0) return 0;
    const { rows } = await database
      .selectFrom('device_blocked')
      .select(({ fn }) => fn.countAll<number>().as('rows'))
      .where('device_id', '=', device.id)
      .executeTakeFirstOrThrow();
    const sums = new Map<string, Selectable<DeviceTables['device_blocked']>>();
    for (const { direction, protocol, address, port, packets } of blocked) {
      const key = JSON.stringify([direction, protocol, address, port]);
      const before = sums.get(key)?.packets ?? 0;
      sums.set(key, {
        ...{ device_id: device.id, part, direction, protocol, address, port: port ?? -1 },
        ...{ packets: most(before + packets), first_at: last_at, last_at },
      });
    }
    const all = [...sums.values()];
    const fitting = all.slice(0, Math.max(0, BLOCKED_ROWS_MAXIMUM - rows));
    for (let from = 0; from < fitting.length; from += ROWS_AT_ONCE) {
      await database
        .insertInto('device_blocked')
        .values(fitting.slice(from, from + ROWS_AT_ONCE))
        .onConflict((conflict) =>
          conflict.columns(['device_id', 'part', 'direction', 'protocol', 'address', 'port']).doUpdateSet(({ eb, ref }) => ({
            packets: eb(ref('device_blocked.packets'), '+', ref('excluded.packets')),
            last_at: ref('excluded.last_at'),
          })),
        )
        .execute();
    }
    return most(all.reduce((sum, { packets }) => sum + packets, 0));
  }

  async function hear(device: DeviceRow, instance: string, report: Report): Promise<Told[]> {
    const noted: Told[] = [{ kind: 'noted', seq: report.seq, events: [] }];
    // It was counted, and the agent did not hear that it was.
    if (device.report_instance === instance && report.seq <= device.report_seq) return noted;
    await countCounters(device, report);
    const dropped = await countBlocked(device, report);
    await database
      .updateTable('devices')
      .set({
        ...{ report_instance: instance, report_seq: report.seq, blocked_total: most(device.blocked_total + dropped) },
        ...(report.telemetry !== null && { telemetry: JSON.stringify(report.telemetry), telemetry_at: at() }),
        ...{ posture: JSON.stringify(report.posture), foreign_tables: JSON.stringify(report.foreign_tables) },
        watching: report.watching === null ? null : JSON.stringify(report.watching),
      })
      .where('id', '=', device.id)
      .execute();
    return noted;
  }

  return { hear };
}
