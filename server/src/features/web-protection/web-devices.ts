import { randomInt } from 'node:crypto';
import { embeddedIpv4, parseIp, printIp } from '@palisade/contract/ip-address';
import { SHOW_NAMES_HOURS, SHOWN_NAMES_KEPT_HOURS, type WebDevice, type WebDeviceKind } from '@palisade/contract/web-protection';
import type { Kysely, Selectable } from 'kysely';
import { inPages } from '#platform/batches.ts';
import { isUniqueViolation } from '#platform/database.ts';
import { newId } from '#platform/id.ts';
import { NEW_POLICY } from './policies.ts';
import { refuse } from './web-protection.refusals.ts';
import type { WebProtectionTables } from './web-protection.tables.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Number of days before the last query from which the usual gap between queries is measured. */
const USUAL_DAYS = 14;
/** Batch size for checking devices without recent queries. */
const SILENT_AT_ONCE = 200;
/** A device counts as silent after its longest usual gap plus this time, in ms. */
const PATIENCE_MS = 6 * HOUR_MS;
/** The base32 alphabet of RFC 4648 section 6 in lower case. */
const LETTERS = 'abcdefghijklmnopqrstuvwxyz234567';
const KEY_LETTERS = 26;
export const KEY = /^[a-z2-7]{26}$/u;
const NETWORK = 'network';
const NEW = { device_id: null, last_question_at: null, names_until: null, silence_told: null, profile_id: null };

export type WebDeviceRow = Selectable<WebProtectionTables['web_devices']>;
type Count = Pick<Selectable<WebProtectionTables['web_counts']>, 'device_id' | 'category' | 'count'>;

interface NewWebDevice {
  name: string;
  kind: WebDeviceKind;
  device_id?: string;
  address?: string | null | undefined;
}

/** Returns a new key with 130 random bits. */
export function newKey(): string {
  return Array.from({ length: KEY_LETTERS }, () => LETTERS[randomInt(LETTERS.length)]).join('');
}

/** Normalizes the text of an address: without a zone, and as IPv4 if it embeds an IPv4 address. */
function canonicalAddress(text: string): string {
  const address = parseIp(text.replace(/%.*$/u, ''));
  return address === undefined ? text : printIp(embeddedIpv4(address) ?? address);
}

/** The hour of a time in the format of `web_counts.hour`. */
export function hourOf(ms: number): string {
  const number = Math.floor(ms / HOUR_MS);
  if (number !== latest_hour.number) latest_hour = { number, text: new Date(ms).toISOString().slice(0, 13) };
  return latest_hour.text;
}

/** Cache of `hourOf`, because nearly all calls are for the same hour. */
let latest_hour = { number: Number.NaN, text: '' };

/** The longest gap between hours with queries, in ms; at least a day. */
function longestGap(hours: readonly string[]): number {
  const times = hours.toSorted().map((hour) => Date.parse(`${hour}:00:00.000Z`));
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? time));
  return Math.max(DAY_MS, ...gaps);
}

/** Time since the last query of a device, in ms; undefined before its first query. */
const silenceOf = ({ last_question_at }: Pick<WebDeviceRow, 'last_question_at'>, now: number) =>
  last_question_at === null ? undefined : now - Date.parse(last_question_at);

/** The silent devices among `rows`, each with its longest usual gap between queries, in ms. */
export async function silentGaps(
  database: Kysely<WebProtectionTables>,
  rows: readonly WebDeviceRow[],
  now: number,
): Promise<ReadonlyMap<string, number>> {
  const quiet = rows.filter((row) => (silenceOf(row, now) ?? 0) > DAY_MS + PATIENCE_MS);
  if (quiet.length === 0) return new Map();
  const since = (row: WebDeviceRow) => hourOf(Date.parse(row.last_question_at ?? '') - USUAL_DAYS * DAY_MS);
  const hours = await database
    .selectFrom('web_counts')
    .select(['device_id', 'hour'])
    .distinct()
    .where(
      'device_id',
      'in',
      quiet.map(({ id }) => id),
    )
    .where('hour', '>', quiet.map(since).toSorted()[0] ?? '')
    .execute();
  const gaps = quiet.map((row) => {
    const own = hours.filter(({ device_id, hour }) => device_id === row.id && hour > since(row));
    return { row, gap: longestGap(own.map(({ hour }) => hour)) };
  });
  return new Map(
    gaps.flatMap(({ row, gap }) => ((silenceOf(row, now) ?? 0) > gap + PATIENCE_MS ? [[row.id, gap] as const] : [])),
  );
}

