import type { BodyOf } from '@palisade/contract/endpoint';
import type { AgeGroup, addProfile } from '@palisade/contract/household';
import { webRefusalSchema } from '@palisade/contract/web-protection';
import { eventually } from '@palisade/scanner/test/eventually';
import { needing } from '@palisade/scanner/test/needs';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { newId } from '#platform/id.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import { partOf } from '#platform/personal-data.ts';
import { addPerson, featureDatabase, outcomes } from '#test/feature-database.ts';
import { isPostgres } from '#test/harness.ts';
import { Homes } from './household.ts';
import { Asks } from './household-asks.ts';
import { webProtectionParts } from './household-export.ts';
import { Guardians } from './household-guardians.ts';
import { Profiles } from './household-profiles.ts';
import { refusalId } from './household-view.ts';
import { QuestionCounts } from './question-counts.ts';
import { raiseRefusedName } from './refused-name-incident.ts';
import { newKey } from './web-devices.ts';
import { WEB_PROTECTION_PERSONAL, type WebProtectionTables } from './web-protection.tables.ts';

const now = () => Date.parse('2026-11-20T10:00:00.000Z');
const at = new Date(now()).toISOString();
const all = await featureDatabase();
let queries = 0;
const counting = all.withPlugin({
  transformQuery: ({ node }) => node,
  async transformResult({ result }) {
    queries += 1;
    return result;
  },
});
const database = counting.$pickTables<keyof WebProtectionTables>();
const homes = new Homes({
  database,
  people: { profileLimit: async () => 50, findUsers: async (ids) => ids.map((id) => ({ id, username: id })) },
  now,
});
const profiles = new Profiles({ database, homes, now });
const guardians = new Guardians({ database, homes, now });
const asks = new Asks({ database, homes, profiles, counters: { take: async () => undefined }, now });

const bodyOf = (age_group: AgeGroup): BodyOf<typeof addProfile> => ({
  ...{ name: 'Mia', picture: 'owl', age_group, shared_by: [], time_zone: 'UTC' },
});

/** A guardian and a profile with a device, on which a name was refused. */
async function start(age_group: AgeGroup) {
  const user_id = await addPerson(all);
  const profile = await inTransaction(database, (transaction) => profiles.add(user_id, 50, bodyOf(age_group), transaction));
  const device_id = newId();
  const key = newKey();
  await database
    .insertInto('web_devices')
    .values({
      ...{ id: device_id, user_id, profile_id: profile.id, name: 'Phone', kind: 'android', key, address: null },
      ...{ created_at: at, last_question_at: null },
    })
    .execute();
  const refusal = { id: newId(), user_id, device_id, name: 'club.example', rule: 'club.example', category: 'gambling', count: 1 };
  await database
    .insertInto('web_refusals')
    .values({ ...refusal, last_at: at, is_private: age_group === 'sixteen' ? 1 : 0 })
    .execute();
  const look = async (keys: { key: string; own_key?: string }) =>
    (await asks.look(await asks.profileOf(keys, 'here'))).refused.map(({ name }) => name);
  const shown = async () => (await homes.read(user_id)).profiles[0]?.ask_key;
  return { user_id, profile, device_id, look, shown };
}

test('the page of a home asks as many queries for five profiles as for one', async () => {
  const { user_id, profile } = await start('child');
  const read = async () => {
    queries = 0;
    const shown = await homes.read(user_id);
    return { queries, refused: shown.profiles.map(({ refused }) => refused.map(({ name }) => name)) };
  };
  expect(await read()).toEqual({ queries: 9, refused: [['club.example']] });
  for (let count = 0; count < 4; count++) {
    const other = await profiles.add(user_id, 50, bodyOf('child'), database);
    const id = newId();
    const device = { id, user_id, name: 'TV', kind: 'other', key: newKey(), address: null } as const;
    const refusal = { id: newId(), user_id, device_id: id, rule: '', category: 'own', count: 1, last_at: at };
    await database
      .insertInto('web_devices')
      .values({ ...device, created_at: at, last_question_at: null, profile_id: other.id })
      .execute();
    await database
      .insertInto('web_refusals')
      .values({ ...refusal, name: `${count}.example` })
      .execute();
  }
  const names = ['club.example', '0.example', '1.example', '2.example', '3.example'].map((name) => [name]);
  expect(await read()).toEqual({ queries: 9, refused: names });
  expect((await homes.readProfile(profile.household_id, profile.id)).refused).toHaveLength(1);
});

