// proves: asvs-1.3.11
import { changePassword, changeUsername, currentUser, forgotPassword, login, resetPassword } from '@palisade/contract/auth';
import { listOutbox } from '@palisade/contract/mail';
import { endOtherSessions, endSession, listSessions } from '@palisade/contract/sessions';
import { describe, expect, test } from 'vitest';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';

const NEW_PASSWORD = 'another long password';
let clock = Date.parse('2026-11-20T10:00:00Z');
const app = await startTestApp({ surroundings: { now: () => clock } });
const { call, signIn } = app;
const boss = await signIn('boss');

async function signInAgain({ email, password }: { email: string; password: string }): Promise<string> {
  return replyOf(await call(login, { body: { email, password } })).access_token;
}

describe('one’s own account', () => {
  test('says since when it is there', async () => {
    const { token } = await signIn();
    expect(replyOf(await call(currentUser, { token })).created_at).toBe(new Date(clock).toISOString());
  });

  test('a username changes, at once and in every session', async () => {
    const maria = await signIn('maria');
    const other = await signInAgain(maria);
    expect(replyOf(await call(currentUser, { token: other })).username).toBe('maria');
    const username = `<script>'); drop table users; --`;
    expect(replyOf(await call(changeUsername, { token: maria.token, body: { username } })).username).toBe(username);
    for (const token of [maria.token, other]) expect(replyOf(await call(currentUser, { token })).username).toBe(username);
  });

  test('one’s own name in another case is free, somebody else’s is taken in any', async () => {
    const { token } = await signIn('noor');
    await signIn('omar');
    expect(replyOf(await call(changeUsername, { token, body: { username: 'NOOR' } })).username).toBe('NOOR');
    const problem = problemOf(await call(changeUsername, { token, body: { username: 'Omar' } }));
    expect(problem).toMatchObject({ status: 409, code: 'username_taken' });
  });

  test('of two people who want a name at once one gets it', async () => {
    const people = await Promise.all([signIn(), signIn()]);
    const answers = await Promise.all(people.map(({ token }) => call(changeUsername, { token, body: { username: 'wanted' } })));
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409]);
  });

  test.each([['   '], ['a\u0000b'], ['x'.repeat(65)]])('the username %j is 422', async (username) => {
    const { token } = await signIn();
    expect(problemOf(await call(changeUsername, { token, body: { username } })).errors?.[0]?.field).toBe('username');
  });

  test('needs a token', async () => {
    expect((await call(changeUsername, { body: { username: 'x' } })).status).toBe(401);
    expect((await call(changePassword, { body: { current_password: 'x', new_password: NEW_PASSWORD } })).status).toBe(401);
    expect((await call(listSessions)).status).toBe(401);
    expect((await call(endOtherSessions, { body: { password: 'x' } })).status).toBe(401);
  });
});

// proves: asvs-6.2.2
describe('a new password', () => {
  // proves: asvs-7.4.3
  test('ends every other session, keeps this one, voids reset tokens and writes a notice', async () => {
    const person = await signIn();
    const other = await signInAgain(person);
    expect((await call(currentUser, { token: other })).status).toBe(200);
    const { reset_token } = replyOf(await call(forgotPassword, { body: { email: person.email } }));
    const body = { current_password: person.password, new_password: NEW_PASSWORD };
    expect(replyOf(await call(changePassword, { token: person.token, body }))).toEqual({ success: true });
    expect((await call(currentUser, { token: person.token })).status).toBe(200);
    expect((await call(currentUser, { token: other })).status).toBe(401);
    expect((await call(login, { body: person })).status).toBe(401);
    expect((await call(login, { body: { ...person, password: NEW_PASSWORD } })).status).toBe(200);
    const reset = { reset_token: reset_token ?? '', new_password: 'a third long password' };
    expect((await call(resetPassword, { body: reset })).status).toBe(422);
    const [notice] = replyOf(await call(listOutbox, { token: boss.token }));
    expect(notice).toMatchObject({ recipient: person.email, subject: 'Palisade: Your password was changed' });
  });

  // proves: asvs-6.2.3, asvs-7.5.1
  test('needs the current one', async () => {
    const { token } = await signIn();
    const body = { current_password: 'not the password', new_password: NEW_PASSWORD };
    const problem = problemOf(await call(changePassword, { token, body }));
    expect(problem).toMatchObject({ status: 422, errors: [{ field: 'current_password' }] });
    expect((await call(currentUser, { token })).status).toBe(200);
  });

  test('of two changes at once one holds', async () => {
    const person = await signIn();
    const passwords = ['the long password one', 'the long password two'];
    const answers = await Promise.all(
      passwords.map((new_password) =>
        call(changePassword, { token: person.token, body: { current_password: person.password, new_password } }),
      ),
    );
    expect(answers.filter((answer) => answer.ok)).toHaveLength(1);
    const logins = await Promise.all(passwords.map((password) => call(login, { body: { ...person, password } })));
    expect(logins.map((answer) => answer.ok)).toEqual(answers.map((answer) => answer.ok));
  });

  test.each([
    ['new_password', { current_password: 'x', new_password: 'short' }],
    ['new_password', { current_password: 'x', new_password: 'x'.repeat(129) }],
    ['current_password', { current_password: '', new_password: NEW_PASSWORD }],
  ])('a bad %s is 422 by name', async (field, body) => {
    const { token } = await signIn();
    expect(problemOf(await call(changePassword, { token, body })).errors?.[0]?.field).toBe(field);
  });
});

