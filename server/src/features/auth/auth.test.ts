// proves: asvs-6.2.1
import { hash } from '@node-rs/argon2';
import { currentUser, emailSchema, login, logout, register, resetPassword } from '@palisade/contract/auth';
import { describe, expect, test } from 'vitest';
import { accountParts, PASSWORD } from '#test/account-parts.ts';
import { ORIGIN, outcomes } from '#test/feature-database.ts';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';

const account = (name: string) => ({ email: `${name}@example.com`, username: name, password: PASSWORD });

describe('registering', async () => {
  const { auth } = await accountParts();
  const make = (change: Partial<ReturnType<typeof account>>) =>
    auth.register({ ...account(`person ${Math.random()}`), ...change }, ORIGIN);

  // proves: asvs-6.3.2
  test('of several first ones at once makes one the administrator of a local installation, and nobody after', async () => {
    const first = await Promise.all(['one', 'two', 'three'].map((name) => auth.register(account(name), ORIGIN)));
    expect(first.map(({ role }) => role).sort()).toEqual(['admin', 'customer', 'customer']);
    expect((await make({})).role).toBe('customer');
  });

  // proves: asvs-2.3.3
  test('an email or a username is taken once, in any case, and by one of two at once', async () => {
    await auth.register(account('taken'), ORIGIN);
    await expect(make({ email: 'taken@example.com' })).rejects.toMatchObject({ code: 'email_taken' });
    await expect(make({ username: 'Taken' })).rejects.toMatchObject({ code: 'username_taken' });
    const race = { email: 'race@example.com' };
    expect(await outcomes([make(race), make(race)])).toEqual(['email_taken', 'fulfilled']);
  });
});

test('a named email is an administrator’s in local exposure, and registering makes no administrator in public', async () => {
  const named = { admin_emails: ['chef@xn--mller-kva.example'] };
  const body = { ...account('chef'), email: emailSchema.parse('Chef@Müller.example') };
  const local = await accountParts(named);
  await local.person({ role: 'admin' });
  expect((await local.auth.register(body, ORIGIN)).role).toBe('admin');
  const open = await accountParts({ ...named, exposure: 'public' });
  for (const one of [account('early'), body]) expect((await open.auth.register(one, ORIGIN)).role).toBe('customer');
  await open.askedMail.close();
});

describe('a password', async () => {
  const { auth, accounts, recovery, database, person: start } = await accountParts();
  const NFC = 'Zürich-Größe é Å';
  const NFD = NFC.normalize('NFD');
  const WIDE = 'Ｚürich－Größe é Å';

  test('a wrong one and an unknown email are refused alike', async () => {
    const person = await start();
    const refusal = { code: 'invalid_credentials', message: 'This email or password isn’t right. Check both and try again.' };
    const wrong = await person.enter('not the password').catch((error: unknown) => error);
    const unknown = await auth.authenticate({ email: 'nobody@example.com', password: 'x' }).catch((error: unknown) => error);
    expect(unknown).toEqual(wrong);
    expect(wrong).toMatchObject({ code: refusal.code });
  });

  test('opens the account in whichever form it is typed', async () => {
    const person = await start();
    const { user_id, session_id } = person.actor;
    const changed = (current_password: string, new_password: string) =>
      accounts.changePassword({ user_id, session_id, current_password, new_password, origin: ORIGIN });
    await changed(PASSWORD, NFD);
    for (const password of [NFC, NFD, WIDE]) await person.enter(password);
    await expect(person.enter(NFC.toUpperCase())).rejects.toMatchObject({ code: 'invalid_credentials' });
    await changed(WIDE, 'another ｐａｓｓｗｏｒｄ');
    await person.enter('another password');
    await recovery.reset(await recovery.answerToken(person.email), NFD, ORIGIN);
    await person.enter(NFC);
  });

  test.each([
    ['as it was typed', NFC.replace('Z', 'Ｚ')],
    ['taken apart', NFD],
  ])('that was hashed %s before opens the account, and is hashed anew then', async (_, before) => {
    const person = await start();
    const hashOf = async () =>
      (await database.selectFrom('users').select('password_hash').where('id', '=', person.id).executeTakeFirstOrThrow())
        .password_hash;
    const password_hash = await hash(before);
    await database.updateTable('users').set({ password_hash }).where('id', '=', person.id).execute();
    await expect(person.enter('a wrong password')).rejects.toMatchObject({ code: 'invalid_credentials' });
    expect(await hashOf()).toBe(password_hash);
    await Promise.all([person.enter(before), person.enter(before)]);
    expect(await hashOf()).not.toBe(password_hash);
    for (const password of [NFC, NFD, WIDE]) await person.enter(password);
  });
});

