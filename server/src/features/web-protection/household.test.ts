import { listActivity } from '@palisade/contract/audit';
import { readDashboard } from '@palisade/contract/dashboard';
import {
  AGE_GROUPS,
  type AgeGroup,
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
  showWebNames,
} from '@palisade/contract/web-protection';
import { eventually } from '@palisade/scanner/test/eventually';
import { describe, expect, test } from 'vitest';
import { newId } from '#platform/id.ts';
import { COUNTED_IN_MEMORY, problemOf, replyOf, startTestApp } from '#test/harness.ts';
import { newKey } from './web-devices.ts';

const ADDRESS = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 1, 44, 0, 4, 192, 0, 2, 1]);
/** A name server that knows every name. */
async function nameServer(query: Buffer): Promise<Buffer> {
  const answer = Buffer.concat([query.subarray(0, query.indexOf(0, 12) + 5), ADDRESS]);
  answer.writeUInt16BE(0x8180, 2);
  answer.writeUInt16BE(1, 6);
  answer.writeUInt16BE(0, 10);
  return answer;
}

const HOUR_MS = 3_600_000;
/** A Wednesday afternoon, after school. */
const clock = { now: Date.parse('2026-11-18T17:30:00.000Z') };
const app = await startTestApp({
  environment: { ...COUNTED_IN_MEMORY, PUBLIC_URL: 'https://palisade.localhost:8443' },
  surroundings: { name_servers: [nameServer], now: () => clock.now },
});
const { call } = app;
const { database } = app.app;
const { token: admin } = await app.signIn('admin', 'admin');
replyOf(await call(addProviderDomain, { token: admin, body: { domain: 'bank-l0gin.com', list: 'dangerous' } }));

const NOERROR = 0;
const NXDOMAIN = 3;

function question(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([Buffer.from([0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]), ...labels, Buffer.from([0, 0, 1, 0, 1])]);
}

/** The response code of a device's question, or the status where it got none. */
async function rcode(key: string, name: string): Promise<number> {
  const headers = { 'content-type': 'application/dns-message' };
  const answer = await app.fetch(`/dns/${key}`, { method: 'POST', headers, body: new Uint8Array(question(name)) });
  const bytes = Buffer.from(await answer.arrayBuffer());
  return answer.ok ? (bytes[3] ?? 0) & 0xf : answer.status;
}

const PLAN = { plan_name: 'Family', price: 1, duration_months: 12, max_devices: 1, is_premium: true } as const;

async function guardian({ max_profiles = 5 }: { max_profiles?: 1 | 5 } = {}) {
  const person = await app.signIn();
  const body = { user_email: person.email, ...PLAN, max_profiles, features: [] };
  const { subscription } = replyOf(await call(assignSubscription, { token: admin, body }));
  return { ...person, subscription_id: subscription.id };
}

async function profileOf(token: string, name = 'Mia', age_group: AgeGroup = 'child') {
  return replyOf(await call(addProfile, { token, body: { name, picture: 'fox', age_group, time_zone: 'UTC' } }));
}

async function deviceOf(token: string, profile_id: string | null, name = 'Tablet') {
  const device = replyOf(await call(addWebDevice, { token, body: { name, kind: 'android' } }));
  if (profile_id !== null) replyOf(await call(setDeviceProfile, { token, params: { id: device.id }, body: { profile_id } }));
  return device;
}

const home = async (token: string) => replyOf(await call(readHousehold, { token }));
const look = async (key: string, own_key?: string) => replyOf(await call(lookAtAskPage, { body: { key, own_key } }));

/** A guardian with a profile of a child and a device. */
async function family() {
  const person = await guardian();
  const { token } = person;
  const profile = await profileOf(token);
  const device = await deviceOf(token, profile.id);
  /** Has the device asked for names that are refused, and answers the ids of their refusals. */
  const refused = async (...names: string[]) => {
    for (const name of names) expect(await rcode(device.key, name)).toBe(NXDOMAIN);
    // Looks are limited, so the page is read once.
    await eventually(async () => {
      const rows = await database.selectFrom('web_refusals').select('name').where('device_id', '=', device.id).execute();
      expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
    });
    const rows = (await look(profile.ask_key)).refused;
    return names.map((name) => rows.find((row) => row.name === name)?.id ?? '');
  };
  const block = async (name: string) =>
    replyOf(await call(addProfileName, { token, params: { id: profile.id }, body: { name, verdict: 'block' } }));
  const asks = async (refusal_id: string) => replyOf(await call(mayI, { body: { key: profile.ask_key, refusal_id } }));
  return { ...person, profile, device, refused, block, asks, key: profile.ask_key, params: { id: profile.id } };
}

type Family = Awaited<ReturnType<typeof family>>;

/** Makes another person a guardian. */
async function invited({ token }: { token: string }, guest?: Awaited<ReturnType<typeof app.signIn>>) {
  const person = guest ?? (await app.signIn());
  const { link } = replyOf(await call(inviteGuardian, { token, body: { email: person.email } }));
  return { ...person, invite: link.split('#')[1] ?? '' };
}

