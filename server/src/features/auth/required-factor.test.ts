import { currentUser, roleSchema } from '@palisade/contract/auth';
import { readDashboard } from '@palisade/contract/dashboard';
import { EVENTS_CLOSED } from '@palisade/contract/events';
import { activateTotp, confirmIdentity, readTwoFactor, startTotp } from '@palisade/contract/two-factor';
import { describe, expect, test } from 'vitest';
import { accountParts, SITE } from '#test/account-parts.ts';
import { Authenticator } from '#test/authenticator.ts';
import { codeAt } from '#test/authenticator-app.ts';
import { ORIGIN } from '#test/feature-database.ts';
import { problemOf, replyOf, startListeningApp } from '#test/harness.ts';
import { listenAs, openSocket } from '#test/socket.ts';
import { factorRule } from './required-factor.ts';

test.each([
  ['nobody', []],
  ['staff', ['support', 'admin']],
  ['everyone', ['customer', 'support', 'admin']],
] as const)('REQUIRE_TWO_FACTOR=%s asks it of %j', (required, roles) => {
  expect(roleSchema.options.filter(factorRule(required))).toEqual(roles);
});

describe('where staff must have a second factor', async () => {
  const { clock, twoFactor, passkeys, sessions, users, person: start } = await accountParts({ require_two_factor: 'staff' });
  const boss = await start({ role: 'admin' });
  const become = (user_id: string, role: 'customer' | 'support') =>
    users.change({ user_id, role }, { actor_id: boss.id, origin: ORIGIN });
  type Person = typeof boss;
  const isHeld = async ({ token }: Person) => (await sessions.resolve(token))?.is_held;
  async function addApp({ actor }: Person): Promise<void> {
    const { secret } = await twoFactor.startTotp(actor);
    await twoFactor.activateTotp(actor, codeAt(secret, clock.now));
  }
  async function addPasskey({ actor }: Person) {
    const made = new Authenticator(SITE.origin).create(await twoFactor.requestNewPasskey(actor, SITE));
    const { passkey } = await twoFactor.addPasskey(actor, { name: 'Phone', made, site: SITE });
    const row = await passkeys.find(passkey.id);
    if (row === undefined) throw new Error('the passkey is gone');
    return row;
  }

  test.each(['customer', 'support', 'admin'] as const)('a %s without one is held where it must be', async (role) => {
    const person = await start({ role });
    const required = role !== 'customer';
    expect(await isHeld(person)).toBe(required);
    expect((await person.enter()).two_factor_setup_required).toBe(required || undefined);
    expect(await twoFactor.read(person, SITE)).toMatchObject({ enabled: false, required });
  });

  // proves: security-17
  test.each([
    ['an authenticator app', addApp],
    ['a passkey', addPasskey],
  ])('%s sets the same session free at once, as a role does, both ways', async (_, add) => {
    const person = await start();
    expect(await isHeld(person)).toBe(false);
    await become(person.id, 'support');
    expect(await isHeld(person)).toBe(true);
    await become(person.id, 'customer');
    expect(await isHeld(person)).toBe(false);
    await become(person.id, 'support');
    await person.confirm();
    await add(person);
    expect(await isHeld(person)).toBe(false);
  });

  test('the last one stays, however it is asked to go, and one of two goes; a customer’s goes', async () => {
    const person = await start();
    await person.confirm();
    await addPasskey(person);
    await twoFactor.turnOff(person.actor);
    await become(person.id, 'support');
    await addApp(person);
    for (const change of [() => twoFactor.removeTotp(person.actor), () => twoFactor.turnOff(person.actor)]) {
      const refused: unknown = await change().catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: 'conflict' });
      expect(String(refused)).toContain('is required');
    }
    const passkey = await addPasskey(person);
    await twoFactor.removeTotp(person.actor);
    await expect(twoFactor.removePasskey(person.actor, passkey)).rejects.toMatchObject({
      message: 'Two-factor is required, so you can’t remove your last method. Add another one first.',
    });
  });
});

// proves: asvs-6.3.3
test('the application refuses a held session, closes its socket, and takes both after the set-up', async () => {
  const app = await startListeningApp({ environment: { REQUIRE_TWO_FACTOR: 'everyone' } });
  const { call, signIn } = app;
  const { token, password } = await signIn();
  expect(replyOf(await call(currentUser, { token })).two_factor_setup_required).toBe(true);
  expect(replyOf(await call(readTwoFactor, { token }))).toMatchObject({ enabled: false, required: true });
  expect(problemOf(await call(readDashboard, { token }))).toMatchObject({
    ...{ status: 403, code: 'two_factor_setup_required' },
    detail: 'Your account requires two-factor sign-in. Set up an authenticator app or a passkey to continue.',
  });
  const early = await openSocket(app);
  early.say({ kind: 'hello', access_token: token });
  expect(await early.closed).toBe(EVENTS_CLOSED.two_factor_setup_required);
  replyOf(await call(confirmIdentity, { token, body: { current_password: password } }));
  const { secret } = replyOf(await call(startTotp, { token }));
  replyOf(await call(activateTotp, { token, body: { code: codeAt(secret, Date.now()) } }));
  expect((await call(readDashboard, { token })).status).toBe(200);
  expect(replyOf(await call(currentUser, { token }))).not.toHaveProperty('two_factor_setup_required');
  (await listenAs(app, token)).leave();
});

test("a refusal for it is no attack; a customer's call of an administrator's endpoint still is", async () => {
  const { app, call, signIn } = await startListeningApp({ environment: { REQUIRE_TWO_FACTOR: 'everyone' } });
  const people = [await signIn(undefined, 'admin'), await signIn()];
  const ids: string[] = [];
  for (const { token } of people) {
    ids.push(replyOf(await call(currentUser, { token })).id);
    for (const path of ['users', 'audit', 'outbox', 'blocks'])
      await app.fastify.inject({ url: `/api/admin/${path}`, headers: { authorization: `Bearer ${token}` } });
  }
  const counted = async () => {
    const rows = app.database.selectFrom('detection_windows').select('key').where('rule', '=', 'intrusion_attempt.privilege');
    return (await rows.execute()).map(({ key }) => key).join();
  };
  await expect.poll(counted).toContain(ids[1]);
  expect(await counted()).not.toContain(ids[0]);
});