// proves: asvs-7.5.2
describe('signed-in sessions', () => {
  test('tell what signed in, from where and when, newest first, and which one asks', async () => {
    const person = await signIn();
    clock += 60_000;
    const response = await fetch(`${app.url}/api/auth/login`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0',
      },
      body: JSON.stringify({ email: person.email, password: person.password }),
    });
    expect(response.status).toBe(200);
    const sessions = replyOf(await call(listSessions, { token: person.token }));
    expect(sessions).toMatchObject([
      { client: 'Firefox on Windows', source: '127.0.0.1', current: false, created_at: new Date(clock).toISOString() },
      { current: true, created_at: new Date(clock - 60_000).toISOString() },
    ]);
    expect(Object.keys(sessions[0] ?? {}).sort()).toEqual(['client', 'created_at', 'current', 'id', 'last_used_at', 'source']);
  });

  test('one is ended at once, and cannot be ended twice', async () => {
    const person = await signIn();
    const other = await signInAgain(person);
    expect((await call(currentUser, { token: other })).status).toBe(200);
    const [latest] = replyOf(await call(listSessions, { token: person.token }));
    const params = { id: latest?.id ?? '' };
    const body = { password: person.password };
    expect((await call(endSession, { token: person.token, params, body })).status).toBe(204);
    expect((await call(currentUser, { token: other })).status).toBe(401);
    expect((await call(endSession, { token: person.token, params, body })).status).toBe(404);
  });

  // proves: asvs-7.5.2
  test('end for who knows the password alone', async () => {
    const person = await signIn();
    const other = await signInAgain(person);
    const [latest] = replyOf(await call(listSessions, { token: person.token }));
    const params = { id: latest?.id ?? '' };
    for (const body of [{ password: 'not the password' }, { password: '' }]) {
      const refusals = [
        await call(endSession, { token: person.token, params, body }),
        await call(endOtherSessions, { token: person.token, body }),
      ];
      for (const refused of refusals) expect(problemOf(refused)).toMatchObject({ status: 422, errors: [{ field: 'password' }] });
    }
    expect((await call(currentUser, { token: other })).status).toBe(200);
  });

  test("another person's is not found, and neither is an invalid id", async () => {
    const person = await signIn();
    const stranger = await signIn();
    const [theirs] = replyOf(await call(listSessions, { token: person.token }));
    const body = { password: stranger.password };
    expect((await call(endSession, { token: stranger.token, params: { id: theirs?.id ?? '' }, body })).status).toBe(404);
    expect((await call(endSession, { token: stranger.token, params: { id: 'none' }, body })).status).toBe(404);
    expect((await call(endSession, { params: { id: theirs?.id ?? '' }, body })).status).toBe(401);
    expect((await call(currentUser, { token: person.token })).status).toBe(200);
  });

  test('all others of this person end at once', async () => {
    const person = await signIn();
    const stranger = await signIn();
    const others = await Promise.all([signInAgain(person), signInAgain(person)]);
    for (const token of others) expect((await call(currentUser, { token })).status).toBe(200);
    const body = { password: person.password };
    expect((await call(endOtherSessions, { token: person.token, body })).status).toBe(204);
    for (const token of others) expect((await call(currentUser, { token })).status).toBe(401);
    for (const { token } of [person, stranger]) expect((await call(currentUser, { token })).status).toBe(200);
    expect(replyOf(await call(listSessions, { token: person.token }))).toHaveLength(1);
  });

  test('that have run out are not listed', async () => {
    const person = await signIn();
    clock += 7 * 86_400_000;
    const token = await signInAgain(person);
    expect(replyOf(await call(listSessions, { token }))).toHaveLength(1);
  });
});
