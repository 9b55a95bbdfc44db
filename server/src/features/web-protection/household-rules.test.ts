import type { AgeGroup, ProfileRules, ProfileTime } from '@palisade/contract/household';
import { UNLIMITED_DEVICES } from '@palisade/contract/subscription';
import { decide } from '@palisade/names/decide';
import { hashName, newHashes } from '@palisade/names/name-list';
import { neverRefused } from '@palisade/names/never-refused';
import { wireName } from '@palisade/names/wire';
import { expect, test } from 'vitest';
import { newId } from '#platform/id.ts';
import { profileLimit } from '#server/app/household.ts';
import { addPerson, featureDatabase } from '#test/feature-database.ts';
import { insertRow, oneRow } from '#test/rows.ts';
import { CategoryLists } from './category-lists.ts';
import {
  effectiveNames,
  type ProfileMoment,
  type ProfileNameRow,
  ProfilePolicies,
  profileLevels,
  storedRules,
  strictest,
} from './household-rules.ts';
import { listOf } from './name-rules.ts';
import { Policies } from './policies.ts';
import { newKey, WebDevices } from './web-devices.ts';
import type { WebProtectionTables } from './web-protection.tables.ts';

const NO_RULES: ProfileRules = { categories: [], services: [], safe_search: 'off', times: [] };
const every = (from: string, to: string, refuses: ProfileTime['refuses']): ProfileTime => ({
  ...{ days: [1, 2, 3, 4, 5, 6, 7], from, to, refuses },
});
const lists = await CategoryLists.open({ of: (category) => (category === 'adult' ? [listOf(['adult.example'])] : []) });
const dangerous = () =>
  Promise.resolve({
    level: 'dangerous' as const,
    allowed: listOf(['trusted.example']),
    blocked: [{ category: 'dangerous', names: listOf(['evil.example', 'trusted.example']) }],
  });

const DANGEROUS = await dangerous();

/** Allowed by a level, refused for a reason, or undecided. */
function verdictOf(levels: ReturnType<typeof profileLevels>, name: string) {
  const hashes = hashName(wireName(name) ?? Buffer.alloc(1), newHashes());
  const decision = decide({ levels, safe_search: 'off', seconds_maximum: 60 }, hashes);
  return decision?.kind === 'allowed' ? `allowed by ${decision.level}` : decision?.category;
}

const BEDTIME = [every('21:00', '06:30', 'all'), every('00:00', '17:00', 'games')];
const ROBLOX = 'www.roblox.com';
const moment = (clock: string, some: Partial<ProfileMoment> = {}): ProfileMoment => ({
  rules: { categories: ['adult'], services: ['tiktok'], safe_search: 'off', times: BEDTIME },
  names: { allowed: [], for_an_hour: [], blocked: [] },
  is_paused: false,
  reading: { day: 3, clock },
  ...some,
});
const names = (some: Partial<ProfileMoment['names']>) => ({ names: { allowed: [], for_an_hour: [], blocked: [], ...some } });
const HOUR = names({ allowed: [ROBLOX], for_an_hour: [ROBLOX] });

test.each<[string, ProfileMoment, string, string | undefined]>([
  [
    'a dangerous name at any time',
    moment('22:00', { is_paused: true, ...names({ allowed: ['evil.example'] }) }),
    'evil.example',
    'dangerous',
  ],
  ['a trusted name in the afternoon', moment('18:00'), 'trusted.example', undefined],
  ['a trusted name at bedtime', moment('22:00'), 'trusted.example', 'time'],
  ['all names in a pause, at bedtime too', moment('22:00', { is_paused: true }), 'school.example', 'paused'],
  ['a name for an hour in a pause', moment('12:00', { is_paused: true, ...HOUR }), ROBLOX, 'paused'],
  ['a name for an hour at bedtime', moment('22:00', HOUR), ROBLOX, 'allowed by guardian'],
  ['a name for an hour before 17:00', moment('12:00', HOUR), ROBLOX, 'allowed by guardian'],
  [
    'a blocked name that is allowed for an hour, at bedtime',
    moment('22:00', names({ allowed: ['games.example'], for_an_hour: ['games.example'], blocked: ['games.example'] })),
    'www.games.example',
    'allowed by guardian',
  ],
  ['another name of its service', moment('12:00', HOUR), 'rbxcdn.com', 'time_services'],
  ['all names at bedtime', moment('21:00'), 'school.example', 'time'],
  [
    'a name that is always allowed, at bedtime',
    moment('22:00', names({ allowed: ['school.example'] })),
    'school.example',
    'time',
  ],
  ['a name that is always allowed, before 17:00', moment('12:00', names({ allowed: [ROBLOX] })), ROBLOX, 'allowed by guardian'],
  ['a game before 17:00', moment('16:59'), ROBLOX, 'time_services'],
  ['a game after 17:00', moment('17:00'), ROBLOX, undefined],
  ['a video before 17:00', moment('12:00'), 'www.youtube.com', undefined],
  ['a service that is always refused', moment('18:00'), 'www.tiktok.com', 'tiktok'],
  ['a name of a refused category', moment('18:00'), 'www.adult.example', 'adult'],
  ['a blocked name', moment('18:00', names({ blocked: ['games.example'] })), 'a.games.example', 'guardian'],
  [
    'an allowed name below a blocked one',
    moment('18:00', names({ blocked: ['games.example'], allowed: ['a.games.example'] })),
    'a.games.example',
    'allowed by guardian',
  ],
  [
    'a blocked name below one that is allowed for an hour',
    moment('22:00', names({ allowed: ['games.example'], for_an_hour: ['games.example'], blocked: ['bad.games.example'] })),
    'bad.games.example',
    'guardian',
  ],
])('a profile decides about %s', (_what, at, name, verdict) => {
  expect(verdictOf([DANGEROUS, ...profileLevels(at, lists)], name)).toBe(verdict);
});

