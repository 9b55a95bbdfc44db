import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { changePassword, currentUser, forgotPassword, login, resetPassword } from '@palisade/contract/auth';
import { listOutbox } from '@palisade/contract/mail';
import {
  activateTotp,
  addPasskey,
  confirmIdentity,
  loginSecondStep,
  loginWithPasskey,
  readTwoFactor,
  removePasskey,
  removeTotp,
  renamePasskey,
  renewRecoveryCodes,
  requestNewPasskey,
  requestPasskeyLogin,
  requestPasskeyProof,
  requestSecondStepPasskey,
  startTotp,
  turnTwoFactorOff,
} from '@palisade/contract/two-factor';
import { changeUser } from '@palisade/contract/users';
import { describe, expect, test } from 'vitest';
import { Authenticator } from '#test/authenticator.ts';
import { codeAt, fromBase32 } from '#test/authenticator-app.ts';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';

let clock = Date.parse('2026-11-20T10:00:00Z');
// Guessing from one place is refused elsewhere (login-guard.test.ts); here it is everybody's place, and what counts is the account.
const app = await startTestApp({ environment: { LIMITS: 'pair=1000/1m' }, surroundings: { now: () => clock } });
const { call, signIn } = app;
const boss = await signIn('boss');
const ORIGIN = app.url.replace('127.0.0.1', 'localhost');
const NEW_PASSWORD = 'another long password';

type Person = Awaited<ReturnType<typeof signIn>>;

/** An authenticator app: its code now, or `drift` steps from now. */
type AppCode = (drift?: number) => string;

function appOf(secret: string): AppCode {
  return (drift = 0) => codeAt(secret, clock, drift);
}

function nextStep(): void {
  clock += 30_000;
}

async function confirm({ token, password }: Person, proof: { code?: string; recovery_code?: string } = {}): Promise<void> {
  replyOf(await call(confirmIdentity, { token, body: { current_password: password, ...proof } }));
}

/** A person with an authenticator app. The code that turned it on is used up. */
async function withApp(): Promise<{ person: Person; code: AppCode; recovery_codes: string[]; secret: string }> {
  const person = await signIn();
  await confirm(person);
  const { token } = person;
  const { secret } = replyOf(await call(startTotp, { token }));
  const code = appOf(secret);
  const { recovery_codes } = replyOf(await call(activateTotp, { token, body: { code: code() } }));
  nextStep();
  return { person, code, recovery_codes: recovery_codes ?? [], secret };
}

async function challengeOf({ email, password }: { email: string; password: string }): Promise<string> {
  const { challenge } = problemOf(await call(login, { body: { email, password } }));
  if (challenge === undefined) throw new Error('no second step');
  return challenge;
}

async function newPasskey(person: Person, name = 'Phone') {
  const { token } = person;
  const device = new Authenticator(ORIGIN);
  const passkey = device.create(replyOf(await call(requestNewPasskey, { token })));
  return { device, added: replyOf(await call(addPasskey, { token, body: { name, passkey } })) };
}

async function withPasskey() {
  const person = await signIn();
  await confirm(person);
  return { person, ...(await newPasskey(person)) };
}

async function lettersTo(email: string): Promise<string[]> {
  const letters = replyOf(await call(listOutbox, { token: boss.token }));
  return letters.filter(({ recipient }) => recipient === email).map(({ subject }) => subject.replace('Palisade: ', ''));
}

/** A person's audit entries, without sign-ins and sign-outs. */
async function auditOf(email: string): Promise<string[]> {
  const rows = await app.app.database
    .selectFrom('audit_entries')
    .innerJoin('users', 'users.id', 'audit_entries.subject_id')
    .where('users.email', '=', email)
    .where('kind', 'not in', ['account_registered', 'signed_in', 'signed_out'])
    .orderBy('seq')
    .select('kind')
    .execute();
  return rows.map(({ kind }) => kind);
}

