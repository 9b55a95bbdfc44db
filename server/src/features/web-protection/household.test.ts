import { listActivity } from '@palisade/contract/audit';
import { readDashboard } from '@palisade/contract/dashboard';
import {
  addProfile,
  addProfileName,
  answerAsk,
  changeProfile,
  inviteGuardian,
  joinHome,
  leaveHome,
  lookAtAskPage,
  lookAtHomeInvite,
  mayI,
  type ProfileTime,
  pauseProfile,
  readHousehold,
  removeProfile,
  removeProfileName,
  renewAskKey,
  setDeviceProfile,
  setHomeTimeZone,
  tryProfile,
} from '@palisade/contract/household';
import { deleteAccount } from '@palisade/contract/privacy';
import { addProviderDomain } from '@palisade/contract/scam-check';
import { assignSubscription, cancelSubscription } from '@palisade/contract/subscription';
import {
  addWebDevice,
  listWebRefusals,
  readWebProtection,
  removeWebDevice,
  renewWebKey,
} from '@palisade/contract/web-protection';
import { eventually } from '@palisade/scanner/test/eventually';
import { describe, expect, test } from 'vitest';
import { newId } from '#platform/id.ts';
import { askByKey, knowingNameServer } from '#test/dns-questions.ts';
import { COUNTED_IN_MEMORY, problemOf, replyOf, startTestApp } from '#test/harness.ts';
import { insertRow } from '#test/rows.ts';

/** A Wednesday afternoon, after school. */
const clock = { now: Date.parse('2026-11-18T17:30:00.000Z') };
const app = await startTestApp({
  environment: { ...COUNTED_IN_MEMORY, PUBLIC_URL: 'https://palisade.localhost:8443' },
  surroundings: { name_servers: [knowingNameServer], now: () => clock.now },
});
const { call } = app;
const { database } = app.app;
const { token: admin } = await app.signIn('admin', 'admin');

const BEDTIME: ProfileTime = { days: [1], from: '21:00', to: '06:30', refuses: 'all' };
const NOERROR = 0;
const NXDOMAIN = 3;

/** The response code of a device's question, or the status where it got none. */
async function rcode(key: string, name: string): Promise<number> {
  const answer = await askByKey(app, key, name);
  return answer.rcode ?? answer.status;
}

const PLAN = { plan_name: 'Family', price: 1, duration_months: 12, max_devices: 1, is_premium: true } as const;
const profileBody = { name: 'Mia', picture: 'fox', age_group: 'child', time_zone: 'UTC' } as const;
const home = async (token: string) => replyOf(await call(readHousehold, { token }));
const look = async (key: string) => replyOf(await call(lookAtAskPage, { body: { key } }));

async function deviceOf(token: string, profile_id: string, name = 'Tablet') {
  const device = replyOf(await call(addWebDevice, { token, body: { name, kind: 'android' } }));
  replyOf(await call(setDeviceProfile, { token, params: { id: device.id }, body: { profile_id } }));
  return device;
}

/** A guardian with a profile of a child and a device. */
async function family() {
  const person = await app.signIn();
  const { token } = person;
  const { subscription } = replyOf(
    await call(assignSubscription, { token: admin, body: { user_email: person.email, ...PLAN, features: [] } }),
  );
  const profile = replyOf(await call(addProfile, { token, body: profileBody }));
  const device = await deviceOf(token, profile.id);
  const params = { id: profile.id };
  const name = async (typed: string, verdict: 'allow' | 'block') =>
    replyOf(await call(addProfileName, { token, params, body: { name: typed, verdict } }));
  return { ...person, subscription_id: subscription.id, profile, device, name, key: profile.ask_key, params };
}

/** Makes another person a guardian. */
async function joined({ token }: { token: string }) {
  const person = await app.signIn();
  const { link } = replyOf(await call(inviteGuardian, { token, body: { email: person.email } }));
  const body = { token: link.split('#')[1] ?? '' };
  expect(replyOf(await call(lookAtHomeInvite, { token: person.token, body })).profiles).toEqual(['Mia']);
  replyOf(await call(joinHome, { token: person.token, body }));
  return person;
}

/** Has a device ask for a refused name, and answers the id of its refusal. */
async function refusedOn({ device, key }: { device: { id: string; key: string }; key: string }, name: string): Promise<string> {
  expect(await rcode(device.key, name)).toBe(NXDOMAIN);
  // Looks are limited, so the page is read once.
  await eventually(async () => {
    const rows = await database.selectFrom('web_refusals').select('name').where('device_id', '=', device.id).execute();
    expect(rows.map((row) => row.name)).toContain(name);
  });
  return (await look(key)).refused.find((row) => row.name === name)?.id ?? '';
}