test.each([
  ['email', register, { ...account('bad'), email: 'no address' }],
  ['email', register, { ...account('bad'), email: `${'a'.repeat(250)}@example.com` }],
  ['username', register, { ...account('bad'), username: '   ' }],
  ['username', register, { ...account('bad'), username: 'a\u0000b' }],
  ['username', register, { ...account('bad'), username: 'x'.repeat(65) }],
  ['password', register, { ...account('bad'), password: 'short' }],
  ['password', register, { ...account('bad'), password: 'ü'.repeat(7).normalize('NFD') }],
  ['password', register, { ...account('bad'), password: 'x'.repeat(129) }],
  ['new_password', resetPassword, { reset_token: 'x', new_password: 'y'.repeat(129) }],
] as const)('a bad %s is refused by name: %#', (field, { body }, given) => {
  expect(body?.safeParse(given).error?.issues.map(({ path }) => path.join())).toContain(field);
});

test('a pasted reset token is read without its blanks and dashes of other kinds', () => {
  const token = 'a-b_c';
  const pasted = `\u200b ${token.replaceAll('-', '\u2010')}\u00a0`;
  expect(resetPassword.body?.parse({ reset_token: pasted, new_password: PASSWORD })).toMatchObject({ reset_token: token });
});

// proves: asvs-8.2.3, asvs-15.3.1
test('the routes register without signing in, sign in by any spelling of the email, and answer no secret', async () => {
  const { call } = await startTestApp();
  const email = 'name@bücher.example';
  const reply = replyOf(await call(register, { body: { ...account('books'), email } }));
  expect(Object.keys(reply).sort()).toEqual(['email', 'id', 'role', 'username']);
  const spellings = ['NAME@BÜCHER.Example.', 'name@xn--bcher-kva.example', 'ｎａｍｅ＠bu\u0308cher．example'];
  for (const [place, spelling] of spellings.entries()) {
    expect(problemOf(await call(register, { body: { ...account(`books ${place}`), email: spelling } })).code).toBe('email_taken');
    replyOf(await call(login, { body: { email: spelling, password: PASSWORD } }));
  }
});

// proves: asvs-7.2.2, asvs-7.4.1
test('a token opens its own account until it signs out; none, a wrong one and one in another scheme do not', async () => {
  const { app, call, signIn } = await startTestApp();
  const { token, email, password } = await signIn();
  const other = replyOf(await call(login, { body: { email, password } })).access_token;
  expect(replyOf(await call(currentUser, { token })).email).toBe(email);
  for (const bad of [undefined, 'wrong', `${token}x`, ''])
    expect(problemOf(await call(currentUser, { token: bad }))).toMatchObject({ status: 401, code: 'unauthenticated' });
  const basic = await app.fastify.inject({ url: '/api/auth/me', headers: { authorization: `Basic ${token}` } });
  expect(basic.statusCode).toBe(401);
  expect(basic.headers['www-authenticate']).toBe('Bearer');
  expect((await call(logout, { token })).status).toBe(204);
  expect((await call(logout, { token })).status).toBe(401);
  expect((await call(currentUser, { token: other })).status).toBe(200);
});
