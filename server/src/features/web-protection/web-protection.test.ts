import { createHash } from 'node:crypto';
import { pollAgent } from '@palisade/contract/agent';
import { listAlerts } from '@palisade/contract/anti-hacking';
import { listActivity } from '@palisade/contract/audit';
import { readDashboard } from '@palisade/contract/dashboard';
import { readDevice, revokeDevice } from '@palisade/contract/devices';
import { exportData } from '@palisade/contract/privacy';
import { addProviderDomain } from '@palisade/contract/scam-check';
import { assignSubscription } from '@palisade/contract/subscription';
import {
  addWebDevice,
  addWebName,
  checkWebName,
  listShownNames,
  listWebRefusals,
  pauseWebProtection,
  readWebProtection,
  removeWebDevice,
  removeWebName,
  renewWebKey,
  setWebPolicy,
  showWebNames,
  switchAgentNames,
  WEB_TRIAL_HEADER,
} from '@palisade/contract/web-protection';
import { eventually } from '@palisade/scanner/test/eventually';
import { expect, test } from 'vitest';
import { enrol, helloOf, reportOf } from '#test/agent-double.ts';
import { askByKey, knowingNameServer, questionFor } from '#test/dns-questions.ts';
import { givePremium } from '#test/feature-database.ts';
import { COUNTED_IN_MEMORY, replyOf, startTestApp } from '#test/harness.ts';

const asked: Buffer[] = [];
async function nameServer(query: Buffer): Promise<Buffer> {
  asked.push(query);
  return await knowingNameServer(query);
}

const app = await startTestApp({
  environment: { ...COUNTED_IN_MEMORY, PUBLIC_URL: 'https://palisade.localhost:8443' },
  surroundings: { name_servers: [nameServer] },
});
const { call } = app;
const ask = (key: string, name: string) => askByKey(app, key, name);

async function withDevice() {
  const { id: user_id, token, email, password } = await app.signIn();
  const device = replyOf(await call(addWebDevice, { token, body: { name: 'Phone', kind: 'android' } }));
  const read = async () => replyOf(await call(readWebProtection, { token }));
  return { user_id, token, email, password, device, read, asks: async (name: string) => (await ask(device.key, name)).rcode };
}

test('answers a device by its key, by GET and POST, and says how long the answer holds', async () => {
  const { device } = await withDevice();
  expect(device.key).toMatch(/^[a-z2-7]{26}$/);
  const posted = await ask(device.key, 'shop.example');
  expect([posted.status, posted.rcode, posted.headers.get('content-type')]).toEqual([200, 0, 'application/dns-message']);
  expect(posted.headers.get('cache-control')).toBe('max-age=60');
  const got = await app.fetch(`/dns/${device.key}?dns=${questionFor('shop.example').toString('base64url')}`);
  expect([got.status, Buffer.from(await got.arrayBuffer()).subarray(-4)]).toEqual([200, Buffer.from([192, 0, 2, 1])]);
});

test.each([
  ['an empty body', ''],
  ['a few bytes', 'abc'],
  ['an answer', '\0\0\x80\0\0\0\0\0\0\0\0\0'],
])('refuses %s', async (_what, body) => {
  const { device } = await withDevice();
  const headers = { 'content-type': 'application/dns-message' };
  const answer = await app.fetch(`/dns/${device.key}`, { method: 'POST', headers, body });
  expect(answer.status).toBe(400);
  expect((await app.fetch(`/dns/${device.key}?dns=!`)).status).toBe(400);
});

test('answers a page that tries an address without a record, and counts no question of the device', async () => {
  const { token, device, read } = await withDevice();
  const trial = async (key: string) => {
    const headers = { 'content-type': 'application/dns-message', [WEB_TRIAL_HEADER]: '1' };
    const answer = await app.fetch(`/dns/${key}`, { method: 'POST', headers, body: new Uint8Array(questionFor('shop.example')) });
    return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) };
  };
  const before = asked.length;
  const { status, bytes } = await trial(device.key);
  expect([status, bytes.readUInt16BE(2) & 0x800f, bytes.readUInt16BE(6), asked.length - before]).toEqual([200, 0x8000, 0, 0]);
  expect((await trial('a'.repeat(26))).status).toBe(404);
  // The counts of an earlier question are written before those of a later one.
  const later = replyOf(await call(addWebDevice, { token, body: { name: 'Tablet', kind: 'apple' } }));
  await ask(later.key, 'shop.example');
  await eventually(async () => {
    const { devices } = await read();
    expect(devices.map(({ name, answered, last_question_at }) => [name, answered, last_question_at !== null])).toEqual([
      ['Tablet', 1, true],
      ['Phone', 0, false],
    ]);
  });
});

