import type { BodyOf } from '@palisade/contract/endpoint';
import {
  ASK_ALLOWED_HOURS,
  type AskAnswer,
  type addProfile,
  type changeProfile,
  PROFILE_NAMES_MAXIMUM,
  type ProfileRules,
  type pauseProfile,
} from '@palisade/contract/household';
import type { Kysely } from 'kysely';
import { newId } from '#platform/id.ts';
import { refuse, refuseField } from './household.refusals.ts';
import { type Homes, knownTimeZone, lockHome } from './household.ts';
import { presetOf } from './household-presets.ts';
import { type ProfileRow, sharedBy } from './household-rules.ts';
import { startOfTomorrow } from './household-schedule.ts';
import { typedName } from './name-rules.ts';
import { SERVICES } from './services.ts';
import { isNetwork, newKey, type WebDeviceRow } from './web-devices.ts';
import type { WebProtectionTables } from './web-protection.tables.ts';

type Database = Kysely<WebProtectionTables>;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A row that belongs to a home, with the guardians who may change it. */
export type OfHome<Row> = Row & { guardian_ids: readonly string[] };

/** Serializes rules. Services that no longer exist are dropped. */
function storedOf(rules: ProfileRules): string {
  const services = [...new Set(rules.services)].filter((id) => SERVICES.some((service) => service.id === id));
  const times = rules.times.map((time) => ({ ...time, days: [...new Set(time.days)].sort() }));
  return JSON.stringify({ ...rules, categories: [...new Set(rules.categories)], services, times });
}

/** Manages the profiles of a home, their chosen names and their devices. */
export class Profiles {
  private readonly database: Database;
  private readonly homes: Homes;
  private readonly now: () => number;

  constructor(options: { database: Database; homes: Homes; now: () => number }) {
    this.database = options.database;
    this.homes = options.homes;
    this.now = options.now;
  }

  async find(id: string): Promise<OfHome<ProfileRow> | undefined> {
    const row = await this.database.selectFrom('profiles').selectAll().where('id', '=', id).executeTakeFirst();
    return row && { ...row, guardian_ids: await this.homes.guardiansOf(id) };
  }

  /** Finds a chosen name; `profile` is the name of its profile. */
  async findName(id: string) {
    const row = await this.database
      .selectFrom('profile_names')
      .innerJoin('profiles', 'profiles.id', 'profile_names.profile_id')
      .select(['profile_names.id', 'profile_id', 'profiles.name as profile'])
      .where('profile_names.id', '=', id)
      .executeTakeFirst();
    return row && { ...row, guardian_ids: await this.homes.guardiansOf(row.profile_id) };
  }

  /** Finds a device with the people who may change it: its owner, and the guardians of its profile if it has one. */
  async findDevice(id: string): Promise<OfHome<WebDeviceRow> | undefined> {
    const row = await this.database.selectFrom('web_devices').selectAll().where('id', '=', id).executeTakeFirst();
    return row && { ...row, guardian_ids: [row.user_id, ...(await this.homes.guardiansOf(row.profile_id))] };
  }

  /** Adds a profile; the first one also creates the home. `limit`: maximum profiles of the home. @throws Problem `conflict`, `invalid_field` */
  async add(
    user_id: string,
    limit: number,
    { time_zone, shared_by, name, picture, age_group }: BodyOf<typeof addProfile>,
    database: Database,
  ): Promise<ProfileRow> {
    if (limit === 0) throw refuse('profile.no_plan');
    const created_at = new Date(this.now()).toISOString();
    const home = (await this.homes.of(user_id, database)) ?? (await this.begin(user_id, time_zone, database));
    await lockHome(database, home.id);
    // Read again under the lock: the person may have left the home meanwhile.
    if ((await this.homes.of(user_id, database))?.id !== home.id) throw refuse('home.none');
    const others = await this.ofHome(home.id, database);
    if (others.length >= limit) throw refuse('profile.too_many', { limit });
    const row = {
      ...{ id: newId(), household_id: home.id, name, picture, age_group, created_at },
      shared_by: JSON.stringify(checkedPeople(shared_by, others)),
      rules: storedOf(presetOf(age_group)),
      ...{ ask_key: newKey(), is_key_shown: 1, paused_until: null },
    };
    await database.insertInto('profiles').values(row).execute();
    return row;
  }

