import type { Report, Told } from '@palisade/contract/agent';
import { BLOCKED_WINDOW_MS } from '@palisade/contract/devices';
import type { Kysely, Selectable } from 'kysely';
import { inBatches } from '#platform/batches.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import type { PersonsRules } from './desired-state.ts';
import { momentOn } from './device-moment.ts';
import type { DeviceRow } from './device-record.ts';
import type { DeviceTables } from './devices.tables.ts';

/** The most rows of dropped packets of one device; further ones within the hour are one sum. */
const BLOCKED_ROWS_MAXIMUM = 3_000;
const PART_MS = 5 * 60_000;
const ROWS_AT_ONCE = 80;
type BlockedRow = Selectable<DeviceTables['device_blocked']>;
/** Caps packet counts at the maximum safe integer. */
const most = (count: number) => Math.min(count, Number.MAX_SAFE_INTEGER);

/** Stands in the rows for packets of further senders or receivers. */
const OTHERS = { direction: 'inbound', protocol: 'other', address: '', port: -1 } as const;

interface ReportsOptions {
  database: Kysely<DeviceTables>;
  rules: Pick<PersonsRules, 'ruleIds'>;
  now: () => number;
}

const at = (now: () => number) => new Date(now()).toISOString();

async function countCounters(
  now: () => number,
  database: Kysely<DeviceTables>,
  device: DeviceRow,
  { epoch, counters }: Report,
  ids: ReadonlySet<string>,
): Promise<void> {
  const rows = await database.selectFrom('device_counters').selectAll().where('device_id', '=', device.id).execute();
  const known = new Map(rows.map((row) => [row.of, row]));
  const gone = rows.filter(({ of }) => !ids.has(of)).map(({ of }) => of);
  await inBatches(gone, async (some) => {
    await database.deleteFrom('device_counters').where('device_id', '=', device.id).where('of', 'in', some).execute();
    return [];
  });
  const time = at(now);
  const changed: Selectable<DeviceTables['device_counters']>[] = [];
  // The higher count of a rule that is named twice counts.
  const said = new Map<string, { packets: number; bytes: number }>();
  for (const { of, packets, bytes } of counters) {
    const before = said.get(of);
    if (ids.has(of) && (before === undefined || before.packets < packets)) said.set(of, { packets, bytes });
  }
  for (const [of, { packets, bytes }] of said) {
    const row = known.get(of);
    // An epoch before the present one was counted then. An epoch in the future comes from a wrong clock, and is before every other.
    if (row !== undefined && epoch < row.epoch && row.epoch <= time) continue;
    const is_same = row?.epoch === epoch;
    if (is_same && row.packets >= packets) continue;
    const before = { packets: row?.packets_before ?? 0, bytes: row?.bytes_before ?? 0 };
    changed.push({
      device_id: device.id,
      of,
      epoch,
      packets,
      bytes,
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

/** Returns the number of packets in a report. Of packets dropped too long ago only that number is kept. */
async function countBlocked(
  now: () => number,
  database: Kysely<DeviceTables>,
  device: DeviceRow,
  { blocked, blocked_more }: Report,
): Promise<number> {
  const time = now();
  const momentOf = (said: string | undefined) =>
    said === undefined ? new Date(time).toISOString() : momentOn(device, said, time);
  const is_recent = ({ last_at }: { last_at: string }) => Date.parse(last_at) > time - BLOCKED_WINDOW_MS;
  await database
    .deleteFrom('device_blocked')
    .where('device_id', '=', device.id)
    .where('part', '<', new Date(time - BLOCKED_WINDOW_MS - PART_MS).toISOString())
    .execute();
  if (blocked.length === 0 && blocked_more === undefined) return 0;
  const { rows } = await database
    .selectFrom('device_blocked')
    .select(({ fn }) => fn.countAll<number>().as('rows'))
    .where('device_id', '=', device.id)
    .executeTakeFirstOrThrow();
  const sums = new Map<string, BlockedRow>();
  const add = (row: Omit<BlockedRow, 'device_id' | 'part'>) => {
    const part = new Date(Math.floor(Date.parse(row.last_at) / PART_MS) * PART_MS).toISOString();
    const key = JSON.stringify([part, row.direction, row.protocol, row.address, row.port]);
    const before = sums.get(key);
    sums.set(key, {
      device_id: device.id,
      part,
      ...row,
      packets: most((before?.packets ?? 0) + row.packets),
      first_at: before !== undefined && before.first_at < row.first_at ? before.first_at : row.first_at,
      last_at: before !== undefined && before.last_at > row.last_at ? before.last_at : row.last_at,
    });
  };
  const said = blocked.map(({ direction, protocol, address, port, packets, first_at, last_at }) => ({
    direction,
    protocol,
    address,
    port: port ?? -1,
    packets,
    first_at: momentOf(first_at ?? last_at),
    last_at: momentOf(last_at),
  }));
  const recent = said.filter(is_recent);
  const room = Math.max(0, BLOCKED_ROWS_MAXIMUM - rows);
  for (const row of recent.slice(0, room)) add(row);
  for (const row of recent.slice(room)) add({ ...row, ...OTHERS });
  if (blocked_more !== undefined && blocked_more.packets > 0) {
    const { packets, first_at, last_at } = blocked_more;
    const row = { ...OTHERS, packets, first_at: momentOf(first_at), last_at: momentOf(last_at) };
    if (is_recent(row)) add(row);
  }
  const fitting = [...sums.values()];
  for (let from = 0; from < fitting.length; from += ROWS_AT_ONCE) {
    await database
      .insertInto('device_blocked')
      .values(fitting.slice(from, from + ROWS_AT_ONCE))
      .onConflict((conflict) =>
        conflict.columns(['device_id', 'part', 'direction', 'protocol', 'address', 'port']).doUpdateSet(({ eb, ref }) => ({
          packets: eb(ref('device_blocked.packets'), '+', ref('excluded.packets')),
          first_at: eb
            .case()
            .when('device_blocked.first_at', '<', ref('excluded.first_at'))
            .then(ref('device_blocked.first_at'))
            .else(ref('excluded.first_at'))
            .end(),
          last_at: eb
            .case()
            .when('device_blocked.last_at', '>', ref('excluded.last_at'))
            .then(ref('device_blocked.last_at'))
            .else(ref('excluded.last_at'))
            .end(),
        })),
      )
      .execute();
  }
  return most(said.reduce((sum, { packets }) => sum + packets, blocked_more?.packets ?? 0));
}

/** Devices' reports of every half a minute: counters of rules, dropped sources, and their own measurements. */
export class Reports {
  private readonly options: ReportsOptions;
  private readonly rules: Pick<PersonsRules, 'ruleIds'>;
  private readonly now: () => number;

  constructor(options: ReportsOptions) {
    this.options = options;
    this.rules = options.rules;
    this.now = options.now;
  }

  /** Stores a report of an agent run, once despite repetitions. */
  async hear(device: DeviceRow, instance: string, report: Report): Promise<Told[]> {
    const ids = new Set([...(await this.rules.ruleIds(device.user_id)), 'inbound', 'outbound']);
    const { blocked_part: part } = report;
    await inTransaction(this.options.database, async (transaction) => {
      // A report locks its device until all of it is counted: an agent may repeat it over another connection, to another server.
      const held = await transaction
        .updateTable('devices')
        .set({
          report_instance: instance,
          report_seq: report.seq,
          ...(report.telemetry !== null && { telemetry: JSON.stringify(report.telemetry), telemetry_at: at(this.now) }),
          posture: JSON.stringify(report.posture),
          foreign_tables: JSON.stringify(report.foreign_tables),
          watching: report.watching === null ? null : JSON.stringify(report.watching),
          reported_at: at(this.now),
          health: report.health === null ? null : JSON.stringify(report.health),
          web_protection: report.web_protection === null ? null : JSON.stringify(report.web_protection),
        })
        .where('id', '=', device.id)
        .where(({ or, eb }) =>
          or([eb('report_instance', 'is', null), eb('report_instance', '!=', instance), eb('report_seq', '<', report.seq)]),
        )
        .returning(['blocked_total', 'blocked_log', 'blocked_number'])
        .executeTakeFirst();
      // It was counted, and the agent did not hear that it was.
      if (held === undefined) return;
      await countCounters(this.now, transaction, device, report, ids);
      if (part !== undefined && held.blocked_log === part.log && held.blocked_number >= part.number) return;
      const dropped = await countBlocked(this.now, transaction, device, report);
      await transaction
        .updateTable('devices')
        .set({
          blocked_total: most(held.blocked_total + dropped),
          ...(part !== undefined && { blocked_log: part.log, blocked_number: part.number }),
        })
        .where('id', '=', device.id)
        .execute();
    });
    return [{ kind: 'noted', seq: report.seq, events: [] }];
  }
}

export function createReports(options: ReportsOptions): Reports {
  return new Reports(options);
}
