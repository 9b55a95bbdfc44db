import { HOME_DAYS, readHome } from '@palisade/contract/home';
import { readInstallationReport } from '@palisade/contract/report';
import { assignSubscription } from '@palisade/contract/subscription';
import { listUsers } from '@palisade/contract/users';
import { describe, expect, test } from 'vitest';
import { newId } from '#platform/id.ts';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';
import { insertRow, updateRows } from '#test/rows.ts';
import { scanOf } from '#test/scan-of.ts';
import { peopleInDanger } from './people.ts';

const NOW = Date.parse('2026-11-20T10:00:00Z');
const dayAgo = (days: number) => new Date(NOW - days * 86_400_000).toISOString();

async function start() {
  const app = await startTestApp({ surroundings: { now: () => NOW } });
  const boss = await app.signIn('boss', 'admin');
  const { database } = app.app;
  return {
    ...app,
    boss,
    database,
    home: async (time_zone = 'UTC') => replyOf(await app.call(readHome, { token: boss.token, query: `?time_zone=${time_zone}` })),
    names: async (state: string) =>
      replyOf(await app.call(listUsers, { token: boss.token, query: `?state=${state}&sort=name` })).map(
        ({ username }) => username,
      ),
    async scan(user_id: string, scanned_at: string, threat_detected: string | null) {
      const scan_status = threat_detected === null ? 'clean' : 'infected';
      await insertRow(database, 'scans', scanOf(user_id, scanned_at, { threat_detected, scan_status }));
    },
    async alert(
      user_id: string,
      created_at: string,
      part: { simulated?: number; severity?: 'low' | 'high'; threat_type?: 'malware_detected' } = {},
    ) {
      const id = newId();
      await insertRow(database, 'alerts', {
        ...{ id, user_id, created_at, threat_type: 'intrusion_attempt', severity: 'high', description: 'Tried.' },
        ...{ last_seen: created_at, last_id: id, count: 1, rule: 'test', outcome: 'unknown', evidence: '{}', simulated: 0 },
        ...{ dedupe_key: id, status: 'open', session_ids: '[]', ...part },
      });
    },
    async device(user_id: string, last_seen_at: string) {
      const names = { id: newId(), user_id, device_name: 'Laptop', hostname: 'laptop', public_key: newId(), token_hash: newId() };
      const times = { enrolled_at: dayAgo(60), confirmed_at: dayAgo(60), last_seen_at };
      const defaults = { default_inbound: 'block', default_outbound: 'allow' } as const;
      const counts = { own_rev: 0, told_rev: 0, ack_rev: 0, applied_rev: 0, report_seq: 0, blocked_total: 0, blocked_number: 0 };
      const lists = { ack_errors: '[]', posture: '[]', foreign_tables: '[]', watched: '[]', exclusions: '[]' };
      const device = { ...names, ...times, ...defaults, ...counts, ...lists };
      await insertRow(database, 'devices', { ...device, os: '{}', agent_version: '1', is_watching: 0 });
    },
  };
}

test('a fresh installation has its administrator, and nothing else', async () => {
  const home = await (await start()).home();
  expect(home).toMatchObject({
    people: { all: 1, new: 1, active: 1, at_risk: 0, unchecked: 1, serious_alert: 0 },
    in_danger: [],
    income: [],
    devices: { all: 0, silent: 0 },
  });
  expect(home.trend).toHaveLength(HOME_DAYS);
  expect(home.trend.at(-1)).toEqual({ day: '2026-11-20', people: 1, infected: 0, alerts: 0 });
});

test('each number of people is that of its list', async () => {
  const installation = await start();
  const { signIn, database, home, names, device, alert } = installation;
  const [{ id: old }, { id: weak }] = [await signIn('old'), await signIn('weak')];
  const [warned, silent] = [(await signIn('warned')).id, (await signIn('silent')).id];
  await updateRows(database, 'users', { id: old }, { created_at: dayAgo(31), last_signed_in_at: dayAgo(31) });
  await updateRows(database, 'sessions', { user_id: old }, { last_used_at: dayAgo(31) });
  // The newest state counts.
  const scores = [
    { user_id: weak, since: dayAgo(2), until: dayAgo(1), score: 100, state: 'good' as const },
    { user_id: weak, since: dayAgo(1), until: dayAgo(0), score: 79, state: 'danger' as const },
    { user_id: old, since: dayAgo(2), until: dayAgo(1), score: 10, state: 'danger' as const },
    { user_id: old, since: dayAgo(1), until: dayAgo(0), score: 80, state: null },
  ];
  await database.insertInto('score_history').values(scores).execute();
  await alert(warned, dayAgo(1));
  await alert(old, dayAgo(1), { simulated: 1 });
  await alert(old, dayAgo(1), { severity: 'low' });
  await device(silent, dayAgo(8));
  await device(silent, dayAgo(1));
  expect(await home()).toMatchObject({
    people: { all: 5, new: 4, active: 4, at_risk: 2, unchecked: 3, serious_alert: 1 },
    in_danger: [{ username: 'warned' }, { username: 'weak' }],
    devices: { all: 2, silent: 1 },
  });
  expect(await names('new')).toEqual(['boss', 'silent', 'warned', 'weak']);
  expect(await names('active')).toEqual(['boss', 'silent', 'warned', 'weak']);
  expect(await names('at_risk')).toEqual(['warned', 'weak']);
  expect(await peopleInDanger(database, [weak, old])).toEqual(new Set([weak]));
  expect(await names('unchecked')).toEqual(['boss', 'old', 'silent']);
  expect(await names('serious_alert')).toEqual(['warned']);
  expect(await names('silent_device')).toEqual(['silent']);
  const list = replyOf(await installation.call(listUsers, { token: installation.boss.token, query: '?state=at_risk&sort=name' }));
  const page = async (cursor = '') =>
    replyOf(await installation.call(listUsers, { token: installation.boss.token, query: `?sort=urgent&limit=2${cursor}` }));
  const first = await page();
  expect(first.map(({ username }) => username)).toEqual(['warned', 'weak']);
  const [third] = await page(`&cursor=${first[1]?.id}`);
  expect(third).toMatchObject({ username: 'silent', has_silent_device: true });
  expect(list).toMatchObject([
    { username: 'warned', serious_alerts: 1, security_score: null, plan_name: null },
    { username: 'weak', serious_alerts: 0, security_score: 79, state: 'danger' as const },
  ]);
});

