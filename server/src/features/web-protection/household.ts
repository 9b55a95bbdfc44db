import { timeZoneOf } from '@palisade/contract/day';
import { AGE_GROUPS, type Household, type Profile } from '@palisade/contract/household';
import type { Kysely } from 'kysely';
import { refuse, refuseField } from './household.refusals.ts';
import { presetOf } from './household-presets.ts';
import { asksOf, type Home, namesOf, profileOf, type Seen, seenOf } from './household-view.ts';
import { isNetwork, silentGaps } from './web-devices.ts';
import type { WebProtectionTables } from './web-protection.tables.ts';

type Database = Kysely<WebProtectionTables>;

/** Maximum profiles of one home, also if the plans have no limit. */
const PROFILES_MAXIMUM = 50;
const NO_HOME = { time_zone: 'UTC', guardians: [], invites: [], profiles: [], asks: [], free_devices: [] };
const PRESETS = AGE_GROUPS.map((age_group) => ({ age_group, rules: presetOf(age_group) }));

interface People {
  /** Number of profiles in the plans of these people; 0 if none of them has a plan with profiles. */
  profileLimit: (user_ids: readonly string[]) => Promise<number>;
  /** Finds accounts by id; deleted accounts are left out. */
  findUsers: (user_ids: readonly string[]) => Promise<readonly { id: string; username: string }[]>;
}

/** Validates a time zone. @throws Problem `invalid_field` for a zone that this server doesn’t know. */
export function knownTimeZone(claim: string): string {
  // Offsets such as +05:00 are refused, because they have no daylight saving time.
  if (!/^[A-Za-z]/u.test(claim) || !timeZoneOf(claim).is_known) throw refuseField('time_zone', 'home.time_zone');
  return claim;
}

/** Locks a home until the end of the transaction, so that changes run one after another. */
export async function lockHome(database: Database, household_id: string): Promise<void> {
  await database
    .updateTable('households')
    .set(({ ref }) => ({ time_zone: ref('time_zone') }))
    .where('id', '=', household_id)
    .execute();
}

/** Reads homes and their guardians. */
export class Homes {
  private readonly database: Database;
  private readonly people: People;
  private readonly now: () => number;

  constructor(options: { database: Database; people: People; now: () => number }) {
    this.database = options.database;
    this.people = options.people;
    this.now = options.now;
  }

  private async findBy(column: 'household_id' | 'user_id', value: string, database: Database): Promise<Home | undefined> {
    const rows = await database
      .selectFrom('households')
      .innerJoin('guardians', 'guardians.household_id', 'households.id')
      .select(['households.id', 'time_zone', 'user_id'])
      .where('households.id', 'in', database.selectFrom('guardians').select('household_id').where(column, '=', value))
      .orderBy('joined_at')
      .orderBy('user_id')
      .execute();
    const [first] = rows;
    return first && { id: first.id, time_zone: first.time_zone, guardian_ids: rows.map(({ user_id }) => user_id) };
  }

  find(household_id: string, database = this.database): Promise<Home | undefined> {
    return this.findBy('household_id', household_id, database);
  }

  /** The home of a person; undefined if there is none. */
  of(user_id: string, database = this.database): Promise<Home | undefined> {
    return this.findBy('user_id', user_id, database);
  }

  /** The home of a person. @throws Problem `not_found` if there is none. */
  async need(user_id: string, database = this.database): Promise<Home> {
    const home = await this.of(user_id, database);
    if (home === undefined) throw refuse('home.none');
    return home;
  }

  /** The guardians of a profile's home; empty for null. */
  async guardiansOf(profile_id: string | null): Promise<string[]> {
    if (profile_id === null) return [];
    const rows = await this.database
      .selectFrom('profiles')
      .innerJoin('guardians', 'guardians.household_id', 'profiles.household_id')
      .select('user_id')
      .where('profiles.id', '=', profile_id)
      .execute();
    return rows.map(({ user_id }) => user_id);
  }

  /** The user ids to notify about a device: the guardians of its profile, or its owner if it has no profile. */
  async peopleOf({ user_id, profile_id }: { user_id: string; profile_id: string | null }): Promise<string[]> {
    const guardians = await this.guardiansOf(profile_id);
    return guardians.length === 0 ? [user_id] : guardians;
  }

