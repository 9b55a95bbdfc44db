// proves: asvs-6.2.1
import { listScans } from '@palisade/contract/antivirus';
import { currentUser, forgotPassword, login, logout, register, resetPassword } from '@palisade/contract/auth';
import { describe, expect, test } from 'vitest';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';

const PASSWORD = 'a long enough password';

describe('registering', async () => {
  const { call } = await startTestApp();
  const account = (name: string) => ({ email: `${name}@example.com`, username: name, password: PASSWORD });

  // proves: asvs-6.3.2
  test('the first account of a local installation is its administrator, everybody after is a customer', async () => {
    expect(replyOf(await call(register, { body: account('first') })).role).toBe('admin');
    expect(replyOf(await call(register, { body: account('second') })).role).toBe('customer');
  });

  // proves: asvs-8.2.3, asvs-15.3.1
  test('it does not sign in, and answers no secret', async () => {
    const reply = replyOf(await call(register, { body: account('quiet') }));
    expect(Object.keys(reply).sort()).toEqual(['email', 'id', 'role', 'username']);
  });

  test('an email or a username is taken once, in any case', async () => {
    await call(register, { body: account('taken') });
    const email = await call(register, { body: { ...account('other'), email: 'TAKEN@Example.com' } });
    expect(problemOf(email)).toMatchObject({ status: 409, code: 'email_taken' });
    const username = await call(register, { body: { ...account('another'), username: 'Taken' } });
    expect(problemOf(username)).toMatchObject({ status: 409, code: 'username_taken' });
  });

  // proves: asvs-2.3.3
  test('of two at once with the same email one is made', async () => {
    const both = await Promise.all([
      call(register, { body: { ...account('race-a'), email: 'race@example.com' } }),
      call(register, { body: { ...account('race-b'), email: 'race@example.com' } }),
    ]);
    expect(both.map((answer) => answer.status).sort()).toEqual([201, 409]);
  });

  test.each([
    ['email', { email: 'no address' }],
    ['email', { email: `${'a'.repeat(250)}@example.com` }],
    ['username', { username: '   ' }],
    ['username', { username: 'a\u0000b' }],
    ['username', { username: 'x'.repeat(65) }],
    ['password', { password: 'short' }],
    ['password', { password: 'x'.repeat(129) }],
  ])('a bad %s is refused by name: %j', async (field, change) => {
    const problem = problemOf(await call(register, { body: { ...account('bad'), ...change } }));
    expect(problem.status).toBe(422);
    expect(problem.errors?.map((error) => error.field)).toContain(field);
  });
});

describe('two first accounts at once', async () => {
  const { call } = await startTestApp();
  test('make one administrator', async () => {
    const names = ['one', 'two', 'three', 'four'];
    const answers = await Promise.all(
      names.map((name) => call(register, { body: { email: `${name}@example.com`, username: name, password: PASSWORD } })),
    );
    expect(answers.map((answer) => replyOf(answer).role).filter((role) => role === 'admin')).toHaveLength(1);
  });
});

