import { type Ask, type AskAnswer, type AskPage, WAITING_ASKS_MAXIMUM } from '@palisade/contract/household';
import type { Kysely } from 'kysely';
import type { Counters } from '#platform/counters.ts';
import { newId } from '#platform/id.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import { refuse, refuseFor } from './household.refusals.ts';
import { type Homes, lockHome } from './household.ts';
import type { OfHome, Profiles } from './household-profiles.ts';
import { effectiveProfile, type ProfileRow } from './household-rules.ts';
import { type AskRow, askedFor, askOf, type Home, refusalId, refusalsOf } from './household-view.ts';
import { KEY } from './web-devices.ts';
import type { WebProtectionTables } from './web-protection.tables.ts';

type Database = Kysely<WebProtectionTables>;

const HOUR_MS = 3_600_000;
const KEPT_MS = 7 * 24 * HOUR_MS;
/** Rate limit of unknown keys per source. */
const GUESSES = { count: 30, period_ms: 60_000 } as const;
/** Rate limit of views of one page. */
const LOOKS = { count: 120, period_ms: 60_000 } as const;
const ASKS = { count: 30, period_ms: 60_000 } as const;
/** Rate limit of notifications to guardians about one profile. */
const TELLINGS = { count: 10, period_ms: HOUR_MS } as const;

/** “May I?”: requests of people to their guardians. */
export class Asks {
  private readonly database: Database;
  private readonly homes: Homes;
  private readonly profiles: Profiles;
  private readonly counters: Pick<Counters, 'take'>;
  private readonly now: () => number;

  constructor(options: {
    database: Database;
    homes: Homes;
    profiles: Profiles;
    counters: Pick<Counters, 'take'>;
    now: () => number;
  }) {
    this.database = options.database;
    this.homes = options.homes;
    this.profiles = options.profiles;
    this.counters = options.counters;
    this.now = options.now;
  }

  private async byKey(key: string): Promise<ProfileRow | undefined> {
    if (!KEY.test(key)) return undefined;
    return await this.database.selectFrom('profiles').selectAll().where('ask_key', '=', key).executeTakeFirst();
  }

  /** Finds the profile of a key. Attempts with unknown keys are limited per source. @throws Problem `not_found`, `too_many_requests` */
  async profileOf({ key, own_key = '' }: { key: string; own_key?: string | undefined }, source: string): Promise<ProfileRow> {
    const known = (await this.byKey(own_key)) ?? (await this.byKey(key));
    const opened = known === undefined || known.ask_key === own_key ? known : await this.claim(known, own_key);
    if (opened !== undefined) return opened;
    const empty = await this.counters.take([{ key: `ask-keys:${source}`, rate: GUESSES }]);
    throw empty === undefined ? refuse('ask.unknown_key') : refuseFor(empty.wait_ms, 'ask.too_many_keys');
  }

  /** Protects the page of a person whose names guardians must not see: a key of the person's browser replaces the key that guardians know. */
  private async claim(profile: ProfileRow, own_key: string): Promise<ProfileRow | undefined> {
    if (!KEY.test(own_key) || !(await this.hidesNames(profile))) return profile;
    await this.database
      .updateTable('profiles')
      .set({ ask_key: own_key, is_key_shown: 0 })
      .where('id', '=', profile.id)
      .where('ask_key', '=', profile.ask_key)
      .execute();
    // Another browser may have claimed it first.
    return await this.byKey(own_key);
  }

  /** Whether the page must not show names: guardians know its key, but must not see this person's names. */
  private async hidesNames(profile: ProfileRow): Promise<boolean> {
    if (profile.is_key_shown === 0) return false;
    const home = await this.database
      .selectFrom('profiles')
      .selectAll()
      .where('household_id', '=', profile.household_id)
      .execute();
    return effectiveProfile(profile, home).is_private;
  }

  private async take(key: string, rate: { count: number; period_ms: number }): Promise<void> {
    const empty = await this.counters.take([{ key, rate }]);
    if (empty !== undefined) throw refuseFor(empty.wait_ms, 'ask.too_often');
  }

  /** Returns the page of a profile’s person. @throws Problem `not_found`, `too_many_requests` */
  async look(profile: ProfileRow): Promise<AskPage> {
    await this.take(`ask-looks:${profile.id}`, LOOKS);
    return await this.page(profile);
  }

  private async page({ id, household_id }: ProfileRow): Promise<AskPage> {
    const home = await this.homes.find(household_id);
    const [seen] = home === undefined ? [] : await this.homes.seen(home, id);
    if (home === undefined || seen === undefined) throw refuse('ask.unknown_key');
    return { ...seen.page, guardians: (await this.homes.namesOf(home.guardian_ids)).map(({ name }) => name) };
  }

