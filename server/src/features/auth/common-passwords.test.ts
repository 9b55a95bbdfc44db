import { changePassword, forgotPassword, login, register, resetPassword } from '@palisade/contract/auth';
import { describe, expect, test } from 'vitest';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';
import { isCommonPassword } from './common-passwords.ts';

const COMMON = 'Password123';
const account = (name: string, password: string) => ({ email: `${name}@example.com`, username: name, password });

test.each([
  ['password123', true],
  ['PASSWORD123', true],
  ['qwertyuiop', true],
  ['a long enough password', false],
  ['', false],
])('%j is one of those that attackers try first: %s', (password, expected) => {
  expect(isCommonPassword(password)).toBe(expected);
});

describe('public exposure refuses a common password', async () => {
  const { call, app, signIn } = await startTestApp({
    environment: { EXPOSURE: 'public', ADMIN_EMAILS: 'boss@example.com', RESET_DELIVERY: 'outbox' },
  });

  test('at registration, and makes no account', async () => {
    const problem = problemOf(await call(register, { body: account('maria', COMMON) }));
    expect(problem).toMatchObject({ status: 422, errors: [{ field: 'password' }] });
    expect(problemOf(await call(login, { body: account('maria', COMMON) })).code).toBe('invalid_credentials');
  });

  test('when it is changed, and leaves the one that was', async () => {
    const { token, email, password } = await signIn('ben');
    const body = { current_password: password, new_password: COMMON };
    expect(problemOf(await call(changePassword, { token, body }))).toMatchObject({ errors: [{ field: 'new_password' }] });
    expect((await call(login, { body: { email, password } })).ok).toBe(true);
  });

  test('when it is reset, and the token stays worth something', async () => {
    const { email } = await signIn('carla');
    await call(forgotPassword, { body: { email } });
    const mailed = async () =>
      (await app.database.selectFrom('mails').select('text').where('recipient', '=', email).execute())[0];
    await expect.poll(mailed).toBeDefined();
    const reset_token = /^[\w-]{43}$/m.exec((await mailed())?.text ?? '')?.[0] ?? '';
    const refused = await call(resetPassword, { body: { reset_token, new_password: COMMON } });
    expect(problemOf(refused)).toMatchObject({ errors: [{ field: 'new_password' }] });
    const taken = await call(resetPassword, { body: { reset_token, new_password: 'four words nobody says' } });
    expect(replyOf(taken)).toEqual({ success: true });
  });
});

describe('local exposure takes a common password', async () => {
  const { call, app } = await startTestApp();
  const flagOf = async (email: string) =>
    (await app.database.selectFrom('users').select('common_password').where('email', '=', email).executeTakeFirst())
      ?.common_password;

  test('and knows that it is one, until it is changed', async () => {
    const body = account('maria', COMMON);
    replyOf(await call(register, { body }));
    expect(await flagOf(body.email)).toBe(1);
    const { access_token: token } = replyOf(await call(login, { body }));
    const change = { current_password: COMMON, new_password: 'four words nobody says' };
    replyOf(await call(changePassword, { token, body: change }));
    expect(await flagOf(body.email)).toBe(0);
  });

  test('an account from before this was known is judged when it next signs in', async () => {
    const body = account('ben', COMMON);
    replyOf(await call(register, { body }));
    await app.database.updateTable('users').set({ common_password: null }).where('email', '=', body.email).execute();
    replyOf(await call(login, { body }));
    expect(await flagOf(body.email)).toBe(1);
  });
});