test('each change of a home meets the next question of its devices', async () => {
  const { token, device, profile, params, key, name } = await family();
  const answers = async () => [await rcode(device.key, 'www.facebook.com'), await rcode(device.key, 'shop.example')];
  const pause = async (until: 'tomorrow' | 'end') =>
    replyOf(await call(pauseProfile, { token, params, body: { pause: until } })).paused_until;
  expect(await answers()).toEqual([NXDOMAIN, NOERROR]);
  expect((await home(token)).presets.find(({ age_group }) => age_group === 'child')?.rules).toEqual(profile.rules);
  replyOf(await call(setHomeTimeZone, { token, body: { time_zone: 'Europe/Paris' } }));
  expect(await pause('tomorrow')).toBe('2026-11-18T23:00:00.000Z');
  expect([await answers(), (await look(key)).state]).toEqual([[NXDOMAIN, NXDOMAIN], 'paused']);
  await pause('end');
  await name('facebook.com', 'allow');
  const { names } = await name('shop.example', 'block');
  expect(await answers()).toEqual([NOERROR, NXDOMAIN]);
  replyOf(await call(removeProfileName, { token, params: { id: names[0]?.id ?? '' } }));
  expect(await answers()).toEqual([NOERROR, NOERROR]);
  replyOf(await call(changeProfile, { token, params, body: { rules: { ...profile.rules, services: ['roblox'] } } }));
  expect(await rcode(device.key, 'www.roblox.com')).toBe(NXDOMAIN);
  const body = { name: 'youtube.com', day: 3, clock: '16:00' };
  expect(replyOf(await call(tryProfile, { token, params, body }))).toMatchObject({ is_allowed: false, rule: 'youtube.com' });
  replyOf(await call(setDeviceProfile, { token, params: { id: device.id }, body: { profile_id: null } }));
  expect(await rcode(device.key, 'www.roblox.com')).toBe(NOERROR);
});

test('two guardians have the same rights, and owners find changes of their devices in their own history', async () => {
  const first = await family();
  const second = await joined(first);
  const { token } = second;
  const { device, params } = first;
  const [one, other] = [await home(first.token), await home(token)];
  expect([one, other].map(({ guardians }) => guardians.map(({ is_me }) => is_me))).toEqual([
    [true, false],
    [false, true],
  ]);
  expect({ ...other, guardians: [], free_devices: [] }).toEqual({ ...one, guardians: [], free_devices: [] });
  const tv = await deviceOf(first.token, first.profile.id, 'TV');
  const shown = async () => replyOf(await call(readWebProtection, { token })).devices.map(({ id }) => id);
  expect(await shown()).toEqual([tv.id, device.id]);
  const { key } = replyOf(await call(renewWebKey, { token, params: { id: device.id } }));
  expect([await rcode(device.key, 'shop.example'), await rcode(key, 'shop.example')]).toEqual([404, NOERROR]);
  replyOf(await call(setDeviceProfile, { token, params: { id: device.id }, body: { profile_id: null } }));
  replyOf(await call(removeWebDevice, { token, params: { id: tv.id } }));
  await deviceOf(first.token, first.profile.id, 'Phone');
  await first.name('games.example', 'block');
  for (const pause of ['60', 'end'] as const) replyOf(await call(pauseProfile, { token, params, body: { pause } }));
  replyOf(await call(renewAskKey, { token, params }));
  replyOf(await call(changeProfile, { token, params, body: { name: 'Mia B' } }));
  replyOf(await call(removeProfile, { token, params }));
  replyOf(await call(leaveHome, { token }));
  expect(await shown()).toEqual([]);
  const told = async (of: string, by: 'self' | 'guardian') => {
    const entries = replyOf(await call(listActivity, { token: of })).toReversed();
    // Entries name no website.
    expect(JSON.stringify(entries)).not.toContain('games.example');
    return entries
      .filter((entry) => entry.by === by && /^(?:web|profile|home)_/u.test(entry.kind))
      .map(({ kind, details }) => [kind, details['device_name'] ?? details['profile']]);
  };
  const ofDevices = [
    ...[['web_key_renewed', 'Tablet'] as const, ['profile_device_changed', 'Tablet'] as const],
    ['web_device_removed', 'TV'] as const,
  ];
  expect(await told(first.token, 'guardian')).toEqual([...ofDevices, ['profile_removed', 'Mia B']]);
  expect(await told(token, 'self')).toEqual([
    ...[['home_joined', undefined], ...ofDevices, ['profile_paused', 'Mia'], ['profile_resumed', 'Mia']],
    ...[
      ['profile_key_renewed', 'Mia'],
      ['profile_changed', 'Mia'],
      ['profile_removed', 'Mia B'],
      ['home_left', undefined],
    ],
  ]);
});

