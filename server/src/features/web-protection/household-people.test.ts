import { eventually } from '@palisade/scanner/test/eventually';
import { needing } from '@palisade/scanner/test/needs';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { inTransaction } from '#platform/in-transaction.ts';
import { addPerson, outcomes } from '#test/feature-database.ts';
import { isPostgres } from '#test/harness.ts';
import { householdParts } from '#test/household-parts.ts';

const { all, database, clock, asked, homes, profiles, guardians, bodyOf, addTo, addDevice, refuse, start } =
  await householdParts();

test('the page of a home asks as many queries for five profiles as for one', async () => {
  const { user_id, profile } = await start();
  const read = async () => {
    asked.queries = 0;
    const shown = await homes.read(user_id);
    return { queries: asked.queries, refused: shown.profiles.map(({ refused }) => refused.map(({ name }) => name)) };
  };
  expect(await read()).toEqual({ queries: 9, refused: [['club.example']] });
  for (let count = 0; count < 4; count++)
    await refuse(await addDevice(user_id, (await addTo(user_id)).id), `${count}.example`, { category: 'own' });
  const names = ['club.example', '0.example', '1.example', '2.example', '3.example'].map((name) => [name]);
  expect(await read()).toEqual({ queries: 9, refused: names });
  expect((await homes.readProfile(profile.household_id, profile.id)).refused).toHaveLength(1);
});

test('a pause lasts for minutes, or until tomorrow in the time zone of the home', async () => {
  const { user_id, profile } = await start();
  await homes.setTimeZone(user_id, 'Europe/Paris');
  const pause = async (time: '15' | 'tomorrow' | 'end') =>
    (await profiles.pause(profile, { pause: time }, database)).paused_until;
  expect(await pause('tomorrow')).toBe('2026-11-20T23:00:00.000Z');
  expect(await pause('15')).toBe('2026-11-20T10:15:00.000Z');
  expect(await pause('end')).toBe(null);
  for (const zone of ['Mars/Olympus', '+14:00'])
    await expect(homes.setTimeZone(user_id, zone)).rejects.toMatchObject({ code: 'invalid_field' });
});

test('a name for an hour stands beside the choice for always, which a later one replaces', async () => {
  const { profile, shown } = await start();
  const choose = async (verdict: 'allow' | 'block', for_an_hour = false, name = 'games.example') => {
    await profiles.addName(profile, { name, verdict, for_an_hour }, database);
    return (await shown())?.names.map((one) => [one.verdict, one.until]);
  };
  await choose('block');
  const hour = ['allow', '2026-11-20T11:00:00.000Z'];
  expect(await choose('allow', true)).toEqual([hour, ['block', null]]);
  expect(await choose('allow')).toEqual([['allow', null]]);
  await expect(choose('allow', false, 'com')).rejects.toMatchObject({ code: 'invalid_field' });
});

test('a shared profile has the strictest rules of others of its home alone', async () => {
  const { user_id, profile, shown } = await start();
  const leo = await addTo(user_id, { name: 'Leo', age_group: 'sixteen' });
  const shared = await addTo(user_id, { name: 'Computer', shared_by: [profile.id, leo.id] });
  const seen = async () => (await homes.read(user_id)).profiles.find(({ id }) => id === shared.id);
  expect(await seen()).toMatchObject({ age_group: 'child', rules: { safe_search: 'strict' }, refused: [] });
  const rules = (await shown())?.rules;
  if (rules === undefined) throw new Error('It was added.');
  await expect(profiles.change(shared, { rules }, database)).rejects.toMatchObject({ code: 'conflict' });
  const { profile: foreign } = await start();
  const bad = [[foreign.id], [leo.id], [shared.id]].map((shared_by) => profiles.change(leo, { shared_by }, database));
  expect(await outcomes([...bad, addTo(user_id, { shared_by: [foreign.id] })])).toEqual(Array(4).fill('invalid_field'));
  await profiles.remove(profile, database);
  expect((await seen())?.shared_by).toEqual([leo.id]);
});

test('a device that is given, moved or freed loses its refused names, and stays in its home', async () => {
  const { user_id, profile, device, addGuardian } = await start();
  const leo = await addTo(user_id);
  const co_guardian = await addGuardian();
  const give = async (by: string, profile_id: string | null, one = device) => {
    const row = await profiles.findDevice(one.id);
    if (row === undefined) throw new Error('It was added.');
    await profiles.giveDevice(by, row, profile_id, database);
  };
  await give(co_guardian, leo.id);
  const { profiles: shown } = await homes.read(user_id);
  expect(shown.map(({ devices, refused }) => [devices.length, refused.length])).toEqual([
    [0, 0],
    [1, 0],
  ]);
  const foreign = await start();
  const router = await addDevice(user_id, null, { kind: 'router' });
  const network = await addDevice(user_id, null, { address: 'network' });
  const refused = [
    ...[give(foreign.user_id, foreign.profile.id), give(user_id, foreign.profile.id), give(user_id, leo.id, foreign.device)],
    ...[give(user_id, leo.id, router), give(user_id, leo.id, network)],
  ];
  expect(await outcomes(refused)).toEqual(['conflict', 'conflict', 'not_found', 'not_found', 'not_found']);
  await give(co_guardian, null);
  const { free_devices } = await homes.read(user_id);
  expect([free_devices.map(({ id }) => id), (await profiles.findDevice(device.id))?.guardian_ids]).toEqual([
    [device.id],
    [user_id],
  ]);
  expect(profile.id).not.toBe(leo.id);
});

