import { disownAlert } from '@palisade/contract/alerts';
import { type Alert, listAlerts, readLiveFeed, scanPosture } from '@palisade/contract/anti-hacking';
import { currentUser, login, register } from '@palisade/contract/auth';
import { liftBlock, listBlocks } from '@palisade/contract/blocks';
import { readDashboard } from '@palisade/contract/dashboard';
import { EVENTS_CLOSED } from '@palisade/contract/events';
import {
  addPasskey,
  confirmIdentity,
  loginWithPasskey,
  requestNewPasskey,
  requestPasskeyLogin,
} from '@palisade/contract/two-factor';
import { eventually } from '@palisade/scanner/test/eventually';
import { describe, expect, test } from 'vitest';
import { Authenticator } from './authenticator.ts';
import { givePremium } from './feature-database.ts';
import { problemOf, readAnswer, replyOf, startListeningApp } from './harness.ts';
import { listenAs } from './socket.ts';

// Events of a server over HTTP, and the alerts of its people: the whole way between them. Sign-ins and files beside it are in
// features/detection/detection.test.ts, each rule with its threshold in features/detection/detect.test.ts.

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const CHROME = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
const PASSWORD = 'a long enough password';

/** The source and client of a call. */
interface Place {
  source: string;
  client: string;
}
const HOME: Place = { source: '127.0.0.1', client: FIREFOX };

const clock = { now: Date.parse('2026-11-16T08:00:00.000Z') };
/** Waits of delayed sign-ins. */
const waiting = { pause: (): Promise<void> => Promise.resolve() };
const app = await startListeningApp({
  environment: { TRUSTED_PROXIES: '127.0.0.1', LIMITS: 'expensive=1/1m,spray=5/50s,distributed=5/1h' },
  surroundings: { now: () => clock.now, pause: () => waiting.pause() },
});
const { call } = app;
/** Passkeys belong to a name, so that an address has none. */
const SITE = app.url.replace('127.0.0.1', 'localhost');
const boss = await app.signIn('boss');
await givePremium(app.app.database, boss.id);