test('names that an answer leads on to are refused unless guardians allowed the first one', () => {
  const alias = hashName(wireName('cdn.adult.example') ?? Buffer.alloc(1), newHashes());
  const policy = {
    levels: [DANGEROUS, ...profileLevels(moment('22:00', HOUR), lists)],
    safe_search: 'off',
    seconds_maximum: 60,
  } as const;
  expect(decide(policy, alias)?.kind).toBe('refused');
  expect(decide(policy, alias, 'guardian')).toBe(undefined);
  const evil = hashName(wireName('cdn.evil.example') ?? Buffer.alloc(1), newHashes());
  expect(decide(policy, evil, 'guardian')?.kind).toBe('refused');
});

test('people who share a device have all that any of them is refused', () => {
  const bedtime = every('21:00', '06:30', 'all');
  const one: ProfileRules = { categories: ['adult'], services: ['tiktok'], safe_search: 'moderate', times: [bedtime] };
  const other: ProfileRules = {
    ...{ categories: ['adult', 'gambling'], services: ['roblox', 'tiktok'], safe_search: 'strict' },
    times: [
      { ...bedtime, days: bedtime.days.toReversed() },
      { ...bedtime, to: '06:00' },
    ],
  };
  const both = { categories: ['adult', 'gambling'], services: ['tiktok', 'roblox'], safe_search: 'strict' };
  expect(strictest([one, other])).toEqual({ ...both, times: [bedtime, { ...bedtime, to: '06:00' }] });
  expect(strictest([one, NO_RULES])).toEqual(one);
});

const NOW = '2026-11-20T17:00:00.000Z';
const LATER = '2026-11-20T17:30:00.000Z';
const row = (profile_id: string, name: string, verdict: 'allow' | 'block', until: string | null = null): ProfileNameRow => ({
  ...{ id: newId(), profile_id, name, verdict, until, created_at: NOW },
});

test('an allow for an hour ends alone, and what is chosen for always holds again', () => {
  const rows = [
    ...[row('tim', 'a.example', 'allow', LATER), row('tim', 'b.example', 'block'), row('tim', 'b.example', 'allow', LATER)],
    ...[row('tim', 'c.example', 'allow'), row('tim', 'c.example', 'allow', LATER)],
  ];
  const at = (now: string) => effectiveNames({ id: 'tim' }, [], rows, now);
  const hour = ['a.example', 'b.example', 'c.example'];
  expect(at(NOW)).toEqual({ allowed: hour, for_an_hour: hour, blocked: ['b.example'] });
  expect(at(LATER)).toEqual({ allowed: ['c.example'], for_an_hour: [], blocked: ['b.example'] });
});

test('a shared device is allowed its own names and those that all of its people are, and refused what any is', () => {
  const rows = [
    ...[row('shared', 'own.example', 'allow'), row('tim', 'tim.example', 'allow'), row('eva', 'no.example', 'block')],
    ...[row('tim', 'both.example', 'allow'), row('eva', 'www.both.example', 'allow', LATER)],
    ...[row('tim', 'note.example', 'allow'), row('eva', 'footnote.example', 'allow')],
  ];
  expect(effectiveNames({ id: 'shared' }, [{ id: 'tim' }, { id: 'eva' }], rows, NOW)).toEqual({
    allowed: ['own.example', 'www.both.example'],
    for_an_hour: [],
    blocked: ['no.example'],
  });
});