test('guardians know of silent devices, of missing plans and of questions that wait', async () => {
  const { user_id, device_id, addGuardian } = await start();
  const last_question_at = new Date(clock.now - 40 * 3_600_000).toISOString();
  await database.updateTable('web_devices').set({ last_question_at }).where('id', '=', device_id).execute();
  for (const id of [user_id, await addGuardian()])
    expect(await homes.facts(id)).toEqual({ silent: [{ id: device_id, name: 'Phone' }], without_plan: [], asks: 0 });
});

test('a guardian who leaves takes their devices along; the last one removes profiles first', async () => {
  const { user_id, profile, addGuardian, shown } = await start();
  const other = await addGuardian();
  const phone = await addDevice(other, profile.id);
  await guardians.leave(other, database);
  expect([(await shown())?.devices.length, (await profiles.findDevice(phone.id))?.profile_id]).toEqual([1, null]);
  await expect(guardians.leave(user_id, database)).rejects.toMatchObject({ code: 'conflict' });
  await profiles.remove(profile, database);
  await guardians.leave(user_id, database);
  const left = await database.selectFrom('households').selectAll().where('id', '=', profile.household_id).execute();
  expect([left, (await homes.read(user_id)).profiles]).toEqual([[], []]);
});

needing('PostgreSQL', isPostgres()).test(
  'a guardian who leaves at that moment adds no profile, and takes their devices along',
  async () => {
    const { user_id: stays, profile, addGuardian } = await start();
    const leaves = await addGuardian();
    const device = await addDevice(leaves, profile.id);
    const row = await profiles.findDevice(device.id);
    if (row === undefined) throw new Error('It was added.');
    const other = await addTo(stays);
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
      addTo(leaves),
      inTransaction(database, (transaction) => profiles.giveDevice(stays, row, other.id, transaction)),
    ];
    await isWaiting(2);
    left.resolve();
    await leaving;
    expect(await outcomes(late)).toEqual(['not_found', 'not_found']);
    expect((await homes.read(stays)).profiles.map(({ devices }) => devices.length)).toEqual([1, 0]);
  },
);

/** A person with an empty home, and an invitation to it. */
async function inviting(email: string) {
  const { user_id, profile } = await start();
  await profiles.remove(profile, database);
  const home = await homes.need(user_id);
  const { token } = await guardians.invite(user_id, home, { typed: email, guardians: [] }, database);
  return { guest: { id: user_id, email: `${user_id}@example.com` }, token, home };
}
async function newGuest() {
  const id = await addPerson(all);
  return { id, email: `${id}@example.com` };
}
const joining = (guest: { id: string; email: string }, token: string) =>
  inTransaction(database, (transaction) => guardians.join(guest, token, transaction));

test('an invitation counts for its person, in its time, while its guardian is one, and for no home with profiles', async () => {
  const guest = await newGuest();
  const { token, home, guest: host } = await inviting(guest.email);
  const own = await addTo(guest.id);
  expect(await guardians.look(guest, token)).toEqual({ invited_by: host.id, profiles: [], has_own_home: true });
  await expect(joining(guest, token)).rejects.toMatchObject({ code: 'conflict' });
  await profiles.remove(own, database);
  await expect(joining(await newGuest(), token)).rejects.toMatchObject({ code: 'not_found' });
  await joining(guest, token);
  const invite = (typed: string, known: string[] = []) => guardians.invite(guest.id, home, { typed, guardians: known }, database);
  await expect(invite(host.email, [host.email])).rejects.toMatchObject({ code: 'conflict' });
  const late = await newGuest();
  const { token: over } = await invite(late.email);
  clock.now += 7 * 86_400_000;
  await expect(joining(late, over)).rejects.toMatchObject({ code: 'not_found' });
  const { token: ofLeaver } = await invite(late.email);
  await guardians.leave(guest.id, database);
  await expect(joining(late, ofLeaver)).rejects.toMatchObject({ code: 'not_found' });
});

test('a person who is invited twice and joins both homes at once is a guardian of one', async () => {
  const guest = await newGuest();
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
  const add = () => inTransaction(database, (transaction) => profiles.add(user_id, 2, bodyOf(), transaction));
  expect(await outcomes([add(), add(), add()])).toEqual(['conflict', 'fulfilled', 'fulfilled']);
  expect((await homes.read(user_id)).profiles).toHaveLength(2);
});

test('an invitation that is used twice at once lets its person in once', async () => {
  const guest = await newGuest();
  const { token, home } = await inviting(guest.email);
  expect(await outcomes([joining(guest, token), joining(guest, token)])).toEqual(['fulfilled', 'not_found']);
  expect((await homes.find(home.id))?.guardian_ids).toHaveLength(2);
});