async function joined(by: { token: string }) {
  const person = await invited(by);
  replyOf(await call(joinHome, { token: person.token, body: { token: person.invite } }));
  return person;
}

describe('a home', () => {
  test('is made with the first profile, which has the preset of its age on all of its devices', async () => {
    const { token, device, profile, params } = await family();
    const shown = await home(token);
    expect(shown).toMatchObject({ time_zone: 'UTC', guardians: [{ is_me: true }], profiles_maximum: 5, has_plan: true });
    expect(shown.presets.find(({ age_group }) => age_group === 'child')?.rules).toEqual(profile.rules);
    expect(shown.profiles[0]?.devices).toMatchObject([{ id: device.id, name: 'Tablet', is_silent: false }]);
    expect([await rcode(device.key, 'www.facebook.com'), await rcode(device.key, 'www.youtube.com')]).toEqual([
      NXDOMAIN,
      NOERROR,
    ]);
    const body = { name: 'youtube.com', day: 3, clock: '16:00' };
    const tried = async (rules?: typeof profile.rules) =>
      replyOf(await call(tryProfile, { token, params, body: { ...body, ...(rules && { rules }) } }));
    expect(await tried()).toMatchObject({ is_allowed: false, category: 'time_services', rule: 'youtube.com' });
    expect(await tried({ ...profile.rules, times: [] })).toMatchObject({ is_allowed: true, category: null });
  });

  test('pauses all names of a profile until tomorrow in its time zone', async () => {
    const { token, device, params, key } = await family();
    replyOf(await call(setHomeTimeZone, { token, body: { time_zone: 'Europe/Paris' } }));
    const pause = async (until: 'tomorrow' | '15' | 'end') =>
      replyOf(await call(pauseProfile, { token, params, body: { pause: until } })).paused_until;
    expect(await pause('tomorrow')).toBe('2026-11-18T23:00:00.000Z');
    expect([await rcode(device.key, 'shop.example'), (await look(key)).state]).toEqual([NXDOMAIN, 'paused']);
    expect(await pause('15')).toBe('2026-11-18T17:45:00.000Z');
    expect([await pause('end'), await rcode(device.key, 'shop.example'), (await look(key)).state]).toEqual([null, NOERROR, 'on']);
  });

  test('takes names from its guardians, and shows each hour beside what holds for always', async () => {
    const { token, device, params, block } = await family();
    const name = async (body: { name: string; verdict: 'allow' | 'block'; for_an_hour?: boolean }) =>
      replyOf(await call(addProfileName, { token, params, body })).names;
    await block('games.example');
    expect(await rcode(device.key, 'www.games.example')).toBe(NXDOMAIN);
    const both = await name({ name: 'games.example', verdict: 'allow', for_an_hour: true });
    expect(both.map(({ verdict, until }) => [verdict, until])).toEqual([
      ['allow', '2026-11-18T18:30:00.000Z'],
      ['block', null],
    ]);
    expect(await rcode(device.key, 'www.games.example')).toBe(NOERROR);
    const [allowed] = await name({ name: 'games.example', verdict: 'allow' });
    expect(allowed).toMatchObject({ verdict: 'allow', until: null });
    replyOf(await call(removeProfileName, { token, params: { id: allowed?.id ?? '' } }));
    expect((await home(token)).profiles[0]?.names).toEqual([]);
  });

  test('shares a device by a profile with the strictest rules of its people', async () => {
    const { token, profile } = await family();
    const older = await profileOf(token, 'Leo', 'sixteen');
    const people = { name: 'Computer', picture: 'computer', age_group: 'child', time_zone: 'UTC' } as const;
    const shared_by = [profile.id, older.id];
    const shared = replyOf(await call(addProfile, { token, body: { ...people, shared_by } }));
    expect(shared).toMatchObject({ shared_by, age_group: 'child', rules: { safe_search: 'strict' } });
    expect((await look(shared.ask_key)).guardians_see).toBe('counts');
    const refused = await call(changeProfile, { token, params: { id: shared.id }, body: { rules: older.rules } });
    expect(problemOf(refused).code).toBe('conflict');
    replyOf(await call(removeProfile, { token, params: { id: profile.id } }));
    expect((await home(token)).profiles.find(({ id }) => id === shared.id)?.shared_by).toEqual([older.id]);
  });

  test('takes back a device that is given, moved or freed without the names that were refused on it', async () => {
    const { token, profile, device, refused, block } = await family();
    await block('games.example');
    await refused('games.example');
    const other = await profileOf(token, 'Leo');
    const give = (profile_id: string | null) =>
      call(setDeviceProfile, { token, params: { id: device.id }, body: { profile_id } }).then(replyOf);
    await give(other.id);
    expect([(await look(other.ask_key)).refused, (await look(profile.ask_key)).refused]).toEqual([[], []]);
    await give(null);
    expect((await home(token)).free_devices).toMatchObject([{ id: device.id }]);
    expect(replyOf(await call(listWebRefusals, { token }))).toEqual([]);
    expect(await rcode(device.key, 'games.example')).toBe(NOERROR);
  });

  test('records its changes, and names no website', async () => {
    const { token, params, block, device } = await family();
    const named = await block('games.example');
    await call(removeProfileName, { token, params: { id: named.names[0]?.id ?? '' } });
    for (const pause of ['60', 'end'] as const) await call(pauseProfile, { token, params, body: { pause } });
    await call(renewAskKey, { token, params });
    await call(changeProfile, { token, params, body: { name: 'Mia B' } });
    await call(setDeviceProfile, { token, params: { id: device.id }, body: { profile_id: null } });
    await call(removeProfile, { token, params });
    await call(leaveHome, { token });
    const entries = replyOf(await call(listActivity, { token })).toReversed();
    const own = entries.filter(({ kind }) => /^(?:profile|home)_/u.test(kind));
    expect(own.map(({ kind }) => kind)).toEqual([
      ...['profile_added', 'profile_device_changed', 'profile_name_blocked', 'profile_name_removed', 'profile_paused'],
      ...['profile_resumed', 'profile_key_renewed', 'profile_changed', 'profile_device_changed', 'profile_removed', 'home_left'],
    ]);
    expect(own[0]?.details).toEqual({ profile: 'Mia' });
    expect(JSON.stringify(entries)).not.toContain('games.example');
  });
});

