import { dayAfter, startOfDate } from '@palisade/contract/day';
import type { ReadSettings, ReportQuery } from '@palisade/contract/desk';
import type { InstallationReport } from '@palisade/contract/report';
import { priceOf } from '@palisade/contract/subscription';
import type { Kysely } from 'kysely';
import { countAlerts } from '#features/alerts/alert-counts.ts';
import type { AlertTables } from '#features/alerts/alerts.tables.ts';
import type { AntivirusTables } from '#features/antivirus/antivirus.tables.ts';
import { countInfected, countRead } from '#features/antivirus/scan-counts.ts';
import type { Users } from '#features/auth/users.ts';
import { mondayOf, reportTime } from '#features/chat/reports.ts';
import type { Subscriptions } from '#features/subscriptions/subscriptions.ts';
import { timesOf } from '#platform/audit.ts';
import { spanAt } from '#platform/spans.ts';
import type { Tables } from '#platform/tables.ts';

const DAYS_APART = 31;

/** First days of the spans of a report: each day, or `first` and the Mondays after it. */
function daysOf(first: string, last: string): { unit: InstallationReport['unit']; days: string[] } {
  const isByDay = dayAfter(first, DAYS_APART) > last;
  const days: string[] = [];
  for (let day = first; day <= last; day = isByDay ? dayAfter(day, 1) : dayAfter(mondayOf(day), 7)) days.push(day);
  return { unit: isByDay ? 'day' : 'week', days };
}

/**
 * The report about people, security and income of the installation.
 * @throws Problem `invalid_field` for an invalid or too long period.
 */
export async function installationReport(
  parts: {
    database: Kysely<Tables>;
    users: Pick<Users, 'countNew'>;
    subscriptions: Pick<Subscriptions, 'assignedBetween' | 'endedBetween'>;
    settings: () => Promise<ReadSettings>;
    now: () => number;
  },
  query: ReportQuery,
): Promise<InstallationReport> {
  const { database, users, subscriptions, settings, now } = parts;
  const { zone, first, last, begin, end } = reportTime(query, await settings(), now());
  const { unit, days } = daysOf(first, last);
  const starts = days.map((day) => new Date(startOfDate(zone.time_zone, day)).toISOString());
  const scans = database.$pickTables<keyof AntivirusTables>();
  const joined = await users.countNew(starts, end);
  const files = await countRead(scans, starts, end);
  const infected = await countInfected(scans, starts, end);
  const alerts = await countAlerts(database.$pickTables<keyof AlertTables>(), starts, end);
  const [deleted, assigned, ended] = [
    await timesOf(database.$pickTables<'audit_entries'>(), 'account_deleted', begin, end),
    await subscriptions.assignedBetween(begin, end),
    await subscriptions.endedBetween(begin, end),
  ];
  const isIn = (place: number) => (at: string) => spanAt(starts, at) === place;
  return {
    ...{ from: first, to: last, ...zone, unit },
    spans: days.map((day, place) => {
      const some = assigned.filter(({ at }) => isIn(place)(at));
      return {
        day,
        people: { joined: joined[place] ?? 0, deleted: deleted.filter(isIn(place)).length },
        security: { files: files[place] ?? 0, infected: infected[place] ?? 0, alerts: alerts[place] ?? 0 },
        income: {
          assigned: some.length,
          ended: ended.filter(isIn(place)).length,
          sold: [...Map.groupBy(some, ({ currency }) => currency)].map(([currency, plans]) => ({
            currency,
            price: priceOf(plans.reduce((sum, { price_cents }) => sum + price_cents, 0)),
          })),
        },
      };
    }),
  };
}
