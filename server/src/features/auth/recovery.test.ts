import { forgotPassword, login, recoverUsername, resetPassword } from '@palisade/contract/auth';
import { listOutbox } from '@palisade/contract/mail';
import { eventually } from '@palisade/scanner/test/eventually';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { accountParts, PASSWORD } from '#test/account-parts.ts';
import { ORIGIN, outcomes } from '#test/feature-database.ts';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';

const NEW_PASSWORD = 'another long password';
const WORTHLESS = {
  code: 'invalid_field',
  errors: [{ field: 'reset_token', message: 'This reset token is wrong, expired, or already used. Get a new one.' }],
};
const REFUSED = { code: 'invalid_credentials' };

const { database, clock, recovery, askedMail, mail, users, person: start } = await accountParts();
const reset = (token: string, password = NEW_PASSWORD) => recovery.reset(token, password, ORIGIN);
const tokenOf = ({ email }: { email: string }) => recovery.answerToken(email);

describe('a reset token', () => {
  test('has 256 bits, and is answered for a known email alone', async () => {
    expect(Buffer.from(await tokenOf(await start()), 'base64url')).toHaveLength(32);
    const unknown = { code: 'not_found', message: 'No account uses this email. Check it or create an account.' };
    await expect(recovery.answerToken('nobody@example.com')).rejects.toMatchObject(unknown);
    await expect(recovery.usernameOf('nobody@example.com')).rejects.toMatchObject(unknown);
    const zoe = await start({ username: 'zoe' });
    expect(await recovery.usernameOf(zoe.email)).toBe('zoe');
  });

  // proves: asvs-7.4.3
  test('sets a new password once, ends all sessions and writes a notice', async () => {
    const person = await start();
    expect(await person.isSignedIn()).toBe(true);
    const token = await tokenOf(person);
    await reset(token);
    expect(await person.isSignedIn()).toBe(false);
    await expect(person.enter(PASSWORD)).rejects.toMatchObject(REFUSED);
    await person.enter(NEW_PASSWORD);
    expect(person.letters()).toEqual(['Your password was changed']);
    await expect(reset(token, 'a third long password')).rejects.toMatchObject(WORTHLESS);
    await person.enter(NEW_PASSWORD);
    expect(await person.audited()).toContain('password_reset');
  });

  // proves: security-27, attack-B.10-1
  test.each(['one token', 'several tokens'])('of several uses of %s at once one succeeds', async (which) => {
    const person = await start();
    const tokens = [await tokenOf(person), await tokenOf(person), await tokenOf(person)];
    const uses = tokens.map((token, index) =>
      reset(which === 'one token' ? (tokens[0] ?? '') : token, `a long password ${index}`),
    );
    const ends = await Promise.allSettled(uses);
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
    const logins = await Promise.allSettled(uses.map((_, index) => person.enter(`a long password ${index}`)));
    expect(logins.map(({ status }) => status)).toEqual(ends.map(({ status }) => status));
    // The use of one voids the others.
    for (const token of tokens) await expect(reset(token)).rejects.toMatchObject(WORTHLESS);
  });

  test('is made one after the other, and leaves the one before it alone', async () => {
    const person = await start();
    const first = await tokenOf(person);
    const asked = await Promise.all([1, 2, 3].map(() => tokenOf(person)));
    expect(new Set([first, ...asked]).size).toBe(4);
    await reset(first);
  });

  test('leaves no session of a sign-in with the old password meanwhile', async () => {
    const person = await start();
    const token = await tokenOf(person);
    await Promise.allSettled([reset(token), ...Array.from({ length: 6 }, () => person.enter())]);
    expect(await database.selectFrom('sessions').select('id').where('user_id', '=', person.id).execute()).toEqual([]);
  });

  test('lasts 15 minutes by the clock', async () => {
    const person = await start();
    const early = await tokenOf(person);
    clock.now += 900_000 - 1;
    await reset(early);
    const late = await tokenOf(person);
    clock.now += 900_000;
    await expect(reset(late)).rejects.toMatchObject(WORTHLESS);
  });

  test('takes the place of the oldest of 20', async () => {
    const person = await start();
    const first = await tokenOf(person);
    for (let count = 0; count < 24; count += 1) {
      clock.now += 1_000;
      await tokenOf(person);
    }
    const kept = await database.selectFrom('account_tokens').selectAll().where('user_id', '=', person.id).execute();
    expect(kept.length).toBeLessThanOrEqual(20);
    await expect(reset(first)).rejects.toMatchObject(WORTHLESS);
  });

  test('does not enable a disabled account', async () => {
    const person = await start();
    const admin = await start({ role: 'admin' });
    await users.change({ user_id: person.id, disabled: true }, { actor_id: admin.id, origin: ORIGIN });
    await reset(await tokenOf(person));
    await expect(person.enter(NEW_PASSWORD)).rejects.toMatchObject({ code: 'account_disabled' });
  });

  test('is mailed, as the username is, to a known address alone', async () => {
    const person = await start();
    for (const email of [person.email, 'nobody@example.com']) {
      recovery.mailToken({ email, source: ORIGIN.source });
      recovery.mailUsername({ email, source: ORIGIN.source });
    }
    await askedMail.close();
    expect(person.letters().sort()).toEqual(['Reset your password', 'Your username']);
    expect(mail.to('nobody@example.com')).toEqual([]);
    const lines = mail.letters.find(({ recipient, subject }) => recipient === person.email && subject.startsWith('Reset'))?.lines;
    await reset(lines?.find((line) => /^[\w-]{43}$/.test(line)) ?? '');
  });

  test('stays worth something when the new password is refused', async () => {
    const person = await start();
    const token = await tokenOf(person);
    expect(await outcomes([reset('not a token'), reset('')])).toEqual(['invalid_field', 'invalid_field']);
    await reset(token);
  });
});