/** Calls as a browser somewhere does. */
function ask({ source, client }: Place, path: string, options: { token?: string; body?: unknown; method?: string } = {}) {
  const { token, body, method = body === undefined ? 'GET' : 'POST' } = options;
  return app.fetch(`/api${path}`, {
    method,
    headers: {
      'x-forwarded-for': source,
      'user-agent': client,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function enter(email: string, place: Place, password = PASSWORD) {
  return await readAnswer(login, await ask(place, '/auth/login', { body: { email, password } }));
}

/** A customer with premium who has signed in at home. */
async function member(name: string) {
  const email = `${name}@example.com`;
  const { id } = replyOf(await call(register, { body: { email, username: name, password: PASSWORD } }));
  await givePremium(app.app.database, id);
  const { access_token: token } = replyOf(await enter(email, HOME));
  return { email, token };
}

const alertsOf = async (token: string): Promise<Alert[]> => replyOf(await call(listAlerts, { token }));
const aboutSource = async (source: string) => (await alertsOf(boss.token)).filter(({ ip_address }) => ip_address === source);

describe('refusals of strangers and customers are reported to the administrators, and not to their callers:', () => {
  test('unknown paths, over the events socket and to later callers', async () => {
    const place = { source: '198.51.100.1', client: 'curl/8.9' };
    const socket = await listenAs(app, boss.token);
    for (let index = 1; index <= 11; index += 1) expect((await ask(place, `/v${index}/users`)).status).toBe(404);
    await socket.event(({ kind }) => kind === 'alerts_changed');
    expect(await aboutSource(place.source)).toMatchObject([
      { threat_type: 'intrusion_attempt', severity: 'medium', blocked: true, outcome: 'blocked', simulated: false, count: 1 },
    ]);
    const { live_threats } = replyOf(await call(readLiveFeed, { token: boss.token }));
    expect(live_threats[0]).toMatchObject({ ip_address: place.source });
    socket.leave();
  });

  test('SQL injections, and whether they were refused', async () => {
    const place = { source: '198.51.100.2', client: 'sqlmap/1.9' };
    for (const query of [`limit=${encodeURIComponent("1' or '1'='1")}`, 'limit=1+or+1=1', 'limit=1+and+sleep(5)'])
      expect((await ask(place, `/firewall/rules?${query}`)).status).toBe(401);
    const description = 'Someone sent requests with attacks (SQL injection), from 198.51.100.2.';
    await eventually(async () =>
      expect(await aboutSource(place.source)).toMatchObject([{ severity: 'high', outcome: 'blocked', description }]),
    );
    const refused = replyOf(await call(readDashboard, { token: boss.token })).score_breakdown;
    expect(refused.map(({ id }) => id)).not.toContain('open_alert_high');
    const [{ evidence } = { evidence: undefined }] = await aboutSource(place.source);
    // Sent values are not shown: they may be private.
    expect(JSON.stringify(evidence)).not.toContain('sleep');

    // One that was answered may have been the attacker's goal.
    const answered = { ...place, source: '198.51.100.30' };
    for (const path of ['/firewall/rules', '/firewall/rules', '/config']) await ask(answered, `${path}?x=1+or+1=1`);
    await eventually(async () =>
      expect(await aboutSource(answered.source)).toMatchObject([{ outcome: 'unknown', blocked: false }]),
    );
  });

  test.each([
    [
      'calls of administrators',
      ['GET /admin/users', 'GET /admin/blocks', 'GET /admin/subscriptions'],
      1,
      'intrusion_attempt',
      403,
    ],
    ['calls over a limit', [`POST ${scanPosture.path}`], 7, 'ddos_attempt', 429],
  ])('%s', async (_what, calls, times, threat_type, last) => {
    const eve = await member(`eve-${threat_type.slice(0, 4)}`);
    const place = { source: `198.51.100.${last % 100}`, client: FIREFOX };
    const statuses: number[] = [];
    for (const one of Array.from({ length: times }, () => calls).flat()) {
      const [method = '', path = ''] = one.split(' ');
      statuses.push((await ask(place, path, { method, token: eve.token })).status);
    }
    expect(statuses.at(-1)).toBe(last);
    await eventually(async () => expect(await aboutSource(place.source)).toMatchObject([{ threat_type, blocked: true }]));
    expect(await alertsOf(eve.token)).toEqual([]);
  });
});

describe('a refusal of sign-ins', () => {
  test('is what "blocked" says, is listed, leaves the owner alone, and ends with Undo', async () => {
    const maria = await member('maria');
    const place = { source: '198.51.100.5', client: CHROME };
    const socket = await listenAs(app, maria.token);
    for (let time = 0; time < 5; time++) expect((await enter(maria.email, place, 'not this one')).status).toBe(401);
    await socket.event(({ kind }) => kind === 'alerts_changed');
    expect(await alertsOf(maria.token)).toMatchObject([{ threat_type: 'brute_force', outcome: 'blocked', blocked: true }]);
    const blocks = replyOf(await call(listBlocks, { token: maria.token }));
    expect(blocks).toMatchObject([{ kind: 'pair', source: place.source, rule: 'wrong_passwords', level: 1 }]);
    expect((await enter(maria.email, place)).status).toBe(429);
    expect((await enter(maria.email, HOME)).status).toBe(200);

    replyOf(await call(liftBlock, { token: maria.token, params: { id: blocks[0]?.id ?? '' } }));
    expect(replyOf(await call(listBlocks, { token: maria.token }))).toEqual([]);
    expect((await enter(maria.email, place)).status).toBe(200);
    // Ending a refusal vouches for its cause: the sign-in is no intruder's.
    expect((await alertsOf(maria.token)).filter(({ rule }) => rule === 'suspicious_login.after_failures')).toEqual([]);
    socket.leave();
  });

  test('an attack that succeeds all the same is reported as one without effect', async () => {
    const nora = await member('nora');
    const place = { source: '198.51.100.8', client: FIREFOX };
    // Guessed at from five places, so that a try from a sixth one waits; while it does, its source is refused.
    for (let index = 0; index < 5; index++) await enter(nora.email, { ...place, source: `192.0.2.${index}` }, 'not this one');
    const held = Promise.withResolvers<void>();
    const paused = new Promise<void>((resolve) => {
      waiting.pause = () => {
        resolve();
        return held.promise;
      };
    });
    const late = enter(nora.email, place);
    await paused;
    for (const name of ['f', 'g', 'h', 'i', 'j']) await enter(`${name}@example.com`, place, 'not this one');
    expect((await enter('k@example.com', place)).status).toBe(429);
    expect((await alertsOf(nora.token)).map(({ rule }) => rule)).not.toContain('suspicious_login.block_not_effective');
    held.resolve();
    replyOf(await late);
    const told = (await alertsOf(nora.token)).find(({ rule }) => rule === 'suspicious_login.block_not_effective');
    expect(told).toMatchObject({ severity: 'high', outcome: 'allowed', blocked: false, ip_address: place.source });
  });
});

test('a passkey sign-in after a mistyped password is no intruder', async () => {
  const pia = await member('pia');
  const { token } = pia;
  replyOf(await call(confirmIdentity, { token, body: { current_password: PASSWORD } }));
  const device = new Authenticator(SITE);
  const passkey = device.create(replyOf(await call(requestNewPasskey, { token })));
  replyOf(await call(addPasskey, { token, body: { name: 'Phone', passkey } }));
  for (let time = 0; time < 5; time++) expect((await enter(pia.email, HOME, 'not this one')).status).toBe(401);
  expect((await enter(pia.email, HOME)).status).toBe(429);
  const body = { passkey: device.get(replyOf(await call(requestPasskeyLogin))) };
  replyOf(await readAnswer(loginWithPasskey, await ask(HOME, loginWithPasskey.path, { body })));
  await eventually(async () => expect((await alertsOf(token)).map(({ rule }) => rule)).toEqual(['brute_force.pair']));
});

describe('a sign-in with a new browser', () => {
  test('that was not me is signed out at once, and is new the next time too', async () => {
    const uma = await member('uma');
    const place = { source: '198.51.100.21', client: CHROME };
    const { access_token: theirs } = replyOf(await enter(uma.email, place));
    const socket = await listenAs(app, theirs);
    const [alert] = await alertsOf(uma.token);
    const params = { id: alert?.id ?? '' };
    const done = replyOf(await call(disownAlert, { token: uma.token, params }));
    expect(done).toMatchObject({
      ...{ sessions_ended: 1, change_password: true, offer_two_factor: true },
      alert: { outcome: 'blocked', blocked: true, status: 'acknowledged' },
    });
    expect(await socket.closed).toBe(EVENTS_CLOSED.unauthenticated);
    const refused = await readAnswer(currentUser, await ask(place, '/auth/me', { token: theirs }));
    expect(problemOf(refused).code).toBe('unauthenticated');
    replyOf(await call(currentUser, { token: uma.token }));

    replyOf(await enter(uma.email, place));
    expect(await alertsOf(uma.token)).toMatchObject([
      { rule: 'suspicious_login.new_browser', status: 'open', blocked: false },
      { id: params.id, status: 'acknowledged', blocked: true },
    ]);
  });
});
