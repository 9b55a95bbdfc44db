import {
  AGE_GROUPS,
  type AgeGroup,
  PRIVATE_AGE,
  type ProfileRules,
  type ProfileTime,
  profileTimeSchema,
} from '@palisade/contract/household';
import { SAFE_SEARCH } from '@palisade/contract/web-protection';
import { decide, type LevelRules } from '@palisade/names/decide';
import { hashName, type NameSet, newHashes } from '@palisade/names/name-list';
import { safeNameOf } from '@palisade/names/safe-search';
import { endingOf, wireName } from '@palisade/names/wire';
import type { Kysely, Selectable } from 'kysely';
import { z } from 'zod';
import type { CategoryLists } from './category-lists.ts';
import type { HouseholdTables } from './household.tables.ts';
import { type ClockReading, readingAt, timesAt } from './household-schedule.ts';
import { choicesOf, type DeviceRules, listOf, SECONDS_MAXIMUM, typedName } from './name-rules.ts';
import type { WebProtectionTables } from './web-protection.tables.ts';

export type ProfileRow = Selectable<HouseholdTables['profiles']>;
export type ProfileNameRow = Selectable<HouseholdTables['profile_names']>;

/** Names that guardians chose, as they apply at a moment. */
export interface ChosenNames {
  allowed: readonly string[];
  /** Names of `allowed` that are allowed for an hour. They take precedence over times at which everything is refused. */
  for_an_hour: readonly string[];
  blocked: readonly string[];
}

/** The rules of a profile at one moment. */
export interface ProfileMoment {
  rules: ProfileRules;
  names: ChosenNames;
  is_paused: boolean;
  reading: ClockReading;
}

const storedSchema = z.object({
  categories: z.unknown(),
  services: z.unknown(),
  safe_search: z.unknown(),
  times: z.array(z.unknown()),
});

/** Parses the stored rules of a profile. Values of a newer server version are dropped. */
export function storedRules({ rules }: Pick<ProfileRow, 'rules'>): ProfileRules {
  const { times, ...choices } = storedSchema.parse(JSON.parse(rules));
  return { ...choicesOf(choices), times: times.flatMap((one) => profileTimeSchema.safeParse(one).data ?? []) };
}

/** The ids of the profiles whose people share this profile. */
export const sharedBy = ({ shared_by }: Pick<ProfileRow, 'shared_by'>): string[] =>
  z.array(z.string()).parse(JSON.parse(shared_by));

/** Text that sorts after all ISO times. */
const AFTER_ALL = '9';

/** Whether a name equals `other` or is a subdomain of it. */
const isBelow = (name: string, other: string) => name === other || name.endsWith(`.${other}`);

const union = <One extends string>(lists: readonly (readonly One[])[]) => [...new Set(lists.flat())];

/** Names that every list contains, either directly or by a parent domain. */
function common(lists: readonly (readonly string[])[]): string[] {
  return union(lists).filter((name) => lists.every((list) => list.some((one) => isBelow(name, one))));
}

const sameTime = (one: ProfileTime, other: ProfileTime) =>
  one.refuses === other.refuses &&
  one.from === other.from &&
  one.to === other.to &&
  one.days.toSorted().join() === other.days.toSorted().join();

/** Combines the rules of people who share a device: it refuses everything that the rules of at least one person refuse. Needs at least one person. */
export function strictest(people: readonly ProfileRules[]): ProfileRules {
  const times = people.flatMap((one) => one.times);
  return {
    categories: union(people.map(({ categories }) => categories)),
    services: union(people.map(({ services }) => services)),
    safe_search: SAFE_SEARCH[Math.max(...people.map(({ safe_search }) => SAFE_SEARCH.indexOf(safe_search)))] ?? 'strict',
    times: times.filter((time, place) => times.findIndex((one) => sameTime(one, time)) === place),
  };
}

/** A profile with the settings that apply; for a shared profile, combined from its people's profiles. */
export interface EffectiveProfile {
  rules: ProfileRules;
  /** The age group of the youngest person. */
  age_group: AgeGroup;
  /** Guardians see only counts, no names. */
  is_private: boolean;
  /** The latest end of a pause; it may be in the past. */
  paused_until: string | null;
  /** The profiles of the people who share it; empty for a profile of one person. */
  members: readonly ProfileRow[];
}

