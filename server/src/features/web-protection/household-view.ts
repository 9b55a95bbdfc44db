import { createHash } from 'node:crypto';
import { startOfDay } from '@palisade/contract/day';
import type { Ask, AskPage, Household, Profile, ProfileRefusal } from '@palisade/contract/household';
import { type Kysely, type Selectable, sql } from 'kysely';
import { isShared } from './dangerous-names.ts';
import { effectiveProfile, type ProfileRow, sharedBy } from './household-rules.ts';
import { readingAt, timesAt } from './household-schedule.ts';
import { SERVICES, type WebService } from './services.ts';
import { hourOf, silentGaps, type WebDeviceRow } from './web-devices.ts';
import type { WebProtectionTables } from './web-protection.tables.ts';

const DAY_MS = 86_400_000;
const REFUSED_SHOWN = 50;
/** Number of a profile's newest refused names that are searched for a requested one. */
const REFUSED_SEARCHED = 1_000;

type Database = Kysely<WebProtectionTables>;
export type AskRow = Selectable<WebProtectionTables['profile_asks']>;
type RefusalRow = Selectable<WebProtectionTables['web_refusals']>;

export interface Home {
  id: string;
  time_zone: string;
  /** In the order in which they joined. */
  guardian_ids: readonly string[];
}

/** The view of a profile for its person. The view of guardians is derived from it, so it never contains more, except for `guardians_refused`. */
export interface Seen {
  row: ProfileRow;
  page: Omit<AskPage, 'guardians'>;
  /** Refused names that guardians see. */
  guardians_refused: ProfileRefusal[];
  asks: (Ask & { device_name: string })[];
}

