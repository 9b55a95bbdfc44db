import { currentUser, login, logout, type Role, roleSchema } from '@palisade/contract/auth';
import { readDashboard } from '@palisade/contract/dashboard';
import { EVENTS_CLOSED } from '@palisade/contract/events';
import {
  activateTotp,
  addPasskey,
  confirmIdentity,
  readTwoFactor,
  removePasskey,
  removeTotp,
  requestNewPasskey,
  startTotp,
  turnTwoFactorOff,
} from '@palisade/contract/two-factor';
import { changeUser } from '@palisade/contract/users';
import { describe, expect, test, vi } from 'vitest';
import { createSessions } from '#platform/session.ts';
import { Authenticator } from '#test/authenticator.ts';
import { codeAt } from '#test/authenticator-app.ts';
import { problemOf, replyOf, startTestApp, type TestApp } from '#test/harness.ts';
import { listenAs, openSocket } from '#test/socket.ts';
import { factorRule } from './required-factor.ts';

type Person = Awaited<ReturnType<TestApp['signIn']>>;

test.each([
  ['nobody', []],
  ['staff', ['support', 'admin']],
  ['everyone', ['customer', 'support', 'admin']],
] as const)('REQUIRE_TWO_FACTOR=%s asks it of %j', (required, roles) => {
  expect(roleSchema.options.filter(factorRule(required))).toEqual(roles);
});

const idOf = async ({ call }: TestApp, { token }: Person) => replyOf(await call(currentUser, { token })).id;
/** The server's answer to a person's request for their dashboard. */
async function dashboardOf({ call }: TestApp, { token }: Person): Promise<string> {
  const answer = await call(readDashboard, { token });
  return answer.ok ? 'ok' : answer.problem.code;
}

async function confirm({ call }: TestApp, { token, password }: Person): Promise<void> {
  replyOf(await call(confirmIdentity, { token, body: { current_password: password } }));
}

async function newPasskey({ call, url }: TestApp, { token }: Person): Promise<string> {
  const options = replyOf(await call(requestNewPasskey, { token }));
  const passkey = new Authenticator(url.replace('127.0.0.1', 'localhost')).create(options);
  return replyOf(await call(addPasskey, { token, body: { name: 'Phone', passkey } })).passkey.id;
}

async function newApp({ call }: TestApp, { token }: Person): Promise<void> {
  const { secret } = replyOf(await call(startTotp, { token }));
  replyOf(await call(activateTotp, { token, body: { code: codeAt(secret, Date.now()) } }));
}

