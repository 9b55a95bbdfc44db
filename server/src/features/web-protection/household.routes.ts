import type { AuditKind } from '@palisade/contract/audit';
import type { UserInfo } from '@palisade/contract/auth';
import {
  addProfile,
  addProfileName,
  answerAsk,
  changeProfile,
  inviteGuardian,
  joinHome,
  leaveHome,
  lookAtAskPage,
  lookAtHomeInvite,
  mayI,
  pauseProfile,
  readHousehold,
  removeProfile,
  removeProfileName,
  renewAskKey,
  setDeviceProfile,
  setHomeTimeZone,
  tryProfile,
  withdrawHomeInvite,
} from '@palisade/contract/household';
import type { FastifyRequest } from 'fastify';
import type { Kysely } from 'kysely';
import { sourceOf } from '#platform/origin.ts';
import { type Api, serve } from '#platform/serve.ts';
import { refuse } from './household.refusals.ts';
import type { Homes } from './household.ts';
import type { Asks } from './household-asks.ts';
import type { Guardians } from './household-guardians.ts';
import type { Profiles } from './household-profiles.ts';
import type { ProfilePolicies } from './household-rules.ts';
import type { recorderOf } from './web-devices.routes.ts';
import type { WebProtectionTables } from './web-protection.tables.ts';

type Database = Kysely<WebProtectionTables>;
type By = { session: { user: UserInfo }; request: FastifyRequest };

export interface HouseholdParts {
  homes: Homes;
  profiles: Profiles;
  guardians: Guardians;
  asks: Asks;
  policies: Pick<ProfilePolicies, 'tryName'>;
  recorded: ReturnType<typeof recorderOf>;
  /** Notifies the open pages of a person that their home has changed. */
  changed: (user_id: string) => void;
  /** Email addresses of accounts. */
  emailsOf: (user_ids: readonly string[]) => Promise<string[]>;
  /** Sends an invitation if mail is configured, and returns its link. @throws Problem `too_many_requests` */
  sendInvite: (invite: { email: string; token: string; by: UserInfo }, database: Database) => Promise<{ link: string }>;
  /** Starts sending the queued mail. */
  wakeMail: () => void;
  /** Notifies a guardian’s browsers of a request. */
  onAsk: (user_id: string, ask: { id: string; profile: string }) => Promise<void>;
}

/** Access check of a row that belongs to a home: all of its guardians have the same rights. */
const ofHome = <Row extends { guardian_ids: readonly string[] }>(find: (id: string) => Promise<Row | undefined>) => ({
  find: ({ id }: { id: string }) => find(id),
  may: (me: { id: string }, row: Row) => row.guardian_ids.includes(me.id),
});

/** Records a change of a home, and notifies the open pages of its guardians. */
function changerOf({ recorded, changed }: HouseholdParts) {
  return async <Result>(
    by: By,
    guardian_ids: readonly string[],
    [kind, profile, device_name]: readonly [AuditKind, (string | undefined)?, string?],
    change: (database: Database) => Promise<Result>,
    owners?: (result: Result) => readonly string[],
  ): Promise<Result> => {
    const details = { ...(profile !== undefined && { profile }), ...(device_name !== undefined && { device_name }) };
    const result = await recorded(by, kind, change, details, owners);
    for (const id of guardian_ids) changed(id);
    return result;
  };
}

export function serveHousehold(api: Api, parts: HouseholdParts): void {
  serveProfiles(api, parts);
  serveGuardians(api, parts);
  serveAsks(api, parts);
}

