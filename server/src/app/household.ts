import type { UserInfo } from '@palisade/contract/auth';
import { HOME_INVITE_DAYS } from '@palisade/contract/household';
import { formatSpan } from '@palisade/contract/intl';
import { may } from '@palisade/contract/may';
import { statusOf, UNLIMITED_DEVICES } from '@palisade/contract/subscription';
import type { Kysely } from 'kysely';
import { refuseFor } from '#features/web-protection/household.refusals.ts';
import { type HouseholdParts, serveHousehold } from '#features/web-protection/household.routes.ts';
import { Homes } from '#features/web-protection/household.ts';
import { Asks } from '#features/web-protection/household-asks.ts';
import { Guardians } from '#features/web-protection/household-guardians.ts';
import { Profiles } from '#features/web-protection/household-profiles.ts';
import type { WebProtectionTables } from '#features/web-protection/web-protection.tables.ts';
import type { Counters } from '#platform/counters.ts';
import type { Api } from '#platform/serve.ts';
import type { Tables } from '#platform/tables.ts';
import type { RestrainedMail } from './letters.ts';

const DAY_MS = 86_400_000;
/** Rate limits of invitations by one person, and of invitation mails to one address. */
const INVITES = { count: 10, period_ms: DAY_MS } as const;
const INVITE_LETTERS = { count: 3, period_ms: DAY_MS } as const;

/** Dependencies of homes on other features. */
export interface HouseholdNeeds {
  database: Kysely<Tables>;
  counters: Counters;
  mail: RestrainedMail;
  findUsers: (user_ids: readonly string[]) => Promise<UserInfo[]>;
  onAsk: HouseholdParts['onAsk'];
  public_url: string | undefined;
  now: () => number;
}

/** Maximum profiles in the best plan of these people at a time (ms since 1970). Administrators need no plan. It uses one query, because devices read it every few seconds. */
export async function profileLimit(database: Kysely<Tables>, user_ids: readonly string[], now: number): Promise<number> {
  if (user_ids.length === 0) return 0;
  const rows = await database
    .selectFrom('users')
    .leftJoin('subscriptions', (join) =>
      join.onRef('subscriptions.user_id', '=', 'users.id').on('subscriptions.ended_as', 'is', null),
    )
    .select(['role', 'max_profiles', 'expires_at', 'ended_as', 'ended_at'])
    .where('users.id', 'in', user_ids)
    .execute();
  const limits = rows.map((row) => {
    if (may.administrate(row)) return UNLIMITED_DEVICES;
    return statusOf(row, now) === 'active' ? (row.max_profiles ?? 0) : 0;
  });
  return Math.max(0, ...limits);
}

/** Builds homes: guardians, profiles, and requests. */
export function buildHousehold({ database, counters, mail, findUsers, onAsk, public_url, now }: HouseholdNeeds) {
  const tables = database.$pickTables<keyof WebProtectionTables>();
  const people = { findUsers, profileLimit: (user_ids: readonly string[]) => profileLimit(database, user_ids, now()) };
  const homes = new Homes({ database: tables, people, now });
  const profiles = new Profiles({ database: tables, homes, now });
  const guardians = new Guardians({ database: tables, homes, now });
  const asks = new Asks({ database: tables, homes, profiles, counters, now });

  const sendInvite: HouseholdParts['sendInvite'] = async ({ email, token, by }, transaction) => {
    const often = await counters.take([{ key: `home-invites:${by.id}`, rate: INVITES }]);
    if (often !== undefined) throw refuseFor(often.wait_ms, 'home.invited_often');
    const path = `/household/join#${token}`;
    const link = public_url === undefined ? path : new URL(path, public_url).href;
    const full = await counters.take([{ key: `home-letters:${email}`, rate: INVITE_LETTERS }]);
    if (full === undefined)
      await mail.queue(
        transaction.$extendTables<Pick<Tables, 'mails' | 'installation'>>().$pickTables<'mails' | 'installation'>(),
        {
          recipient: email,
          subject: 'you are invited to a home',
          asked: true,
          lines: [
            'Hello,',
            `${by.username} invites you to be a guardian of their home. Sign in with this address, and open this page:`,
            link,
            ...(public_url === undefined ? ['Put the address of this server in front of it.'] : []),
            `The link works once, within ${formatSpan(HOME_INVITE_DAYS, 'day')}.`,
            'If you did not expect this invitation, ignore this email.',
          ],
        },
      );
    return { link };
  };

  return {
    homes,
    forget: guardians.forget.bind(guardians),
    forgetOld: () => asks.forgetOld(),
    findDevice: (id: string) => profiles.findDevice(id),
    serve: (api: Api, parts: Pick<HouseholdParts, 'policies' | 'recorded' | 'changed'>) =>
      serveHousehold(api, {
        ...{ homes, profiles, guardians, asks, sendInvite, onAsk, ...parts },
        wakeMail: () => mail.wake(),
        emailsOf: async (ids) => (await findUsers(ids)).map(({ email }) => email),
      }),
  };
}
