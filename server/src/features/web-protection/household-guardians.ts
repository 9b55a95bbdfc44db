import { createHash, randomBytes } from 'node:crypto';
import { canonicalEmail } from '@palisade/contract/email';
import { GUARDIANS_MAXIMUM, HOME_INVITE_DAYS } from '@palisade/contract/household';
import type { Kysely } from 'kysely';
import { newId } from '#platform/id.ts';
import { refuse, refuseField } from './household.refusals.ts';
import { type Homes, lockHome } from './household.ts';
import { moveDevice } from './household-profiles.ts';
import type { Home } from './household-view.ts';
import type { WebProtectionTables } from './web-protection.tables.ts';

type Database = Kysely<WebProtectionTables>;

const TOKEN_BYTES = 32;
const DAY_MS = 86_400_000;

const hashOf = (token: string) => createHash('sha256').update(token).digest('hex');

/** The account that accepts an invitation. */
interface Guest {
  id: string;
  email: string;
}

/** Invites guardians to a home, and lets them join and leave. */
export class Guardians {
  private readonly database: Database;
  private readonly homes: Homes;
  private readonly now: () => number;

  constructor(options: { database: Database; homes: Homes; now: () => number }) {
    this.database = options.database;
    this.homes = options.homes;
    this.now = options.now;
  }

  /** Creates an invitation, and replaces an earlier one to the same address. `guardians`: email addresses of the current guardians. @throws Problem `conflict`, `invalid_field` */
  async invite(
    user_id: string,
    home: Home,
    { typed, guardians }: { typed: string; guardians: readonly string[] },
    database: Database,
  ) {
    const email = canonicalEmail(typed);
    if (email === undefined) throw refuseField('email', 'home.invite_email');
    if (guardians.includes(email)) throw refuse('home.is_guardian');
    await lockHome(database, home.id);
    const now = this.now();
    const created_at = new Date(now).toISOString();
    await database
      .deleteFrom('household_invites')
      .where('household_id', '=', home.id)
      .where(({ eb, or }) => or([eb('email', '=', email), eb('expires_at', '<=', created_at)]))
      .execute();
    const open = await database.selectFrom('household_invites').select('id').where('household_id', '=', home.id).execute();
    if (home.guardian_ids.length + open.length >= GUARDIANS_MAXIMUM) throw refuse('home.full', { maximum: GUARDIANS_MAXIMUM });
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const row = { id: newId(), email, expires_at: new Date(now + HOME_INVITE_DAYS * DAY_MS).toISOString() };
    await database
      .insertInto('household_invites')
      .values({ ...row, household_id: home.id, user_id, token_hash: hashOf(token), created_at })
      .execute();
    return { ...row, token };
  }

  async findInvite(id: string) {
    const row = await this.database.selectFrom('household_invites').selectAll().where('id', '=', id).executeTakeFirst();
    if (row === undefined) return undefined;
    return { ...row, guardian_ids: (await this.homes.find(row.household_id))?.guardian_ids ?? [] };
  }

  async withdraw(id: string): Promise<void> {
    await this.database.deleteFrom('household_invites').where('id', '=', id).execute();
  }

  /** Finds a valid invitation: to this account, not expired, and from a current guardian. @throws Problem `not_found` */
  private async invitation(guest: Guest, token: string, database: Database) {
    const invite = await database
      .selectFrom('household_invites')
      .innerJoin('guardians', (join) =>
        join
          .onRef('guardians.user_id', '=', 'household_invites.user_id')
          .onRef('guardians.household_id', '=', 'household_invites.household_id'),
      )
      .select(['household_invites.id', 'household_invites.household_id', 'household_invites.user_id'])
      .where('token_hash', '=', hashOf(token))
      .where('email', '=', guest.email)
      .where('expires_at', '>', new Date(this.now()).toISOString())
      .executeTakeFirst();
    if (invite === undefined) throw refuse('home.invite_over');
    return invite;
  }

  private async profileNames(household_id: string, database: Database): Promise<string[]> {
    const rows = await database
      .selectFrom('profiles')
      .select('name')
      .where('household_id', '=', household_id)
      .orderBy('id')
      .execute();
    return rows.map(({ name }) => name);
  }