  private async begin(user_id: string, time_zone: string, database: Database) {
    const at = new Date(this.now()).toISOString();
    const id = newId();
    await database
      .insertInto('households')
      .values({ id, time_zone: knownTimeZone(time_zone), created_at: at })
      .execute();
    const own = await database
      .insertInto('guardians')
      .values({ user_id, household_id: id, joined_at: at })
      .onConflict((conflict) => conflict.column('user_id').doNothing())
      .returning('user_id')
      .executeTakeFirst();
    // A concurrent call of the same person has created a home first.
    if (own === undefined) await database.deleteFrom('households').where('id', '=', id).execute();
    return await this.homes.need(user_id, database);
  }

  private ofHome(household_id: string, database: Database): Promise<ProfileRow[]> {
    return database.selectFrom('profiles').selectAll().where('household_id', '=', household_id).orderBy('id').execute();
  }

  /** @throws Problem `conflict`, `invalid_field` */
  async change(
    { id, household_id, shared_by: before }: ProfileRow,
    { shared_by, rules, ...rest }: BodyOf<typeof changeProfile>,
    database: Database,
  ): Promise<void> {
    await lockHome(database, household_id);
    const all = await this.ofHome(household_id, database);
    const people = shared_by === undefined ? sharedBy({ shared_by: before }) : checkedPeople(shared_by, all, id);
    if (rules !== undefined && people.length > 0) throw refuse('profile.is_shared');
    const { name, picture, age_group } = rest;
    const values = {
      ...(name !== undefined && { name }),
      ...(picture !== undefined && { picture }),
      ...(age_group !== undefined && { age_group }),
      ...(rules !== undefined && { rules: storedOf(rules) }),
      ...(shared_by !== undefined && { shared_by: JSON.stringify(people) }),
    };
    if (Object.keys(values).length > 0) await database.updateTable('profiles').set(values).where('id', '=', id).execute();
  }

  /** Removes a profile. Returns the user ids of its devices' owners. */
  async remove({ id, household_id }: ProfileRow, database: Database): Promise<string[]> {
    await lockHome(database, household_id);
    const devices = await database.selectFrom('web_devices').selectAll().where('profile_id', '=', id).execute();
    for (const device of devices) await moveDevice(device, null, database);
    for (const other of await this.ofHome(household_id, database)) {
      const people = sharedBy(other);
      if (people.includes(id))
        await database
          .updateTable('profiles')
          .set({ shared_by: JSON.stringify(people.filter((one) => one !== id)) })
          .where('id', '=', other.id)
          .execute();
    }
    await database.deleteFrom('profiles').where('id', '=', id).execute();
    return devices.map(({ user_id }) => user_id);
  }

  async pause(
    { id, household_id }: ProfileRow,
    { pause }: BodyOf<typeof pauseProfile>,
    database: Database,
  ): Promise<{ paused_until: string | null }> {
    const paused_until = await this.endOf(pause, household_id, database);
    await database.updateTable('profiles').set({ paused_until }).where('id', '=', id).execute();
    return { paused_until };
  }

  private async endOf(pause: BodyOf<typeof pauseProfile>['pause'], household_id: string, database: Database) {
    const now = this.now();
    if (pause === 'end') return null;
    if (pause !== 'tomorrow') return new Date(now + Number(pause) * MINUTE_MS).toISOString();
    return startOfTomorrow(now, (await this.homes.find(household_id, database))?.time_zone ?? 'UTC');
  }

  async renewKey({ id }: ProfileRow, database: Database): Promise<{ ask_key: string }> {
    const ask_key = newKey();
    await database.updateTable('profiles').set({ ask_key, is_key_shown: 1 }).where('id', '=', id).execute();
    return { ask_key };
  }

  /** @throws Problem `conflict`, `invalid_field` */
  async addName(
    { id, household_id }: ProfileRow,
    { name, verdict, for_an_hour }: { name: string; verdict: 'allow' | 'block'; for_an_hour: boolean },
    database: Database,
  ): Promise<void> {
    await lockHome(database, household_id);
    await this.choose(id, [typedName(name)], verdict === 'block' ? 'block' : for_an_hour ? 'hour' : 'allow', database);
  }