function serveProfiles(api: Api, parts: HouseholdParts): void {
  const { homes, profiles, policies } = parts;
  const change = changerOf(parts);
  const ownProfile = ofHome((id) => profiles.find(id));
  const ownName = ofHome((id) => profiles.findName(id));
  const ownDevice = ofHome((id) => profiles.findDevice(id));

  serve(api, readHousehold, 'customer', ({ session }) => homes.read(session.user.id));
  serve(api, setHomeTimeZone, 'customer', async ({ body, ...by }) => {
    const { id } = by.session.user;
    const { guardian_ids } = await homes.need(id);
    await change(by, guardian_ids, ['profile_changed'], (database) => homes.setTimeZone(id, body.time_zone, database));
  });
  serve(api, addProfile, 'customer', async ({ body, ...by }) => {
    const { id } = by.session.user;
    const guardian_ids = (await homes.of(id))?.guardian_ids ?? [id];
    const limit = await homes.limitOf(guardian_ids);
    const add = (database: Database) => profiles.add(id, limit, body, database);
    const row = await change(by, guardian_ids, ['profile_added', body.name], add);
    return await homes.readProfile(row.household_id, row.id);
  });
  serve(api, changeProfile, ownProfile, async ({ row, body, ...by }) => {
    const changeIt = (database: Database) => profiles.change(row, body, database);
    await change(by, row.guardian_ids, ['profile_changed', row.name], changeIt);
    return await homes.readProfile(row.household_id, row.id);
  });
  serve(api, removeProfile, ownProfile, async ({ row, ...by }) => {
    const remove = (database: Database) => profiles.remove(row, database);
    await change(by, row.guardian_ids, ['profile_removed', row.name], remove, (owner_ids) => owner_ids);
  });
  serve(api, pauseProfile, ownProfile, ({ row, body, ...by }) =>
    change(by, row.guardian_ids, [body.pause === 'end' ? 'profile_resumed' : 'profile_paused', row.name], (database) =>
      profiles.pause(row, body, database),
    ),
  );
  serve(api, renewAskKey, ownProfile, ({ row, ...by }) =>
    change(by, row.guardian_ids, ['profile_key_renewed', row.name], (database) => profiles.renewKey(row, database)),
  );
  serve(api, addProfileName, ownProfile, async ({ row, body, ...by }) => {
    const kind = body.verdict === 'allow' ? 'profile_name_allowed' : 'profile_name_blocked';
    await change(by, row.guardian_ids, [kind, row.name], (database) => profiles.addName(row, body, database));
    return await homes.readProfile(row.household_id, row.id);
  });
  serve(api, removeProfileName, ownName, async ({ row, ...by }) => {
    await change(by, row.guardian_ids, ['profile_name_removed', row.profile], (database) =>
      profiles.removeName(row.id, database),
    );
  });
  serve(api, tryProfile, ownProfile, async ({ row, body }) => {
    const tried = await policies.tryName(row.id, body);
    if (tried === undefined) throw refuse('profile.unknown');
    return tried;
  });
  serve(api, setDeviceProfile, ownDevice, async ({ row, body, ...by }) => {
    const profile = await profiles.find(body.profile_id ?? row.profile_id ?? '');
    const give = (database: Database) => profiles.giveDevice(by.session.user.id, row, body.profile_id, database);
    await change(by, row.guardian_ids, ['profile_device_changed', profile?.name, row.name], give, () => [row.user_id]);
  });
}

function serveGuardians(api: Api, parts: HouseholdParts): void {
  const { homes, guardians, emailsOf, sendInvite, wakeMail } = parts;
  const change = changerOf(parts);
  const ownInvite = ofHome((id) => guardians.findInvite(id));

  serve(api, inviteGuardian, 'customer', async ({ body, ...by }) => {
    const { user } = by.session;
    const home = await homes.need(user.id);
    const emails = await emailsOf(home.guardian_ids);
    const invited = await change(by, home.guardian_ids, ['home_invited'], async (database) => {
      const { token, ...invite } = await guardians.invite(user.id, home, { typed: body.email, guardians: emails }, database);
      return { ...invite, ...(await sendInvite({ email: invite.email, token, by: user }, database)) };
    });
    wakeMail();
    return invited;
  });
  serve(api, withdrawHomeInvite, ownInvite, async ({ row }) => {
    await guardians.withdraw(row.id);
    for (const id of row.guardian_ids) parts.changed(id);
  });
  serve(api, lookAtHomeInvite, 'customer', ({ session, body }) => guardians.look(session.user, body.token));
  serve(api, joinHome, 'customer', async ({ body, ...by }) => {
    const join = (database: Database) => guardians.join(by.session.user, body.token, database);
    const { guardian_ids } = await change(by, [], ['home_joined'], join);
    for (const id of guardian_ids) parts.changed(id);
  });
  serve(api, leaveHome, 'customer', async (by) => {
    const { id } = by.session.user;
    const { guardian_ids } = await homes.need(id);
    await change(by, guardian_ids, ['home_left'], (database) => guardians.leave(id, database));
  });
}

function serveAsks(api: Api, parts: HouseholdParts): void {
  const { asks, changed, onAsk } = parts;
  const change = changerOf(parts);
  const ownAsk = ofHome((id) => asks.find(id));

  serve(api, answerAsk, ownAsk, ({ row, body, ...by }) =>
    change(by, row.guardian_ids, ['profile_asked_answered', row.profile], (database) => asks.answer(row, body, database)),
  );
  serve(api, lookAtAskPage, 'anyone', async ({ body, request }) => asks.look(await asks.profileOf(body, sourceOf(request.ip))));
  serve(api, mayI, 'anyone', async ({ body, request }) => {
    const profile = await asks.profileOf(body, sourceOf(request.ip));
    const { page, home, told } = await asks.ask(profile, body.refusal_id);
    for (const id of home.guardian_ids) {
      changed(id);
      if (told !== undefined) await onAsk(id, { id: told.id, profile: profile.name });
    }
    return page;
  });
}