describe('two guardians', () => {
  test('see the same and have the same rights', async () => {
    const first = await family();
    const second = await invited(first);
    const offer = replyOf(await call(lookAtHomeInvite, { token: second.token, body: { token: second.invite } }));
    expect(offer).toMatchObject({ profiles: ['Mia'], has_own_home: false });
    expect((await home(first.token)).invites).toMatchObject([{ email: second.email }]);
    replyOf(await call(joinHome, { token: second.token, body: { token: second.invite } }));
    const [one, other] = [await home(first.token), await home(second.token)];
    expect(one.guardians.map(({ is_me }) => is_me)).toEqual([true, false]);
    expect(other.guardians.map(({ is_me }) => is_me)).toEqual([false, true]);
    const shared = ({ profiles, asks, invites, time_zone, has_plan, profiles_maximum }: typeof one) => ({
      ...{ profiles, asks, invites, time_zone, has_plan, profiles_maximum },
    });
    expect(shared(other)).toEqual(shared(one));
    const { token } = second;
    const tv = await deviceOf(first.token, first.profile.id, 'TV');
    expect(replyOf(await call(readWebProtection, { token })).devices).toMatchObject([{ id: tv.id }, { id: first.device.id }]);
    const { key } = replyOf(await call(renewWebKey, { token, params: { id: first.device.id } }));
    expect([await rcode(first.device.key, 'shop.example'), await rcode(key, 'shop.example')]).toEqual([404, NOERROR]);
    await profileOf(token, 'Leo');
    expect((await home(first.token)).profiles.map(({ name }) => name)).toEqual(['Mia', 'Leo']);
    const freed = { token, params: { id: first.device.id }, body: { profile_id: null } };
    replyOf(await call(setDeviceProfile, freed));
    expect(await call(setDeviceProfile, freed)).toMatchObject({ status: 404 });
    const phone = await deviceOf(first.token, first.profile.id, 'Phone');
    replyOf(await call(removeWebDevice, { token, params: { id: tv.id } }));
    replyOf(await call(removeProfile, { token, params: first.params }));
    // The owner of the devices finds all of it, and the other guardian too.
    const told = async (of: string) =>
      replyOf(await call(listActivity, { token: of }))
        .toReversed()
        .filter(({ kind }) => /^(?:web_key|web_device_removed|profile_device|profile_removed)/u.test(kind))
        .map(({ kind, by, address, details }) => [kind, by, address !== null, details['device_name'] ?? details['profile']]);
    const changes = (by: 'self' | 'guardian') =>
      [
        ['web_key_renewed', 'Tablet'],
        ['profile_device_changed', 'Tablet'],
        ['web_device_removed', 'TV'],
        ['profile_removed', 'Mia'],
      ].map(([kind, name]) => [kind, by, by === 'self', name]);
    expect(await told(token)).toEqual(changes('self'));
    expect((await told(first.token)).filter(([, by]) => by === 'guardian')).toEqual(changes('guardian'));
    expect(replyOf(await call(readWebProtection, { token: first.token })).devices.map(({ id }) => id)).toEqual([
      phone.id,
      first.device.id,
    ]);
  });

  test('both have a silent device of a profile in their status, with its step', async () => {
    const first = await family();
    const second = await joined(first);
    const last_question_at = new Date(clock.now - 40 * HOUR_MS).toISOString();
    await database.updateTable('web_devices').set({ last_question_at }).where('id', '=', first.device.id).execute();
    for (const { token } of [first, second]) {
      const { next, others } = replyOf(await call(readDashboard, { token })).status;
      const steps = [next, ...others].filter((step) => step?.id.includes('silent'));
      expect(steps).toMatchObject([{ id: 'profile_device_silent', fix_route: '/household', evidence: '"Tablet".' }]);
    }
  });

  test('part: profiles stay, devices of the one who leaves lose theirs, and the last one has to remove them', async () => {
    const first = await family();
    const second = await joined(first);
    const own = await deviceOf(second.token, first.profile.id, 'Phone');
    expect(await rcode(own.key, 'www.facebook.com')).toBe(NXDOMAIN);
    replyOf(await call(leaveHome, { token: second.token }));
    expect(await rcode(own.key, 'www.facebook.com')).toBe(NOERROR);
    expect((await home(second.token)).profiles).toEqual([]);
    expect((await home(first.token)).profiles[0]?.devices).toMatchObject([{ id: first.device.id }]);
    expect(problemOf(await call(leaveHome, { token: first.token }))).toMatchObject({
      detail: 'You’re the only guardian. Remove the profiles first, or invite another guardian.',
    });
    replyOf(await call(removeProfile, { token: first.token, params: first.params }));
    replyOf(await call(leaveHome, { token: first.token }));
    const left = await database
      .selectFrom('households')
      .selectAll()
      .where('id', '=', await householdOf(first))
      .execute();
    expect(left).toEqual([]);
  });

  test('join with an empty home of their own, and not with profiles', async () => {
    const first = await family();
    const second = await guardian();
    const profile = await profileOf(second.token, 'Zoe');
    const { invite } = await invited(first, second);
    const join = () => call(joinHome, { token: second.token, body: { token: invite } });
    expect(problemOf(await join()).detail).toMatch(/^You have profiles in a home of your own/);
    replyOf(await call(removeProfile, { token: second.token, params: { id: profile.id } }));
    replyOf(await join());
    expect((await home(second.token)).profiles).toMatchObject([{ name: 'Mia' }]);
  });

  test('are one when an account ends, and none when both end', async () => {
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
});

async function householdOf({ profile }: Family): Promise<string> {
  const row = await database.selectFrom('profiles').select('household_id').where('id', '=', profile.id).executeTakeFirst();
  return row?.household_id ?? '';
}

test('the plan limits profiles, and its end deletes none: both sides say that only dangerous names are refused', async () => {
  const person = await guardian({ max_profiles: 1 });
  const { token } = person;
  const profile = await profileOf(token);
  const device = await deviceOf(token, profile.id);
  const another = await call(addProfile, {
    token,
    body: { name: 'Leo', picture: 'owl', age_group: 'child', time_zone: 'UTC' },
  });
  expect(problemOf(another).detail).toBe('Your plan has 1 profile. Remove it first, or request a larger plan.');
  expect(await rcode(device.key, 'www.facebook.com')).toBe(NXDOMAIN);
  replyOf(await call(cancelSubscription, { token: admin, body: { subscription_id: person.subscription_id } }));
  // Another change, with which the server reads the plan again.
  replyOf(await call(renewAskKey, { token, params: { id: profile.id } }));
  expect([await rcode(device.key, 'www.facebook.com'), await rcode(device.key, 'bank-l0gin.com')]).toEqual([NOERROR, NXDOMAIN]);
  const after = await home(token);
  expect(after).toMatchObject({ has_plan: false, profiles_maximum: 0, profiles: [{ id: profile.id, state: 'no_plan' }] });
  expect((await look(after.profiles[0]?.ask_key ?? '')).state).toBe('no_plan');
  const { next, others } = replyOf(await call(readDashboard, { token })).status;
  expect([next, ...others].find((step) => step?.id === 'profile_no_plan')?.fix_route).toBe('/household');
  const nobodys = await app.signIn();
  const body = { name: 'Leo', picture: 'owl', age_group: 'child', time_zone: 'UTC' } as const;
  expect(problemOf(await call(addProfile, { token: nobodys.token, body })).detail).toMatch(/^Your plan has no profiles/);
});

describe('“May I?”', () => {
  /** A browser that gets notices, and the number of those that wait for it: with its key none is sent. */
  async function notices({ email, token }: { email: string; token: string }) {
    const { id: user_id } = await database.selectFrom('users').select('id').where('email', '=', email).executeTakeFirstOrThrow();
    const session = await database.selectFrom('sessions').select('id').where('user_id', '=', user_id).executeTakeFirstOrThrow();
    const subscription = {
      id: newId(),
      user_id,
      session_id: session.id,
      endpoint: `https://fcm.googleapis.com/fcm/send/${token}`,
    };
    await database
      .insertInto('push_subscriptions')
      .values({ ...subscription, p256dh: '', auth: '', created_at: new Date(clock.now).toISOString() })
      .execute();
    return async () => {
      const jobs = await database.selectFrom('jobs').select('payload').where('kind', '=', 'push').execute();
      return jobs.filter(({ payload }) => payload.includes(subscription.id)).length;
    };
  }

  test('tells each guardian once, counts the rest, and the answer is in the next answer to the device', async () => {
    const one = await family();
    const second = await joined(one);
    const waiting = await Promise.all([notices(one), notices(second)]);
    await one.block('games.example');
    const [id = ''] = await one.refused('www.games.example');
    for (let count = 0; count < 3; count++) await one.asks(id);
    expect(await Promise.all(waiting.map((read) => read()))).toEqual([1, 1]);
    const [ask] = (await home(second.token)).asks;
    expect(ask).toMatchObject({ name: 'www.games.example', count: 3, answer: 'wait', device_name: 'Tablet' });
    const { next, others } = replyOf(await call(readDashboard, { token: second.token })).status;
    expect([next, ...others].map((step) => step?.id)).toContain('ask_waiting');
    const answer = async (body: { answer: 'hour' | 'always' | 'no'; line?: string }) =>
      replyOf(await call(answerAsk, { token: second.token, params: { id: ask?.id ?? '' }, body }));
    expect(await answer({ answer: 'hour', line: 'Then homework.' })).toMatchObject({ until: '2026-11-18T18:30:00.000Z' });
    expect(await rcode(one.device.key, 'www.games.example')).toBe(NOERROR);
    const page = await look(one.key);
    expect(page.asks).toMatchObject([{ answer: 'hour', line: 'Then homework.', count: 3 }]);
    clock.now += HOUR_MS;
    expect(await rcode(one.device.key, 'www.games.example')).toBe(NXDOMAIN);
    await answer({ answer: 'always' });
    expect(await rcode(one.device.key, 'www.games.example')).toBe(NOERROR);
    await answer({ answer: 'no' });
    expect(await rcode(one.device.key, 'www.games.example')).toBe(NXDOMAIN);
  });

  test('asks for a service where that was refused, and allows all of its names', async () => {
    const { token, refused, asks, device } = await family();
    const [id = ''] = await refused('www.facebook.com');
    const { asks: own, refused: rows } = await asks(id);
    expect([own[0]?.name, rows[0]?.service, rows[0]?.can_ask]).toEqual(['Facebook', 'Facebook', false]);
    replyOf(await call(answerAsk, { token, params: { id: own[0]?.id ?? '' }, body: { answer: 'always' } }));
    expect([await rcode(device.key, 'www.facebook.com'), await rcode(device.key, 'scontent.fbcdn.net')]).toEqual([0, 0]);
    expect((await home(token)).profiles[0]?.names.map(({ name }) => name)).toContain('fbcdn.net');
  });

  test('has at most 5 cards, and 10 an hour', async () => {
    const { token, refused, block, asks } = await family();
    await block('games.example');
    const ids = await refused(...Array.from({ length: 12 }, (_, index) => `g${index}.games.example`));
    for (const id of ids.slice(0, 7)) await asks(id);
    const cards = async () => (await home(token)).asks.filter(({ answer }) => answer === 'wait');
    expect((await cards()).map(({ count }) => count)).toEqual([3, 1, 1, 1, 1]);
    const no = async () => {
      for (const { id } of await cards()) replyOf(await call(answerAsk, { token, params: { id }, body: { answer: 'no' } }));
    };
    await no();
    for (const id of ids.slice(7, 12)) await asks(id);
    await no();
    const further = await call(mayI, { body: { key: (await home(token)).profiles[0]?.ask_key ?? '', refusal_id: ids[0] ?? '' } });
    expect(problemOf(further).code).toBe('too_many_requests');
  });
});

test.each(AGE_GROUPS)('a guardian of a profile of %s sees no more than its person', async (age_group) => {
  const { token } = await guardian();
  const added = await profileOf(token, 'Kim', age_group);
  const own_key = newKey();
  const device = await deviceOf(token, added.id);
  const params = { id: added.id };
  for (const name of ['one.example', 'two.example'])
    replyOf(await call(addProfileName, { token, params, body: { name, verdict: 'block' } }));
  for (const name of ['one.example', 'www.two.example', 'bank-l0gin.com', 'one.example']) await rcode(device.key, name);
  const refused = await eventually(async () => {
    const page = await look(added.ask_key, own_key);
    expect(page.refused).toHaveLength(3);
    return page.refused;
  });
  const page = replyOf(await call(mayI, { body: { key: added.ask_key, own_key, refusal_id: refused.at(-1)?.id ?? '' } }));
  const shown = await home(token);
  const profile = new Map(Object.entries(shown.profiles[0] ?? {}));
  const own = new Map(Object.entries(page));
  // Choices of guardians: they tell nothing of names that a person looks at.
  for (const field of ['id', 'shared_by', 'ask_key', 'names', 'created_at']) expect(profile.delete(field)).toBe(true);
  expect(profile.size).toBe(9);
  const isPrivate = age_group === 'sixteen';
  const ownRefused = page.refused.map(({ can_ask: _can, ...row }) => row);
  for (const [field, value] of profile)
    expect([field, value]).toEqual([field, field === 'refused' ? (isPrivate ? [] : ownRefused) : own.get(field)]);
  expect(page.guardians_see).toBe(isPrivate ? 'counts' : 'names');
  expect(ownRefused.map(({ name }) => name).sort()).toEqual(['bank-l0gin.com', 'one.example', 'www.two.example']);
  expect(shown.asks.map(({ profile_id: _profile, device_name: _device, ...ask }) => ask)).toEqual(page.asks);
  expect([page.time_zone, page.guardians.length]).toEqual([shown.time_zone, shown.guardians.length]);
  expect(replyOf(await call(listWebRefusals, { token }))).toEqual([]);
  // An address that guardians still see opens no page of names that they don’t see.
  expect(shown.profiles[0]?.ask_key).toBe(isPrivate ? '' : added.ask_key);
  // Guardians who lower the age learn of later names alone.
  replyOf(await call(changeProfile, { token, params, body: { age_group: 'child' } }));
  expect((await home(token)).profiles[0]?.refused).toHaveLength(isPrivate ? 0 : 3);
  expect((await look(added.ask_key, own_key)).guardians_see).toBe('names');
});

describe('a hostile child', async () => {
  const anna = await family();
  const ben = await joined(anna);
  const carl = await family();
  const kid = await app.signIn();
  const support = await app.signIn(undefined, 'support');
  const leo = await profileOf(anna.token, 'Leo', 'teenager');
  const phone = await deviceOf(ben.token, leo.id, 'Phone');
  const router = replyOf(await call(addWebDevice, { token: anna.token, body: { name: 'Router', kind: 'router' } }));
  const network = replyOf(await call(addWebDevice, { token: admin, body: { name: 'All', kind: 'other', address: 'network' } }));
  const people = { picture: 'computer', age_group: 'child', time_zone: 'UTC', name: 'Computer' } as const;
  const { id: shared } = replyOf(await call(addProfile, { token: anna.token, body: { ...people, shared_by: [leo.id] } }));
  const gone = await profileOf(carl.token, 'Gone');
  replyOf(await call(removeProfile, { token: carl.token, params: { id: gone.id } }));
  const renewed = carl.key;
  carl.key = replyOf(await call(renewAskKey, { token: carl.token, params: carl.params })).ask_key;
  await anna.block('games.example');
  await anna.block('old.example');
  const names = (await home(anna.token)).profiles[0]?.names ?? [];
  const [refusal = '', old = '', danger = ''] = await anna.refused('games.example', 'old.example', 'bank-l0gin.com');
  // A name that many websites share can be refused at a time for all names.
  const night: ProfileTime = { days: [1, 2, 3, 4, 5, 6, 7], from: '00:00', to: '00:00', refuses: 'all' };
  const times = (some: object[]) => ({ rules: { ...anna.profile.rules, times: some } });
  await call(changeProfile, {
    token: anna.token,
    params: anna.params,
    body: { rules: { ...anna.profile.rules, times: [night] } },
  });
  const [many = ''] = await anna.refused('github.io');
  replyOf(await call(changeProfile, { token: anna.token, params: anna.params, body: { rules: anna.profile.rules } }));
  await database.deleteFrom('web_refusals').where('name', '=', 'old.example').execute();
  const row = await database
    .selectFrom('web_refusals')
    .select('id')
    .where('name', '=', 'games.example')
    .executeTakeFirstOrThrow();
  const { asks } = await anna.asks(refusal);
  const ask = asks[0]?.id ?? '';
  const guest = await app.signIn();
  const used = (await invited(anna, guest)).invite;
  replyOf(await call(joinHome, { token: guest.token, body: { token: used } }));
  const ofLeaver = (await invited(guest, kid)).invite;
  replyOf(await call(leaveHome, { token: guest.token }));
  const expired = (await invited(carl, kid)).invite;
  await database
    .updateTable('household_invites')
    .set({ expires_at: '2026-11-18T17:00:00.000Z' })
    .where('email', '=', kid.email)
    .execute();
  const ofBen = (await invited(carl, ben)).invite;
  const { invites } = await home(carl.token);
  const [device, mine, theirs] = [anna.device.id, anna.params.id, carl.params.id];
  const key = anna.key;

  /** A call as text: `POST /ask`, with the token of a person. */
  async function send(call_: string, body?: unknown, token?: string): Promise<number> {
    const [method = '', path = ''] = call_.split(' ');
    const headers = {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const answer = await app.fetch(`/api${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
    return answer.status;
  }
  const profile = (id: string, rest = '') => `/household/profiles/${id}${rest}`;
  const before = await home(anna.token);

  test.each<[title: string, status: number, call: string, body?: unknown, token?: string]>([
    ['looks with an empty key', 404, 'POST /ask/look', { key: '' }],
    ['looks with a very long key', 422, 'POST /ask/look', { key: 'a'.repeat(10_000) }],
    ['looks with a list of keys', 422, 'POST /ask/look', { key: [key] }],
    ['looks with the key of a device', 404, 'POST /ask/look', { key: anna.device.key }],
    ['looks with its key in capitals', 404, 'POST /ask/look', { key: key.toUpperCase() }],
    ['looks with a line break behind its key', 404, 'POST /ask/look', { key: `${key}\n` }],
    ['looks with SQL as its key', 404, 'POST /ask/look', { key: "' or ask_key <> '" }],
    ['looks with a renewed key', 404, 'POST /ask/look', { key: renewed }],
    ['looks with the key of a removed profile', 404, 'POST /ask/look', { key: gone.ask_key }],
    ['reads the page without its key in the body', 404, `GET /ask/${key}`],
    ['asks with a renewed key', 404, 'POST /ask', { key: renewed, refusal_id: refusal }],
    ['asks for a refusal of a sibling', 404, 'POST /ask', { key: leo.ask_key, refusal_id: refusal }],
    ['asks for a refusal of another home', 404, 'POST /ask', { key: carl.key, refusal_id: refusal }],
    ['asks for a made-up refusal', 404, 'POST /ask', { key, refusal_id: newId() }],
    ['asks for the row of a refusal', 404, 'POST /ask', { key, refusal_id: row.id }],
    ['asks for a refusal that is over', 404, 'POST /ask', { key, refusal_id: old }],
    ['asks for a name in place of a refusal', 422, 'POST /ask', { key, refusal_id: 'games.example' }],
    ['asks for a dangerous name', 409, 'POST /ask', { key, refusal_id: danger }],
    ['asks for a name that many websites share', 409, 'POST /ask', { key, refusal_id: many }],
    ['asks with a huge body', 413, 'POST /ask', { key, refusal_id: 'x'.repeat(3_000_000) }],
    ['answers its own ask with its key', 401, `POST /household/asks/${ask}/answer`, { answer: 'always' }, key],
    ['answers its own ask with its account', 404, `POST /household/asks/${ask}/answer`, { answer: 'always' }, kid.token],
    ['has support answer its ask', 404, `POST /household/asks/${ask}/answer`, { answer: 'always' }, support.token],
    ['has another guardian answer its ask', 404, `POST /household/asks/${ask}/answer`, { answer: 'hour' }, carl.token],
    ['takes an answer back', 422, `POST /household/asks/${ask}/answer`, { answer: 'wait' }, anna.token],
    ['has a very long answer', 422, `POST /household/asks/${ask}/answer`, { answer: 'no', line: 'x'.repeat(201) }, anna.token],
    ['makes itself older', 404, `PATCH ${profile(mine)}`, { age_group: 'sixteen' }, kid.token],
    ['ends a pause', 404, `POST ${profile(mine, '/pause')}`, { pause: 'end' }, kid.token],
    ['pauses its sibling', 404, `POST ${profile(leo.id, '/pause')}`, { pause: 'tomorrow' }, kid.token],
    ['pauses for ever', 422, `POST ${profile(mine, '/pause')}`, { pause: '99999999' }, anna.token],
    ['takes a new key', 404, `POST ${profile(mine, '/renew-key')}`, undefined, kid.token],
    ['allows itself a name', 404, `POST ${profile(mine, '/names')}`, { name: 'games.example', verdict: 'allow' }, kid.token],
    ['removes a blocked name', 404, `DELETE /household/names/${names[0]?.id ?? ''}`, undefined, kid.token],
    ['removes its profile', 404, `DELETE ${profile(mine)}`, undefined, kid.token],
    ['removes its profile as an administrator', 404, `DELETE ${profile(mine)}`, undefined, admin],
    ['frees its device', 404, `PUT /household/devices/${device}`, { profile_id: null }, kid.token],
    ['deletes its device', 404, `DELETE /web-protection/devices/${device}`, undefined, kid.token],
    ['takes a new key for its device', 404, `POST /web-protection/devices/${device}/renew-key`, undefined, kid.token],
    ['leaves a home that it is no guardian of', 404, 'POST /household/leave', undefined, kid.token],
    ['changes the clock of a home that it has not', 404, 'PUT /household/time-zone', { time_zone: 'UTC' }, kid.token],
    ['pages from a made-up row', 422, 'GET /web-protection/refused?cursor=1', undefined, kid.token],
    ['moves a device into another home', 404, `PUT /household/devices/${device}`, { profile_id: theirs }, carl.token],
    [
      'moves a device of a guardian out of the home',
      404,
      `PUT /household/devices/${phone.id}`,
      { profile_id: theirs },
      ben.token,
    ],
    ['has a foreign device in its profile', 404, `PUT /household/devices/${carl.device.id}`, { profile_id: mine }, carl.token],
    ['puts a router into a profile', 409, `PUT /household/devices/${router.id}`, { profile_id: mine }, anna.token],
    ['puts a network into a profile', 404, `PUT /household/devices/${network.id}`, { profile_id: mine }, admin],
    [
      'is watched by all names of its device',
      409,
      `POST /web-protection/devices/${device}/show-names`,
      { shown: true },
      anna.token,
    ],
    ['is watched by the other guardian', 404, `POST /web-protection/devices/${device}/show-names`, { shown: true }, ben.token],
    ['shares a profile of another home', 422, `PATCH ${profile(theirs)}`, { shared_by: [mine] }, carl.token],
    ['begins with a profile of another home', 422, 'POST /household/profiles', { ...people, shared_by: [mine] }, carl.token],
    ['shares itself', 422, `PATCH ${profile(mine)}`, { shared_by: [mine] }, anna.token],
    ['shares in a circle', 422, `PATCH ${profile(leo.id)}`, { shared_by: [shared] }, anna.token],
    ['shares a shared profile', 422, `PATCH ${profile(mine)}`, { shared_by: [shared] }, anna.token],
    ['shares with many', 422, `PATCH ${profile(mine)}`, { shared_by: Array.from({ length: 21 }, newId) }, anna.token],
    ['has looser rules on a shared device', 409, `PATCH ${profile(shared)}`, { rules: leo.rules }, anna.token],
    ['has a 13th time', 422, `PATCH ${profile(mine)}`, times(Array.from({ length: 13 }, () => night)), anna.token],
    ['has a time on an eighth day', 422, `PATCH ${profile(mine)}`, times([{ ...night, days: [8] }]), anna.token],
    ['has a time at 24:00', 422, `PATCH ${profile(mine)}`, times([{ ...night, to: '24:00' }]), anna.token],
    [
      'has a category that does not exist',
      422,
      `PATCH ${profile(mine)}`,
      { rules: { ...leo.rules, categories: ['x'] } },
      anna.token,
    ],
    ['has an age that does not exist', 422, `PATCH ${profile(mine)}`, { age_group: 'adult' }, anna.token],
    ['has a name with a control character', 422, `PATCH ${profile(mine)}`, { name: 'Mia\u0007' }, anna.token],
    ['has an empty name', 422, `PATCH ${profile(mine)}`, { name: '  ' }, anna.token],
    ['has a very long name', 422, `PATCH ${profile(mine)}`, { name: 'x'.repeat(1_000) }, anna.token],
    ['allows a whole ending', 422, `POST ${profile(mine, '/names')}`, { name: 'com', verdict: 'allow' }, anna.token],
    ['lives in a time zone that does not exist', 422, 'PUT /household/time-zone', { time_zone: 'Mars/Olympus' }, anna.token],
    ['lives in an offset', 422, 'PUT /household/time-zone', { time_zone: '+14:00' }, anna.token],
    ['joins with a used invitation', 404, 'POST /household/join', { token: used }, guest.token],
    ['joins with an expired invitation', 404, 'POST /household/join', { token: expired }, kid.token],
    ['joins with an invitation of one who left', 404, 'POST /household/join', { token: ofLeaver }, kid.token],
    ['joins with an invitation of another person', 404, 'POST /household/join', { token: ofBen }, kid.token],
    ['looks at an invitation of another person', 404, 'POST /household/look-at-invite', { token: ofBen }, kid.token],
    ['joins with a guess', 404, 'POST /household/join', { token: 'x'.repeat(43) }, kid.token],
    ['withdraws an invitation of another home', 404, `DELETE /household/invites/${invites[0]?.id ?? ''}`, undefined, kid.token],
    ['invites without a home', 404, 'POST /household/invites', { email: 'x@example.com' }, kid.token],
    ['invites no address', 422, 'POST /household/invites', { email: 'x\r\nBcc: y@example.com' }, anna.token],
    ['is invited by a home of another person twice', 409, 'POST /household/invites', { email: ben.email }, anna.token],
  ])('%s: %i', async (_title, status, called, body, token) => {
    expect(await send(called, body, token)).toBe(status);
  });

  test('has changed nothing', async () => {
    expect(await home(anna.token)).toEqual(before);
    expect(await rcode(key, 'shop.example')).toBe(404);
    expect((await home(kid.token)).profiles).toEqual([]);
    expect(replyOf(await call(listWebRefusals, { token: kid.token, query: `?device_id=${device}` }))).toEqual([]);
    expect(problemOf(await call(showWebNames, { token: anna.token, params: { id: device }, body: { shown: true } })).code).toBe(
      'conflict',
    );
  });

  test('floods nobody: asks, looks and guesses of keys are refused after a while', async () => {
    const { key: own, ...flooded } = await family();
    await flooded.block('games.example');
    const [id = ''] = await flooded.refused('games.example');
    const last = async (times_: number, path: string, body: object) => {
      let status = 0;
      for (let count = 0; count < times_; count++) status = await send(`POST ${path}`, body);
      return status;
    };
    expect(await last(31, '/ask', { key: own, refusal_id: id })).toBe(429);
    expect((await home(flooded.token)).asks).toMatchObject([{ count: 30 }]);
    expect(await last(121, '/ask/look', { key: own })).toBe(429);
    expect(await last(31, '/ask/look', { key: 'a'.repeat(26) })).toBe(429);
  });
});
