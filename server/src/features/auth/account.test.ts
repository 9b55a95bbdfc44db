// proves: asvs-1.3.11
import { changePassword, changeUsername, currentUser, login } from '@palisade/contract/auth';
import { endOtherSessions, endSession, listSessions } from '@palisade/contract/sessions';
import { eventually } from '@palisade/scanner/test/eventually';
import { describe, expect, test } from 'vitest';
import { accountParts, type FeaturePerson, PASSWORD } from '#test/account-parts.ts';
import { ORIGIN, outcomes } from '#test/feature-database.ts';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';

const NEW_PASSWORD = 'another long password';
const DAY_MS = 86_400_000;
const { clock, accounts, recovery, sessions, person: start } = await accountParts();
const rename = ({ id }: FeaturePerson, username: string) => accounts.changeUsername(id, username, ORIGIN);
const change = ({ actor }: FeaturePerson, current_password: string, new_password = NEW_PASSWORD) =>
  accounts.changePassword({
    user_id: actor.user_id,
    session_id: actor.session_id,
    current_password,
    new_password,
    origin: ORIGIN,
  });

describe('a username', () => {
  test('changes at once, in every session', async () => {
    const maria = await start({ username: 'maria' });
    const { token } = await maria.sessionAgain();
    expect((await sessions.resolve(token))?.user.username).toBe('maria');
    const username = `<script>'); drop table users; --`;
    expect((await rename(maria, username)).username).toBe(username);
    for (const one of [maria.token, token]) expect((await sessions.resolve(one))?.user.username).toBe(username);
    expect(await maria.audited()).toEqual(['username_changed']);
  });

  test('may be one’s own in another case, and somebody else’s in none', async () => {
    const noor = await start({ username: 'noor' });
    await start({ username: 'omar' });
    expect((await rename(noor, 'NOOR')).username).toBe('NOOR');
    await expect(rename(noor, 'Omar')).rejects.toMatchObject({ code: 'username_taken' });
  });

  test('that two people want at once is one’s', async () => {
    const [one, two] = [await start(), await start()];
    expect(await outcomes([rename(one, 'wanted'), rename(two, 'wanted')])).toEqual(['fulfilled', 'username_taken']);
  });
});

// proves: asvs-6.2.2
describe('a new password', () => {
  // proves: asvs-7.4.3
  test('ends every other session, keeps this one, voids reset tokens and writes a notice', async () => {
    const person = await start();
    const { token: other } = await person.sessionAgain();
    const reset_token = await recovery.answerToken(person.email);
    await change(person, PASSWORD);
    expect([await person.isSignedIn(), await sessions.resolve(other)]).toEqual([true, undefined]);
    await expect(person.enter(PASSWORD)).rejects.toMatchObject({ code: 'invalid_credentials' });
    await person.enter(NEW_PASSWORD);
    await expect(recovery.reset(reset_token, 'a third long password', ORIGIN)).rejects.toMatchObject({ code: 'invalid_field' });
    expect(person.letters()).toEqual(['Your password was changed']);
    expect(await person.audited()).toContain('password_changed');
  });

  // proves: asvs-6.2.3, asvs-7.5.1
  test('needs the current one', async () => {
    const person = await start();
    await expect(change(person, 'not the password')).rejects.toMatchObject({ errors: [{ field: 'current_password' }] });
    await person.enter();
  });

  test('of two changes at once holds once', async () => {
    const person = await start();
    const passwords = ['the long password one', 'the long password two'];
    const ends = await Promise.allSettled(passwords.map((password) => change(person, PASSWORD, password)));
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const logins = await Promise.allSettled(passwords.map((password) => person.enter(password)));
    expect(logins.map(({ status }) => status)).toEqual(ends.map(({ status }) => status));
  });
});

