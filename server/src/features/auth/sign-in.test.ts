import type { UserInfo } from '@palisade/contract/auth';
import { expect, test } from 'vitest';
import { openDatabase } from '#platform/database.ts';
import { originOf } from '#platform/origin.ts';
import { Problem } from '#platform/problem.ts';
import type { SecurityEvent } from '#platform/security-event.ts';
import type { SecondFactors } from './second-factors.ts';
import { createSignIn } from './sign-in.ts';

const MARIA: UserInfo = {
  id: '01930000-0000-7000-8000-000000000001',
  username: 'maria',
  email: 'maria@example.com',
  role: 'customer',
};
const ORIGIN = originOf({ ip: '192.0.2.7', headers: {} });
const SITE = { origin: 'http://localhost:3000', rp_id: 'localhost' };
const never = () => Promise.reject(new Error('not asked here'));

/** The ways in; second factors behave as `use`, and the account may be gone by the time the session is there. */
function waysIn(use: SecondFactors['use']) {
  const events: SecurityEvent[] = [];
  const admitted: string[] = [];
  const ended: string[] = [];
  const waiting = { user_id: MARIA.id, password_mark: '', browser_id: null };
  const signIn = createSignIn({
    database: openDatabase({ sqlite: ':memory:' }),
    auth: {
      authenticate: never,
      stillHolds: () => Promise.resolve(false),
      findUser: () => Promise.resolve(MARIA),
      findUserByEmail: () => Promise.resolve(MARIA),
    },
    sessions: {
      start: () => Promise.resolve({ token: 'a token', session_id: 'a session' }),
      end: (session_id) => Promise.resolve(void ended.push(session_id)),
    },
    secondFactors: { methods: never, use },
    challenges: { issue: never, find: () => Promise.resolve(waiting), attempt: (_, work) => work(), end: never },
    guard: { attempt: (_, work) => work({ failed: () => Promise.resolve(admitted.push('failed') + 4), succeeded: never }) },
    passkeys: { request: never, ownerOf: (id) => Promise.resolve(id === 'known' ? MARIA.id : undefined) },
    audit: { record: never },
    observe: (event) => Promise.resolve(void events.push(event)),
    mustHaveFactor: () => false,
    isUnproven: never,
    wakeMail: () => {},
    onSignedIn: () => {},
    now: () => Date.parse('2026-11-20T10:00:00Z'),
  });
  return { signIn, events, admitted, ended };
}

const wrongEverywhere = () => waysIn(() => Promise.reject(new Problem('second_factor_refused')));

const passkeyOf = (id: string) => ({
  id,
  rawId: id,
  type: 'public-key' as const,
  response: { clientDataJSON: 'e30', authenticatorData: 'AA', signature: 'AA' },
});

test('a wrong second factor is reported to detection, after the password as alone', async () => {
  const { signIn, events, admitted } = wrongEverywhere();
  const proof = { code: '000000' };
  await expect(signIn.withSecondFactor({ challenge: 'x', proof, site: SITE }, ORIGIN)).rejects.toThrow(Problem);
  await expect(signIn.withPasskey({ assertion: passkeyOf('known'), site: SITE }, ORIGIN)).rejects.toThrow(Problem);
  const expected = { kind: 'login_failed', user_id: MARIA.id, source: '192.0.2.7', data: { step: 'second_factor' } };
  expect(events).toMatchObject([expected, expected]);
  // A code can be guessed, so it counts towards the refusal; a passkey cannot.
  expect(admitted).toEqual(['failed']);
});

test('an unknown passkey is no failure of any account', async () => {
  const { signIn, events } = wrongEverywhere();
  const attempt = signIn.withPasskey({ assertion: passkeyOf('unknown'), site: SITE }, ORIGIN);
  await expect(attempt).rejects.toMatchObject({ code: 'second_factor_refused' });
  expect(events).toEqual([]);
});

test('an account that is disabled while its passkey signs in gets no session', async () => {
  const { signIn, events, ended } = waysIn(() => Promise.resolve());
  const attempt = signIn.withPasskey({ assertion: passkeyOf('known'), site: SITE }, ORIGIN);
  await expect(attempt).rejects.toMatchObject({ code: 'invalid_credentials' });
  expect(ended).toEqual(['a session']);
  expect(events).toEqual([]);
});