  /** Requests a refused name. `told` is the new request, about which guardians are notified; undefined if the request was only counted. @throws Problem */
  async ask(profile: ProfileRow, refusal_id: string): Promise<{ page: AskPage; home: Home; told: { id: string } | undefined }> {
    await this.take(`asks:${profile.id}`, ASKS);
    const home = await this.homes.find(profile.household_id);
    if (home === undefined) throw refuse('ask.unknown_key');
    // Otherwise a guardian could find out by the answer whether a guessed name was refused.
    if (await this.hidesNames(profile)) throw refuse('ask.refusal_gone');
    const refusals = await refusalsOf(this.database, [profile.id]);
    const refusal = refusals.find((one) => refusalId(one) === refusal_id);
    if (refusal === undefined) throw refuse('ask.refusal_gone');
    if (refusal.category === 'dangerous') throw refuse('ask.dangerous');
    const name = askedFor(refusal);
    if (name === undefined) throw refuse('ask.of_many');
    const isTold = await this.isTold(profile.id, name);
    const told = await inTransaction(this.database, (transaction) =>
      this.write({ profile, name, device_id: refusal.device_id, isTold }, transaction),
    );
    return { page: await this.page(profile), home, told };
  }

  private waiting(profile_id: string, database: Database) {
    return database
      .selectFrom('profile_asks')
      .select(['id', 'name'])
      .where('profile_id', '=', profile_id)
      .where('answer', '=', 'wait')
      .orderBy('id', 'desc')
      .execute();
  }

  /** Whether guardians are notified; repeated or too many requests are only counted. @throws Problem `too_many_requests` above the rate limit if none is waiting. */
  private async isTold(profile_id: string, name: string): Promise<boolean> {
    const waiting = await this.waiting(profile_id, this.database);
    if (waiting.length >= WAITING_ASKS_MAXIMUM || waiting.some((one) => one.name === name)) return false;
    const empty = await this.counters.take([{ key: `ask-told:${profile_id}`, rate: TELLINGS }]);
    if (empty !== undefined && waiting.length === 0) throw refuseFor(empty.wait_ms, 'ask.too_often');
    return empty === undefined;
  }

  /** Increments the count of a waiting request, or adds a request and returns it. */
  private async write(
    { profile, name, device_id, isTold }: { profile: ProfileRow; name: string; device_id: string; isTold: boolean },
    database: Database,
  ): Promise<{ id: string } | undefined> {
    await lockHome(database, profile.household_id);
    const waiting = await this.waiting(profile.id, database);
    const isFull = waiting.length >= WAITING_ASKS_MAXIMUM;
    const again = waiting.find((one) => one.name === name) ?? (isTold && !isFull ? undefined : waiting[0]);
    if (again !== undefined) {
      await database
        .updateTable('profile_asks')
        .set(({ eb }) => ({ count: eb('count', '+', 1) }))
        .where('id', '=', again.id)
        .execute();
      return undefined;
    }
    const id = newId();
    const asked_at = new Date(this.now()).toISOString();
    const unanswered = { answer: 'wait', line: '', answered_at: null, until: null } as const;
    await database
      .insertInto('profile_asks')
      .values({ id, profile_id: profile.id, device_id, name, count: 1, asked_at, ...unanswered })
      .execute();
    return { id };
  }

  /** Finds a request; `profile` is the name of its profile. */
  async find(id: string): Promise<OfHome<AskRow & { profile: string }> | undefined> {
    const row = await this.database
      .selectFrom('profile_asks')
      .innerJoin('profiles', 'profiles.id', 'profile_asks.profile_id')
      .selectAll('profile_asks')
      .select('profiles.name as profile')
      .where('profile_asks.id', '=', id)
      .executeTakeFirst();
    return row && { ...row, guardian_ids: await this.homes.guardiansOf(row.profile_id) };
  }

  /** @throws Problem `conflict` */
  async answer(
    { id, profile_id }: AskRow,
    { answer, line }: { answer: Exclude<AskAnswer, 'wait'>; line: string },
    database: Database,
  ): Promise<Ask> {
    const { household_id } = await database
      .selectFrom('profiles')
      .select('household_id')
      .where('id', '=', profile_id)
      .executeTakeFirstOrThrow();
    await lockHome(database, household_id);
    const before = await database.selectFrom('profile_asks').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    const until = await this.profiles.allowAsked(before, answer, database);
    const values = { answer, line, answered_at: new Date(this.now()).toISOString(), until };
    await database.updateTable('profile_asks').set(values).where('id', '=', id).execute();
    return askOf({ ...before, ...values });
  }

  /** Deletes old requests and expired invitations. */
  async forgetOld(): Promise<void> {
    const at = new Date(this.now() - KEPT_MS).toISOString();
    await this.database.deleteFrom('profile_asks').where('asked_at', '<', at).execute();
    await this.database.deleteFrom('household_invites').where('expires_at', '<', new Date(this.now()).toISOString()).execute();
  }
}