test('a key that guardians have seen opens no names of a person of 16, and the first browser takes the page out of their reach', async () => {
  const { profile, device_id, look, shown } = await start('sixteen');
  const key = profile.ask_key;
  const [own_key, other] = [newKey(), newKey()];
  expect(await shown()).toBe(key);
  expect(await look({ key })).toEqual([]);
  // Nor does its answer say whether a guessed name was refused.
  const guess = { device_id, name: 'club.example' };
  await expect(asks.ask(profile, refusalId(guess))).rejects.toMatchObject({ code: 'not_found' });
  expect(await look({ key, own_key })).toEqual(['club.example']);
  // Again, as after an answer that was lost.
  expect(await look({ key, own_key })).toEqual(['club.example']);
  expect(await shown()).toBe('');
  expect(await outcomes([look({ key }), look({ key, own_key: other })])).toEqual(['not_found', 'not_found']);
  // Another address closes the page of the person, who sees that.
  const renewed = await profiles.renewKey(profile, database);
  expect(await shown()).toBe(renewed.ask_key);
  expect(await outcomes([look({ key, own_key })])).toEqual(['not_found']);
  expect(await look({ key: renewed.ask_key })).toEqual([]);
});

test('two browsers that open the page of a person of 16 at once: one has it', async () => {
  const { profile, look } = await start('sixteen');
  const looks = [newKey(), newKey()].map((own_key) => look({ key: profile.ask_key, own_key }));
  expect(await outcomes(looks)).toEqual(['fulfilled', 'not_found']);
});

test('the page of a younger person keeps the address that guardians know', async () => {
  const { profile, look, shown } = await start('teenager');
  const key = profile.ask_key;
  for (const keys of [{ key, own_key: newKey() }, { key }]) expect(await look(keys)).toEqual(['club.example']);
  expect(await shown()).toBe(key);
});

needing('PostgreSQL', isPostgres()).test(
  'a guardian who leaves at that moment adds no profile, and takes their devices along',
  async () => {
    const { user_id: stays, profile } = await start('child');
    const leaves = await addPerson(all);
    const { household_id } = profile;
    await database.insertInto('guardians').values({ user_id: leaves, household_id, joined_at: at }).execute();
    const device = { id: newId(), user_id: leaves, name: 'Tablet', kind: 'android', key: newKey(), address: null } as const;
    await database
      .insertInto('web_devices')
      .values({ ...device, created_at: at, last_question_at: null, profile_id: profile.id })
      .execute();
    const row = await profiles.findDevice(device.id);
    if (row === undefined) throw new Error('It was added.');
    const other = await inTransaction(database, (transaction) => profiles.add(stays, 50, bodyOf('child'), transaction));

    const left = Promise.withResolvers<void>();
    const leaving = inTransaction(database, async (transaction) => {
      await guardians.leave(leaves, transaction);
      await left.promise;
    });
    const isWaiting = async (count: number) =>
      await eventually(async () => {
        const { rows } = await sql`select 1 from pg_locks where not granted`.execute(database);
        expect(rows.length).toBeGreaterThanOrEqual(count);
      });
    await eventually(async () => {
      const { rows } =
        await sql`select 1 from pg_locks where relation = 'guardians'::regclass and mode = 'RowExclusiveLock'`.execute(database);
      expect(rows).not.toEqual([]);
    });
    const late = [
      inTransaction(database, (transaction) => profiles.add(leaves, 50, bodyOf('child'), transaction)),
      inTransaction(database, (transaction) => profiles.giveDevice(stays, row, other.id, transaction)),
    ];
    await isWaiting(2);
    left.resolve();
    await leaving;
    expect(await outcomes(late)).toEqual(['not_found', 'not_found']);
    expect((await homes.read(stays)).profiles.map(({ devices }) => devices.length)).toEqual([1, 0]);
  },
);

