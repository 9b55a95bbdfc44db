import { hash } from '@node-rs/argon2';
import { changePassword, forgotPassword, login, register, resetPassword } from '@palisade/contract/auth';
import { deleteAccount } from '@palisade/contract/privacy';
import { describe, expect, test } from 'vitest';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';

const NFC = 'Zürich-Größe é Å';
const NFD = NFC.normalize('NFD');
const WIDE = 'Ｚürich－Größe é Å';

describe('a password', async () => {
  const { call, app, signIn } = await startTestApp();
  const signInWith = (email: string, password: string) => call(login, { body: { email, password } });
  const hashOf = async (email: string) =>
    (await app.database.selectFrom('users').select('password_hash').where('email', '=', email).executeTakeFirstOrThrow())
      .password_hash;

  test('opens the account in whichever form it is typed, at sign-in and everywhere else', async () => {
    // The last administrator cannot go.
    await signIn('first');
    const email = 'forms@example.com';
    replyOf(await call(register, { body: { email, username: 'forms', password: NFD } }));
    for (const password of [NFC, NFD, WIDE]) replyOf(await signInWith(email, password));
    expect(problemOf(await signInWith(email, NFC.toUpperCase())).code).toBe('invalid_credentials');
    const { access_token: token } = replyOf(await signInWith(email, NFC));
    const body = { current_password: WIDE, new_password: 'another ｐａｓｓｗｏｒｄ' };
    replyOf(await call(changePassword, { token, body }));
    replyOf(await signInWith(email, 'another password'));
    const { reset_token } = replyOf(await call(forgotPassword, { body: { email } }));
    const pasted = `\u200b ${(reset_token ?? '').replaceAll('-', '\u2010')}\u00a0`;
    replyOf(await call(resetPassword, { body: { reset_token: pasted, new_password: NFD } }));
    const again = replyOf(await signInWith(email, NFC));
    replyOf(await call(deleteAccount, { token: again.access_token, body: { password: WIDE, confirmation: email } }));
  });

  test.each([
    ['as it was typed', NFC.replace('Z', 'Ｚ')],
    ['taken apart', NFD],
  ])('that was hashed %s before opens the account, and is hashed anew then', async (_, before) => {
    const { email } = await signIn(`old-${before.length}`);
    const password_hash = await hash(before);
    await app.database.updateTable('users').set({ password_hash }).where('email', '=', email).execute();
    expect(problemOf(await signInWith(email, 'a wrong password')).code).toBe('invalid_credentials');
    expect(await hashOf(email)).toBe(password_hash);
    const both = await Promise.all([signInWith(email, before), signInWith(email, before)]);
    for (const answer of both) replyOf(answer);
    expect(await hashOf(email)).not.toBe(password_hash);
    for (const password of [NFC, NFD, WIDE]) replyOf(await signInWith(email, password));
  });

  test('is as long as its normal form', async () => {
    const body = { email: 'short@example.com', username: 'short', password: 'ü'.repeat(7).normalize('NFD') };
    expect(problemOf(await call(register, { body })).status).toBe(422);
  });
});

test('a leaked password is one in full width too', async () => {
  const { call } = await startTestApp({
    environment: { EXPOSURE: 'public', ADMIN_EMAILS: 'boss@example.com', RESET_DELIVERY: 'outbox' },
  });
  const body = { email: 'wide@example.com', username: 'wide', password: 'Ｐａｓｓｗｏｒｄ１２３' };
  expect(problemOf(await call(register, { body }))).toMatchObject({ status: 422, errors: [{ field: 'password' }] });
});
