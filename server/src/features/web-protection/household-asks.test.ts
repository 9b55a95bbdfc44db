import { AGE_GROUPS, type AgeGroup } from '@palisade/contract/household';
import { webRefusalSchema } from '@palisade/contract/web-protection';
import { expect, test } from 'vitest';
import { newId } from '#platform/id.ts';
import { partOf } from '#platform/personal-data.ts';
import { outcomes } from '#test/feature-database.ts';
import { householdParts } from '#test/household-parts.ts';
import { webProtectionParts } from './household-export.ts';
import type { QuestionCounts } from './question-counts.ts';
import { raiseRefusedName } from './refused-name-incident.ts';
import { newKey } from './web-devices.ts';
import { WEB_PROTECTION_PERSONAL } from './web-protection.tables.ts';

const { all, database, homes, profiles, asks, addTo, refuse, start, countsOf } = await householdParts();

test('a key that guardians have seen opens no names of a person of 16, and the first browser takes the page out of their reach', async () => {
  const { profile, refusal_id, look, shown } = await start('sixteen');
  const key = profile.ask_key;
  const [own_key, other] = [newKey(), newKey()];
  expect((await shown())?.ask_key).toBe(key);
  expect(await look({ key })).toEqual([]);
  // Nor does its answer say whether a guessed name was refused.
  await expect(asks.ask(profile, refusal_id)).rejects.toMatchObject({ code: 'not_found' });
  // The second look is as after an answer that was lost.
  for (let count = 0; count < 2; count++) expect(await look({ key, own_key })).toEqual(['club.example']);
  expect((await shown())?.ask_key).toBe('');
  expect(await outcomes([look({ key }), look({ key, own_key: other })])).toEqual(['not_found', 'not_found']);
  // Another address closes the page of the person, who sees that.
  const renewed = await profiles.renewKey(profile, database);
  expect((await shown())?.ask_key).toBe(renewed.ask_key);
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
  expect((await shown())?.ask_key).toBe(key);
});

test.each(AGE_GROUPS)('a guardian of a profile of %s sees no more than its person', async (age_group) => {
  const { user_id, profile, device, refusal_id } = await start(age_group);
  const isPrivate = age_group === 'sixteen';
  await refuse(device, 'bank-l0gin.com', { category: 'dangerous', is_private: isPrivate ? 1 : 0 });
  const key = { key: profile.ask_key, own_key: newKey() };
  const { page } = await asks.ask(await asks.profileOf(key, 'here'), refusal_id);
  const shown = await homes.read(user_id);
  const own = new Map(Object.entries(page));
  const seen = new Map(Object.entries(shown.profiles[0] ?? {}));
  // Choices of guardians: they tell nothing of names that a person looks at.
  for (const field of ['id', 'shared_by', 'ask_key', 'names', 'created_at']) expect(seen.delete(field)).toBe(true);
  expect(seen.size).toBe(9);
  const ownRefused = page.refused.map(({ can_ask: _can, ...row }) => row);
  for (const [field, value] of seen)
    expect([field, value]).toEqual([field, field === 'refused' ? (isPrivate ? [] : ownRefused) : own.get(field)]);
  expect(page.guardians_see).toBe(isPrivate ? 'counts' : 'names');
  expect(ownRefused.map(({ name }) => name)).toEqual(['bank-l0gin.com', 'club.example']);
  expect(shown.asks.map(({ profile_id: _profile, device_name: _device, ...ask }) => ask)).toEqual(page.asks);
  expect([page.time_zone, page.guardians.length]).toEqual([shown.time_zone, shown.guardians.length]);
  // Guardians who lower the age learn of later names alone.
  await profiles.change(profile, { age_group: 'child' }, database);
  expect((await homes.read(user_id)).profiles[0]?.refused).toHaveLength(isPrivate ? 0 : 2);
});

test('an ask is for a refusal of its own profile that guardians can allow', async () => {
  const { user_id, profile, device, device_id, refusal_id } = await start();
  const leo = await addTo(user_id);
  const foreign = await start();
  const [danger, many, old] = [
    await refuse(device, 'bank-l0gin.com', { category: 'dangerous' }),
    await refuse(device, 'github.io', { category: 'time' }),
    await refuse(device, 'old.example'),
  ];
  await database.deleteFrom('web_refusals').where('device_id', '=', device_id).where('name', '=', 'old.example').execute();
  const row = await database.selectFrom('web_refusals').select('id').where('device_id', '=', device_id).executeTakeFirstOrThrow();
  const gone = [old, row.id, newId(), foreign.refusal_id].map((id) => asks.ask(profile, id));
  expect(await outcomes([...gone, asks.ask(leo, refusal_id)])).toEqual(Array(5).fill('not_found'));
  expect(await outcomes([asks.ask(profile, danger), asks.ask(profile, many)])).toEqual(['conflict', 'conflict']);
  expect((await homes.read(user_id)).asks).toEqual([]);
  await profiles.remove(leo, database);
  await expect(asks.profileOf({ key: leo.ask_key }, 'here')).rejects.toMatchObject({ code: 'not_found' });
});

/** Asks for a refusal, and answers the row of its ask. */
async function askedFor(profile: Awaited<ReturnType<typeof start>>['profile'], refusal_id: string) {
  const { told } = await asks.ask(profile, refusal_id);
  const row = await asks.find(told?.id ?? '');
  if (row === undefined) throw new Error('It was asked for.');
  return row;
}