/** Converts a row for the API. `usual_gap_ms` is given only for a silent device. */
function shownOf(row: WebDeviceRow, counts: readonly Count[], usual_gap_ms: number | undefined, now: number): WebDevice {
  const { user_id: _user, silence_told: _told, profile_id, names_until, ...shown } = row;
  const isShown = profile_id === null && names_until !== null && now - Date.parse(names_until) < SHOWN_NAMES_KEPT_HOURS * HOUR_MS;
  const own = counts.filter(({ device_id }) => device_id === row.id);
  const refused = own.filter(({ category }) => category !== 'answered').map(({ category, count }) => ({ category, count }));
  return {
    ...shown,
    key: row.device_id === null ? row.key : '',
    is_of_household: profile_id !== null,
    is_silent: usual_gap_ms !== undefined,
    usual_gap_h: usual_gap_ms === undefined ? null : Math.round(usual_gap_ms / HOUR_MS),
    can_show_names: profile_id === null && !isNetwork(row),
    names_until: isShown ? names_until : null,
    answered: own.find(({ category }) => category === 'answered')?.count ?? 0,
    refused: refused.sort((one, other) => other.count - one.count),
  };
}

/** Whether the device stands for a whole network: a router, or the device for all addresses. */
export const isNetwork = ({ kind, address }: Pick<WebDeviceRow, 'kind' | 'address'>) => kind === 'router' || address === NETWORK;

/** Stores the devices of web protection and their keys. */
export class WebDevices {
  private readonly database: Kysely<WebProtectionTables>;
  private readonly now: () => number;

  constructor(options: { database: Kysely<WebProtectionTables>; now: () => number }) {
    this.database = options.database;
    this.now = options.now;
  }

  /** The devices of a person, and all devices of profiles of their home, over which its guardians have equal rights. */
  async list(user_id: string): Promise<WebDevice[]> {
    const now = this.now();
    const ofHome = this.database
      .selectFrom('profiles')
      .innerJoin('guardians', 'guardians.household_id', 'profiles.household_id')
      .select('profiles.id')
      .where('guardians.user_id', '=', user_id);
    const rows = await this.database
      .selectFrom('web_devices')
      .selectAll()
      .where(({ eb, or }) => or([eb('user_id', '=', user_id), eb('profile_id', 'in', ofHome)]))
      .orderBy('id', 'desc')
      .execute();
    const ids = rows.map(({ id }) => id);
    const counts =
      ids.length === 0
        ? []
        : await this.database
            .selectFrom('web_counts')
            .select(({ fn }) => ['device_id', 'category', fn.sum<number>('count').as('count')])
            .where('device_id', 'in', ids)
            .where('hour', '>', hourOf(now - DAY_MS))
            .groupBy(['device_id', 'category'])
            .execute();
    const gaps = await silentGaps(this.database, rows, now);
    const sums = counts.map(({ count, ...of }) => ({ ...of, count: Number(count) }));
    return rows.map((row) => shownOf(row, sums, gaps.get(row.id), now));
  }

  /** Data for the status of a person: time since the latest query of any device, in ms, and the silent devices without a profile. */
  async facts(
    user_id: string,
  ): Promise<{ question_age_ms: number | undefined; silent: { id: string; name: string }[] } | undefined> {
    const rows = await this.database.selectFrom('web_devices').selectAll().where('user_id', '=', user_id).execute();
    if (rows.length === 0) return undefined;
    const gaps = await silentGaps(this.database, rows, this.now());
    const ages = rows.map((row) => silenceOf(row, this.now())).filter((age) => age !== undefined);
    return {
      question_age_ms: ages.length === 0 ? undefined : Math.min(...ages),
      silent: rows.filter(({ id, profile_id }) => profile_id === null && gaps.has(id)).map(({ id, name }) => ({ id, name })),
    };
  }

  /** Calls `tell` once for each new silence of a device. */
  async tellOfSilence(tell: (device: WebDeviceRow) => Promise<void>): Promise<void> {
    const before = new Date(this.now() - DAY_MS - PATIENCE_MS).toISOString();
    const pages = inPages(SILENT_AT_ONCE, (last?: WebDeviceRow) =>
      this.database
        .selectFrom('web_devices')
        .selectAll()
        .where('last_question_at', '<', before)
        .where(({ eb, or, ref }) => or([eb('silence_told', 'is', null), eb('silence_told', '!=', ref('last_question_at'))]))
        .where('id', '>', last?.id ?? '')
        .orderBy('id')
        .limit(SILENT_AT_ONCE)
        .execute(),
    );
    for await (const rows of pages) {
      const gaps = await silentGaps(this.database, rows, this.now());
      for (const row of rows.filter(({ id }) => gaps.has(id))) {
        await this.database
          .updateTable('web_devices')
          .set({ silence_told: row.last_question_at })
          .where('id', '=', row.id)
          .execute();
        await tell(row);
      }
    }
  }