describe('local exposure', async () => {
  const { app, call, signIn } = await startTestApp();
  const boss = await signIn('boss');
  const { email, password } = await signIn();
  const outbox = async (query = '') => await call(listOutbox, { token: boss.token, query });

  test('answers a token and a username to the machine itself, and pages the outbox', async () => {
    const reply = replyOf(await call(forgotPassword, { body: { email: email.toUpperCase() } }));
    expect(reply.expires_in).toBe(900);
    const reset_token = reply.reset_token ?? '';
    const short = await call(resetPassword, { body: { reset_token, new_password: 'short' } });
    expect(problemOf(short)).toMatchObject({ status: 422, errors: [{ field: 'new_password' }] });
    for (const new_password of ['a long password once', password]) {
      const token = replyOf(await call(forgotPassword, { body: { email } })).reset_token ?? '';
      expect(replyOf(await call(resetPassword, { body: { reset_token: token, new_password } }))).toEqual({ success: true });
    }
    expect((await call(login, { body: { email, password } })).status).toBe(200);
    const page = await outbox('?limit=1');
    const [newest] = replyOf(page);
    expect(newest).toMatchObject({ recipient: email, subject: 'Palisade: Your password was changed', status: 'waiting' });
    expect(page.headers.get('link')).toBe(`</api/admin/outbox?limit=1&cursor=${newest?.id}>; rel="next"`);
    expect(replyOf(await outbox(`?cursor=${newest?.id}`))).toHaveLength(1);
  });

  test.each([
    ['another machine', { host: 'localhost' }, '192.0.2.7'],
    ['a page of another site', { host: 'localhost', origin: 'https://evil.example' }, '127.0.0.1'],
  ])('answers a request of %s with the reason alone, and the mail waits in the outbox', async (_, headers, remoteAddress) => {
    const person = await signIn();
    const post = async (path: string, address: string) => {
      const request = { method: 'POST' as const, url: `/api/auth/${path}`, remoteAddress, payload: { email: address } };
      const { statusCode, body } = await app.fastify.inject({ ...request, headers: { connection: 'keep-alive', ...headers } });
      return { statusCode, body: z.unknown().parse(JSON.parse(body)) };
    };
    const detail: unknown = expect.stringMatching(/^For security, you’ll see this only on the server’s own computer/);
    const expected = { statusCode: 200, body: { reset_token: null, expires_in: 900, detail } };
    for (const address of [person.email, 'nobody@example.com']) expect(await post('forgot-password', address)).toEqual(expected);
    expect(await post('recover-username', person.email)).toEqual({ statusCode: 200, body: { username: null, detail } });
    await eventually(async () => {
      const mine = replyOf(await outbox()).filter(({ recipient }) => recipient === person.email);
      expect(mine.map(({ subject }) => subject).sort()).toEqual(['Palisade: Reset your password', 'Palisade: Your username']);
    });
  });

  test.each([
    ['email', forgotPassword, { email: 'nobody' }],
    ['email', recoverUsername, { email: `${'a'.repeat(250)}@example.com` }],
    ['reset_token', resetPassword, { reset_token: '', new_password: NEW_PASSWORD }],
    ['reset_token', resetPassword, { reset_token: 'x'.repeat(201), new_password: NEW_PASSWORD }],
    ['new_password', resetPassword, { reset_token: 'x', new_password: 'y'.repeat(129) }],
  ] as const)('refuses a bad %s by name', (field, { body }, given) => {
    expect(body?.safeParse(given).error?.issues.map(({ path }) => path.join())).toEqual([field]);
  });
});

// proves: security-3
test('public exposure answers every email alike, also to the machine itself', async () => {
  const environment = { EXPOSURE: 'public', ADMIN_EMAILS: 'office@example.com', RESET_DELIVERY: 'outbox' };
  const { call, signIn } = await startTestApp({ environment });
  const { email } = await signIn('maria');
  for (const address of [email, 'nobody@example.com']) {
    expect(replyOf(await call(forgotPassword, { body: { email: address } }))).toEqual({ reset_token: null, expires_in: 900 });
    expect(replyOf(await call(recoverUsername, { body: { email: address } }))).toEqual({ username: null });
  }
});
