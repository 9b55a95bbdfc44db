import { expect, test } from 'vitest';
import { inTransaction } from '#platform/in-transaction.ts';
import { Problem } from '#platform/problem.ts';
import { addPerson, featureDatabase } from '#test/feature-database.ts';
import { isPostgres } from '#test/harness.ts';
import { insertRow } from '#test/rows.ts';
import { askerAt } from './name-listeners.ts';
import { WebDevices } from './web-devices.ts';
import type { WebProtectionTables } from './web-protection.tables.ts';

const database = await featureDatabase();
let asked = 0;
const tables = database.$pickTables<keyof WebProtectionTables>();
const devices = new WebDevices({
  database: tables.withPlugin({
    transformQuery({ node }) {
      asked += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  }),
  now: Date.now,
});

test('text that is no key is looked for in no table', async () => {
  asked = 0;
  for (const text of ['', 'a', 'A'.repeat(26), '1'.repeat(26), `${'a'.repeat(26)}\n`, "' or 1=1", 'a'.repeat(10_000)])
    expect(await devices.findByKey(text)).toBe(undefined);
  expect(asked).toBe(0);
  await devices.findByKey('a'.repeat(26));
  expect(asked).toBe(1);
});

/** Opens a connection for each of two transactions at once. SQLite has one for all. */
async function openConnections(): Promise<void> {
  let begun = 0;
  const all = Promise.withResolvers<void>();
  const begin = () =>
    inTransaction(tables, async (transaction) => {
      await transaction.selectFrom('web_devices').select('id').limit(1).execute();
      begun += 1;
      if (begun === 2) all.resolve();
      await all.promise;
    });
  await Promise.all(isPostgres() ? [begin(), begin()] : []);
}

test('devices that are added at once are no more than the limit', async () => {
  const user_id = await addPerson(database);
  await openConnections();
  const add = () =>
    inTransaction(tables, (transaction) => devices.add(user_id, 1, { name: 'TV', kind: 'other' }, transaction)).then(
      () => 'added',
      (error: unknown) => (error instanceof Problem ? error.code : error),
    );
  const outcomes = await Promise.all([add(), add()]);
  expect(outcomes.toSorted()).toEqual(['added', 'conflict']);
  expect(await devices.list(user_id)).toHaveLength(1);
});

test.each([
  ['FD00:0:0::00A1', 'fd00::a1'],
  ['fd00::0:b2', 'fd00::b2%eth0'],
  ['::ffff:192.168.1.20', '192.168.1.20'],
  ['192.168.1.21', '::ffff:c0a8:115'],
])('a device at %s is found when it asks from %s', async (typed, from) => {
  const { id } = await devices.add(await addPerson(database), 10, { name: 'TV', kind: 'other', address: typed });
  expect((await devices.findByAddress(from))?.id).toBe(id);
});

test.each([
  ['192.168.1.20', '192.168.1.20'],
  ['::ffff:10.0.0.1', '10.0.0.1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['100.64.0.1', '100.64.0.1'],
  ['127.0.0.1', '127.0.0.1'],
  ['8.8.8.8', undefined],
  ['::ffff:8.8.8.8', undefined],
  ['2001:4860::8888', undefined],
  ['100.128.0.1', undefined],
])('plain DNS from %s is answered for %s', (from, address) => {
  expect(askerAt(from)).toEqual(address === undefined ? undefined : { address });
});

const HOUR_MS = 3_600_000;

/** A phone that asked every `every` hours for 14 days, and then nothing for `silent` hours. */
async function phone({ every, silent }: { every: number; silent: number }) {
  const now = Date.parse('2026-11-20T10:30:00.000Z');
  const user_id = await addPerson(database);
  const clock = { now };
  const asking = new WebDevices({ database: tables, now: () => clock.now });
  const { id } = await asking.add(user_id, 10, { name: 'Phone', kind: 'android' });
  const last = now - silent * HOUR_MS;
  const asks = async (at: number) => {
    const hour = new Date(at).toISOString().slice(0, 13);
    const row = { id: `${id}:${hour}`, device_id: id, user_id, hour, category: 'answered', count: 3 };
    await database.insertInto('web_counts').values(row).execute();
    const last_question_at = new Date(at).toISOString();
    await database.updateTable('web_devices').set({ last_question_at }).where('id', '=', id).execute();
  };
  for (let ago = 13 * 24; ago >= 0; ago -= every) await asks(last - ago * HOUR_MS);
  const told: string[] = [];
  const tell = () => asking.tellOfSilence(async (device) => void (device.user_id === user_id && told.push(device.name)));
  return { asking, user_id, clock, asks, told, tell };
}

test.each([
  ['within a day and its patience', { every: 1, silent: 30 }, null],
  ['longer than a day, which it never did', { every: 1, silent: 32 }, 24],
  ['as long as its longest pause', { every: 52, silent: 57 }, null],
  ['longer than its longest pause', { every: 52, silent: 60 }, 52],
  ['for longer than counts are looked at', { every: 52, silent: 24 * 20 }, 52],
] as const)('a device that asked nothing %s', async (_what, was, usual_gap_h) => {
  const { asking, user_id } = await phone(was);
  expect(await asking.list(user_id)).toMatchObject([{ usual_gap_h, is_silent: usual_gap_h !== null }]);
  expect((await asking.facts(user_id))?.silent).toHaveLength(usual_gap_h === null ? 0 : 1);
});

test('each silence is told once', async () => {
  const { clock, asks, told, tell } = await phone({ every: 1, silent: 40 });
  await tell();
  await tell();
  expect(told).toEqual(['Phone']);
  await asks(clock.now);
  await tell();
  expect(told).toHaveLength(1);
  clock.now += 60 * HOUR_MS;
  await tell();
  await tell();
  expect(told).toHaveLength(2);
});

test('names of a device with a profile are never shown', async () => {
  const user_id = await addPerson(database);
  const { id } = await devices.add(user_id, 10, { name: 'Phone', kind: 'android' });
  const read = async () => {
    const row = await devices.find(id);
    if (row === undefined) throw new Error('no device');
    return row;
  };
  await devices.showNames(await read(), true);
  const created_at = new Date().toISOString();
  await database.insertInto('households').values({ id, time_zone: 'UTC', created_at }).execute();
  const profile = { id, household_id: id, name: 'Tim', picture: 'fox', age_group: 'child', ask_key: id, created_at } as const;
  await insertRow(database, 'profiles', { ...profile, shared_by: '[]', rules: '{}', paused_until: null });
  expect(await devices.list(user_id)).toMatchObject([{ can_show_names: true, names_until: (await read()).names_until }]);
  await database.updateTable('web_devices').set({ profile_id: id }).where('id', '=', id).execute();
  expect(await devices.list(user_id)).toMatchObject([{ can_show_names: false, names_until: null, is_of_household: true }]);
  await expect(devices.showNames(await read(), true)).rejects.toMatchObject({ code: 'conflict' });
});
