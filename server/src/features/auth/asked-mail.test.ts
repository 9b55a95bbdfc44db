import { forgotPassword, register } from '@palisade/contract/auth';
import { describe, expect, test } from 'vitest';
import { accountParts, type FeaturePerson, HOME, LEAKED, PASSWORD } from '#test/account-parts.ts';
import { ORIGIN, outcomes } from '#test/feature-database.ts';
import { startTestApp } from '#test/harness.ts';

const MINUTE = 60_000;
const NEW_PASSWORD = 'another long password';
const { database, clock, mail, askedMail, recovery, auth, person } = await accountParts({ exposure: 'public' });
const start = () => person({ proven: true });

/** Asks for resets of an account from so many sources, and waits for the letters. */
async function ask({ email }: FeaturePerson, sources: readonly string[]): Promise<void> {
  for (const source of sources) recovery.mailToken({ email, source });
  await askedMail.close();
}
const strangers = (sources: number, times: number) =>
  Array.from({ length: sources * times }, (_, place) => `198.51.100.${(place % sources) + 1}`);
const tokensOf = ({ email }: FeaturePerson) =>
  mail.letters
    .filter(({ recipient, subject }) => recipient === email && subject === 'Reset your password')
    .map(({ lines }) => lines.find((line) => /^[\w-]{43}$/.test(line)) ?? '');
const reset = (token = '') => recovery.reset(token, NEW_PASSWORD, ORIGIN);

describe('a reset that is asked for by strangers', () => {
  // proves: attack-B.10-1, security-6
  test.each([
    ['one source', 1, 40],
    ['fifty sources', 50, 6],
  ])('in a loop leaves the owner’s token alone, and the owner gets another one: %s', async (_, sources, times) => {
    const owner = await start();
    await ask(owner, ['203.0.113.9']);
    const [own] = tokensOf(owner);
    await ask(owner, strangers(sources, times));
    expect(tokensOf(owner)).toHaveLength(6);
    clock.now += 6 * MINUTE;
    await ask(owner, ['203.0.113.78']);
    expect(tokensOf(owner)).toHaveLength(7);
    await reset(own);
    // A use voids all of them.
    expect(await outcomes(tokensOf(owner).slice(1).map(reset))).toEqual(Array(6).fill('invalid_field'));
  });

  test('leaves an owner who signed in from there before a way of their own', async () => {
    const owner = await start();
    await ask(owner, strangers(30, 5));
    expect(tokensOf(owner)).toHaveLength(6);
    await ask(owner, [HOME]);
    expect(tokensOf(owner)).toHaveLength(7);
    await reset(tokensOf(owner).at(-1));
  });

  test('in a loop without an end never leaves the mailbox without a token that works', async () => {
    const owner = await start();
    for (let minute = 0; minute < 60; minute += 5) {
      const before = tokensOf(owner).length;
      await ask(owner, strangers(10, 1));
      expect(tokensOf(owner).length).toBeGreaterThan(before);
      clock.now += 5 * MINUTE;
    }
    expect(tokensOf(owner).length).toBeLessThanOrEqual(6 + 12);
    await reset(tokensOf(owner).at(-1));
  });
});

describe('registering with an email that is known', () => {
  const EXISTS = 'You already have an account';
  const registerAs = (email: string, username = `name ${Math.random()}`, password = PASSWORD) =>
    auth.register({ email, username, password }, ORIGIN);

  // proves: attack-B.9-1, security-4
  test('is answered as with one that is not, makes nothing, and tells the owner by mail', async () => {
    const owner = await start();
    const unknown = await registerAs('unknown@example.com');
    const known = await registerAs(owner.email, 'somebody new', 'the password of the other');
    expect(Object.keys(known)).toEqual(Object.keys(unknown));
    expect(known).toMatchObject({ email: owner.email, username: 'somebody new', role: 'customer' });
    await askedMail.close();
    expect(owner.letters()).toEqual([EXISTS]);
    expect(JSON.stringify(mail.letters.find(({ recipient }) => recipient === owner.email))).not.toContain('somebody new');
    await expect(owner.enter('the password of the other')).rejects.toMatchObject({ code: 'invalid_credentials' });
    expect((await owner.enter()).user_info.id).toBe(owner.id);
    expect(await auth.findUser(known.id)).toBeUndefined();
  });

  test('is refused for the name and the password as with any other', async () => {
    const owner = await start();
    await person({ username: 'taken-name' });
    for (const email of [owner.email, 'not-known@example.com'])
      expect(
        await outcomes([
          registerAs(email, 'taken-name'),
          registerAs(email, 'mar\u200bia'),
          registerAs(email, 'fine', LEAKED.replace('P', 'Ｐ')),
        ]),
      ).toEqual(['invalid_field', 'invalid_field', 'username_taken']);
  });

  test('mails the owner so many times a day, however often it is tried, which uses up no reset', async () => {
    const owner = await start();
    for (let tries = 0; tries < 12; tries += 1) await registerAs(owner.email);
    await askedMail.close();
    expect(owner.letters()).toEqual(Array(5).fill(EXISTS));
    await ask(owner, [ORIGIN.source]);
    expect(tokensOf(owner)).toHaveLength(1);
  });

  test('of many at once with one email one makes the account', async () => {
    await Promise.all(Array.from({ length: 5 }, () => registerAs('racer@example.com')));
    const racers = database.selectFrom('users').select('id').where('email', '=', 'racer@example.com');
    expect(await racers.execute()).toHaveLength(1);
  });
});

test('the routes bound what one source asks for, with the same answer for any email', async () => {
  const environment = {
    ...{ EXPOSURE: 'public', ADMIN_EMAILS: 'boss@example.com', RESET_DELIVERY: 'outbox' },
    LIMITS: 'recovery=2/15m,register.source=2/1h',
  };
  const { app, signIn } = await startTestApp({ environment });
  const { email } = await signIn();
  const post = async (path: string, payload: object, remoteAddress = '203.0.113.50') => {
    const answer = await app.fastify.inject({ method: 'POST', url: `/api${path}`, payload, remoteAddress });
    return { status: answer.statusCode, fields: Object.keys(answer.json()) };
  };
  for (const address of [email, 'nobody@example.com']) {
    const asked = () => post(forgotPassword.path, { email: address });
    expect([await asked(), await asked()]).toEqual(Array(2).fill({ status: 200, fields: ['reset_token', 'expires_in'] }));
    expect((await asked()).status).toBe(429);
    expect((await post(forgotPassword.path, { email: address }, '203.0.113.51')).status).toBe(200);
  }
  const registered = (address: string) =>
    post(register.path, { email: address, username: `name of ${address.slice(0, 3)}`, password: PASSWORD });
  expect(await registered(email)).toEqual({ ...(await registered('unknown@example.com')), status: 201 });
  expect((await registered('third@example.com')).status).toBe(429);
});