  /** @throws Problem `not_found` */
  async look(guest: Guest, token: string): Promise<{ invited_by: string; profiles: string[]; has_own_home: boolean }> {
    const invite = await this.invitation(guest, token, this.database);
    const own = await this.homes.of(guest.id);
    const ownProfiles = own === undefined ? [] : await this.profileNames(own.id, this.database);
    const [inviter] = await this.homes.namesOf([invite.user_id]);
    return {
      invited_by: inviter?.name ?? '',
      profiles: await this.profileNames(invite.household_id, this.database),
      has_own_home: ownProfiles.length > 0,
    };
  }

  /** @throws Problem `conflict`, `not_found` */
  async join(guest: Guest, token: string, database: Database): Promise<Home> {
    const { id, household_id } = await this.invitation(guest, token, database);
    const before = await this.homes.of(guest.id, database);
    // Locked in a fixed order to avoid a deadlock when two people join each other's homes concurrently.
    for (const one of [household_id, ...(before === undefined ? [] : [before.id])].toSorted()) await lockHome(database, one);
    const used = await database.deleteFrom('household_invites').where('id', '=', id).returning('id').executeTakeFirst();
    if (used === undefined) throw refuse('home.invite_over');
    const own = await this.homes.of(guest.id, database);
    if (own?.id === household_id) throw refuse('home.is_guardian');
    if (own !== undefined) {
      if ((await this.profileNames(own.id, database)).length > 0) throw refuse('home.own_profiles');
      await this.leaveHome(guest.id, own, database);
    }
    const home = await this.homes.find(household_id, database);
    if (home === undefined) throw refuse('home.invite_over');
    if (home.guardian_ids.length >= GUARDIANS_MAXIMUM) throw refuse('home.full', { maximum: GUARDIANS_MAXIMUM });
    const joined_at = new Date(this.now()).toISOString();
    const joined = await database
      .insertInto('guardians')
      .values({ user_id: guest.id, household_id, joined_at })
      .onConflict((conflict) => conflict.column('user_id').doNothing())
      .returning('user_id')
      .executeTakeFirst();
    // A concurrent call of the same person has joined first.
    if (joined === undefined) throw refuse('home.own_profiles');
    return home;
  }

  /** Leaves the home. @throws Problem `conflict` for the last guardian of a home with profiles, `not_found` */
  async leave(user_id: string, database: Database): Promise<Home> {
    const home = await this.homes.need(user_id, database);
    await lockHome(database, home.id);
    // Read again under the lock: another guardian may have left meanwhile.
    const now = await this.homes.need(user_id, database);
    if (now.guardian_ids.length === 1 && (await this.profileNames(home.id, database)).length > 0)
      throw refuse('home.has_profiles');
    await this.leaveHome(user_id, now, database);
    return now;
  }

  private async leaveHome(user_id: string, home: Home, database: Database): Promise<void> {
    const devices = await database
      .selectFrom('web_devices')
      .selectAll()
      .where('user_id', '=', user_id)
      .where('profile_id', 'is not', null)
      .execute();
    for (const device of devices) await moveDevice(device, null, database);
    await database.deleteFrom('household_invites').where('user_id', '=', user_id).execute();
    await database.deleteFrom('guardians').where('user_id', '=', user_id).execute();
    if (home.guardian_ids.every((id) => id === user_id))
      await database.deleteFrom('households').where('id', '=', home.id).execute();
  }

  /** Removes a person from their home when their account is deleted. A home without guardians is deleted. Returns the remaining guardians. */
  async forget(user_id: string, email: string, database: Database): Promise<readonly string[]> {
    await database.deleteFrom('household_invites').where('email', '=', email).execute();
    const home = await this.homes.of(user_id, database);
    if (home === undefined) return [];
    await lockHome(database, home.id);
    await this.leaveHome(user_id, (await this.homes.find(home.id, database)) ?? home, database);
    return home.guardian_ids.filter((id) => id !== user_id);
  }
}