test('knows no other key', async () => {
  const { token, device } = await withDevice();
  expect((await ask('a'.repeat(26), 'shop.example')).status).toBe(404);
  const { key } = replyOf(await call(renewWebKey, { token, params: { id: device.id } }));
  expect([(await ask(device.key, 'shop.example')).status, (await ask(key, 'shop.example')).status]).toEqual([404, 200]);
  await call(removeWebDevice, { token, params: { id: device.id } });
  expect((await ask(key, 'shop.example')).status).toBe(404);
});

test('refuses what its person chose, from the next question on', async () => {
  const { token, asks, read } = await withDevice();
  const services = ['tiktok'];
  expect([await asks('www.doubleclick.net'), await asks('www.tiktok.com')]).toEqual([0, 0]);
  await call(setWebPolicy, { token, body: { categories: ['ads', 'ways_around'], services, safe_search: 'off' } });
  expect(await asks('www.doubleclick.net')).toBe(3);
  expect(await asks('www.tiktok.com')).toBe(3);
  expect(await asks('mask.icloud.com')).toBe(3);
  const { id } = replyOf(await call(addWebName, { token, body: { name: 'https://www.TikTok.com/@x', verdict: 'allow' } }));
  expect([await asks('www.tiktok.com'), await asks('m.tiktok.com')]).toEqual([0, 3]);
  await call(addWebName, { token, body: { name: 'www.tiktok.com', verdict: 'block' } });
  expect([await asks('www.tiktok.com'), (await read()).names.length]).toEqual([3, 1]);
  await call(removeWebName, { token, params: { id: (await read()).names[0]?.id ?? id } });
  await call(setWebPolicy, { token, body: { categories: [], services: [], safe_search: 'off' } });
  expect(await asks('www.tiktok.com')).toBe(0);
  expect((await read()).policy).toEqual({ categories: [], services: [], safe_search: 'off' });
});

test('refuses dangerous names of the provider unless they are paused', async () => {
  const { token: admin } = await app.signIn('admin', 'admin');
  await call(addProviderDomain, { token: admin, body: { domain: 'login-paypa1.com', list: 'dangerous' } });
  const { token, asks, read } = await withDevice();
  const check = async (name: string) => replyOf(await call(checkWebName, { token, query: `?name=${name}` })).is_refused;
  expect([await check('www.login-paypa1.com'), await check('paypal.com')]).toEqual([true, false]);
  expect(await asks('www.login-paypa1.com')).toBe(3);
  await call(addWebName, { token, body: { name: 'login-paypa1.com', verdict: 'allow' } });
  expect(await asks('www.login-paypa1.com')).toBe(3);
  await call(pauseWebProtection, { token, body: { paused: true } });
  expect([await asks('www.login-paypa1.com'), (await read()).paused_until === null]).toEqual([0, false]);
  await call(pauseWebProtection, { token, body: { paused: false } });
  expect(await asks('www.login-paypa1.com')).toBe(3);
});

test('raises one alert a day for a device that asks for dangerous names, with a plan that has them', async () => {
  const { token: admin } = await app.signIn('admin', 'admin');
  await call(addProviderDomain, { token: admin, body: { domain: 'bank-l0gin.com', list: 'dangerous' } });
  const { user_id, token, asks } = await withDevice();
  await givePremium(app.app.database, user_id);
  for (const name of ['bank-l0gin.com', 'www.bank-l0gin.com', 'bank-l0gin.com']) await asks(name);
  await eventually(async () => {
    const alerts = replyOf(await call(listAlerts, { token }));
    expect(alerts).toMatchObject([{ threat_type: 'phishing_attempt', outcome: 'blocked', severity: 'medium' }]);
    expect(alerts[0]?.description).toBe('Phone asked for a dangerous website, and it was refused.');
  });
});