describe('public exposure', async () => {
  const { call, app } = await startTestApp({
    environment: { EXPOSURE: 'public', ADMIN_EMAILS: 'boss@example.com', RESET_DELIVERY: 'outbox' },
  });
  const lettersTo = async (recipient: string) => {
    const mails = await app.database
      .selectFrom('mails')
      .select('text')
      .where('recipient', '=', recipient)
      .orderBy('id')
      .execute();
    return mails.map(({ text }) => text ?? '');
  };
  const tokenIn = (letter = '') => /^[\w-]{43}$/m.exec(letter)?.[0];

  // proves: asvs-6.3.2
  test('only addresses of ADMIN_EMAILS become administrator, and only once a mailed token was used', async () => {
    expect(
      replyOf(await call(register, { body: { email: 'early@example.com', username: 'early', password: PASSWORD } })).role,
    ).toBe('customer');
    const boss = { email: 'boss@example.com', password: PASSWORD };
    expect(replyOf(await call(register, { body: { ...boss, email: 'Boss@example.com', username: 'boss' } })).role).toBe(
      'customer',
    );
    const roleNow = async (password: string) => replyOf(await call(login, { body: { ...boss, password } })).user_info.role;
    expect(await roleNow(PASSWORD)).toBe('customer');

    const prove = async (new_password: string) => {
      await expect.poll(async () => (await lettersTo(boss.email)).length).toBe(1);
      await call(forgotPassword, { body: { email: boss.email } });
      const mailed = async () => tokenIn((await lettersTo(boss.email))[1]);
      await expect.poll(mailed).toBeDefined();
      replyOf(await call(resetPassword, { body: { reset_token: (await mailed()) ?? '', new_password } }));
    };
    // The stranger who registered has a passkey, which would be worth more than the password.
    const boss_id = replyOf(await call(login, { body: boss })).user_info.id;
    const passkey = { rp_id: 'localhost', name: 'A key', counter: 0, transports: '[]', created_at: '', last_used_at: null };
    await app.database
      .insertInto('passkeys')
      .values({ id: boss_id, user_id: boss_id, credential_id: 'x', public_key: 'x', ...passkey })
      .execute();
    await prove('the password of the boss');
    expect(await app.database.selectFrom('passkeys').selectAll().execute()).toEqual([]);
    expect(await roleNow('the password of the boss')).toBe('admin');
  });

  test('a role that was taken away does not come back with another reset', async () => {
    const boss = { email: 'boss@example.com' };
    await app.database.updateTable('users').set({ role: 'customer' }).where('email', '=', boss.email).execute();
    const before = (await lettersTo(boss.email)).length;
    await call(forgotPassword, { body: boss });
    await expect.poll(async () => (await lettersTo(boss.email)).length).toBe(before + 1);
    const reset_token = tokenIn((await lettersTo(boss.email)).at(-1)) ?? '';
    const new_password = 'another password of the boss';
    replyOf(await call(resetPassword, { body: { reset_token, new_password } }));
    expect(replyOf(await call(login, { body: { ...boss, password: new_password } })).user_info.role).toBe('customer');
  });
});

describe('sessions', async () => {
  let clock = Date.parse('2026-11-20T10:00:00Z');
  const { call, signIn, url } = await startTestApp({ surroundings: { now: () => clock } });
  const DAY_MS = 86_400_000;

  test('a wrong password and an unknown email are refused alike', async () => {
    const { email } = await signIn();
    const wrong = problemOf(await call(login, { body: { email, password: 'not the password' } }));
    const unknown = problemOf(await call(login, { body: { email: 'nobody@example.com', password: 'not the password' } }));
    expect(wrong).toMatchObject({ status: 401, code: 'invalid_credentials' });
    expect({ ...unknown, request_id: '' }).toEqual({ ...wrong, request_id: '' });
  });

  // proves: asvs-7.2.2
  test('a token opens its own account; none, a wrong one and one in another scheme do not', async () => {
    const { token, email } = await signIn();
    expect(replyOf(await call(currentUser, { token })).email).toBe(email);
    for (const bad of [undefined, 'wrong', `${token}x`, '']) {
      expect(problemOf(await call(currentUser, { token: bad }))).toMatchObject({ status: 401, code: 'unauthenticated' });
    }
    const basic = await fetch(`${url}/api/auth/me`, { headers: { authorization: `Basic ${token}` } });
    expect(basic.status).toBe(401);
    expect(basic.headers.get('www-authenticate')).toBe('Bearer');
  });

  // proves: asvs-7.4.1
  test('signing out ends the session on the server, and only this one', async () => {
    const { token, email, password } = await signIn();
    const other = replyOf(await call(login, { body: { email, password } })).access_token;
    expect((await call(logout, { token })).status).toBe(204);
    expect((await call(listScans, { token })).status).toBe(401);
    expect((await call(logout, { token })).status).toBe(401);
    expect((await call(listScans, { token: other })).status).toBe(200);
  });

  // proves: asvs-7.3.1
  test('a session ends after 7 days without use', async () => {
    const { token } = await signIn();
    clock += 6.9 * DAY_MS;
    expect((await call(currentUser, { token })).status).toBe(200);
    clock += 6.9 * DAY_MS;
    expect((await call(currentUser, { token })).status).toBe(200);
    clock += 7 * DAY_MS;
    expect((await call(currentUser, { token })).status).toBe(401);
  });

  // proves: asvs-7.3.2
  test('a session ends after 30 days, however much it is used', async () => {
    const { token } = await signIn();
    for (let day = 0; day < 29; day += 1) {
      clock += DAY_MS;
      expect((await call(currentUser, { token })).status).toBe(200);
    }
    clock += DAY_MS;
    expect((await call(currentUser, { token })).status).toBe(401);
  });
});