  /** Maximum profiles of the home of these guardians; it covers the oldest profiles. */
  async limitOf(guardian_ids: readonly string[]): Promise<number> {
    return Math.min(await this.people.profileLimit(guardian_ids), PROFILES_MAXIMUM);
  }

  async setTimeZone(user_id: string, time_zone: string, database = this.database): Promise<void> {
    const { id } = await this.need(user_id, database);
    await database
      .updateTable('households')
      .set({ time_zone: knownTimeZone(time_zone) })
      .where('id', '=', id)
      .execute();
  }

  /** The views of the profiles of a home, or of one of them. */
  async seen(home: Home, profile_id?: string): Promise<Seen[]> {
    const maximum = await this.limitOf(home.guardian_ids);
    return await seenOf(this.database, home, { maximum, now: this.now(), id: profile_id });
  }

  /** @throws Problem `not_found` */
  async readProfile(household_id: string, profile_id: string): Promise<Profile> {
    const home = await this.find(household_id);
    const [one] = home === undefined ? [] : await this.seen(home, profile_id);
    if (one === undefined) throw refuse('profile.unknown');
    return profileOf(one, (await namesOf(this.database, [profile_id], this.now())).get(profile_id) ?? []);
  }

  /** Usernames of people, in the order of the ids. */
  async namesOf(user_ids: readonly string[]): Promise<{ id: string; name: string }[]> {
    const users = await this.people.findUsers(user_ids);
    return user_ids
      .flatMap((id) => users.find((user) => user.id === id) ?? [])
      .map(({ id, username }) => ({ id, name: username }));
  }

  async read(user_id: string): Promise<Household> {
    const home = await this.of(user_id);
    const limit = await this.limitOf(home?.guardian_ids ?? [user_id]);
    const plan = { profiles_maximum: limit, has_plan: limit > 0, presets: PRESETS };
    if (home === undefined) return { ...NO_HOME, ...plan };
    const now = this.now();
    const [seen, guardians, invites, devices] = await Promise.all([
      seenOf(this.database, home, { maximum: limit, now }),
      this.namesOf(home.guardian_ids),
      this.database
        .selectFrom('household_invites')
        .select(['id', 'email', 'expires_at'])
        .where('household_id', '=', home.id)
        .where('expires_at', '>', new Date(now).toISOString())
        .orderBy('id', 'desc')
        .execute(),
      this.database
        .selectFrom('web_devices')
        .select(['id', 'name', 'kind', 'address'])
        .where('user_id', '=', user_id)
        .where('profile_id', 'is', null)
        .orderBy('id', 'desc')
        .execute(),
    ]);
    const names = await namesOf(
      this.database,
      seen.map(({ row }) => row.id),
      now,
    );
    return {
      ...plan,
      time_zone: home.time_zone,
      guardians: guardians.map((one) => ({ ...one, is_me: one.id === user_id })),
      invites,
      profiles: seen.map((one) => profileOf(one, names.get(one.row.id) ?? [])),
      asks: asksOf(seen),
      free_devices: devices.filter((device) => !isNetwork(device)).map(({ id, name, kind }) => ({ id, name, kind })),
    };
  }

  /** Data for the status of a guardian: silent devices of profiles, profiles without a plan, and waiting requests; undefined without a profile. */
  async facts(user_id: string) {
    const home = await this.of(user_id);
    if (home === undefined) return undefined;
    const profiles = await this.database
      .selectFrom('profiles')
      .select(['id', 'name'])
      .where('household_id', '=', home.id)
      .orderBy('id')
      .execute();
    if (profiles.length === 0) return undefined;
    const ids = profiles.map(({ id }) => id);
    const [limit, devices, asks] = await Promise.all([
      this.limitOf(home.guardian_ids),
      this.database.selectFrom('web_devices').selectAll().where('profile_id', 'in', ids).orderBy('id').execute(),
      this.database.selectFrom('profile_asks').select('id').where('profile_id', 'in', ids).where('answer', '=', 'wait').execute(),
    ]);
    const silent = await silentGaps(this.database, devices, this.now());
    return {
      silent: devices.filter(({ id }) => silent.has(id)).map(({ id, name }) => ({ id, name })),
      without_plan: profiles.slice(limit),
      asks: asks.length,
    };
  }
}