/** A stable id of a refused name, in the format of other ids. The id of its row changes with each refusal. */
export function refusalId({ device_id, name }: Pick<RefusalRow, 'device_id' | 'name'>): string {
  const hex = createHash('sha256').update(`${device_id} ${name}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** The service of a refused name if it was refused as part of a service. */
const serviceOf = ({ rule, category }: Pick<RefusalRow, 'rule' | 'category'>): WebService | undefined =>
  SERVICES.find(({ id, domains }) => (category === 'time_services' ? domains.includes(rule) : id === category));

/** The target of a request: the service's id if the name was refused as part of a service, otherwise the name. Undefined for a public suffix. */
export function askedFor(refusal: Pick<RefusalRow, 'name' | 'rule' | 'category'>): string | undefined {
  const { name } = refusal;
  return serviceOf(refusal)?.id ?? (name.includes('.') && !isShared(name) ? name : undefined);
}

/** The newest refused names of each profile, newest first. */
export function refusalsOf(database: Database, profile_ids: readonly string[], limit = REFUSED_SEARCHED) {
  const placed = database
    .selectFrom('web_refusals')
    .innerJoin('web_devices', 'web_devices.id', 'web_refusals.device_id')
    .selectAll('web_refusals')
    .select([
      'web_devices.profile_id',
      sql<number>`row_number() over (partition by web_devices.profile_id order by web_refusals.id desc)`.as('place'),
    ])
    .where('web_devices.profile_id', 'in', profile_ids);
  return database.selectFrom(placed.as('placed')).selectAll().where('place', '<=', limit).orderBy('id', 'desc').execute();
}

export const askOf = ({ id, name, count, asked_at, answer, line, answered_at, until }: AskRow): Ask => ({
  ...{ id, name: SERVICES.find((service) => service.id === name)?.name ?? name },
  ...{ count, asked_at, answer, line, answered_at, until },
});

/** Sorts waiting requests first, then by age, newest first. */
const inOrder = <One extends Pick<Ask, 'id' | 'answer'>>(asks: readonly One[]): One[] =>
  asks.toSorted((one, other) => Number(other.answer === 'wait') - Number(one.answer === 'wait') || (one.id < other.id ? 1 : -1));

/** Reads the views of all profiles of a home, or of one. `maximum`: number of profiles in the guardians' plans. */
export async function seenOf(
  database: Database,
  home: Home,
  { maximum, now, id: only }: { maximum: number; now: number; id?: string | undefined },
): Promise<Seen[]> {
  const all = await database.selectFrom('profiles').selectAll().where('household_id', '=', home.id).orderBy('id').execute();
  const wanted = all.filter(({ id }) => only === undefined || id === only);
  if (wanted.length === 0) return [];
  const ids = wanted.map(({ id }) => id);
  const [devices, asks, refused, counts] = await Promise.all([
    database.selectFrom('web_devices').selectAll().where('profile_id', 'in', ids).orderBy('id').execute(),
    database
      .selectFrom('profile_asks')
      .selectAll()
      .where('profile_id', 'in', ids)
      .where(({ eb, or }) => or([eb('answer', '=', 'wait'), eb('answered_at', '>', new Date(now - DAY_MS).toISOString())]))
      .execute(),
    refusalsOf(database, ids, REFUSED_SHOWN),
    database
      .selectFrom('web_counts')
      // Counts under an earlier profile of the device belong to another person.
      .innerJoin('web_devices', (join) =>
        join.onRef('web_devices.id', '=', 'web_counts.device_id').onRef('web_devices.profile_id', '=', 'web_counts.profile_id'),
      )
      .select(({ fn }) => ['web_counts.profile_id', 'category', fn.sum<number>('count').as('count')])
      .where('web_counts.profile_id', 'in', ids)
      .where('hour', '>=', hourOf(Date.parse(startOfDay(now, home.time_zone))))
      .groupBy(['web_counts.profile_id', 'category'])
      .execute(),
  ]);
  const silent = await silentGaps(database, devices, now);
  return wanted.map((row) => {
    const ofIt = (one: { profile_id: string | null }) => one.profile_id === row.id;
    return seen(row, {
      ...{ all, home, now },
      ...{ devices: devices.filter(ofIt), asks: asks.filter(ofIt), refused: refused.filter(ofIt), counts: counts.filter(ofIt) },
      silent: new Set(silent.keys()),
      has_plan: all.indexOf(row) < maximum,
    });
  });
}

/** Builds the view of a profile. */
function seen(
  row: ProfileRow,
  parts: {
    all: readonly ProfileRow[];
    home: Home;
    now: number;
    devices: WebDeviceRow[];
    silent: ReadonlySet<string>;
    refused: readonly RefusalRow[];
    asks: readonly AskRow[];
    counts: readonly { category: string; count: number }[];
    has_plan: boolean;
  },
): Seen {
  const { all, home, now, devices, silent, counts, has_plan } = parts;
  const { rules, age_group, is_private, paused_until: latest } = effectiveProfile(row, all);
  const asks = inOrder(parts.asks);
  const named = (device_id: string | null) => devices.find(({ id }) => id === device_id)?.name ?? '';
  const paused_until = latest !== null && latest > new Date(now).toISOString() ? latest : null;
  const waiting = new Set(asks.filter(({ answer }) => answer === 'wait').map(({ name }) => name));
  const shown = (refusal: RefusalRow): ProfileRefusal => {
    const { device_id, name, category, count, last_at } = refusal;
    const service = serviceOf(refusal)?.name ?? '';
    return { id: refusalId(refusal), device_name: named(device_id), name, service, category, count, last_at };
  };
  const page: Seen['page'] = {
    name: row.name,
    picture: row.picture,
    age_group,
    guardians_see: is_private ? 'counts' : 'names',
    state: has_plan ? (paused_until === null ? 'on' : 'paused') : 'no_plan',
    paused_until,
    time_now: timesAt(rules.times, readingAt(home.time_zone, now)).find(({ refuses }) => refuses === 'all') ?? null,
    rules,
    devices: devices.map(({ id, name, kind, last_question_at }) => ({
      id,
      name,
      kind,
      last_question_at,
      is_silent: silent.has(id),
    })),
    time_zone: home.time_zone,
    today: todayOf(counts),
    // Guardians who know the key could open this page.
    refused:
      is_private && row.is_key_shown === 1
        ? []
        : parts.refused.map((refusal) => ({
            ...shown(refusal),
            can_ask: canAsk(refusal, waiting),
          })),
    asks: asks.map(askOf),
  };
  return {
    ...{ row, page },
    guardians_refused: is_private ? [] : parts.refused.filter((refusal) => refusal.is_private === 0).map(shown),
    asks: asks.map((ask) => ({ ...askOf(ask), device_name: named(ask.device_id) })),
  };
}

function canAsk(refusal: RefusalRow, waiting: ReadonlySet<string>): boolean {
  const name = askedFor(refusal);
  return refusal.category !== 'dangerous' && name !== undefined && !waiting.has(name);
}

function todayOf(counts: readonly { category: string; count: number }[]): AskPage['today'] {
  const sums = counts.map(({ category, count }) => ({ category, count: Number(count) }));
  const refused = sums.filter(({ category }) => category !== 'answered');
  return {
    answered: sums.find(({ category }) => category === 'answered')?.count ?? 0,
    refused: refused.sort((one, other) => other.count - one.count),
  };
}

/** Builds the view of a profile for its guardians. */
export function profileOf({ row, page, guardians_refused: refused }: Seen, names: Profile['names']): Profile {
  const { name, picture, age_group, rules, state, paused_until, devices, today } = page;
  return {
    ...{ id: row.id, name, picture, age_group, shared_by: sharedBy(row), rules, state, paused_until, devices, today },
    ...{ ask_key: row.is_key_shown === 1 ? row.ask_key : '', names, refused, created_at: row.created_at },
  };
}

export const asksOf = (all: readonly Seen[]): Household['asks'] =>
  inOrder(all.flatMap(({ row, asks }) => asks.map((ask) => ({ ...ask, profile_id: row.id }))));

/** Names that guardians chose, by profile, newest first, without expired ones. */
export async function namesOf(
  database: Database,
  profile_ids: readonly string[],
  now: number,
): Promise<ReadonlyMap<string, Profile['names']>> {
  if (profile_ids.length === 0) return new Map();
  const rows = await database
    .selectFrom('profile_names')
    .selectAll()
    .where('profile_id', 'in', profile_ids)
    .where(({ eb, or }) => or([eb('until', 'is', null), eb('until', '>', new Date(now).toISOString())]))
    .orderBy('id', 'desc')
    .execute();
  const names = new Map<string, Profile['names']>();
  for (const { profile_id, ...row } of rows) names.set(profile_id, [...(names.get(profile_id) ?? []), row]);
  return names;
}