/** A part of the file of a person's data. */
async function filed(counts: QuestionCounts, name: string, user_id: string) {
  const rows: unknown[] = [];
  const part = webProtectionParts({ counts, homes }).find((one) => one.name === name);
  for await (const row of part?.rows({ id: user_id, email: '' }) ?? []) rows.push(row);
  return rows;
}

test.each<AgeGroup>(['child', 'sixteen'])(
  'the file of a guardian’s data has what they see of a profile of %s',
  async (age_group) => {
    const { user_id, device_id, profile } = await start(age_group);
    const shared_by = [profile.id];
    await profiles.add(user_id, 50, { ...bodyOf('child'), name: 'Computer', shared_by }, database);
    const co_guardian = await addPerson(all);
    const { household_id } = profile;
    await database.insertInto('guardians').values({ user_id: co_guardian, household_id, joined_at: at }).execute();
    const counts = new QuestionCounts({ database, now, onFirst() {}, onDangerous: async () => {}, onFailure() {} });
    onTestFinished(() => counts.close());
    counts.add({ device_id, key: device_id, user_id, profile_id: profile.id, is_private: age_group === 'sixteen' });
    await counts.write();
    const counted = WEB_PROTECTION_PERSONAL.filter(({ table }) => table === 'web_counts');
    for (const id of [user_id, co_guardian]) {
      const shown = (await homes.read(id)).profiles;
      expect(shown.map(({ refused }) => refused.length)).toEqual([age_group === 'child' ? 1 : 0, 0]);
      expect(await filed(counts, 'profiles', id)).toEqual(shown.map(({ ask_key: _key, ...fields }) => fields));
      expect(await filed(counts, 'web_refusals', id)).toEqual([]);
      for (const table of counted)
        for await (const row of partOf(all, table).rows({ id, email: '' })) expect(row).toBeUndefined();
    }
    // The names that they see as those of their own device, field by field.
    await database.updateTable('web_devices').set({ profile_id: null }).where('id', '=', device_id).execute();
    const own = await counts.refused(user_id, { limit: 10 });
    expect(await filed(counts, 'web_refusals', user_id)).toEqual(own);
    expect(own.map((row) => webRefusalSchema.strict().parse(row).name)).toEqual(age_group === 'child' ? ['club.example'] : []);
  },
);

test('names of a device with a profile are shown with the profile alone, where its person sees as many', async () => {
  const { user_id, device_id } = await start('child');
  const counts = new QuestionCounts({ database, now, onFirst() {}, onDangerous: async () => {}, onFailure() {} });
  onTestFinished(() => counts.close());
  const refused = async () => (await counts.refused(user_id, { limit: 10 })).map(({ name }) => name);
  expect(await refused()).toEqual([]);
  expect((await homes.read(user_id)).profiles[0]?.refused).toHaveLength(1);
  await database.updateTable('web_devices').set({ profile_id: null }).where('id', '=', device_id).execute();
  expect(await refused()).toEqual(['club.example']);
});

/** A person with an empty home, and an invitation to it. */
async function inviting(email: string) {
  const { user_id, profile } = await start('child');
  await profiles.remove(profile, database);
  const home = await homes.need(user_id);
  const { token } = await guardians.invite(user_id, home, { typed: email, guardians: [] }, database);
  return { guest: { id: user_id, email: `${user_id}@example.com` }, token, home };
}
const joining = (guest: { id: string; email: string }, token: string) =>
  inTransaction(database, (transaction) => guardians.join(guest, token, transaction));

test('a person who is invited twice and joins both homes at once is a guardian of one', async () => {
  const guest_id = await addPerson(all);
  const guest = { id: guest_id, email: `${guest_id}@example.com` };
  const [one, other] = [await inviting(guest.email), await inviting(guest.email)];
  const ends = await outcomes([joining(guest, one.token), joining(guest, other.token)]);
  expect(['conflict,fulfilled', 'fulfilled,fulfilled']).toContain(ends.join());
  expect((await homes.of(guest.id))?.guardian_ids).toHaveLength(2);
});