// proves: asvs-6.3.3
describe('where everyone must have a second factor', async () => {
  const app = await startTestApp({ environment: { REQUIRE_TWO_FACTOR: 'everyone' } });
  const { call, signIn } = app;

  test.each(roleSchema.options)('a %s without one is held, and told so', async (role) => {
    const person = await signIn(undefined, role);
    const { email, password, token } = person;
    expect(replyOf(await call(login, { body: { email, password } })).two_factor_setup_required).toBe(true);
    expect(replyOf(await call(currentUser, { token })).two_factor_setup_required).toBe(true);
    expect(replyOf(await call(readTwoFactor, { token }))).toMatchObject({ enabled: false, required: true });
    expect(problemOf(await call(readDashboard, { token }))).toMatchObject({
      status: 403,
      code: 'two_factor_setup_required',
      detail: 'Your account requires two-factor sign-in. Set up an authenticator app or a passkey to continue.',
    });
    expect((await call(logout, { token })).status).toBe(204);
  });

  test.each([
    ['an authenticator app', newApp],
    ['a passkey', newPasskey],
  ])('%s sets the same session free at once, its events too', async (_, setUp) => {
    const person = await signIn();
    const { token } = person;
    const early = await openSocket(app);
    early.say({ kind: 'hello', access_token: token });
    expect(await early.closed).toBe(EVENTS_CLOSED.two_factor_setup_required);
    await confirm(app, person);
    expect(await dashboardOf(app, person)).toBe('two_factor_setup_required');
    await setUp(app, person);
    expect(await dashboardOf(app, person)).toBe('ok');
    expect(replyOf(await call(currentUser, { token }))).not.toHaveProperty('two_factor_setup_required');
    (await listenAs(app, token)).leave();
  });

  test('the last one stays, however it is asked to go, and one of two goes', async () => {
    const person = await signIn();
    const { token } = person;
    await confirm(app, person);
    await newApp(app, person);
    for (const endpoint of [removeTotp, turnTwoFactorOff]) {
      const { status, code, detail } = problemOf(await call(endpoint, { token }));
      expect({ status, code }).toEqual({ status: 409, code: 'conflict' });
      expect(detail).toContain('is required');
    }
    const id = await newPasskey(app, person);
    expect((await call(removeTotp, { token })).status).toBe(204);
    expect(problemOf(await call(removePasskey, { token, params: { id } })).detail).toBe(
      'Two-factor is required, so you can’t remove your last method. Add another one first.',
    );
    expect(await dashboardOf(app, person)).toBe('ok');
  });

  test("a refusal for it is no attack; a customer's call of an administrator's endpoint still is", async () => {
    const admin = await signIn(undefined, 'admin');
    const customer = await signIn();
    for (const { token } of [admin, customer]) {
      for (const path of ['/admin/users', '/admin/audit', '/admin/outbox', '/admin/blocks'])
        await fetch(`${app.url}/api${path}`, { headers: { authorization: `Bearer ${token}` } });
    }
    const { database } = app.app;
    const counted = async () => {
      const rows = await database
        .selectFrom('detection_windows')
        .select('key')
        .where('rule', '=', 'intrusion_attempt.privilege')
        .execute();
      return rows.map(({ key }) => key).join();
    };
    const [adminId, customerId] = [await idOf(app, admin), await idOf(app, customer)];
    await vi.waitFor(async () => expect(await counted()).toContain(customerId));
    expect(await counted()).not.toContain(adminId);
  });

  test('a second factor that was set up at another server counts at this one at once', async () => {
    const person = await signIn();
    let lacks = true;
    const elsewhere = createSessions({
      database: app.app.database.$pickTables<'sessions' | 'users'>(),
      lacksFactor: () => Promise.resolve(lacks),
      lacksProof: () => false,
      now: Date.now,
    });
    expect((await elsewhere.resolve(person.token))?.is_held).toBe(true);
    lacks = false;
    expect((await elsewhere.resolve(person.token))?.is_held).toBe(false);
  });
});

describe('where staff must have a second factor', async () => {
  const app = await startTestApp({ environment: { REQUIRE_TWO_FACTOR: 'staff' } });
  const { call, signIn } = app;
  const boss = await signIn('boss', 'admin');
  await confirm(app, boss);
  await newPasskey(app, boss);

  test.each([
    ['customer', 'ok'],
    ['support', 'two_factor_setup_required'],
    ['admin', 'two_factor_setup_required'],
  ] as const)('a %s without one: %s', async (role, expected) => {
    const person = await signIn(undefined, role);
    expect(await dashboardOf(app, person)).toBe(expected);
    const { required } = replyOf(await call(readTwoFactor, { token: person.token }));
    expect(required).toBe(role !== 'customer');
  });

  // proves: security-17
  test('a role counts at once, both ways, in sessions and sockets that are there', async () => {
    const person = await signIn();
    const user_id = await idOf(app, person);
    const become = async (role: Role) => replyOf(await call(changeUser, { token: boss.token, body: { user_id, role } }));
    expect(await dashboardOf(app, person)).toBe('ok');
    const page = await listenAs(app, person.token);
    await become('support');
    expect(await dashboardOf(app, person)).toBe('two_factor_setup_required');
    expect(await page.closed).toBe(EVENTS_CLOSED.two_factor_setup_required);
    await become('customer');
    expect(await dashboardOf(app, person)).toBe('ok');
    (await listenAs(app, person.token)).leave();
  });

  test('a customer may turn theirs off, and not any more once they are staff', async () => {
    const person = await signIn();
    const { token } = person;
    await confirm(app, person);
    await newPasskey(app, person);
    expect((await call(turnTwoFactorOff, { token })).status).toBe(204);
    await newPasskey(app, person);
    await call(changeUser, { token: boss.token, body: { user_id: await idOf(app, person), role: 'support' } });
    expect((await call(turnTwoFactorOff, { token })).status).toBe(409);
  });
});