test('a later answer replaces what an earlier one allowed', async () => {
  const { profile, refusal_id, shown } = await start();
  const row = await askedFor(profile, refusal_id);
  const names = async (answer: 'hour' | 'always' | 'no') => {
    await asks.answer(row, { answer, line: '' }, database);
    return (await shown())?.names.map(({ name, until }) => [name, until]);
  };
  expect(await names('hour')).toEqual([['club.example', '2026-11-20T11:00:00.000Z']]);
  expect(await names('always')).toEqual([['club.example', null]]);
  expect(await names('no')).toEqual([]);
});

test('asks for a service where that was refused, and allows all of its names', async () => {
  const { profile, device, shown } = await start();
  const refusal_id = await refuse(device, 'www.facebook.com', { category: 'facebook' });
  const row = await askedFor(profile, refusal_id);
  const { asks: own, refused } = await asks.look(profile);
  expect([own[0]?.name, refused[0]?.service, refused[0]?.can_ask]).toEqual(['Facebook', 'Facebook', false]);
  await asks.answer(row, { answer: 'always', line: '' }, database);
  expect((await shown())?.names.map(({ name }) => name)).toEqual(expect.arrayContaining(['facebook.com', 'fbcdn.net']));
});

test('has at most 5 cards, and 10 an hour', async () => {
  const { user_id, profile, device } = await start();
  const ids: string[] = [];
  for (let index = 0; index < 12; index++) ids.push(await refuse(device, `g${index}.games.example`));
  const cards = async () => (await homes.read(user_id)).asks.filter(({ answer }) => answer === 'wait');
  const no = async () => {
    for (const { id } of await cards()) {
      const row = await asks.find(id);
      if (row !== undefined) await asks.answer(row, { answer: 'no', line: '' }, database);
    }
  };
  for (const id of ids.slice(0, 7)) await asks.ask(profile, id);
  expect((await cards()).map(({ count }) => count)).toEqual([3, 1, 1, 1, 1]);
  await no();
  for (const id of ids.slice(7)) await asks.ask(profile, id);
  await no();
  await expect(asks.ask(profile, ids[0] ?? '')).rejects.toMatchObject({ code: 'too_many_requests' });
});

test('asks, looks and guesses of keys are refused after a while', async () => {
  const { profile, refusal_id, look, user_id } = await start();
  const ends = async (count: number, work: () => Promise<unknown>) => {
    const last: string[] = [];
    for (let time = 0; time < count; time++) last.push(...(await outcomes([work()])));
    return last.slice(-2);
  };
  expect(await ends(31, () => asks.ask(profile, refusal_id))).toEqual(['fulfilled', 'too_many_requests']);
  expect((await homes.read(user_id)).asks).toMatchObject([{ count: 30 }]);
  expect(await ends(121, () => look({ key: profile.ask_key }))).toEqual(['fulfilled', 'too_many_requests']);
  expect(await ends(31, () => asks.profileOf({ key: newKey() }, 'there'))).toEqual(['not_found', 'too_many_requests']);
});

test('asks at once for one name are one card, and are told once', async () => {
  const { user_id, profile, refusal_id } = await start();
  const ask = () => asks.ask(profile, refusal_id);
  const told = (await Promise.all([ask(), ask(), ask()])).flatMap((one) => one.told ?? []);
  expect(told).toHaveLength(1);
  expect((await homes.read(user_id)).asks).toMatchObject([{ id: told[0]?.id, count: 3 }]);
});

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
    const { user_id, device_id, profile, addGuardian } = await start(age_group);
    await addTo(user_id, { name: 'Computer', shared_by: [profile.id] });
    const counts = countsOf();
    counts.add({ device_id, key: device_id, user_id, profile_id: profile.id, is_private: age_group === 'sixteen' });
    await counts.write();
    const counted = WEB_PROTECTION_PERSONAL.filter(({ table }) => table === 'web_counts');
    for (const id of [user_id, await addGuardian()]) {
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

test('counts of the person who had a device before are not shown with the next one', async () => {
  const { user_id, profile, device_id, shown } = await start();
  const asking = { device_id, key: device_id, user_id, is_private: false };
  const counts = countsOf();
  counts.add({ ...asking, profile_id: null });
  counts.add({ ...asking, profile_id: null, refusal: { name: 'club.example', rule: 'club.example', category: 'adult' } });
  counts.add({ ...asking, profile_id: profile.id });
  await counts.write();
  expect((await shown())?.today).toEqual({ answered: 1, refused: [] });
});

test('a dangerous name is an alert of each guardian with a plan, and without its name for a person of 16', async () => {
  const dangerOf = async (age_group: AgeGroup, hasProfile = true) => {
    const { user_id, profile, device_id, addGuardian } = await start(age_group);
    const [other, poor] = [await addGuardian(), await addGuardian()];
    const raised: string[] = [];
    const counts = countsOf((refusal) =>
      raiseRefusedName(refusal, {
        peopleOf: (device) => homes.peopleOf(device),
        isPremium: async (id) => id !== poor,
        raise: async ({ user_id: id, evidence }) => {
          const who = id === user_id ? 'owner' : id === other ? 'other' : 'poor';
          raised.push(`${who}: ${JSON.stringify(evidence.events).includes('evil.example')}`);
        },
      }),
    );
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