test('keeps counts of all questions and names of refused ones alone', async () => {
  const { token, password, device, asks, read } = await withDevice();
  await call(addWebName, { token, body: { name: 'games.example', verdict: 'block' } });
  for (const name of ['shop.example', 'news.example', 'a.games.example', 'a.games.example']) await asks(name);
  await eventually(async () => {
    const [shown] = (await read()).devices;
    expect(shown).toMatchObject({ answered: 2, refused: [{ category: 'own', count: 2 }], is_silent: false });
  });
  expect(replyOf(await call(readDashboard, { token })).status.protected_by).toEqual(['web_protection']);
  const refused = replyOf(await call(listWebRefusals, { token, query: `?device_id=${device.id}` }));
  expect(refused).toMatchObject([{ name: 'a.games.example', rule: 'games.example', category: 'own', count: 2 }]);
  const other = await app.signIn();
  expect(replyOf(await call(listWebRefusals, { token: other.token }))).toEqual([]);
  const sent = await app.fetch(`/api${exportData.path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ password }),
  });
  const exported = await sent.text();
  expect([exported.includes('a.games.example'), exported.includes('shop.example'), exported.includes(device.key)]).toEqual([
    true,
    false,
    false,
  ]);
});

test('shows all names of a device while its person wants it, and deletes them', async () => {
  const { token, device, asks, read } = await withDevice();
  const params = { id: device.id };
  const shownNames = async () => replyOf(await call(listShownNames, { token, params })).map(({ name, count }) => [name, count]);
  await call(addWebName, { token, body: { name: 'games.example', verdict: 'block' } });
  await asks('before.example');
  replyOf(await call(showWebNames, { token, params, body: { shown: true } }));
  for (const name of ['shop.example', 'shop.example', 'games.example']) await asks(name);
  await eventually(async () => expect(await shownNames()).toEqual([['shop.example', 2]]));
  expect((await read()).devices[0]?.names_until).not.toBeNull();
  const other = await app.signIn();
  expect(await call(showWebNames, { token: other.token, params, body: { shown: true } })).toMatchObject({ status: 404 });
  expect(await call(listShownNames, { token: other.token, params })).toMatchObject({ status: 404 });
  replyOf(await call(showWebNames, { token, params, body: { shown: false } }));
  expect([await shownNames(), (await read()).devices[0]?.names_until]).toEqual([[], null]);
  await asks('after.example');
  expect(await shownNames()).toEqual([]);
});

test('never shows the names of a network', async () => {
  const { token } = await app.signIn();
  const { id, can_show_names } = replyOf(await call(addWebDevice, { token, body: { name: 'Router', kind: 'router' } }));
  const refused = await call(showWebNames, { token, params: { id }, body: { shown: true } });
  expect([can_show_names, refused.status]).toEqual([false, 409]);
});

test('records what a person changes, and names no website', async () => {
  const { token, device } = await withDevice();
  const params = { id: device.id };
  await call(addWebName, { token, body: { name: 'games.example', verdict: 'block' } });
  const { id } = replyOf(await call(addWebName, { token, body: { name: 'games.example', verdict: 'allow' } }));
  await call(removeWebName, { token, params: { id } });
  await call(addWebName, { token, body: { name: 'com', verdict: 'block' } });
  await call(setWebPolicy, { token, body: { categories: ['ads'], services: [], safe_search: 'off' } });
  for (const paused of [true, false]) await call(pauseWebProtection, { token, body: { paused } });
  await call(showWebNames, { token, params, body: { shown: true } });
  await call(renewWebKey, { token, params });
  await call(removeWebDevice, { token, params });
  const entries = replyOf(await call(listActivity, { token })).toReversed();
  expect(entries.map(({ kind }) => kind).filter((kind) => kind.startsWith('web_'))).toEqual([
    ...['web_device_added', 'web_name_blocked', 'web_name_allowed', 'web_name_removed', 'web_choices_changed'],
    ...['web_protection_paused', 'web_protection_resumed', 'web_names_shown', 'web_key_renewed', 'web_device_removed'],
  ]);
  expect(JSON.stringify(entries)).not.toContain('games.example');
});

test.each(['com', 'github.io', 'x', '192.0.2.1', 'a b.example', '*', `${'x'.repeat(64)}.example`])(
  'takes no name that is %s',
  async (name) => {
    const { token } = await app.signIn();
    expect(await call(addWebName, { token, body: { name, verdict: 'block' } })).toMatchObject({ status: 422 });
  },
);

test('takes as many devices as the plan has, and of an administrator more', async () => {
  const { token, email, read } = await withDevice();
  expect((await read()).devices_maximum).toBe(10);
  const { token: admin } = await app.signIn('admin', 'admin');
  const plan = { plan_name: 'Small', price: 1, duration_months: 12, max_devices: 1, is_premium: true } as const;
  const body = { user_email: email, ...plan, max_web_devices: 1 } as const;
  replyOf(await call(assignSubscription, { token: admin, body: { ...body, features: [] } }));
  const add = (as: string) => call(addWebDevice, { token: as, body: { name: 'TV', kind: 'other' } });
  const detail = 'Your plan has web protection for 1 device. Remove it first, or request a larger plan.';
  expect(await add(token)).toMatchObject({ status: 409, problem: { code: 'conflict', detail } });
  for (let count = 0; count < 11; count++) replyOf(await add(admin));
});

test('an agent gets a key by its switch, which no page shows, and loses it with the switch or with its device', async () => {
  const { token } = await app.signIn('admin', 'admin');
  const agent = await enrol(app, token);
  const params = { id: agent.device_id };
  const hello = helloOf(agent);
  const poll = async (said: ReturnType<typeof reportOf>[] = []) => {
    const { told } = replyOf(await call(pollAgent, { body: { hello, said } }));
    return told.find((frame) => frame.kind === 'desired')?.web_protection?.key;
  };
  const turn = async (is_on: boolean) => replyOf(await call(switchAgentNames, { token, params, body: { is_on } }));
  expect(await poll()).toBeUndefined();
  await turn(true);
  await turn(true);
  const own = async () =>
    replyOf(await call(readWebProtection, { token })).devices.filter(({ device_id }) => device_id === agent.device_id);
  expect(await own()).toMatchObject([{ kind: 'linux', name: 'laptop', key: '' }]);
  const key = (await poll()) ?? '';
  expect((await ask(key, 'shop.example')).rcode).toBe(0);
  const web_protection = { state: 'open', reason: 'no answer in time' } as const;
  await poll([reportOf({ web_protection })]);
  expect(replyOf(await call(readDevice, { token, params })).web_protection).toEqual(web_protection);
  await turn(false);
  expect(await own()).toEqual([]);
  expect([(await ask(key, 'shop.example')).status, await poll()]).toEqual([404, undefined]);
  await turn(true);
  const later = (await poll()) ?? '';
  expect(later).not.toBe(key);
  await call(revokeDevice, { token, params });
  expect((await ask(later, 'shop.example')).status).toBe(404);
  expect(await call(switchAgentNames, { token, params, body: { is_on: true } })).toMatchObject({ status: 404 });
});

test('makes a profile for Apple devices with the port and the key, which can be removed', async () => {
  const { token } = await app.signIn();
  const body = { name: 'Anna’s <iPhone>', kind: 'apple' } as const;
  const { key } = replyOf(await call(addWebDevice, { token, body }));
  const answer = await app.fetch(`/dns/${key}/profile`);
  const text = await answer.text();
  expect(answer.headers.get('content-type')).toContain('application/x-apple-aspen-config');
  expect(text).toContain(`<string>https://palisade.localhost:8443/dns/${key}</string>`);
  expect(text).toContain('Anna’s &#60;iPhone&#62;');
  expect(text).toMatch(/<key>PayloadRemovalDisallowed<\/key>\s*<false\/>/);
  expect(
    createHash('sha256')
      .update(await (await app.fetch(`/dns/${key}/profile`)).text())
      .digest('hex'),
  ).toBe(createHash('sha256').update(text).digest('hex'));
});

// The last one: guesses of the tests above count too.
test('lets a source guess only a few keys', async () => {
  // On a slow machine one more is allowed every two seconds.
  const statuses: number[] = [];
  while (statuses.length < 100 && !statuses.includes(429)) statuses.push((await ask('b'.repeat(26), 'shop.example')).status);
  expect(statuses).toContain(429);
});
