import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { migrations } from '#migrations/all.ts';
import { openDatabase } from '#platform/database.ts';
import { migrate } from '#platform/migrations.ts';
import { freshDatabase, isPostgres } from './harness.ts';

const AT = '2026-11-20T10:00:00.000Z';

type Row = Record<string, string | number | null>;
type Before = Record<'users' | 'known_devices' | 'alerts' | 'alert_suppressions' | 'detection_findings' | 'jobs', Row>;
type After = Record<'known_browsers' | 'alerts' | 'alert_suppressions' | 'detection_findings' | 'jobs', Row>;

/** A database from before computers came, when people's browsers were called devices. */
test('former devices of sign-ins become browsers, with all their data', async () => {
  const { location, dispose } = await freshDatabase();
  onTestFinished(dispose);
  const database = openDatabase<Before>(location);
  onTestFinished(() => database.destroy());
  await migrate(database, Object.fromEntries(Object.entries(migrations).filter(([name]) => name < '0055')));
  await database
    .insertInto('users')
    .values({
      ...{ id: 'u', email: 'u@example.com', username: 'u', username_key: 'u', username_skeleton: 'u' },
      ...{ password_hash: 'x', role: 'customer', created_at: AT },
    })
    .execute();
  const seen = { client: 'Firefox on Linux', source: '192.0.2.1', first_seen: AT, last_seen: AT, trusted_at: null, reviewed: 0 };
  await database
    .insertInto('known_devices')
    .values({ id: 'd', user_id: 'u', device_id: 'kept', ...seen })
    .execute();
  const rule = 'suspicious_login.new_device';
  await database
    .insertInto('alerts')
    .values({
      ...{ id: 'a', user_id: 'u', threat_type: 'suspicious_login', severity: 'medium', description: 'New.', created_at: AT },
      ...{ ip_address: null, simulated: 0, dedupe_key: JSON.stringify(['u', rule, 'd', 'd']), rule, device_id: 'd' },
    })
    .execute();
  await database
    .insertInto('alert_suppressions')
    .values({
      ...{ id: 's', user_id: 'u', rule, source: '192.0.2.1', description: 'New.', created_at: AT, until: AT },
      hidden_count: 0,
    })
    .execute();
  const found = { rule, key: 'd', device_id: 'd' };
  await database
    .insertInto('detection_findings')
    .values({ id: 'f', created_at: AT, found: JSON.stringify(found), told: '[]' })
    .execute();
  await sql`insert into jobs (id, kind, payload, priority, run_at, attempts, claims, asked_again, cancelled, created_at)
    values ('j', 'known-devices', '{}', 0, ${AT}, 0, 0, 0, 0, ${AT})`.execute(database);

  await migrate(database, migrations);

  const now = database.withTables<After>();
  expect(await now.selectFrom('known_browsers').selectAll().execute()).toEqual([
    { id: 'd', user_id: 'u', browser_id: 'kept', ...seen },
  ]);
  const named = 'suspicious_login.new_browser';
  expect(await now.selectFrom('alerts').select(['rule', 'dedupe_key', 'browser_id', 'device_id']).execute()).toEqual([
    { rule: named, dedupe_key: JSON.stringify(['u', named, 'd', 'd']), browser_id: 'd', device_id: null },
  ]);
  expect(await now.selectFrom('alert_suppressions').select('rule').execute()).toEqual([{ rule: named }]);
  const kept = await now.selectFrom('detection_findings').select('found').executeTakeFirstOrThrow();
  expect(JSON.parse(String(kept.found))).toEqual({ rule: named, key: 'd', browser_id: 'd' });
  expect(await now.selectFrom('jobs').select('kind').execute()).toEqual([]);
  if (!isPostgres()) return;
  // A server of the version before, which still runs, learns a browser as it always did.
  const late = { id: 'l', user_id: 'u', device_id: 'late', ...seen };
  for (const last_seen of [AT, '2026-11-20T11:00:00.000Z'])
    await database
      .insertInto('known_devices')
      .values({ ...late, last_seen })
      .onConflict((conflict) => conflict.columns(['user_id', 'device_id', 'client', 'source']).doUpdateSet({ last_seen }))
      .returning('id')
      .execute();
  expect(await now.selectFrom('known_browsers').select('last_seen').where('browser_id', '=', 'late').execute()).toEqual([
    { last_seen: '2026-11-20T11:00:00.000Z' },
  ]);
});