test('guardians are one when an account ends, and none when both end', async () => {
  const first = await family();
  const second = await joined(first);
  const end = async ({ token, email, password }: { token: string; email: string; password: string }) =>
    replyOf(await call(deleteAccount, { token, body: { password, confirmation: email } }));
  await end(first);
  expect(await home(second.token)).toMatchObject({ guardians: [{ is_me: true }], profiles: [{ name: 'Mia', devices: [] }] });
  await end(second);
  const left = await database.selectFrom('profiles').selectAll().where('id', '=', first.profile.id).execute();
  expect(left).toEqual([]);
});

test('the plan limits profiles, and its end deletes none: both sides say that only dangerous names are refused', async () => {
  const { token, device, profile, params, subscription_id } = await family();
  replyOf(await call(addProviderDomain, { token: admin, body: { domain: 'bank-l0gin.com', list: 'dangerous' } }));
  replyOf(await call(cancelSubscription, { token: admin, body: { subscription_id } }));
  // Another change, with which the server reads the plan again.
  const { ask_key } = replyOf(await call(renewAskKey, { token, params }));
  expect([await rcode(device.key, 'www.facebook.com'), await rcode(device.key, 'bank-l0gin.com')]).toEqual([NOERROR, NXDOMAIN]);
  const without = { has_plan: false, profiles_maximum: 0, profiles: [{ id: profile.id, state: 'no_plan' }] };
  expect([await home(token), (await look(ask_key)).state]).toMatchObject([without, 'no_plan']);
  const { next, others } = replyOf(await call(readDashboard, { token })).status;
  expect([next, ...others].find((step) => step?.id === 'profile_no_plan')?.fix_route).toBe('/household');
  expect(problemOf(await call(addProfile, { token, body: profileBody })).detail).toMatch(/^Your plan has no profiles/);
});

test('“May I?” tells each guardian once, counts the rest, and the answer is in the next answer to the device', async () => {
  /** A browser that gets notices, and the number of those that wait for it: with its key none is sent. */
  async function notices({ email, token }: { email: string; token: string }) {
    const { id: user_id } = await database.selectFrom('users').select('id').where('email', '=', email).executeTakeFirstOrThrow();
    const session = await database.selectFrom('sessions').select('id').where('user_id', '=', user_id).executeTakeFirstOrThrow();
    const endpoint = `https://fcm.googleapis.com/fcm/send/${token}`;
    const subscription = { id: newId(), user_id, session_id: session.id, endpoint, p256dh: '', auth: '' };
    await insertRow(database, 'push_subscriptions', { ...subscription, created_at: new Date(clock.now).toISOString() });
    return async () => {
      const jobs = await database.selectFrom('jobs').select('payload').where('kind', '=', 'push').execute();
      return jobs.filter(({ payload }) => payload.includes(subscription.id)).length;
    };
  }
  const one = await family();
  const second = await joined(one);
  const waiting = await Promise.all([notices(one), notices(second)]);
  await one.name('games.example', 'block');
  const refusal_id = await refusedOn(one, 'www.games.example');
  for (let count = 0; count < 3; count++) replyOf(await call(mayI, { body: { key: one.key, refusal_id } }));
  expect(await Promise.all(waiting.map((read) => read()))).toEqual([1, 1]);
  const [ask] = (await home(second.token)).asks;
  expect(ask).toMatchObject({ name: 'www.games.example', count: 3, answer: 'wait', device_name: 'Tablet' });
  const { next, others } = replyOf(await call(readDashboard, { token: second.token })).status;
  expect([next, ...others].map((step) => step?.id)).toContain('ask_waiting');
  const params = { id: ask?.id ?? '' };
  const body = { answer: 'hour', line: 'Then homework.' } as const;
  expect(replyOf(await call(answerAsk, { token: second.token, params, body })).until).toBe('2026-11-18T18:30:00.000Z');
  expect(await rcode(one.device.key, 'www.games.example')).toBe(NOERROR);
  expect((await look(one.key)).asks).toMatchObject([{ answer: 'hour', line: 'Then homework.', count: 3 }]);
  clock.now += 3_600_000;
  expect(await rcode(one.device.key, 'www.games.example')).toBe(NXDOMAIN);
});