test('two people who join the homes of each other at once end in one home', async () => {
  for (let round = 0; round < 5; round += 1) {
    const one = await inviting('nobody@example.com');
    const other = await inviting(one.guest.email);
    const invited = await guardians.invite(one.guest.id, one.home, { typed: other.guest.email, guardians: [] }, database);
    const ends = await outcomes([joining(one.guest, other.token), joining(other.guest, invited.token)]);
    expect(ends).toEqual(['fulfilled', 'not_found']);
    expect(await homes.of(one.guest.id)).toEqual(await homes.of(other.guest.id));
  }
});

test('first profiles that are added at once make one home, and its last room is taken once', async () => {
  const user_id = await addPerson(all);
  const add = () => inTransaction(database, (transaction) => profiles.add(user_id, 2, bodyOf('child'), transaction));
  expect(await outcomes([add(), add(), add()])).toEqual(['conflict', 'fulfilled', 'fulfilled']);
  expect((await homes.read(user_id)).profiles).toHaveLength(2);
});

test('an invitation that is used twice at once lets its person in once', async () => {
  const guest = { id: await addPerson(all), email: 'twice@example.com' };
  const { token, home } = await inviting(guest.email);
  expect(await outcomes([joining(guest, token), joining(guest, token)])).toEqual(['fulfilled', 'not_found']);
  expect((await homes.find(home.id))?.guardian_ids).toHaveLength(2);
});

test('asks at once for one name are one card, and are told once', async () => {
  const { user_id, profile, device_id } = await start('child');
  const ask = () => asks.ask(profile, refusalId({ device_id, name: 'club.example' }));
  const told = (await Promise.all([ask(), ask(), ask()])).flatMap((one) => one.told ?? []);
  expect(told).toHaveLength(1);
  expect((await homes.read(user_id)).asks).toMatchObject([{ id: told[0]?.id, count: 3 }]);
});

test('counts of the person who had a device before are not shown with the next one', async () => {
  const { user_id, profile, device_id } = await start('child');
  const asking = { device_id, key: device_id, user_id, is_private: false };
  const counts = new QuestionCounts({ database, now, onFirst() {}, onDangerous: async () => {}, onFailure() {} });
  onTestFinished(() => counts.close());
  counts.add({ ...asking, profile_id: null });
  counts.add({ ...asking, profile_id: null, refusal: { name: 'club.example', rule: 'club.example', category: 'adult' } });
  counts.add({ ...asking, profile_id: profile.id });
  await counts.write();
  expect((await homes.read(user_id)).profiles[0]?.today).toEqual({ answered: 1, refused: [] });
});

test('a dangerous name is an alert of each guardian with a plan, and without its name for a person of 16', async () => {
  const dangerOf = async (age_group: AgeGroup, hasProfile = true) => {
    const { user_id, profile, device_id } = await start(age_group);
    const [other, poor] = [await addPerson(all), await addPerson(all)];
    for (const id of [other, poor])
      await database.insertInto('guardians').values({ user_id: id, household_id: profile.household_id, joined_at: at }).execute();
    const raised: string[] = [];
    const counts = new QuestionCounts({
      ...{ database, now, onFirst() {}, onFailure: (error) => raised.push(String(error)) },
      onDangerous: (refusal) =>
        raiseRefusedName(refusal, {
          peopleOf: (device) => homes.peopleOf(device),
          isPremium: async (id) => id !== poor,
          raise: async ({ user_id: id, evidence }) => {
            const who = id === user_id ? 'owner' : id === other ? 'other' : 'poor';
            raised.push(`${who}: ${JSON.stringify(evidence.events).includes('evil.example')}`);
          },
        }),
    });
    onTestFinished(() => counts.close());
    const profile_id = hasProfile ? profile.id : null;
    const refusal = { name: 'evil.example', rule: 'evil.example', category: 'dangerous' };
    counts.add({ device_id, key: device_id, user_id, profile_id, refusal, is_private: age_group === 'sixteen' });
    await counts.write();
    return raised.sort();
  };
  expect(await dangerOf('child')).toEqual(['other: true', 'owner: true']);
  expect(await dangerOf('sixteen')).toEqual(['other: false', 'owner: false']);
  expect(await dangerOf('child', false)).toEqual(['owner: true']);
});