test('stored rules of a newer server are read without what is unknown here', () => {
  const time = every('21:00', '06:30', 'all');
  const rules = JSON.stringify({
    ...{ categories: ['adult', 'magic'], services: ['tiktok', 'holodeck'], safe_search: 'extreme', more: 1 },
    times: [time, { ...time, refuses: 'holodecks' }],
  });
  expect(storedRules({ rules })).toEqual({ categories: ['adult'], services: ['tiktok'], safe_search: 'off', times: [time] });
});

const database = await featureDatabase();
let queries = 0;
const counted = database.withPlugin({
  transformQuery({ node }) {
    queries += 1;
    return node;
  },
  transformResult: async ({ result }) => result,
});
const tables = counted.$pickTables<keyof WebProtectionTables>();

type Person = { rules?: ProfileRules; age_group?: AgeGroup; shared_by?: string[]; paused_until?: string };

/** A home in Vienna on November 20, 2026, a Friday, at 18:00, with profiles whose rules a clock may find. */
async function home() {
  const clock = { now: Date.parse(NOW) };
  const plan = { has: true };
  const household_id = newId();
  await database.insertInto('households').values({ id: household_id, time_zone: 'Europe/Vienna', created_at: NOW }).execute();
  const user_id = await addPerson(database);
  for (const id of [user_id, await addPerson(database)])
    await database.insertInto('guardians').values({ user_id: id, household_id, joined_at: NOW }).execute();
  async function add({ rules = NO_RULES, age_group = 'child', shared_by = [], paused_until }: Person = {}) {
    const id = newId();
    await insertRow(database, 'profiles', {
      ...{ id, household_id, name: 'Tim', picture: 'fox', age_group, ask_key: id, created_at: NOW },
      ...{ rules: JSON.stringify(rules), shared_by: JSON.stringify(shared_by), paused_until: paused_until ?? null },
    });
    return id;
  }
  const profiles = new ProfilePolicies({
    ...{ database: tables, lists, dangerous, never: neverRefused([]) },
    limitOf: async (guardian_ids) => (plan.has && guardian_ids.length === 2 ? 50 : 0),
    now: () => clock.now,
  });
  const policies = new Policies({ database: tables, lists, dangerous, profiles, now: () => clock.now });
  const rulesOf = (profile_id: string | null) => policies.rulesOf({ user_id, profile_id });
  const refused = async (profile_id: string | null, name: string) =>
    verdictOf([...(await rulesOf(profile_id)).policy.levels], name);
  return { clock, plan, add, profiles, policies, user_id, rulesOf, refused };
}

test('a device has the rules of its profile in place of its owner’s, in two queries', async () => {
  const { add, policies, user_id, rulesOf, refused } = await home();
  await policies.set(user_id, { categories: [], services: ['roblox'], safe_search: 'off' });
  await policies.pause(user_id, true);
  const tim = await add({ rules: { ...NO_RULES, services: ['tiktok'], safe_search: 'strict' } });
  expect([await refused(null, 'evil.example'), await refused(tim, 'evil.example')]).toEqual([undefined, 'dangerous']);
  expect([await refused(null, 'tiktok.com'), await refused(tim, 'tiktok.com')]).toEqual([undefined, 'tiktok']);
  expect([await refused(null, 'roblox.com'), await refused(tim, 'roblox.com')]).toEqual(['roblox', undefined]);
  queries = 0;
  expect(await rulesOf(tim)).toMatchObject({ policy: { safe_search: 'strict', seconds_maximum: 60 }, is_private: false });
  expect(queries).toBe(2);
});

test('a device asks four queries each few seconds: its key, its profile with guardians, names, and plans', async () => {
  const { add, clock } = await home();
  const profile_id = await add();
  await add();
  const user_id = await addPerson(database, { role: 'admin' });
  const { household_id } = await oneRow(database, 'profiles', { id: profile_id });
  await database.insertInto('guardians').values({ user_id, household_id, joined_at: NOW }).execute();
  const key = newKey();
  await insertRow(database, 'web_devices', {
    ...{ id: newId(), user_id, profile_id, name: 'Phone', kind: 'android', key, address: null },
    ...{ created_at: NOW, last_question_at: null },
  });
  const now = () => clock.now;
  const limits: number[] = [];
  const profiles = new ProfilePolicies({
    ...{ database: tables, lists, dangerous, never: neverRefused([]), now },
    async limitOf(guardian_ids) {
      limits.push(await profileLimit(counted, guardian_ids, now()));
      return limits[0] ?? 0;
    },
  });
  const policies = new Policies({ database: tables, lists, dangerous, profiles, now });
  queries = 0;
  const device = await new WebDevices({ database: tables, now }).findByKey(key);
  expect(await policies.rulesOf(device ?? { user_id, profile_id: null })).toMatchObject({ is_private: false });
  expect([queries, limits]).toEqual([4, [UNLIMITED_DEVICES]]);
});