/** Computes the settings that apply. `home`: all profiles of the home. */
export function effectiveProfile(profile: ProfileRow, home: readonly ProfileRow[]): EffectiveProfile {
  const ids = sharedBy(profile);
  const members = home.filter(({ id }) => id !== profile.id && ids.includes(id));
  const people = members.length === 0 ? [profile] : members;
  const ages = people.map(({ age_group }) => age_group);
  return {
    rules: strictest(people.map(storedRules)),
    age_group: AGE_GROUPS.find((age) => ages.includes(age)) ?? profile.age_group,
    is_private: ages.includes(PRIVATE_AGE),
    paused_until:
      [profile, ...members]
        .flatMap(({ paused_until }) => paused_until ?? [])
        .toSorted()
        .at(-1) ?? null,
    members,
  };
}

/** The names of one profile that apply at a moment. An allow for an hour applies in addition to a permanent choice. */
function namesAt(rows: readonly ProfileNameRow[], now: string): ChosenNames {
  const named = (chosen: (row: ProfileNameRow) => boolean) => union([rows.filter(chosen).map(({ name }) => name)]);
  return {
    allowed: named(({ verdict, until }) => verdict === 'allow' && (until === null || until > now)),
    for_an_hour: named(({ verdict, until }) => verdict === 'allow' && until !== null && until > now),
    blocked: named(({ verdict }) => verdict === 'block'),
  };
}

/** The names that apply to a profile at a moment. A shared profile allows its own allowed names, and those that all of its people are allowed. */
export function effectiveNames(
  profile: Pick<ProfileRow, 'id'>,
  members: readonly Pick<ProfileRow, 'id'>[],
  rows: readonly ProfileNameRow[],
  now: string,
): ChosenNames {
  const of = ({ id }: Pick<ProfileRow, 'id'>) =>
    namesAt(
      rows.filter((row) => row.profile_id === id),
      now,
    );
  const own = of(profile);
  const people = members.map(of);
  return {
    allowed: union([own.allowed, common(people.map(({ allowed }) => allowed))]),
    for_an_hour: union([own.for_an_hour, common(people.map(({ for_an_hour }) => for_an_hour))]),
    blocked: union([own, ...people].map(({ blocked }) => blocked)),
  };
}

const ALL_NAMES: NameSet = { has: () => true };
const refuseAll = (category: 'paused' | 'time'): LevelRules => ({
  level: 'guardian',
  blocked: [{ category, names: ALL_NAMES }],
});

/** The levels of a profile after the dangerous names, in order of precedence. */
export function profileLevels(
  { rules, names, is_paused, reading }: ProfileMoment,
  lists: Pick<CategoryLists, 'chosen' | 'ofKind'>,
): LevelRules[] {
  const refused = timesAt(rules.times, reading).map(({ refuses }) => refuses);
  const kinds = union([refused]).filter((one) => one !== 'all');
  const guardian = (chosen: Pick<ChosenNames, 'allowed' | 'blocked'>): LevelRules => ({
    level: 'guardian',
    allowed: listOf(chosen.allowed),
    blocked: [{ category: 'guardian', names: listOf(chosen.blocked) }],
  });
  /** An allow for an hour includes subdomains, except those for which guardians made another choice. */
  const isInHour = (name: string) => names.for_an_hour.some((one) => isBelow(name, one));
  return [
    ...(is_paused ? [refuseAll('paused')] : []),
    guardian({ allowed: names.allowed.filter(isInHour), blocked: names.blocked.filter(isInHour) }),
    ...(refused.includes('all') ? [refuseAll('time')] : []),
    guardian(names),
    { level: 'lists', blocked: kinds.map((kind) => ({ category: 'time_services', names: lists.ofKind(kind) })) },
    { level: 'lists', blocked: lists.chosen(rules) },
  ];
}

/** Computes the rules of profiles for their devices, and tries names against them. */
export class ProfilePolicies {
  private readonly options: {
    database: Kysely<WebProtectionTables>;
    lists: Pick<CategoryLists, 'chosen' | 'ofKind'>;
    dangerous: () => Promise<LevelRules>;
    /** Set of names that no rule refuses. */
    never: NameSet;
    /** Number of profiles in the guardians' plans. It covers the oldest profiles; in the others only dangerous names are refused. */
    limitOf: (guardian_ids: readonly string[]) => Promise<number>;
    now: () => number;
  };

  constructor(options: ProfilePolicies['options']) {
    this.options = options;
  }

