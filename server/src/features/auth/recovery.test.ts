import { currentUser, forgotPassword, login, recoverUsername, resetPassword } from '@palisade/contract/auth';
import { listOutbox } from '@palisade/contract/mail';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { COUNTED_IN_MEMORY, problemOf, replyOf, startTestApp, type TestApp } from '#test/harness.ts';

const NEW_PASSWORD = 'another long password';
const WORTHLESS = 'This reset token is wrong, expired, or already used. Get a new one.';

async function tokenFor({ call }: Pick<TestApp, 'call'>, email: string): Promise<string> {
  const { reset_token } = replyOf(await call(forgotPassword, { body: { email } }));
  if (reset_token === null) throw new Error('no token was answered');
  return reset_token;
}

describe('local exposure', async () => {
  let clock = Date.parse('2026-11-20T10:00:00Z');
  const app = await startTestApp({ environment: COUNTED_IN_MEMORY, surroundings: { now: () => clock } });
  const { call, signIn } = app;
  const boss = await signIn('boss');
  const outbox = async () => replyOf(await call(listOutbox, { token: boss.token }));

  test('forgot-password answers a token of 256 bits and its validity', async () => {
    const { email } = await signIn();
    const reply = replyOf(await call(forgotPassword, { body: { email: email.toUpperCase() } }));
    expect(reply.expires_in).toBe(900);
    expect(Buffer.from(reply.reset_token ?? '', 'base64url')).toHaveLength(32);
  });

  test('recover-username answers the username', async () => {
    const { email } = await signIn('zoe');
    expect(replyOf(await call(recoverUsername, { body: { email } }))).toEqual({ username: 'zoe' });
  });

  test('an unknown email is 404 with a detail', async () => {
    for (const endpoint of [forgotPassword, recoverUsername]) {
      const problem = problemOf(await call(endpoint, { body: { email: 'nobody@example.com' } }));
      expect(problem).toMatchObject({
        status: 404,
        code: 'not_found',
        detail: 'No account uses this email. Check it or create an account.',
      });
    }
  });

  // proves: asvs-7.4.3
  test('a token sets a new password once, ends all sessions and writes a notice', async () => {
    const { email, password, token } = await signIn();
    const other = replyOf(await call(login, { body: { email, password } })).access_token;
    // Both are in the cache of sessions.
    for (const session of [token, other]) expect((await call(currentUser, { token: session })).status).toBe(200);
    const reset_token = await tokenFor(app, email);
    const body = { reset_token, new_password: NEW_PASSWORD };
    expect(replyOf(await call(resetPassword, { body }))).toEqual({ success: true });
    for (const session of [token, other]) expect((await call(currentUser, { token: session })).status).toBe(401);
    expect((await call(login, { body: { email, password } })).status).toBe(401);
    expect((await call(login, { body: { email, password: NEW_PASSWORD } })).status).toBe(200);
    expect((await outbox())[0]).toMatchObject({
      recipient: email,
      subject: 'Palisade: Your password was changed',
      status: 'waiting',
    });
    const again = problemOf(await call(resetPassword, { body: { ...body, new_password: 'a third long password' } }));
    expect(again).toMatchObject({ status: 422, detail: WORTHLESS, errors: [{ field: 'reset_token' }] });
    expect((await call(login, { body: { email, password: NEW_PASSWORD } })).status).toBe(200);
  });

  // proves: security-27
  test('of several uses of a token at once one succeeds', async () => {
    const { email } = await signIn();
    const reset_token = await tokenFor(app, email);
    const passwords = ['one', 'two', 'three', 'four'].map((word) => `the long password ${word}`);
    const answers = await Promise.all(
      passwords.map((new_password) => call(resetPassword, { body: { reset_token, new_password } })),
    );
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 422, 422, 422]);
    const logins = await Promise.all(passwords.map((password) => call(login, { body: { email, password } })));
    expect(logins.map((answer) => answer.status)).toEqual(answers.map((answer) => (answer.ok ? 200 : 401)));
  });

  test('a sign-in with the old password during the reset does not last', async () => {
    const { email, password } = await signIn();
    const reset_token = await tokenFor(app, email);
    const [reset, ...logins] = await Promise.all([
      call(resetPassword, { body: { reset_token, new_password: NEW_PASSWORD } }),
      ...Array.from({ length: 6 }, () => call(login, { body: { email, password } })),
    ]);
    expect(reset.status).toBe(200);
    for (const answer of logins) {
      if (answer.ok) expect((await call(currentUser, { token: answer.reply.access_token })).status).toBe(401);
    }
  });

  test('a token lasts 15 minutes by the clock', async () => {
    const { email } = await signIn();
    const early = await tokenFor(app, email);
    clock += 900_000 - 1;
    expect((await call(resetPassword, { body: { reset_token: early, new_password: NEW_PASSWORD } })).status).toBe(200);
    const late = await tokenFor(app, email);
    clock += 900_000;
    const problem = problemOf(await call(resetPassword, { body: { reset_token: late, new_password: NEW_PASSWORD } }));
    expect(problem).toMatchObject({ status: 422, detail: WORTHLESS });
  });

  // proves: attack-B.10-1
  test('a new token leaves the one before it alone, and the use of one voids the others', async () => {
    const { email } = await signIn();
    const tokens = [await tokenFor(app, email), await tokenFor(app, email), await tokenFor(app, email)];
    const answers = [];
    for (const reset_token of tokens)
      answers.push((await call(resetPassword, { body: { reset_token, new_password: NEW_PASSWORD } })).status);
    expect(answers).toEqual([200, 422, 422]);
  });

  test('an account has at most 20 tokens, and one that is answered takes the place of the oldest', async () => {
    const { email } = await signIn();
    const first = await tokenFor(app, email);
    for (let count = 0; count < 24; count += 1) {
      clock += 181_000;
      await tokenFor(app, email);
    }
    const { id } = await app.app.database.selectFrom('users').select('id').where('email', '=', email).executeTakeFirstOrThrow();
    const rows = await app.app.database.selectFrom('account_tokens').selectAll().where('user_id', '=', id).execute();
    expect(rows.length).toBeLessThanOrEqual(20);
    expect((await call(resetPassword, { body: { reset_token: first, new_password: NEW_PASSWORD } })).status).toBe(422);
  });

  test('of several uses of different tokens at once one succeeds', async () => {
    const { email } = await signIn();
    const tokens = [await tokenFor(app, email), await tokenFor(app, email), await tokenFor(app, email)];
    const answers = await Promise.all(
      tokens.map((reset_token) => call(resetPassword, { body: { reset_token, new_password: NEW_PASSWORD } })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422, 422]);
  });

  test('of tokens asked for at once one is worth something', async () => {
    const { email } = await signIn();
    const tokens = await Promise.all([1, 2, 3].map(() => tokenFor(app, email)));
    const answers = [];
    for (const reset_token of tokens)
      answers.push(await call(resetPassword, { body: { reset_token, new_password: NEW_PASSWORD } }));
    expect(answers.filter((answer) => answer.ok)).toHaveLength(1);
  });

  // proves: asvs-2.3.3
  test('a password that is too short does not use the token up', async () => {
    const { email } = await signIn();
    const reset_token = await tokenFor(app, email);
    const short = problemOf(await call(resetPassword, { body: { reset_token, new_password: 'short' } }));
    expect(short).toMatchObject({ status: 422, errors: [{ field: 'new_password' }] });
    expect((await call(resetPassword, { body: { reset_token, new_password: NEW_PASSWORD } })).status).toBe(200);
  });

  test.each([
    ['another machine', { host: 'localhost' }, '192.0.2.7'],
    ['a page of another site', { host: 'localhost', origin: 'https://evil.example' }, '127.0.0.1'],
  ])('a request of %s gets no token, is told why, and the mail waits in the outbox', async (_, headers, remoteAddress) => {
    const { email } = await signIn();
    const post = async (path: string, address: string) => {
      const { statusCode, body } = await app.app.fastify.inject({
        method: 'POST',
        url: `/api/auth/${path}`,
        headers: { connection: 'keep-alive', ...headers },
        remoteAddress,
        payload: { email: address },
      });
      return { statusCode, body: z.unknown().parse(JSON.parse(body)) };
    };
    const detail: unknown = expect.stringMatching(/^For security, you’ll see this only on the server’s own computer/);
    const expected = { statusCode: 200, body: { reset_token: null, expires_in: 900, detail } };
    expect(await post('forgot-password', email)).toEqual(expected);
    expect(await post('forgot-password', 'nobody@example.com')).toEqual(expected);
    expect(await post('recover-username', email)).toEqual({ statusCode: 200, body: { username: null, detail } });
    await vi.waitFor(async () => {
      const mine = (await outbox()).filter((mail) => mail.recipient === email);
      expect(mine.map((mail) => mail.subject).sort()).toEqual(['Palisade: Reset your password', 'Palisade: Your username']);
    });
    expect((await outbox()).some((mail) => mail.recipient === 'nobody@example.com')).toBe(false);
    // The request shows no sign of a proxy.
    expect(await tokenFor(app, email)).toHaveLength(43);
  });

  const wrongBodies: [string, unknown][] = [
    ['no email', {}],
    ['a number', { email: 7 }],
    ['no address', { email: 'nobody' }],
    ['an over-long address', { email: `${'a'.repeat(250)}@example.com` }],
  ];
  test.each(wrongBodies)('%s is 422', async (_, body) => {
    for (const endpoint of [forgotPassword, recoverUsername]) {
      const response = await fetch(`${app.url}/api${endpoint.path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      expect(response.status).toBe(422);
      const { errors } = z.object({ errors: z.array(z.object({ field: z.string() })) }).parse(await response.json());
      expect(errors[0]?.field).toBe('email');
    }
  });

  test.each([
    ['reset_token', { reset_token: '', new_password: NEW_PASSWORD }],
    ['reset_token', { reset_token: 'x'.repeat(201), new_password: NEW_PASSWORD }],
    ['reset_token', { reset_token: "' or 1=1 --", new_password: NEW_PASSWORD }],
    ['new_password', { reset_token: 'x', new_password: 'y'.repeat(129) }],
  ])('a bad %s is 422 by name: %j', async (field, body) => {
    const problem = problemOf(await call(resetPassword, { body }));
    expect(problem.status).toBe(422);
    expect(problem.errors?.map((error) => error.field)).toEqual([field]);
  });

  test('a body of 1 MB is refused', async () => {
    const answer = await call(resetPassword, { body: { reset_token: 'x'.repeat(1_000_000), new_password: NEW_PASSWORD } });
    expect(problemOf(answer).status).toBe(413);
  });
});

describe('public exposure', async () => {
  const app = await startTestApp({
    environment: { EXPOSURE: 'public', ADMIN_EMAILS: 'office@example.com', RESET_DELIVERY: 'outbox' },
  });
  const { call, signIn } = app;
  const boss = await signIn('boss', 'admin');
  const outbox = async () => replyOf(await call(listOutbox, { token: boss.token }));

  // proves: security-3
  test('every email gets the same answer, also from the machine itself, and known ones a mail', async () => {
    const { email } = await signIn('maria');
    const answers = [];
    for (const address of [email, 'nobody@example.com']) {
      answers.push(replyOf(await call(forgotPassword, { body: { email: address } })));
    }
    expect(answers).toEqual([
      { reset_token: null, expires_in: 900 },
      { reset_token: null, expires_in: 900 },
    ]);
    expect(replyOf(await call(recoverUsername, { body: { email } }))).toEqual({ username: null });
    expect(replyOf(await call(recoverUsername, { body: { email: 'nobody@example.com' } }))).toEqual({ username: null });
    const mine = async () =>
      (await outbox()).filter(({ recipient, subject }) => recipient === email && !subject.includes('Confirm'));
    await vi.waitFor(async () => expect(await mine()).toHaveLength(2));
    const token = /^([\w-]{43})$/m.exec((await mine()).find((mail) => mail.subject.includes('Reset'))?.text ?? '')?.[1] ?? '';
    expect((await call(resetPassword, { body: { reset_token: token, new_password: NEW_PASSWORD } })).status).toBe(200);
  });
});

test('the outbox is for administrators alone, and pages', async () => {
  const { call, signIn } = await startTestApp();
  const boss = await signIn();
  const { token, email } = await signIn();
  expect(problemOf(await call(listOutbox)).status).toBe(401);
  expect(problemOf(await call(listOutbox, { token })).status).toBe(403);
  for (const new_password of ['the long password one', 'the long password two']) {
    const reset_token = await tokenFor({ call }, email);
    await call(resetPassword, { body: { reset_token, new_password } });
  }
  const first = await call(listOutbox, { token: boss.token, query: '?limit=1' });
  const [newest] = replyOf(first);
  expect(first.headers.get('link')).toBe(`</api/admin/outbox?limit=1&cursor=${newest?.id}>; rel="next"`);
  const rest = replyOf(await call(listOutbox, { token: boss.token, query: `?cursor=${newest?.id}` }));
  expect(rest).toHaveLength(1);
  expect(rest[0]?.id).not.toBe(newest?.id);
});