test('a plan brings its price over its months, while it is active', async () => {
  const { boss, call, signIn, home } = await start();
  const [maria, tom] = [await signIn('maria'), await signIn('tom')];
  const plan = { plan_name: 'Family', max_devices: 1, is_premium: false, features: [] } as const;
  const assign = async (user_email: string, price: number, duration_months: 1 | 3) =>
    replyOf(
      await call(assignSubscription, { token: boss.token, body: { ...plan, features: [], user_email, price, duration_months } }),
    );
  await assign(maria.email, 10, 3);
  await assign(tom.email, 99, 1);
  // Replaces the plan of 99.
  await assign(tom.email, 5, 1);
  // A plan of staff is no income.
  await assign(boss.email, 60, 1);
  expect((await home()).income).toEqual([{ currency: 'USD', monthly: 8.33, plans: 2 }]);
});

test('the trend has the days of the time zone, without test files and drills', async () => {
  const { signIn, home, scan, alert } = await start();
  const { id: maria } = await signIn('maria');
  const night = '2026-11-18T23:30:00.000Z';
  await scan(maria, night, 'Trojan');
  await scan(maria, night, 'EICAR-Test-File');
  await scan(maria, night, null);
  await alert(maria, night);
  await alert(maria, night, { simulated: 1 });
  await alert(maria, night, { severity: 'low', threat_type: 'malware_detected' });
  const busy = async (time_zone: string) => (await home(time_zone)).trend.filter(({ infected, alerts }) => infected + alerts > 0);
  expect(await busy('UTC')).toEqual([{ day: '2026-11-18', people: 0, infected: 1, alerts: 1 }]);
  expect(await busy('Europe/Vienna')).toEqual([{ day: '2026-11-19', people: 0, infected: 1, alerts: 1 }]);
});

describe('a report', () => {
  test('has people, security and income by day, in the time zone of the desk', async () => {
    const { boss, call, signIn, scan, alert, database } = await start();
    const report = async (query: string) => replyOf(await call(readInstallationReport, { token: boss.token, query }));
    const maria = await signIn('maria');
    const plan = { plan_name: 'Family', price: 10, duration_months: 1, max_devices: 1, is_premium: false } as const;
    for (const price of [10, 5.5])
      replyOf(
        await call(assignSubscription, { token: boss.token, body: { ...plan, price, features: [], user_email: maria.email } }),
      );
    const { id } = maria;
    await scan(id, '2026-11-19T23:59:59.000Z', 'Trojan');
    await scan(id, '2026-11-20T00:00:00.000Z', null);
    await alert(id, '2026-11-20T00:00:00.000Z');
    await database
      .updateTable('subscriptions')
      .set({ ended_as: 'cancelled', ended_at: '2026-11-19T12:00:00.000Z' })
      .where('ended_as', 'is', null)
      .execute();
    const { unit, spans } = await report('?from=2026-11-19&to=2026-11-20');
    expect(unit).toBe('day');
    expect(spans).toEqual([
      {
        day: '2026-11-19',
        people: { joined: 0, deleted: 0 },
        security: { files: 1, infected: 1, alerts: 0 },
        income: { assigned: 0, ended: 1, sold: [] },
      },
      {
        day: '2026-11-20',
        people: { joined: 2, deleted: 0 },
        security: { files: 1, infected: 0, alerts: 1 },
        // A replaced plan did not end.
        income: { assigned: 2, ended: 0, sold: [{ currency: 'USD', price: 15.5 }] },
      },
    ]);
  });

  test('of more than 31 days has weeks, the first from its first day on', async () => {
    const { boss, call } = await start();
    const { unit, spans } = replyOf(
      await call(readInstallationReport, { token: boss.token, query: '?from=2026-10-20&to=2026-11-20' }),
    );
    expect([unit, ...spans.map(({ day }) => day)]).toEqual([
      ...['week', '2026-10-20', '2026-10-26', '2026-11-02', '2026-11-09', '2026-11-16'],
    ]);
  });

  test('needs a last day after its first one', async () => {
    const { boss, call } = await start();
    const answer = await call(readInstallationReport, { token: boss.token, query: '?from=2026-11-20&to=2026-11-19' });
    expect(problemOf(answer)).toMatchObject({ status: 422 });
  });
});
