import { forgotPassword, login, register, resetPassword } from '@palisade/contract/auth';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { COUNTED_IN_MEMORY, problemOf, replyOf, startTestApp } from '#test/harness.ts';

const PASSWORD = 'a long enough password';
const NEW_PASSWORD = 'another long password';
const MINUTE = 60_000;

let clock = Date.parse('2026-11-20T10:00:00Z');
const { call, signIn, app, url } = await startTestApp({
  environment: {
    ...COUNTED_IN_MEMORY,
    EXPOSURE: 'public',
    ADMIN_EMAILS: 'boss@example.com',
    RESET_DELIVERY: 'outbox',
    TRUSTED_PROXIES: '127.0.0.1',
  },
  surroundings: { now: () => clock },
});

async function lettersTo(recipient: string, subject: string): Promise<string[]> {
  const rows = await app.database
    .selectFrom('mails')
    .select('text')
    .where('recipient', '=', recipient)
    .where('subject', '=', `Palisade: ${subject}`)
    .orderBy('id')
    .execute();
  return rows.map(({ text }) => text ?? '');
}
const resetsTo = async (email: string) =>
  (await lettersTo(email, 'Reset your password')).map((text) => /^[\w-]{43}$/m.exec(text)?.[0] ?? '');

async function post(path: string, body: object, source: string): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${url}/api/auth/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': source },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

const forget = (email: string, source: string) => post('forgot-password', { email }, source);
/** Asked over and over by so many sources. */
async function attack(email: string, sources: number, times: number): Promise<number[]> {
  const asked = Array.from({ length: sources * times }, (_, place) => forget(email, `198.51.100.${(place % sources) + 1}`));
  return (await Promise.all(asked)).map(({ status }) => status);
}
const resets = async (reset_token: string | undefined) =>
  (await call(resetPassword, { body: { reset_token: reset_token ?? '', new_password: NEW_PASSWORD } })).status;

describe('a reset that is asked for by strangers', () => {
  // proves: attack-B.10-1, security-6
  test.each([
    ['one source', 1, 40],
    ['fifty sources', 50, 6],
  ])('in a loop leaves the owner’s token alone, and the owner gets another one: %s', async (_, sources, times) => {
    const { email } = await signIn();
    await forget(email, '203.0.113.9');
    await expect.poll(() => resetsTo(email)).toHaveLength(1);
    const [own] = await resetsTo(email);
    const statuses = await attack(email, sources, times);
    // A source over its bound is refused alone, with the same answer for any email.
    expect(statuses.filter((status) => status === 200)).toHaveLength(sources * 5);
    await expect.poll(() => resetsTo(email)).toHaveLength(6);
    // The owner at a new place gets the same answer, and has letters that work.
    expect(await forget(email, '203.0.113.77')).toMatchObject({ status: 200, body: { reset_token: null } });
    clock += 6 * MINUTE;
    await forget(email, '203.0.113.78');
    await expect.poll(() => resetsTo(email)).toHaveLength(7);
    expect(await resets(own)).toBe(200);
    // A use voids all of them.
    for (const token of (await resetsTo(email)).slice(1)) expect(await resets(token)).toBe(422);
  });

  test('leaves an owner who signed in from there before a way of their own', async () => {
    const { email, password } = await signIn();
    expect((await post('login', { email, password }, '203.0.113.200')).status).toBe(200);
    await attack(email, 30, 5);
    await expect.poll(() => resetsTo(email)).toHaveLength(6);
    await forget(email, '203.0.113.200');
    await expect.poll(() => resetsTo(email)).toHaveLength(7);
    expect(await resets((await resetsTo(email)).at(-1))).toBe(200);
  });

  test('in a loop without an end never leaves the mailbox without a token that works', async () => {
    const { email } = await signIn();
    for (let minute = 0; minute < 60; minute += 5) {
      const before = await resetsTo(email);
      await attack(email, 10, 1);
      await expect.poll(async () => (await resetsTo(email)).length, { timeout: 10_000 }).toBeGreaterThan(before.length);
      clock += 5 * MINUTE;
    }
    const all = await resetsTo(email);
    expect(all.length).toBeLessThanOrEqual(6 + 12);
    expect(await resets(all.at(-1))).toBe(200);
  });
});

describe('registering with an email that is known', () => {
  const ask = (email: string, username: string, source = '203.0.113.50') =>
    post('register', { email, username, password: PASSWORD }, source);
  const shapeOf = ({ status, body }: { status: number; body: unknown }) => ({
    status,
    fields: Object.keys(z.record(z.string(), z.unknown()).parse(body)),
  });

  // proves: attack-B.9-1, security-4
  test('is answered as with one that is not, makes nothing, and tells the owner by mail', async () => {
    const { email, password } = await signIn();
    const unknown = await ask('unknown@example.com', 'nobody new');
    const known = await ask(email, 'somebody new');
    expect(known.status).toBe(201);
    expect(shapeOf(known)).toEqual(shapeOf(unknown));
    expect(known.body).toMatchObject({ email, username: 'somebody new', role: 'customer' });
    await expect.poll(() => lettersTo(email, 'You already have an account')).toHaveLength(1);
    const [letter] = await lettersTo(email, 'You already have an account');
    expect(letter).not.toContain('somebody new');
    // The password that was given there is a wrong one, the owner's is as it was.
    expect(problemOf(await call(login, { body: { email, password: 'the password of the other' } })).code).toBe(
      'invalid_credentials',
    );
    expect(replyOf(await call(login, { body: { email, password } })).user_info.username).not.toBe('somebody new');
    expect(await app.database.selectFrom('users').selectAll().where('username', '=', 'somebody new').execute()).toEqual([]);
  });

  test('is refused for the name, the password and the address as with any other', async () => {
    const [owner, other] = [await signIn(), await signIn('taken-name')];
    for (const email of [owner.email, 'not-known@example.com']) {
      expect(await ask(email, 'taken-name')).toMatchObject({ status: 409, body: { code: 'username_taken' } });
      expect(await ask(email, 'mar\u200bia')).toMatchObject({ status: 422 });
      expect(await post('register', { email, username: 'fine', password: 'password1' }, '203.0.113.51')).toMatchObject({
        status: 422,
      });
    }
    expect(other.email).toBeDefined();
  });

  test('mails the owner so many times a day, however often it is tried', async () => {
    const { email } = await signIn();
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, place) => ask(email, `try ${place}`, `198.51.100.${place + 1}`)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(201));
    await expect.poll(() => lettersTo(email, 'You already have an account')).toHaveLength(5);
    await forget(email, '203.0.113.90');
    await expect.poll(() => resetsTo(email)).toHaveLength(1);
    expect(await lettersTo(email, 'You already have an account')).toHaveLength(5);
  });

  test('of many at once with one email one makes the account', async () => {
    const names = Array.from({ length: 8 }, (_, place) => `racer ${place}`);
    const answers = await Promise.all(names.map((name, place) => ask('racer@example.com', name, `198.51.100.${place + 1}`)));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201));
    expect(await app.database.selectFrom('users').select('id').where('email', '=', 'racer@example.com').execute()).toHaveLength(
      1,
    );
  });
});

test('the account of a registration is there at once, signed in to and not proved', async () => {
  const body = { email: 'new@example.com', username: 'newcomer', password: PASSWORD };
  replyOf(await call(register, { body }));
  expect(replyOf(await call(login, { body }))).toMatchObject({ email_unproven: true, user_info: { username: 'newcomer' } });
  await call(forgotPassword, { body: { email: 'nobody@example.com' } });
});
