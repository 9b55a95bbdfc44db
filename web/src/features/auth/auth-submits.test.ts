import { COMMON_PASSWORD_ADVICE, forgotPassword, login, recoverUsername, register, resetPassword } from '@palisade/contract/auth';
import type { Endpoint } from '@palisade/contract/endpoint';
import { readConfig } from '@palisade/contract/platform';
import { beforeEach, describe, expect, it } from 'vitest';
import { CONFIG, MARIA } from '#api/fake-records.ts';
import { FakeServer, refusal } from '#api/fake-server.ts';
import type { AuthMode } from './auth-modes.ts';
import { bad, EMPTY, firstState, good } from './auth-state.ts';
import { submitForm } from './auth-submits.ts';

const TYPED = { ...EMPTY, email: 'maria@example.com', password: 'correct horse', confirm: 'correct horse' };
const ENDPOINTS: Record<AuthMode, Endpoint> = {
  login,
  register,
  'forgot-password': forgotPassword,
  'reset-password': resetPassword,
  'recover-username': recoverUsername,
};
const BEHIND_PROXY = 'This server is reached through a proxy, so it shows nothing. The mail waits in the outbox.';

const server = FakeServer.ofEachTest();

beforeEach(() => {
  server.answer(readConfig, CONFIG);
});

describe('a refusal', () => {
  it.each([
    ['login', 'Login failed'],
    ['register', 'Registration failed'],
    ['forgot-password', 'Failed to send reset instructions'],
    ['reset-password', 'Failed to reset password'],
    ['recover-username', 'Failed to recover username'],
  ] as const)('of %s has the words of the server, or its own: %s', async (mode, words) => {
    const endpoint = ENDPOINTS[mode];
    server.on(endpoint, refusal('internal', { detail: '' }));
    expect(await submitForm(mode, TYPED, CONFIG)).toMatchObject({ kind: 'refuse', outcome: { message: words } });
    server.on(endpoint, refusal('conflict', { detail: 'The last attempt was successful already.' }));
    expect(await submitForm(mode, TYPED, CONFIG)).toMatchObject({
      kind: 'refuse',
      outcome: { message: 'The last attempt was successful already.' },
    });
    server.lose(endpoint);
    expect(await submitForm(mode, TYPED, CONFIG)).toMatchObject({
      kind: 'refuse',
      outcome: { message: 'Network error. Please try again.' },
    });
  });
});

describe('registering', () => {
  it.each([
    ['local', 'response', 'there', 'Please login with your credentials.'],
    ['public', 'email', 'named_email', 'Follow the steps in our email, then login.'],
    ['public', 'outbox', 'named_email', 'Email isn’t set up. Run "palisade outbox" on the server to see your code, then login.'],
    ['public', 'outbox', 'there', 'Ask the person who runs this installation for our email to you, then login.'],
  ] as const)(
    'in %s exposure, with mails by %s and the administrator %s, says what is next',
    async (exposure, reset_delivery, administrator, next) => {
      server.answer(register, MARIA);
      expect(await submitForm('register', TYPED, { ...CONFIG, exposure, reset_delivery, administrator })).toEqual({
        kind: 'move',
        mode: 'login',
        message: good(`Registration successful! ${next}`),
        values: { ...EMPTY, email: TYPED.email },
      });
    },
  );

  it('advises another password where a common one was taken', async () => {
    server.answer(register, { ...MARIA, common_password: true });
    const said = `Registration successful! Please login with your credentials. ${COMMON_PASSWORD_ADVICE}`;
    expect(await submitForm('register', TYPED, CONFIG)).toMatchObject({ message: good(said) });
    server.answer(resetPassword, { success: true, common_password: true });
    const reset = `Password reset successful! You can now login with your new password. ${COMMON_PASSWORD_ADVICE}`;
    expect(await submitForm('reset-password', TYPED, CONFIG)).toMatchObject({ message: good(reset) });
  });

  it('makes no call when the passwords differ, and one when they differ only by their code points', async () => {
    const differing = { ...TYPED, confirm: 'something else' };
    expect(await submitForm('register', differing, CONFIG)).toEqual({ kind: 'tell', message: bad('Passwords do not match') });
    expect(server.callsOf(register)).toHaveLength(0);
    server.answer(register, MARIA);
    const composed = { ...TYPED, password: 'caf\u00e9 caf\u00e9', confirm: 'cafe\u0301 cafe\u0301' };
    expect(await submitForm('register', composed, CONFIG)).toMatchObject({ kind: 'move' });
  });
});

describe('a forgotten password', () => {
  it.each([
    [
      'a token with its validity',
      { reset_token: 'token-1', expires_in: 900 },
      good('Reset instructions sent successfully. Your reset token: token-1 (valid for 15 minutes)'),
      'token-1',
    ],
    [
      'a mail',
      { reset_token: null, expires_in: 900 },
      good('Reset instructions sent successfully. Check your email for the reset token.'),
      '',
    ],
    ['nothing behind a proxy, and why', { reset_token: null, expires_in: 900, detail: BEHIND_PROXY }, bad(BEHIND_PROXY), ''],
  ])('is answered with %s', async (_, answer, message, reset_token) => {
    server.answer(forgotPassword, answer);
    expect(await submitForm('forgot-password', TYPED, CONFIG)).toEqual({
      kind: 'move',
      mode: 'reset-password',
      message,
      values: { reset_token, new_password: '' },
    });
  });
});

it('promises no email of a reset token where none goes out', async () => {
  server.answer(forgotPassword, { reset_token: null, expires_in: 900 });
  expect(await submitForm('forgot-password', TYPED, { ...CONFIG, reset_delivery: 'outbox' })).toMatchObject({
    mode: 'reset-password',
    message: good('Request sent successfully. This installation sends no email. Ask your administrator for the code.'),
  });
});

describe('a forgotten username', () => {
  const mailed = 'Username recovery successful! If an account uses this email, we’ve sent its username there.';
  const waits = 'Username recovery successful! Ask the person who runs this installation for our email to you.';

  it.each([
    ['email', mailed],
    ['outbox', waits],
  ] as const)('is mailed where it is not answered: by %s', async (reset_delivery, text) => {
    server.answer(recoverUsername, { username: null });
    expect(await submitForm('recover-username', TYPED, { ...CONFIG, reset_delivery })).toMatchObject({
      kind: 'move',
      mode: 'login',
      message: good(text),
    });
  });

  it('is not shown behind a proxy, and the screen says why', async () => {
    server.answer(recoverUsername, { username: null, detail: BEHIND_PROXY });
    expect(await submitForm('recover-username', TYPED, CONFIG)).toEqual({ kind: 'tell', message: bad(BEHIND_PROXY) });
  });
});

it('the screen of an unknown mode says so in the words of the specification', () => {
  expect(firstState('unknown')).toMatchObject({ mode: 'login', message: bad('Invalid action'), isUntouched: false });
});