  /** Blocks or allows names. An allow for an hour is stored in addition to a permanent choice, which stays when the hour ends. */
  private async choose(
    profile_id: string,
    names: readonly string[],
    choice: 'block' | 'allow' | 'hour',
    database: Database,
  ): Promise<string | null> {
    await this.forgetNames(profile_id, names, choice === 'hour' ? 'hour' : 'all', database);
    const { count } = await database
      .selectFrom('profile_names')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('profile_id', '=', profile_id)
      .executeTakeFirstOrThrow();
    if (Number(count) + names.length > PROFILE_NAMES_MAXIMUM)
      throw refuse('profile.too_many_names', { maximum: PROFILE_NAMES_MAXIMUM });
    const now = this.now();
    const row = {
      ...{ profile_id, verdict: choice === 'block' ? choice : ('allow' as const), created_at: new Date(now).toISOString() },
      until: choice === 'hour' ? new Date(now + ASK_ALLOWED_HOURS * HOUR_MS).toISOString() : null,
    };
    await database
      .insertInto('profile_names')
      .values(names.map((name) => ({ ...row, id: newId(), name })))
      .execute();
    return row.until;
  }

  /** Removes choices about names, and all expired allows of the profile. */
  private async forgetNames(profile_id: string, names: readonly string[], which: 'all' | 'hour' | 'allow', database: Database) {
    let query = database.deleteFrom('profile_names').where('profile_id', '=', profile_id).where('name', 'in', names);
    if (which === 'hour') query = query.where('until', 'is not', null);
    if (which === 'allow') query = query.where('verdict', '=', 'allow');
    await query.execute();
    await database
      .deleteFrom('profile_names')
      .where('profile_id', '=', profile_id)
      .where('until', '<=', new Date(this.now()).toISOString())
      .execute();
  }

  /** Allows a requested name, or all names of a requested service; or, for `no`, withdraws what an earlier answer allowed. Returns the end of the allow, or null. @throws Problem `conflict` */
  async allowAsked(
    { profile_id, name, answer: before }: { profile_id: string; name: string; answer: AskAnswer },
    answer: 'hour' | 'always' | 'no',
    database: Database,
  ): Promise<string | null> {
    const names = SERVICES.find(({ id }) => id === name)?.domains ?? [name];
    if (answer !== 'no') return await this.choose(profile_id, names, answer === 'hour' ? 'hour' : 'allow', database);
    if (before === 'hour' || before === 'always')
      await this.forgetNames(profile_id, names, before === 'hour' ? 'hour' : 'allow', database);
    return null;
  }

  async removeName(id: string, database: Database): Promise<void> {
    await database.deleteFrom('profile_names').where('id', '=', id).execute();
  }

  /** Assigns a device to a profile of the person’s home, or to none. @throws Problem `conflict`, `not_found` */
  async giveDevice(user_id: string, device: WebDeviceRow, profile_id: string | null, database: Database): Promise<void> {
    if (profile_id === device.profile_id) return;
    if (profile_id !== null) {
      const home = await this.homes.need(user_id, database);
      await lockHome(database, home.id);
      // Read again under the lock: the device's owner may have left the home meanwhile.
      const now = await this.homes.find(home.id, database);
      if (![user_id, device.user_id].every((id) => now?.guardian_ids.includes(id))) throw refuse('home.none');
      if (!(await this.ofHome(home.id, database)).some(({ id }) => id === profile_id)) throw refuse('profile.unknown');
      if (isNetwork(device)) throw refuse('profile.network');
    }
    await moveDevice(device, profile_id, database);
  }
}

/** Assigns a device to another profile, or to none. Its refused and shown names belong to the previous person, so they are deleted. */
export async function moveDevice({ id }: Pick<WebDeviceRow, 'id'>, profile_id: string | null, database: Database): Promise<void> {
  await database.updateTable('web_devices').set({ profile_id, names_until: null }).where('id', '=', id).execute();
  await database.deleteFrom('web_refusals').where('device_id', '=', id).execute();
  await database.deleteFrom('web_shown_names').where('device_id', '=', id).execute();
}

/** Validates the profile ids of people who share a profile: each must be a profile of one person in the same home. @throws Problem `invalid_field` */
function checkedPeople(ids: readonly string[], all: readonly ProfileRow[], own?: string): string[] {
  const people = [...new Set(ids)];
  const isPerson = (id: string) => id !== own && all.some((row) => row.id === id && sharedBy(row).length === 0);
  const isMember = all.some((row) => own !== undefined && sharedBy(row).includes(own));
  if (people.length > 0 && (isMember || !people.every(isPerson))) throw refuseField('shared_by', 'profile.shared_by');
  return people;
}