describe('a hostile child', async () => {
  const anna = await family();
  const kid = await app.signIn();
  await anna.name('games.example', 'block');
  const refusal_id = await refusedOn(anna, 'games.example');
  const page = replyOf(await call(mayI, { body: { key: anna.key, refusal_id } }));
  const answer = `POST /household/asks/${page.asks[0]?.id ?? ''}/answer`;
  const device = anna.device.id;
  const profile = `/household/profiles/${anna.params.id}`;
  const { key } = anna;
  const before = await home(anna.token);
  const night = { days: [8], from: '00:00', to: '24:00', refuses: 'all' };
  const rules = (some: object) => ({ rules: { ...anna.profile.rules, ...some } });

  /** A call as text: `POST /ask`, with the token of a person. */
  async function send(call_: string, body?: unknown, token?: string): Promise<number> {
    const [method = '', path = ''] = call_.split(' ');
    const headers = {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const reply = await app.fetch(`/api${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
    return reply.status;
  }

  // The table of access tries all records of a home as a stranger and as staff.
  test.each<[title: string, status: number, call: string, body?: unknown, token?: string]>([
    ['looks with an empty key', 404, 'POST /ask/look', { key: '' }],
    ['looks with a very long key', 422, 'POST /ask/look', { key: 'a'.repeat(10_000) }],
    ['looks with a list of keys', 422, 'POST /ask/look', { key: [key] }],
    ['looks with the key of a device', 404, 'POST /ask/look', { key: anna.device.key }],
    ['looks with its key in capitals', 404, 'POST /ask/look', { key: key.toUpperCase() }],
    ['looks with a line break behind its key', 404, 'POST /ask/look', { key: `${key}\n` }],
    ['looks with SQL as its key', 404, 'POST /ask/look', { key: "' or ask_key <> '" }],
    ['reads the page without its key in the body', 404, `GET /ask/${key}`],
    ['asks for a made-up refusal', 404, 'POST /ask', { key, refusal_id: newId() }],
    ['asks for a name in place of a refusal', 422, 'POST /ask', { key, refusal_id: 'games.example' }],
    ['asks with a huge body', 413, 'POST /ask', { key, refusal_id: 'x'.repeat(3_000_000) }],
    ['answers its own ask with its key', 401, answer, { answer: 'always' }, key],
    ['takes an answer back', 422, answer, { answer: 'wait' }, anna.token],
    ['has a very long answer', 422, answer, { answer: 'no', line: 'x'.repeat(201) }, anna.token],
    ['pauses for ever', 422, `POST ${profile}/pause`, { pause: '99999999' }, anna.token],
    ['leaves a home that it is no guardian of', 404, 'POST /household/leave', undefined, kid.token],
    ['changes the clock of a home that it has not', 404, 'PUT /household/time-zone', { time_zone: 'UTC' }, kid.token],
    ['pages from a made-up row', 422, 'GET /web-protection/refused?cursor=1', undefined, kid.token],
    ['is watched', 409, `POST /web-protection/devices/${device}/show-names`, { shown: true }, anna.token],
    ['shares with many', 422, `PATCH ${profile}`, { shared_by: Array.from({ length: 21 }, newId) }, anna.token],
    [
      'has a 13th time',
      422,
      `PATCH ${profile}`,
      rules({ times: anna.profile.rules.times.concat(Array.from({ length: 12 }, () => BEDTIME)) }),
      anna.token,
    ],
    ['has a time at 24:00 on an eighth day', 422, `PATCH ${profile}`, rules({ times: [night] }), anna.token],
    ['has a category that does not exist', 422, `PATCH ${profile}`, rules({ categories: ['x'] }), anna.token],
    ['has an age that does not exist', 422, `PATCH ${profile}`, { age_group: 'adult' }, anna.token],
    ['has a name with a control character', 422, `PATCH ${profile}`, { name: 'Mia\u0007' }, anna.token],
    ['has an empty name', 422, `PATCH ${profile}`, { name: '  ' }, anna.token],
    ['has a very long name', 422, `PATCH ${profile}`, { name: 'x'.repeat(1_000) }, anna.token],
    ['joins with a guess', 404, 'POST /household/join', { token: 'x'.repeat(43) }, kid.token],
    ['invites without a home', 404, 'POST /household/invites', { email: 'x@example.com' }, kid.token],
    ['invites no address', 422, 'POST /household/invites', { email: 'x\r\nBcc: y@example.com' }, anna.token],
  ])('%s: %i', async (_title, status, called, body, token) => {
    expect(await send(called, body, token)).toBe(status);
  });

  test('has changed nothing, and does not guess for long', async () => {
    expect(await home(anna.token)).toEqual(before);
    expect(replyOf(await call(listWebRefusals, { token: kid.token, query: `?device_id=${device}` }))).toEqual([]);
    // On a slow machine one more is allowed every two seconds.
    const statuses: number[] = [];
    while (statuses.length < 100 && !statuses.includes(429)) statuses.push(await send('POST /ask/look', { key: 'a'.repeat(26) }));
    expect(statuses).toContain(429);
  });
});