describe('an authenticator app', () => {
  test('is set up with the password and a code, and gives ten recovery codes once', async () => {
    const person = await signIn();
    const { token, email, password } = person;
    expect(replyOf(await call(readTwoFactor, { token }))).toEqual({
      enabled: false,
      required: false,
      totp_since: null,
      passkeys: [],
      recovery_codes_left: 0,
      passkey_origin: ORIGIN,
    });
    expect(problemOf(await call(startTotp, { token })).code).toBe('confirmation_required');
    const wrong = problemOf(await call(confirmIdentity, { token, body: { current_password: 'not it' } }));
    expect(wrong.errors).toEqual([{ field: 'current_password', message: 'This isn’t your current password. Try again.' }]);
    await confirm(person);

    const { secret, uri } = replyOf(await call(startTotp, { token }));
    expect(fromBase32(secret)).toHaveLength(20);
    expect(uri).toBe(
      `otpauth://totp/Palisade:${encodeURIComponent(email)}?secret=${secret}&issuer=Palisade&algorithm=SHA1&digits=6&period=30`,
    );
    const code = appOf(secret);
    expect(problemOf(await call(activateTotp, { token, body: { code: code(3) } })).errors?.[0]?.field).toBe('code');
    // Codes are required only after the app has proved itself.
    expect((await call(login, { body: { email, password } })).status).toBe(200);

    const { recovery_codes } = replyOf(await call(activateTotp, { token, body: { code: code() } }));
    expect(new Set(recovery_codes)).toHaveLength(10);
    expect(recovery_codes?.[0]).toMatch(/^([0-9a-z]{4}-){5}[0-9a-z]{4}$/);
    expect(replyOf(await call(readTwoFactor, { token }))).toMatchObject({
      enabled: true,
      totp_since: new Date(clock).toISOString(),
      recovery_codes_left: 10,
    });
    expect(await lettersTo(email)).toEqual(['An authenticator app was added']);
    expect(await auditOf(email)).toEqual(['authenticator_added', 'two_factor_enabled', 'recovery_codes_made']);
  });

  // proves: asvs-11.3.3, asvs-13.3.2
  test('lies in the database sealed, bound to its account, with a key that only the server reads', async () => {
    const { secret, person } = await withApp();
    const rows = await app.app.database.selectFrom('totp').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(secret);
    for (const row of rows) expect(Buffer.from(row.secret ?? '', 'base64url').includes(fromBase32(secret))).toBe(false);
    expect(readFileSync(join(app.data_dir, 'keys', 'two-factor.key'))).toHaveLength(32);

    // One row's secret in another's place does not open.
    const other = await withApp();
    const idOf = async ({ token }: Person) => replyOf(await call(currentUser, { token })).id;
    const [mine, theirs] = [await idOf(person), await idOf(other.person)];
    const sealed = rows.find(({ user_id }) => user_id === mine)?.secret ?? null;
    await app.app.database.updateTable('totp').set({ secret: sealed }).where('user_id', '=', theirs).execute();
    const challenge = await challengeOf(other.person);
    const answer = problemOf(await call(loginSecondStep, { body: { challenge, code: appOf(secret)() } }));
    expect(answer).toMatchObject({ status: 503, code: 'unavailable' });
    // A person who has lost the key can still sign in.
    const [recovery_code = ''] = other.recovery_codes;
    expect((await call(loginSecondStep, { body: { challenge, recovery_code } })).status).toBe(200);
  });

  test('is asked for after the password, and each of its codes signs in once', async () => {
    const { person, code } = await withApp();
    const { email, password } = person;
    const first = problemOf(await call(login, { body: { email, password } }));
    expect(first).toMatchObject({ status: 401, code: 'two_factor_required', methods: ['totp', 'recovery_code'] });
    expect(Buffer.from(first.challenge ?? '', 'base64url')).toHaveLength(32);
    const challenge = first.challenge ?? '';
    const typed = ` ${code().slice(0, 3)} ${code().slice(3)}`;
    const { access_token, user_info } = replyOf(await call(loginSecondStep, { body: { challenge, code: typed } }));
    expect(user_info.email).toBe(email);
    expect((await call(currentUser, { token: access_token })).status).toBe(200);

    // Neither the challenge nor the code is worth anything now, nor is a code from before it.
    nextStep();
    expect(problemOf(await call(loginSecondStep, { body: { challenge, code: code() } })).code).toBe('sign_in_expired');
    const again = await challengeOf(person);
    for (const drift of [-1, -2]) {
      const replay = problemOf(await call(loginSecondStep, { body: { challenge: again, code: code(drift) } }));
      expect(replay).toMatchObject({ status: 401, code: 'second_factor_refused' });
    }
    expect((await call(loginSecondStep, { body: { challenge: again, code: code(1) } })).status).toBe(200);
  });

  // proves: asvs-6.5.1
  test('of one code used many times at once one signs in', async () => {
    const { person, code } = await withApp();
    const challenges = await Promise.all([1, 2, 3, 4].map(() => challengeOf(person)));
    const answers = await Promise.all(
      challenges.map((challenge) => call(loginSecondStep, { body: { challenge, code: code() } })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
  });

  test('a wrong password does not reveal it', async () => {
    const { person } = await withApp();
    const answer = problemOf(await call(login, { body: { email: person.email, password: 'not it' } }));
    expect(answer).toMatchObject({ code: 'invalid_credentials' });
    expect(answer.challenge).toBeUndefined();
    expect(answer.methods).toBeUndefined();
  });

  test('is replaced without a gap: the old one counts until the new one has proved itself', async () => {
    const { person, code } = await withApp();
    const { token } = person;
    // The confirmation for the setup was proved by the code.
    const { secret } = replyOf(await call(startTotp, { token }));
    const fresh = appOf(secret);
    const challenge = await challengeOf(person);
    expect((await call(loginSecondStep, { body: { challenge, code: fresh() } })).status).toBe(401);
    expect((await call(loginSecondStep, { body: { challenge, code: code() } })).status).toBe(200);
    expect(replyOf(await call(activateTotp, { token, body: { code: fresh() } })).recovery_codes).toBeNull();
    nextStep();
    const next = await challengeOf(person);
    expect((await call(loginSecondStep, { body: { challenge: next, code: code() } })).status).toBe(401);
    expect((await call(loginSecondStep, { body: { challenge: next, code: fresh() } })).status).toBe(200);
  });
});

// proves: asvs-2.3.1
describe('the second step', () => {
  // proves: security-13
  test('ends with the fifth wrong code, and a right one comes too late', async () => {
    const { person, code } = await withApp();
    const challenge = await challengeOf(person);
    for (let tries = 0; tries < 5; tries += 1) {
      const answer = problemOf(await call(loginSecondStep, { body: { challenge, code: code(5) } }));
      expect(answer.code).toBe('second_factor_refused');
    }
    expect(problemOf(await call(loginSecondStep, { body: { challenge, code: code() } })).code).toBe('sign_in_expired');
  });

  test('takes ten codes an hour for an account, over all its sign-ins, and recovery codes stay usable', async () => {
    const { person, code, recovery_codes } = await withApp();
    for (let round = 0; round < 2; round += 1) {
      const challenge = await challengeOf(person);
      for (let tries = 0; tries < 5; tries += 1) await call(loginSecondStep, { body: { challenge, code: code(5) } });
    }
    const challenge = await challengeOf(person);
    const refused = await call(loginSecondStep, { body: { challenge, code: code() } });
    expect(problemOf(refused)).toMatchObject({ status: 429, code: 'too_many_requests' });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_500);
    const [recovery_code = ''] = recovery_codes;
    expect((await call(loginSecondStep, { body: { challenge, recovery_code } })).status).toBe(200);

    clock += 3_600_000;
    const later = await challengeOf(person);
    expect((await call(loginSecondStep, { body: { challenge: later, code: code() } })).status).toBe(200);
  });

  test('has five minutes', async () => {
    const { person, code } = await withApp();
    const challenge = await challengeOf(person);
    clock += 300_000;
    expect(problemOf(await call(loginSecondStep, { body: { challenge, code: code() } })).code).toBe('sign_in_expired');
  });

  test('belongs to one person, and takes one proof at a time', async () => {
    const [one, other] = [await withApp(), await withApp()];
    const challenge = await challengeOf(one.person);
    const [recovery_code = ''] = other.recovery_codes;
    expect((await call(loginSecondStep, { body: { challenge, code: other.code() } })).status).toBe(401);
    expect((await call(loginSecondStep, { body: { challenge, recovery_code } })).status).toBe(401);
    expect((await call(loginSecondStep, { body: { challenge: 'made up', code: one.code() } })).status).toBe(401);
    expect((await call(loginSecondStep, { body: { challenge } })).status).toBe(422);
    expect((await call(loginSecondStep, { body: { challenge, code: one.code(), recovery_code } })).status).toBe(422);
  });

  // proves: asvs-6.4.3, security-19
  test('ends with a change of the password and with a reset, which is no way around it', async () => {
    const { person, code } = await withApp();
    const { token, email, password } = person;
    const before = await challengeOf(person);
    const change = { current_password: password, new_password: NEW_PASSWORD };
    replyOf(await call(changePassword, { token, body: change }));
    expect(problemOf(await call(loginSecondStep, { body: { challenge: before, code: code() } })).code).toBe('sign_in_expired');

    const between = await challengeOf({ email, password: NEW_PASSWORD });
    const { reset_token } = replyOf(await call(forgotPassword, { body: { email } }));
    replyOf(await call(resetPassword, { body: { reset_token: reset_token ?? '', new_password: password } }));
    expect(problemOf(await call(loginSecondStep, { body: { challenge: between, code: code() } })).code).toBe('sign_in_expired');
    const after = await challengeOf(person);
    expect((await call(loginSecondStep, { body: { challenge: after, code: code() } })).status).toBe(200);
  });
});

describe('an account that was disabled', () => {
  const disable = async ({ token }: Person, disabled = true) => {
    const { id } = replyOf(await call(currentUser, { token }));
    replyOf(await call(changeUser, { token: boss.token, body: { user_id: id, disabled } }));
    return id;
  };
  const sessionsOf = async (user_id: string) =>
    await app.app.database.selectFrom('sessions').select('id').where('user_id', '=', user_id).execute();

  // proves: asvs-7.4.2
  test('between the steps is refused in each of them, whatever it proves, and keeps its codes', async () => {
    const { person, code, recovery_codes } = await withApp();
    const { device } = await newPasskey(person);
    const challenge = await challengeOf(person);
    const request = replyOf(await call(requestSecondStepPasskey, { body: { challenge } }));
    const [recovery_code = ''] = recovery_codes;
    const id = await disable(person);
    for (const proof of [{ code: code() }, { recovery_code }, { passkey: device.get(request) }]) {
      const answer = problemOf(await call(loginSecondStep, { body: { challenge, ...proof } }));
      expect(answer).toMatchObject({ status: 401, code: 'sign_in_expired' });
    }
    expect(problemOf(await call(requestSecondStepPasskey, { body: { challenge } })).code).toBe('sign_in_expired');
    expect(problemOf(await call(login, { body: person })).code).toBe('account_disabled');
    expect(await sessionsOf(id)).toEqual([]);

    replyOf(await call(changeUser, { token: boss.token, body: { user_id: id, disabled: false } }));
    const body = { challenge: await challengeOf(person), recovery_code };
    expect((await call(loginSecondStep, { body })).status).toBe(200);
  });

  test('is not signed in to with a passkey, asked for before as after', async () => {
    const { person, device } = await withPasskey();
    const before = replyOf(await call(requestPasskeyLogin));
    const id = await disable(person);
    for (const request of [before, replyOf(await call(requestPasskeyLogin))]) {
      const answer = problemOf(await call(loginWithPasskey, { body: { passkey: device.get(request) } }));
      expect(answer).toMatchObject({ status: 401, code: 'second_factor_refused' });
    }
    expect(await sessionsOf(id)).toEqual([]);
  });
});

describe('a recovery code', () => {
  test('signs in once however it is typed, tells its owner, and warns when few are left', async () => {
    const { person, recovery_codes } = await withApp();
    const { token, email } = person;
    const [first = '', ...rest] = recovery_codes;
    const typed = first.toUpperCase().replaceAll('-', ' ');
    const body = { challenge: await challengeOf(person), recovery_code: typed };
    replyOf(await call(loginSecondStep, { body }));
    expect(replyOf(await call(readTwoFactor, { token })).recovery_codes_left).toBe(9);
    expect((await lettersTo(email))[0]).toBe('A recovery code was used');
    const again = { challenge: await challengeOf(person), recovery_code: first };
    expect(problemOf(await call(loginSecondStep, { body: again })).code).toBe('second_factor_refused');

    for (const recovery_code of rest.slice(0, 7))
      replyOf(await call(loginSecondStep, { body: { challenge: await challengeOf(person), recovery_code } }));
    expect((await lettersTo(email))[0]).toBe('A recovery code was used, 2 left');
    expect((await auditOf(email)).filter((kind) => kind === 'recovery_code_used')).toHaveLength(8);
  });

  // proves: asvs-6.5.1
  test('of two uses at once one succeeds', async () => {
    const { person, recovery_codes } = await withApp();
    const [recovery_code = ''] = recovery_codes;
    const challenges = [await challengeOf(person), await challengeOf(person)];
    const answers = await Promise.all(
      challenges.map((challenge) => call(loginSecondStep, { body: { challenge, recovery_code } })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
  });

  test('is worth nothing once a new set is made', async () => {
    const { person, recovery_codes } = await withApp();
    const { token, email } = person;
    const fresh = replyOf(await call(renewRecoveryCodes, { token })).recovery_codes;
    expect(fresh).toHaveLength(10);
    const challenge = await challengeOf(person);
    const [old = ''] = recovery_codes;
    expect((await call(loginSecondStep, { body: { challenge, recovery_code: old } })).status).toBe(401);
    expect((await call(loginSecondStep, { body: { challenge, recovery_code: fresh[0] ?? '' } })).status).toBe(200);
    expect(await lettersTo(email)).toContain('New recovery codes were created');
    const stored = JSON.stringify(await app.app.database.selectFrom('recovery_codes').selectAll().execute());
    for (const code of fresh) expect(stored).not.toContain(code);
  });
});

describe('a confirmation', () => {
  test('lasts ten minutes, for the session that gave it', async () => {
    const person = await signIn();
    const { email, password, token } = person;
    const other = replyOf(await call(login, { body: { email, password } })).access_token;
    await confirm(person);
    expect((await call(startTotp, { token: other })).status).toBe(403);
    clock += 599_000;
    expect((await call(startTotp, { token })).status).toBe(200);
    clock += 1_000;
    expect(problemOf(await call(startTotp, { token })).code).toBe('confirmation_required');
  });

  // proves: asvs-6.4.4, asvs-7.5.1
  test('takes the second factor where there is one, and each change takes the confirmation', async () => {
    const { person, code } = await withApp();
    const { token, password } = person;
    clock += 600_000;
    for (const endpoint of [startTotp, removeTotp, requestNewPasskey, renewRecoveryCodes, turnTwoFactorOff])
      expect(problemOf(await call(endpoint, { token })).code).toBe('confirmation_required');
    const passwordAlone = problemOf(await call(confirmIdentity, { token, body: { current_password: password } }));
    expect(passwordAlone.errors?.[0]?.field).toBe('code');
    const wrong = { current_password: password, code: code(5) };
    expect(problemOf(await call(confirmIdentity, { token, body: wrong })).code).toBe('second_factor_refused');
    expect((await call(turnTwoFactorOff, { token })).status).toBe(403);
    await confirm(person, { code: code() });
    expect((await call(turnTwoFactorOff, { token })).status).toBe(204);
  });

  test('with the password alone ends when two-factor sign-in is turned on elsewhere', async () => {
    const person = await signIn();
    const { email, password } = person;
    const elsewhere = { ...person, token: replyOf(await call(login, { body: { email, password } })).access_token };
    await confirm(person);
    await confirm(elsewhere);
    await newPasskey(person);
    expect((await call(turnTwoFactorOff, { token: elsewhere.token })).status).toBe(403);
  });
});

test('turning two-factor sign-in off takes everything of it away, and the password signs in', async () => {
  const { person } = await withApp();
  const { token, email, password } = person;
  await newPasskey(person);
  expect((await call(turnTwoFactorOff, { token })).status).toBe(204);
  expect(replyOf(await call(readTwoFactor, { token }))).toMatchObject({
    enabled: false,
    totp_since: null,
    passkeys: [],
    recovery_codes_left: 0,
  });
  expect((await call(login, { body: { email, password } })).status).toBe(200);
  expect(await auditOf(email)).toContain('two_factor_disabled');
  expect((await lettersTo(email))[0]).toBe('Two-factor sign-in was turned off');
});

describe('a passkey', () => {
  test('turns two-factor sign-in on, has a name, and can be renamed and removed beside another', async () => {
    const { person, added } = await withPasskey();
    const { token, email } = person;
    expect(added.recovery_codes).toHaveLength(10);
    expect(added.passkey).toMatchObject({ name: 'Phone', last_used_at: null });
    const params = { id: added.passkey.id };
    expect(replyOf(await call(renamePasskey, { token, params, body: { name: ' Old phone ' } })).name).toBe('Old phone');
    expect(problemOf(await call(removePasskey, { token, params })).code).toBe('conflict');

    const { added: second } = await newPasskey(person, 'Key');
    expect(second.recovery_codes).toBeNull();
    expect((await call(removePasskey, { token, params })).status).toBe(204);
    expect(replyOf(await call(readTwoFactor, { token })).passkeys.map(({ name }) => name)).toEqual(['Key']);
    expect(await lettersTo(email)).toEqual(['A passkey was removed', 'A passkey was added', 'A passkey was added']);
    expect(await auditOf(email)).toEqual([
      'passkey_added',
      'two_factor_enabled',
      'recovery_codes_made',
      'passkey_added',
      'passkey_removed',
    ]);
  });

  test('is the second factor after the password', async () => {
    const { person, device } = await withPasskey();
    const { email, password, token } = person;
    const { methods, challenge = '' } = problemOf(await call(login, { body: { email, password } }));
    expect(methods).toEqual(['passkey', 'recovery_code']);
    const request = replyOf(await call(requestSecondStepPasskey, { body: { challenge } }));
    expect(request.allowCredentials).toHaveLength(1);
    expect(request.rpId).toBe('localhost');
    const passkey = device.get(request);
    expect((await call(loginSecondStep, { body: { challenge, passkey } })).status).toBe(200);
    expect(replyOf(await call(readTwoFactor, { token })).passkeys[0]?.last_used_at).toBe(new Date(clock).toISOString());
    // An answer is one to one question.
    const again = await challengeOf(person);
    expect(problemOf(await call(loginSecondStep, { body: { challenge: again, passkey } })).code).toBe('second_factor_refused');
    expect(problemOf(await call(requestSecondStepPasskey, { body: { challenge: 'made up' } })).code).toBe('sign_in_expired');
  });

  test('signs in alone', async () => {
    const { person, device } = await withPasskey();
    const request = replyOf(await call(requestPasskeyLogin));
    expect(request).toMatchObject({ allowCredentials: [], userVerification: 'required' });
    const passkey = device.get(request);
    const { user_info } = replyOf(await call(loginWithPasskey, { body: { passkey } }));
    expect(user_info.email).toBe(person.email);
    expect((await call(loginWithPasskey, { body: { passkey } })).status).toBe(401);
  });

  test('proves who is there for a change', async () => {
    const { person, device } = await withPasskey();
    const { token, password } = person;
    clock += 600_000;
    const passkey = device.get(replyOf(await call(requestPasskeyProof, { token })));
    replyOf(await call(confirmIdentity, { token, body: { current_password: password, passkey } }));
    expect((await call(turnTwoFactorOff, { token })).status).toBe(204);
    expect(
      (await call(loginWithPasskey, { body: { passkey: device.get(replyOf(await call(requestPasskeyLogin))) } })).status,
    ).toBe(401);
  });

  test.each([
    ['another page', { origin: 'https://evil.example' }],
    ['another host', { rp_id: 'evil.example' }],
    ['an address in place of the name', { origin: 'http://127.0.0.1:3000' }],
    ['a device that has not checked who holds it', { verified: false }],
    ['a question that was never asked', { challenge: 'bm90IGFza2Vk' }],
  ])('of %s is refused, to be kept as to sign in', async (_, lies) => {
    const { person, device } = await withPasskey();
    const { token } = person;
    const passkey = device.get(replyOf(await call(requestPasskeyLogin)), lies);
    expect(problemOf(await call(loginWithPasskey, { body: { passkey } })).code).toBe('second_factor_refused');
    const made = new Authenticator(ORIGIN).create(replyOf(await call(requestNewPasskey, { token })), lies);
    expect(problemOf(await call(addPasskey, { token, body: { name: 'Liar', passkey: made } })).code).toBe('conflict');
  });

  test('a passkey whose counter decreases or repeats is refused', async () => {
    const { device } = await withPasskey();
    const use = async (counter: number) => {
      const passkey = device.get(replyOf(await call(requestPasskeyLogin)), { counter });
      return await call(loginWithPasskey, { body: { passkey } });
    };
    expect((await use(7)).status).toBe(200);
    for (const counter of [6, 7, 0])
      expect(problemOf(await use(counter)).detail).toBe(
        'This passkey may have been copied. Sign in another way, then remove it.',
      );
    expect((await use(8)).status).toBe(200);
  });

  test('without a counter signs in each time', async () => {
    const { device } = await withPasskey();
    for (let time = 0; time < 2; time += 1) {
      const passkey = device.get(replyOf(await call(requestPasskeyLogin)), { counter: 0 });
      expect((await call(loginWithPasskey, { body: { passkey } })).status).toBe(200);
    }
  });

  // proves: asvs-11.6.1
  test('signed by another key is refused', async () => {
    const [one, other] = [await withPasskey(), await withPasskey()];
    const request = replyOf(await call(requestPasskeyLogin));
    const { id, rawId } = one.device.get(request);
    const forged = { ...other.device.get(request), id, rawId };
    expect((await call(loginWithPasskey, { body: { passkey: forged } })).status).toBe(401);
  });

  test('of another person is no second factor, and no answer to one’s challenge', async () => {
    const [one, other] = [await withPasskey(), await withPasskey()];
    const challenge = await challengeOf(one.person);
    const request = replyOf(await call(requestSecondStepPasskey, { body: { challenge } }));
    const foreign = other.device.get(request);
    expect((await call(loginSecondStep, { body: { challenge, passkey: foreign } })).status).toBe(401);
    const forAlone = one.device.get(replyOf(await call(requestPasskeyLogin)));
    expect((await call(loginSecondStep, { body: { challenge, passkey: forAlone } })).status).toBe(401);
  });

  test('is kept for one account alone', async () => {
    const [one, other] = [await signIn(), await signIn()];
    const device = new Authenticator(ORIGIN);
    for (const [person, status] of [
      [one, 201],
      [other, 409],
    ] as const) {
      await confirm(person);
      const passkey = device.create(replyOf(await call(requestNewPasskey, { token: person.token })));
      const answer = await call(addPasskey, { token: person.token, body: { name: 'Shared', passkey } });
      expect(answer.status).toBe(status);
    }
  });

  test('question is worth something for five minutes', async () => {
    const { device } = await withPasskey();
    const request = replyOf(await call(requestPasskeyLogin));
    clock += 300_000;
    expect((await call(loginWithPasskey, { body: { passkey: device.get(request) } })).status).toBe(401);
  });
});

describe('with TOTP_DRIFT_STEPS=0', async () => {
  const strict = await startTestApp({ environment: { TOTP_DRIFT_STEPS: '0' }, surroundings: { now: () => clock } });

  // proves: asvs-6.5.5
  test('a code counts for its own 30 seconds alone, when the app is set up and at sign-in', async () => {
    const { token, email, password } = await strict.signIn();
    replyOf(await strict.call(confirmIdentity, { token, body: { current_password: password } }));
    const { secret } = replyOf(await strict.call(startTotp, { token }));
    const setUp = (away: number) => strict.call(activateTotp, { token, body: { code: codeAt(secret, clock, away) } });
    expect((await setUp(-1)).status).toBe(422);
    expect((await setUp(1)).status).toBe(422);
    replyOf(await setUp(0));

    nextStep();
    nextStep();
    const { challenge = '' } = problemOf(await strict.call(login, { body: { email, password } }));
    const signIn = (away: number) => strict.call(loginSecondStep, { body: { challenge, code: codeAt(secret, clock, away) } });
    expect(problemOf(await signIn(-1)).code).toBe('second_factor_refused');
    expect(problemOf(await signIn(1)).code).toBe('second_factor_refused');
    replyOf(await signIn(0));
  });
});