  /** Reads a profile with its people's profiles, its position in the home, and the chosen names. It uses only two queries, because devices read their rules every few seconds. */
  private async read(profile_id: string) {
    const read = await this.options.database
      .selectFrom('profiles')
      .innerJoin('households', 'households.id', 'profiles.household_id')
      .leftJoin('guardians', 'guardians.household_id', 'profiles.household_id')
      .selectAll('profiles')
      .select(['households.time_zone', 'guardians.user_id as guardian_id'])
      .where('profiles.household_id', 'in', (eb) =>
        eb.selectFrom('profiles as one').select('one.household_id').where('one.id', '=', profile_id),
      )
      .orderBy('profiles.id')
      .execute();
    // The join returns one row per profile and guardian.
    const rows = read.filter(({ id }, index) => id !== read[index - 1]?.id);
    const place = rows.findIndex(({ id }) => id === profile_id);
    const profile = rows[place];
    if (profile === undefined) return undefined;
    const guardian_ids = read.flatMap(({ id, guardian_id }) => (id === profile_id ? (guardian_id ?? []) : []));
    const effective = effectiveProfile(profile, rows);
    const names = await this.options.database
      .selectFrom('profile_names')
      .selectAll()
      .where(
        'profile_id',
        'in',
        [profile, ...effective.members].map(({ id }) => id),
      )
      .execute();
    return { profile, effective, names, place, guardian_ids };
  }

  /** The current rules for the devices of a profile; undefined if there is no such profile. */
  async rulesOf(profile_id: string): Promise<DeviceRules | undefined> {
    const [known, dangerous] = await Promise.all([this.read(profile_id), this.options.dangerous()]);
    if (known === undefined) return undefined;
    const { profile, effective, names, place, guardian_ids } = known;
    const hasPlan = place < (await this.options.limitOf(guardian_ids));
    const { rules, is_private, paused_until, members } = effective;
    const at = this.options.now();
    const now = new Date(at).toISOString();
    const moment: ProfileMoment = {
      rules,
      names: effectiveNames(profile, members, names, now),
      is_paused: paused_until !== null && paused_until > now,
      reading: readingAt(profile.time_zone, at),
    };
    return {
      policy: {
        levels: [dangerous, ...(hasPlan ? profileLevels(moment, this.options.lists) : [])],
        safe_search: hasPlan ? rules.safe_search : 'off',
        seconds_maximum: SECONDS_MAXIMUM,
      },
      is_private,
    };
  }

  /**
   * Tries whether devices of a profile can open a name on a day (1 is Monday) at a time such as `21:00`. `rules` replace the stored ones if the profile has one person.
   * Pauses and allows for an hour are ignored, because they are temporary. Undefined if there is no such profile.
   * @throws Problem `invalid_field`
   */
  async tryName(profile_id: string, asked: { name: string; day: number; clock: string; rules?: ProfileRules | undefined }) {
    const name = typedName(asked.name);
    const [known, dangerous] = await Promise.all([this.read(profile_id), this.options.dangerous()]);
    if (known === undefined) return undefined;
    const { members, rules: own } = known.effective;
    const rules = members.length === 0 ? (asked.rules ?? own) : own;
    const moment: ProfileMoment = {
      rules,
      names: effectiveNames(known.profile, members, known.names, AFTER_ALL),
      is_paused: false,
      reading: { day: asked.day, clock: asked.clock },
    };
    return tryLevels(name, {
      levels: [dangerous, ...profileLevels(moment, this.options.lists)],
      rules,
      never: this.options.never,
    });
  }
}

/** The decision about a name. `rule` is the name of the matching rule; empty if none matches or all names are refused. */
function tryLevels(name: string, by: { levels: readonly LevelRules[]; rules: ProfileRules; never: NameSet }) {
  const bytes = wireName(name) ?? Buffer.alloc(1);
  const hashes = hashName(bytes, newHashes());
  const isNever = Array.from({ length: hashes.depth }, (_, depth) => depth).some((depth) => by.never.has(hashes, depth));
  const decision = isNever ? undefined : decide({ ...by.rules, levels: by.levels, seconds_maximum: SECONDS_MAXIMUM }, hashes);
  const is_allowed = decision?.kind !== 'refused';
  const category = decision?.kind === 'refused' ? decision.category : (decision?.level ?? null);
  const isOfAll = category === 'time' || category === 'paused';
  return {
    is_allowed,
    category,
    rule: decision === undefined || isOfAll ? '' : endingOf(bytes, decision.depth),
    is_safe_search: is_allowed && !isNever && safeNameOf(name, by.rules.safe_search) !== undefined,
  };
}
