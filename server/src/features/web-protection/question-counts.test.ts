import { afterEach, expect, test } from 'vitest';
import { newId } from '#platform/id.ts';
import { addPerson, featureDatabase } from '#test/feature-database.ts';
import { insertRow } from '#test/rows.ts';
import { type DangerousRefusal, type Outcome, QuestionCounts } from './question-counts.ts';
import { refusedNameIncident } from './refused-name-incident.ts';

const database = await featureDatabase();
const now = Date.parse('2026-11-20T10:00:00.000Z');
const open: QuestionCounts[] = [];
let isAway = false;
/** The database, or one whose writes fail. */
const breaking = database.withPlugin({
  transformQuery({ node }) {
    if (isAway && node.kind === 'InsertQueryNode') throw new Error('away');
    return node;
  },
  transformResult: async ({ result }) => result,
});

afterEach(async () => {
  for (const counts of open.splice(0)) await counts.close();
});

async function start(onDangerous: (refusal: DangerousRefusal) => Promise<void> = async () => {}) {
  const user_id = await addPerson(database);
  const device_id = newId();
  await insertRow(database, 'web_devices', {
    ...{ id: device_id, user_id, name: 'Phone', kind: 'android', key: device_id, address: null },
    ...{ created_at: new Date(now).toISOString(), last_question_at: null },
  });
  const failures: unknown[] = [];
  const counts = new QuestionCounts({
    ...{
      database: breaking.$pickTables<
        'web_devices' | 'web_policies' | 'web_names' | 'web_counts' | 'web_refusals' | 'web_shown_names'
      >(),
    },
    ...{ now: () => now, onFirst: () => {}, onDangerous, onFailure: (error) => failures.push(error) },
  });
  open.push(counts);
  const refuse = (
    name: string,
    { category = 'dangerous', is_private = false, profile_id = null }: Partial<Outcome> & { category?: string } = {},
  ) =>
    counts.add({ device_id, key: device_id, user_id, profile_id, refusal: { name, rule: 'evil.example', category }, is_private });
  const kept = async () =>
    await database
      .selectFrom('web_refusals')
      .select(['name', 'count'])
      .where('device_id', '=', device_id)
      .orderBy('id')
      .execute();
  const counted = async () =>
    await database.selectFrom('web_counts').select('count').where('device_id', '=', device_id).execute();
  return { user_id, counts, refuse, kept, counted, failures, device_id };
}

test('a device that asks random names below a refused one is counted whole, and displaces its own names alone', async () => {
  const { counts, refuse, kept, counted } = await start();
  for (let round = 0; round < 22; round += 1) {
    for (let index = 0; index < 60; index += 1) refuse(`${round}-${index}.evil.example`);
    await counts.write();
  }
  expect(await counted()).toEqual([{ count: 22 * 60 }]);
  const names = await kept();
  expect(names).toHaveLength(1_000);
  expect(names.at(-1)?.name).toBe('21-49.evil.example');
});

test('one alert is raised for a device and writing, and one that fails keeps no other from its name', async () => {
  const told: (string | undefined)[] = [];
  const { counts, refuse, kept, failures } = await start(async ({ name }) => {
    told.push(name);
    throw new Error('away');
  });
  for (const name of ['a.evil.example', 'b.evil.example', 'a.evil.example']) refuse(name);
  await counts.write();
  expect(told).toEqual(['a.evil.example']);
  expect(failures).toHaveLength(1);
  expect((await kept()).map(({ name, count }) => [name, count]).sort()).toEqual([
    ['a.evil.example', 2],
    ['b.evil.example', 1],
  ]);
});

test('counts and names of a failed writing are written with the next one', async () => {
  const { counts, refuse, kept, counted, failures } = await start();
  refuse('a.evil.example');
  isAway = true;
  await counts.write();
  refuse('a.evil.example');
  refuse('b.evil.example');
  isAway = false;
  await counts.write();
  expect(failures).toHaveLength(1);
  expect((await kept()).map(({ name, count }) => [name, count]).sort()).toEqual([
    ['a.evil.example', 2],
    ['b.evil.example', 1],
  ]);
  expect(await counted()).toEqual([{ count: 3 }]);
});

test('private names are in no answer to an owner and in no alert, and stay private', async () => {
  const told: (string | undefined)[] = [];
  const { user_id, counts, refuse, kept, counted } = await start(async ({ name }) => void told.push(name));
  const seen = async () => (await counts.refused(user_id, { limit: 50 })).map(({ name }) => name);
  refuse('a.evil.example', { is_private: true });
  refuse('a.evil.example');
  refuse('b.evil.example');
  await counts.write();
  expect([await seen(), told]).toEqual([['b.evil.example'], [undefined]]);
  // Its person is 16 by now, or the device has another profile.
  refuse('b.evil.example', { is_private: true });
  refuse('a.evil.example');
  await counts.write();
  expect([await seen(), (await kept()).length, await counted()]).toEqual([[], 2, [{ count: 5 }]]);
});

test('names of the person before are not kept for the next one', async () => {
  const { counts, refuse, kept, counted } = await start();
  refuse('a.evil.example', { profile_id: 'tim', is_private: true });
  refuse('b.evil.example');
  await counts.write();
  expect([(await kept()).map(({ name }) => name), await counted()]).toEqual([['b.evil.example'], [{ count: 1 }, { count: 1 }]]);
});

test('names that were refused in a pause are counted, and kept by none', async () => {
  const { counts, refuse, kept, counted } = await start();
  refuse('school.example', { category: 'paused' });
  refuse('games.example', { category: 'time' });
  await counts.write();
  expect([(await kept()).map(({ name }) => name), await counted()]).toEqual([['games.example'], [{ count: 1 }, { count: 1 }]]);
});

test('an alert of a private device does not name the website', () => {
  const refusal = { user_id: 'anna', profile_id: null, device: { id: 'phone', name: 'Phone' }, at: '2026-11-20T10:00:00.000Z' };
  const events = (name: string | undefined) => refusedNameIncident('me', { ...refusal, name }).evidence.events;
  expect(JSON.stringify(events('evil.example'))).toContain('evil.example');
  expect(events(undefined)).toMatchObject([{ what: refusedNameIncident('me', { ...refusal, name: undefined }).phrase }]);
});

test('a question from before a key was renewed is counted, and does not show the device as seen', async () => {
  const { counts, refuse, counted, device_id } = await start();
  const seen = async () =>
    (await database.selectFrom('web_devices').select('last_question_at').where('id', '=', device_id).executeTakeFirstOrThrow())
      .last_question_at;
  refuse('a.evil.example');
  await database.updateTable('web_devices').set({ key: newId() }).where('id', '=', device_id).execute();
  await counts.write();
  expect([await counted(), await seen()]).toEqual([[{ count: 1 }], null]);
  await database.updateTable('web_devices').set({ key: device_id }).where('id', '=', device_id).execute();
  refuse('a.evil.example');
  await counts.write();
  expect(await seen()).toBe(new Date(now).toISOString());
});