test('times follow the clock of the home', async () => {
  const { clock, add, refused } = await home();
  const tim = await add({ rules: { ...NO_RULES, times: BEDTIME } });
  expect(await refused(tim, 'school.example')).toBe(undefined);
  clock.now = Date.parse('2026-11-20T20:00:00.000Z');
  expect(await refused(tim, 'school.example')).toBe('time');
  clock.now = Date.parse('2026-11-21T05:30:00.000Z');
  expect(await refused(tim, 'school.example')).toBe(undefined);
});

test('a pause ends with its time', async () => {
  const { clock, add, refused } = await home();
  const tim = await add({ paused_until: LATER });
  expect(await refused(tim, 'school.example')).toBe('paused');
  clock.now = Date.parse(LATER);
  expect(await refused(tim, 'school.example')).toBe(undefined);
});

test('a shared profile has the rules, pauses, and privacy of its people', async () => {
  const { add, rulesOf, refused } = await home();
  const tim = await add({ rules: { ...NO_RULES, services: ['tiktok'] } });
  const eva = await add({ rules: { ...NO_RULES, services: ['roblox'] }, age_group: 'sixteen' });
  const paused = await add({ paused_until: LATER });
  const both = await add({ rules: { ...NO_RULES, services: ['steam'] }, shared_by: [tim, eva] });
  expect([await refused(both, 'tiktok.com'), await refused(both, 'roblox.com')]).toEqual(['tiktok', 'roblox']);
  expect(await refused(both, 'steamcommunity.com')).toBe(undefined);
  expect([(await rulesOf(both)).is_private, (await rulesOf(eva)).is_private, (await rulesOf(tim)).is_private]).toEqual([
    true,
    true,
    false,
  ]);
  expect(await refused(await add({ shared_by: [tim, paused] }), 'school.example')).toBe('paused');
});

test('without a plan only dangerous names are refused, and the rest of the profile stays', async () => {
  const { plan, add, rulesOf, refused } = await home();
  const eva = await add({
    rules: { ...NO_RULES, services: ['tiktok'], safe_search: 'strict' },
    age_group: 'sixteen',
    paused_until: LATER,
  });
  plan.has = false;
  expect([await refused(eva, 'evil.example'), await refused(eva, 'tiktok.com')]).toEqual(['dangerous', undefined]);
  expect(await rulesOf(eva)).toMatchObject({ policy: { safe_search: 'off' }, is_private: true });
  plan.has = true;
  expect(await refused(eva, 'school.example')).toBe('paused');
});

test.each([
  ['www.roblox.com', '12:00', { is_allowed: false, category: 'time_services', rule: 'roblox.com' }],
  ['https://www.roblox.com/games', '18:00', { is_allowed: true, category: null, rule: '' }],
  ['school.example', '22:00', { is_allowed: false, category: 'time', rule: '' }],
  ['captive.apple.com', '22:00', { is_allowed: true, category: null, rule: '' }],
  ['a.allowed.example', '12:00', { is_allowed: true, category: 'guardian', rule: 'allowed.example' }],
  ['blocked.example', '12:00', { is_allowed: false, category: 'guardian', rule: 'blocked.example' }],
  ['hour.example', '22:00', { is_allowed: false, category: 'time', rule: '' }],
  ['www.google.com', '12:00', { is_allowed: true, category: null, is_safe_search: true }],
  ['www.google.com', '22:00', { is_allowed: false, is_safe_search: false }],
])('a try of %s at %s says what devices get and why', async (name, clock, answer) => {
  const { add, profiles } = await home();
  const tim = await add({ rules: { ...NO_RULES, safe_search: 'strict', times: BEDTIME }, paused_until: LATER });
  const rows = [
    row(tim, 'allowed.example', 'allow'),
    row(tim, 'blocked.example', 'block'),
    row(tim, 'hour.example', 'allow', LATER),
  ];
  await database.insertInto('profile_names').values(rows).execute();
  expect(await profiles.tryName(tim, { name, day: 3, clock })).toMatchObject(answer);
});

test('a try uses rules that are not saved yet, except of a shared profile', async () => {
  const { add, profiles } = await home();
  const tim = await add();
  const eva = await add();
  const shared = await add({ shared_by: [tim, eva] });
  const asked = { name: 'tiktok.com', day: 3, clock: '12:00', rules: { ...NO_RULES, services: ['tiktok'] } };
  expect(await profiles.tryName(tim, asked)).toMatchObject({ is_allowed: false, category: 'tiktok' });
  expect(await profiles.tryName(shared, asked)).toMatchObject({ is_allowed: true });
  await expect(profiles.tryName(tim, { ...asked, name: 'com' })).rejects.toMatchObject({ code: 'invalid_field' });
});
