import { lastDays, type TimeZone } from '@palisade/contract/day';
import { HOME_DAYS, type Home, IN_DANGER_NAMED } from '@palisade/contract/home';
import { type Kysely, sql } from 'kysely';
import { countAlerts, hasSeriousAlert, seriousAlertsOf } from '#features/alerts/alert-counts.ts';
import type { AlertTables } from '#features/alerts/alerts.tables.ts';
import type { AntivirusTables } from '#features/antivirus/antivirus.tables.ts';
import { countInfected } from '#features/antivirus/scan-counts.ts';
import type { PeopleFacts, Users } from '#features/auth/users.ts';
import { countDevices, hasSilentDevice, ownersOfSilent } from '#features/devices/silent-devices.ts';
import { lastRunsOf, wasInDanger, wasUnchecked } from '#features/posture/score-history.ts';
import type { Subscriptions } from '#features/subscriptions/subscriptions.ts';
import { countWebDevices } from '#features/web-protection/web-devices.ts';
import { inBatches } from '#platform/batches.ts';
import type { Tables } from '#platform/tables.ts';

/** SQL condition on `users`: the person is in danger, by the last stored state or a serious alert. */
export const isInDanger = () => sql<boolean>`(${wasInDanger()} or ${hasSeriousAlert()})`;

/** The people among `user_ids` who are in danger. */
export async function peopleInDanger(database: Kysely<Tables>, user_ids: readonly string[]): Promise<ReadonlySet<string>> {
  const people = await inBatches([...new Set(user_ids)], (batch) =>
    database.selectFrom('users').select('id').where('id', 'in', batch).where(isInDanger()).execute(),
  );
  return new Set(people.map(({ id }) => id));
}

/** Data of other features for the administrators’ list of people. */
export function peopleFacts(
  database: Kysely<Tables>,
  now: () => number,
  subscriptions: () => Pick<Subscriptions, 'names'>,
): PeopleFacts {
  return {
    plans: (user_ids) => subscriptions().names(user_ids),
    scores: (user_ids) => lastRunsOf(database.$pickTables<'score_history' | 'security_checks'>(), user_ids),
    seriousAlerts: (user_ids) => seriousAlertsOf(database.$pickTables<keyof AlertTables>(), user_ids),
    silentDevices: (user_ids) => ownersOfSilent(database.$pickTables<'devices'>(), user_ids, now()),
    isIn: {
      at_risk: isInDanger,
      unchecked: () => sql`(${wasUnchecked()} and not ${hasSeriousAlert()})`,
      serious_alert: hasSeriousAlert,
      silent_device: () => hasSilentDevice(now()),
    },
  };
}

/** Data of the administrators' home page. */
export async function homeOf(
  parts: {
    database: Kysely<Tables>;
    users: Pick<Users, 'count' | 'countNew' | 'list'>;
    subscriptions: Pick<Subscriptions, 'income'>;
    now: () => number;
  },
  time_zone: TimeZone,
): Promise<Home> {
  const { database, users, subscriptions, now } = parts;
  const days = lastDays(now(), time_zone.name, HOME_DAYS);
  const starts = days.map(({ start }) => start);
  const count = (state?: Parameters<Users['count']>[0]['state']) => users.count({ search: '', state });
  const people = {
    all: await count(),
    new: await count('new'),
    active: await count('active'),
    at_risk: await count('at_risk'),
    unchecked: await count('unchecked'),
    serious_alert: await count('serious_alert'),
  };
  const income = await subscriptions.income();
  const danger = await users.list({ search: '', state: 'at_risk', sort: 'urgent', limit: IN_DANGER_NAMED });
  const computers = await countDevices(database.$pickTables<'devices'>(), now());
  const others = await countWebDevices(database.$pickTables<'web_devices'>());
  const joined = await users.countNew(starts);
  const infected = await countInfected(database.$pickTables<keyof AntivirusTables>(), starts);
  const alerts = await countAlerts(database.$pickTables<keyof AlertTables>(), starts);
  return {
    people,
    in_danger: danger.map(({ id, username }) => ({ id, username })),
    income,
    devices: { ...computers, all: computers.all + others },
    trend: days.map(({ day }, place) => ({
      day,
      people: joined[place] ?? 0,
      infected: infected[place] ?? 0,
      alerts: alerts[place] ?? 0,
    })),
  };
}
