import type { Kysely } from 'kysely';
import type { ChatTables } from '#features/chat/chat.tables.ts';
import type { Devices } from '#features/devices/devices.ts';
import type { Remote } from '#features/remote/remote.ts';
import type { Subscriptions } from '#features/subscriptions/subscriptions.ts';
import { webDevicesOf } from '#features/web-protection/web-devices.ts';
import type { WebProtectionTables } from '#features/web-protection/web-protection.tables.ts';
import type { Accounts } from './accounts.ts';
import type { Monitor } from './monitor.ts';
import type { Scanner } from './scanner.ts';

const RECENT_SESSIONS = 5;

/** The customer's data that staff see next to a conversation; undefined for a deleted account. */
export async function customerCardOf(
  of: {
    people: Pick<Accounts['auth'], 'findAccount'>;
    subscriptions: Subscriptions;
    monitor: Monitor;
    scanner: Scanner;
    devices: Pick<Devices, 'living'>;
    remote: Pick<Remote, 'list'>;
    conversations: Kysely<ChatTables>;
    webDevices: Kysely<WebProtectionTables>;
  },
  user_id: string,
) {
  const { people, subscriptions, monitor, scanner, devices, remote } = of;
  const account = await people.findAccount(user_id);
  if (account === undefined) return undefined;
  const [plan, overview, open, scans, living, others, sessions, matters] = await Promise.all([
    subscriptions.current(user_id),
    monitor.posture.overview(user_id),
    monitor.alerts.counts(user_id),
    scanner.antivirus.counts(user_id),
    devices.living(user_id),
    webDevicesOf(of.webDevices, user_id),
    remote.list(user_id, { limit: RECENT_SESSIONS, search: '' }),
    of.conversations
      .selectFrom('conversation_matters')
      .select(({ fn }) => [
        fn.count<number>('closed_at').as('closed'),
        fn.count<number>('rating').as('ratings'),
        fn.sum<number | null>('rating').as('sum'),
      ])
      .where('user_id', '=', user_id)
      .executeTakeFirstOrThrow(),
  ]);
  const { clean, infected, pending, test_files, open: infections } = scans;
  const count = Number(matters.ratings);
  return {
    user_id,
    username: account.username,
    email: account.email,
    since: account.created_at,
    plan_name: plan.plan_name,
    is_premium: plan.is_premium,
    security_score: overview.security_score,
    status: {
      state: overview.status.state,
      sentence: overview.status.sentence,
      is_scored: overview.status.is_scored,
      steps: overview.status.others.length + (overview.status.next === null ? 0 : 1),
    },
    // The same count as on the person's own pages: without test files and simulated alerts.
    open_alerts: open.real,
    devices: [...living.map(({ device_name: name, last_seen_at }) => ({ name, last_seen_at })), ...others],
    scans: { clean, infected: infected - test_files, pending, test_files },
    infected_files: infections.newest.map(({ filename, threat }) => ({ filename, threat })),
    remote_sessions: sessions.map(({ status, started_at, support_agent }) => ({ status, started_at, support_agent })),
    conversations_closed: Number(matters.closed),
    ratings: { count, average: count === 0 ? null : Math.round((100 * Number(matters.sum)) / count) / 100 },
  };
}

/** The part of a person's data that only administrators see. */
export async function administrationOf(
  { subscriptions, monitor }: { subscriptions: Subscriptions; monitor: Monitor },
  user_id: string,
) {
  const [plan, { active, unstopped, gravest }] = await Promise.all([
    subscriptions.current(user_id),
    monitor.alerts.counts(user_id),
  ]);
  return {
    plan: plan.has_subscription ? { expires_at: plan.expires_at, max_devices: plan.max_devices ?? 1 } : null,
    alerts: {
      active,
      unstopped,
      gravest: gravest && { threat_type: gravest.threat_type, severity: gravest.severity },
    },
  };
}