  find(id: string): Promise<WebDeviceRow | undefined> {
    return this.database.selectFrom('web_devices').selectAll().where('id', '=', id).executeTakeFirst();
  }

  /** Finds a device by its key. Text that can’t be a key causes no database query. */
  async findByKey(key: string): Promise<WebDeviceRow | undefined> {
    if (!KEY.test(key)) return undefined;
    return await this.database.selectFrom('web_devices').selectAll().where('key', '=', key).executeTakeFirst();
  }

  /** The web protection device of a computer with the agent. */
  findByAgent(device_id: string): Promise<WebDeviceRow | undefined> {
    return this.database.selectFrom('web_devices').selectAll().where('device_id', '=', device_id).executeTakeFirst();
  }

  /** The device with this source address of plain DNS; otherwise the device for the whole network. */
  async findByAddress(from: string): Promise<WebDeviceRow | undefined> {
    const address = canonicalAddress(from);
    const rows = await this.database.selectFrom('web_devices').selectAll().where('address', 'in', [address, NETWORK]).execute();
    return rows.find((row) => row.address === address) ?? rows[0];
  }

  /** The number of a person's own devices. */
  async count(user_id: string, database = this.database): Promise<number> {
    const { count } = await database
      .selectFrom('web_devices')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('user_id', '=', user_id)
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  /** Adds a device. To be called in a transaction. @throws Problem `conflict` for more than `limit`. */
  async add(
    user_id: string,
    limit: number,
    { name, kind, device_id, address: typed = null }: NewWebDevice,
    database = this.database,
  ): Promise<WebDevice> {
    const address = typed === null ? null : canonicalAddress(typed);
    // The upsert locks the person’s row until the transaction ends, so that concurrent calls cannot exceed the limit.
    await database
      .insertInto('web_policies')
      .values({ user_id, ...NEW_POLICY })
      .onConflict((conflict) => conflict.column('user_id').doUpdateSet({ user_id }))
      .execute();
    if ((await this.count(user_id, database)) >= limit) throw refuse('web_device.too_many', { limit });
    const created_at = new Date(this.now()).toISOString();
    const row = {
      id: newId(),
      user_id,
      name,
      kind,
      key: newKey(),
      address,
      created_at,
      ...NEW,
      ...(device_id !== undefined && { device_id }),
    };
    await database
      .insertInto('web_devices')
      .values(row)
      .onConflict((conflict) => conflict.column('device_id').doNothing())
      .execute()
      .catch((error: unknown) => {
        throw isUniqueViolation(error, 'address') ? refuse('web_device.address_taken') : error;
      });
    return shownOf(row, [], undefined, this.now());
  }

  async remove(id: string, database = this.database): Promise<void> {
    await database.deleteFrom('web_devices').where('id', '=', id).execute();
  }

  async renewKey(row: WebDeviceRow, database = this.database): Promise<WebDevice> {
    const renewed = { ...row, key: newKey(), last_question_at: null };
    const { key, last_question_at } = renewed;
    await database.updateTable('web_devices').set({ key, last_question_at }).where('id', '=', row.id).execute();
    return shownOf(renewed, [], undefined, this.now());
  }

  /** Starts recording all names that the device queries, for an hour; or stops and deletes them. @throws Problem `conflict` for a network, and for a device of a profile. */
  async showNames(row: WebDeviceRow, isShown: boolean, database = this.database): Promise<{ names_until: string | null }> {
    if (isNetwork(row)) throw refuse('web_device.is_network');
    if (isShown && row.profile_id !== null) throw refuse('web_device.has_profile');
    const names_until = isShown ? new Date(this.now() + SHOW_NAMES_HOURS * HOUR_MS).toISOString() : null;
    await database.updateTable('web_devices').set({ names_until }).where('id', '=', row.id).execute();
    if (!isShown) await database.deleteFrom('web_shown_names').where('device_id', '=', row.id).execute();
    return { names_until };
  }
}

/** Query of the devices that have web protection without an agent. */
const withoutAgent = (database: Kysely<Pick<WebProtectionTables, 'web_devices'>>) =>
  database.selectFrom('web_devices').where('device_id', 'is', null);

/** The number of devices of all people that have web protection without an agent. */
export async function countWebDevices(database: Kysely<Pick<WebProtectionTables, 'web_devices'>>): Promise<number> {
  const { count } = await withoutAgent(database)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** A person's devices that have web protection without an agent. */
export async function webDevicesOf(
  database: Kysely<Pick<WebProtectionTables, 'web_devices'>>,
  user_id: string,
): Promise<{ name: string; last_seen_at: string | null }[]> {
  return await withoutAgent(database)
    .select(['name', 'last_question_at as last_seen_at'])
    .where('user_id', '=', user_id)
    .orderBy('id')
    .execute();
}