describe('sessions', () => {
  test('are listed newest first, end one or all others, and never those of another person', async () => {
    const [person, stranger] = [await start(), await start()];
    clock.now += 60_000;
    const second = await person.sessionAgain();
    const third = await person.sessionAgain();
    const list = () => sessions.list(person.id, { limit: 10 });
    const [newest, ...others] = await list();
    expect(newest).toMatchObject({ id: third.session_id, source: ORIGIN.source, created_at: new Date(clock.now).toISOString() });
    expect(others).toHaveLength(2);
    if (newest === undefined) throw new Error('no session is listed');
    await accounts.endSession(newest, ORIGIN);
    expect(await sessions.resolve(third.token)).toBeUndefined();
    await accounts.endOtherSessions(person.id, person.actor.session_id, ORIGIN);
    expect([await sessions.resolve(second.token), await person.isSignedIn(), await stranger.isSignedIn()]).toEqual([
      undefined,
      true,
      true,
    ]);
    await accounts.signOut(person.id, person.actor.session_id, ORIGIN);
    expect([await person.isSignedIn(), await list()]).toEqual([false, []]);
    expect(await person.audited()).toEqual(['session_ended', 'other_sessions_ended', 'signed_out']);
  });

  // proves: asvs-7.3.1
  test('end after 7 days without use, and are not listed then', async () => {
    const person = await start();
    for (let use = 0; use < 2; use += 1) {
      clock.now += 6.9 * DAY_MS;
      expect(await person.isSignedIn()).toBe(true);
      // Its use is noted beside the call.
      const last_used_at = new Date(clock.now).toISOString();
      await eventually(async () => expect(await sessions.list(person.id, { limit: 1 })).toMatchObject([{ last_used_at }]));
    }
    clock.now += 7 * DAY_MS;
    expect([await person.isSignedIn(), await sessions.list(person.id, { limit: 10 })]).toEqual([false, []]);
  });

  // proves: asvs-7.3.2
  test('end after 30 days, however much they are used', async () => {
    const person = await start();
    for (let day = 0; day < 29; day += 1) {
      clock.now += DAY_MS;
      expect(await person.isSignedIn()).toBe(true);
    }
    clock.now += DAY_MS;
    expect(await person.isSignedIn()).toBe(false);
  });
});

// proves: asvs-7.5.2
test('the routes tell what signed in, and change and end for who knows the password alone', async () => {
  const { app, call, signIn } = await startTestApp();
  const { token, email, password } = await signIn();
  const agent = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0';
  const entered = () =>
    app.fastify.inject({
      method: 'POST',
      url: `/api${login.path}`,
      headers: { 'user-agent': agent },
      payload: { email, password },
    });
  expect((await entered()).statusCode).toBe(200);
  const [latest, own] = replyOf(await call(listSessions, { token }));
  expect(latest).toMatchObject({ client: 'Firefox on Windows', source: '127.0.0.1', current: false });
  expect(own).toMatchObject({ current: true });
  expect(Object.keys(latest ?? {}).sort()).toEqual(['client', 'created_at', 'current', 'id', 'last_used_at', 'source']);
  const params = { id: latest?.id ?? '' };
  for (const wrong of ['not the password', '']) {
    const body = { password: wrong };
    for (const refused of [await call(endSession, { token, params, body }), await call(endOtherSessions, { token, body })])
      expect(problemOf(refused)).toMatchObject({ status: 422, errors: [{ field: 'password' }] });
  }
  expect((await call(endSession, { token, params, body: { password } })).status).toBe(204);
  expect((await call(endSession, { token, params, body: { password } })).status).toBe(404);
  expect((await call(endOtherSessions, { token, body: { password } })).status).toBe(204);
  expect(replyOf(await call(changeUsername, { token, body: { username: 'noor' } })).username).toBe('noor');
  expect((await call(changeUsername, { token, body: { username: 'x'.repeat(65) } })).status).toBe(422);
  const { username, created_at } = replyOf(await call(currentUser, { token }));
  expect([username, Date.parse(created_at)]).toEqual(['noor', expect.any(Number)]);
  for (const body of [
    { current_password: 'x', new_password: 'short' },
    { current_password: '', new_password: NEW_PASSWORD },
  ])
    expect((await call(changePassword, { token, body })).status).toBe(422);
  const body = { current_password: password, new_password: NEW_PASSWORD };
  expect(replyOf(await call(changePassword, { token, body }))).toEqual({ success: true });
});
