import { login } from '@palisade/contract/auth';
import {
  activateTotp,
  addPasskey,
  confirmIdentity,
  loginSecondStep,
  loginWithPasskey,
  readTwoFactor,
  removePasskey,
  renamePasskey,
  renewRecoveryCodes,
  requestNewPasskey,
  requestPasskeyLogin,
  requestPasskeyProof,
  requestSecondStepPasskey,
  startTotp,
  turnTwoFactorOff,
} from '@palisade/contract/two-factor';
import { describe, expect, test } from 'vitest';
import { accountParts, type FeaturePerson, PASSWORD, SITE } from '#test/account-parts.ts';
import { Authenticator } from '#test/authenticator.ts';
import { codeAt, fromBase32 } from '#test/authenticator-app.ts';
import { ORIGIN, outcomes } from '#test/feature-database.ts';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';

const parts = await accountParts();
const { database, clock, twoFactor, passkeys, signIn, users, person: start } = parts;
const BY = (await start({ role: 'admin' })).actor;
const STEP_MS = 30_000;
const REFUSED = { code: 'second_factor_refused' };
const EXPIRED = { code: 'sign_in_expired' };
const UNCONFIRMED = { code: 'confirmation_required' };

/** A person with an authenticator app, whose code `drift` steps from now is `code(drift)`. The code that turned it on is used up. */
async function withApp() {
  const person = await start();
  await person.confirm();
  const { secret } = await twoFactor.startTotp(person.actor);
  const code = (drift = 0) => codeAt(secret, clock.now, drift);
  const recovery_codes = (await twoFactor.activateTotp(person.actor, code())) ?? [];
  clock.now += STEP_MS;
  const [recovery_code = ''] = recovery_codes;
  return { ...person, secret, code, recovery_codes, recovery_code };
}

async function newPasskey({ actor }: FeaturePerson, name = 'Phone') {
  const device = new Authenticator(SITE.origin);
  const made = device.create(await twoFactor.requestNewPasskey(actor, SITE));
  return { device, added: await twoFactor.addPasskey(actor, { name, made, site: SITE }) };
}

async function withPasskey() {
  const person = await start();
  await person.confirm();
  return { ...person, ...(await newPasskey(person)) };
}

const prove = (challenge: string, proof: Parameters<typeof signIn.withSecondFactor>[0]['proof']) =>
  signIn.withSecondFactor({ challenge, proof, site: SITE }, ORIGIN);
const read = ({ id, role }: FeaturePerson) => twoFactor.read({ id, role }, SITE);
const requestAlone = () => passkeys.request({ purpose: 'sign_in', user_id: null, site: SITE });
const enterAlone = (assertion: ReturnType<Authenticator['get']>) => signIn.withPasskey({ assertion, site: SITE }, ORIGIN);
const disable = (person: FeaturePerson, disabled = true) =>
  users.change({ user_id: person.id, disabled }, { ...BY, actor_id: BY.user_id });

describe('an authenticator app', () => {
  test('is set up with the password and a code, and gives ten recovery codes once', async () => {
    const person = await start();
    expect(await read(person)).toEqual({
      ...{ enabled: false, required: false, totp_since: null, passkeys: [], recovery_codes_left: 0 },
      passkey_origin: SITE.origin,
    });
    await expect(twoFactor.startTotp(person.actor)).rejects.toMatchObject(UNCONFIRMED);
    const wrong = { current_password: 'not it', proof: undefined, site: SITE };
    await expect(twoFactor.confirm(person.actor, wrong)).rejects.toMatchObject({
      errors: [{ field: 'current_password', message: 'This isn’t your current password. Try again.' }],
    });
    await person.confirm();
    const { secret, uri } = await twoFactor.startTotp(person.actor);
    expect(fromBase32(secret)).toHaveLength(20);
    expect(uri).toBe(
      `otpauth://totp/Palisade:${encodeURIComponent(person.email)}?secret=${secret}&issuer=Palisade&algorithm=SHA1&digits=6&period=30`,
    );
    await expect(twoFactor.activateTotp(person.actor, codeAt(secret, clock.now, 3))).rejects.toMatchObject({
      errors: [{ field: 'code' }],
    });
    // Codes are required only after the app has proved itself.
    await person.enter();
    const codes = await twoFactor.activateTotp(person.actor, codeAt(secret, clock.now));
    expect(new Set(codes)).toHaveLength(10);
    expect(codes?.[0]).toMatch(/^([0-9a-z]{4}-){5}[0-9a-z]{4}$/);
    const totp_since = new Date(clock.now).toISOString();
    expect(await read(person)).toMatchObject({ enabled: true, totp_since, recovery_codes_left: 10 });
    expect(person.letters()).toEqual(['An authenticator app was added']);
    expect((await person.audited()).filter((kind) => kind !== 'signed_in')).toEqual([
      'authenticator_added',
      'two_factor_enabled',
      'recovery_codes_made',
    ]);
  });

  // proves: asvs-11.3.3
  test('lies in the database sealed, bound to its account', async () => {
    const [one, other] = [await withApp(), await withApp()];
    const rows = await database.selectFrom('totp').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(one.secret);
    for (const row of rows) expect(Buffer.from(row.secret ?? '', 'base64url').includes(fromBase32(one.secret))).toBe(false);
    // One row's secret in another's place does not open.
    const sealed = rows.find(({ user_id }) => user_id === one.id)?.secret ?? null;
    await database.updateTable('totp').set({ secret: sealed }).where('user_id', '=', other.id).execute();
    const { challenge } = await other.step();
    await expect(prove(challenge, { code: one.code() })).rejects.toMatchObject({ code: 'unavailable' });
    // A person who has lost the key can still sign in.
    await prove(challenge, { recovery_code: other.recovery_code });
  });

  test('is asked for after the password, and each of its codes signs in once', async () => {
    const person = await withApp();
    const { challenge, methods } = await person.step();
    expect(methods).toEqual(['totp', 'recovery_code']);
    expect(Buffer.from(challenge, 'base64url')).toHaveLength(32);
    expect((await prove(challenge, { code: person.code() })).user_info.email).toBe(person.email);
    // Neither the challenge nor the code is worth anything now, nor is a code from before it.
    clock.now += STEP_MS;
    await expect(prove(challenge, { code: person.code() })).rejects.toMatchObject(EXPIRED);
    const again = await person.step();
    for (const drift of [-1, -2])
      await expect(prove(again.challenge, { code: person.code(drift) })).rejects.toMatchObject(REFUSED);
    await prove(again.challenge, { code: person.code(1) });
    await expect(person.enter('not it')).rejects.toMatchObject({ code: 'invalid_credentials', second_step: undefined });
  });

  // proves: asvs-6.5.1
  test.each(['code', 'recovery_code'] as const)('of one %s used many times at once one signs in', async (kind) => {
    const person = await withApp();
    const proof = kind === 'code' ? { code: person.code() } : { recovery_code: person.recovery_code };
    const steps = [await person.step(), await person.step(), await person.step()];
    const ends = await outcomes(steps.map(({ challenge }) => prove(challenge, proof)));
    expect(ends).toEqual(['fulfilled', 'second_factor_refused', 'second_factor_refused']);
  });

  test('is replaced without a gap: the old one counts until the new one has proved itself', async () => {
    const person = await withApp();
    const { secret } = await twoFactor.startTotp(person.actor);
    const fresh = () => codeAt(secret, clock.now);
    const { challenge } = await person.step();
    await expect(prove(challenge, { code: fresh() })).rejects.toMatchObject(REFUSED);
    await prove(challenge, { code: person.code() });
    expect(await twoFactor.activateTotp(person.actor, fresh())).toBeNull();
    clock.now += STEP_MS;
    const next = await person.step();
    await expect(prove(next.challenge, { code: person.code() })).rejects.toMatchObject(REFUSED);
    await prove(next.challenge, { code: fresh() });
  });
});

// proves: asvs-2.3.1
describe('the second step', () => {
  // proves: security-13
  test('ends with the fifth wrong code, and a right one comes too late', async () => {
    const person = await withApp();
    const { challenge } = await person.step();
    for (let tries = 0; tries < 5; tries += 1)
      await expect(prove(challenge, { code: person.code(5) })).rejects.toMatchObject(REFUSED);
    await expect(prove(challenge, { code: person.code() })).rejects.toMatchObject(EXPIRED);
  });

  test('takes ten codes an hour for an account, over all its sign-ins, and recovery codes stay usable', async () => {
    const person = await withApp();
    for (let round = 0; round < 2; round += 1) {
      const { challenge } = await person.step();
      for (let tries = 0; tries < 5; tries += 1) await outcomes([prove(challenge, { code: person.code(5) })]);
    }
    const { challenge } = await person.step();
    const refused = await prove(challenge, { code: person.code() }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'too_many_requests', retry_after: 3_600 });
    await prove(challenge, { recovery_code: person.recovery_code });
    clock.now += 3_600_000;
    await prove((await person.step()).challenge, { code: person.code() });
  });

  test('has five minutes, and belongs to one person', async () => {
    const [one, other] = [await withApp(), await withApp()];
    const { challenge } = await one.step();
    await expect(prove(challenge, { code: other.code() })).rejects.toMatchObject(REFUSED);
    await expect(prove(challenge, { recovery_code: other.recovery_code })).rejects.toMatchObject(REFUSED);
    await expect(prove('made up', { code: one.code() })).rejects.toMatchObject(EXPIRED);
    clock.now += 300_000;
    await expect(prove(challenge, { code: one.code() })).rejects.toMatchObject(EXPIRED);
  });

  // proves: asvs-6.4.3, security-19
  test.each(['change', 'reset'] as const)('ends with a %s of the password, which is no way around it', async (way) => {
    const person = await withApp();
    const { challenge } = await person.step();
    const { user_id, session_id } = person.actor;
    const passwords = { current_password: PASSWORD, new_password: 'another long password' };
    if (way === 'change') await parts.accounts.changePassword({ user_id, session_id, ...passwords, origin: ORIGIN });
    else await parts.recovery.reset(await parts.recovery.answerToken(person.email), passwords.new_password, ORIGIN);
    await expect(prove(challenge, { code: person.code() })).rejects.toMatchObject(EXPIRED);
    await expect(person.enter(passwords.new_password)).rejects.toMatchObject({ code: 'two_factor_required' });
  });
});

describe('an account that was disabled', () => {
  const sessionsOf = ({ id }: FeaturePerson) => database.selectFrom('sessions').select('id').where('user_id', '=', id).execute();

  // proves: asvs-7.4.2
  test('between the steps is refused in each of them, whatever it proves, and keeps its codes', async () => {
    const person = await withApp();
    const { challenge } = await person.step();
    await disable(person);
    for (const proof of [{ code: person.code() }, { recovery_code: person.recovery_code }])
      await expect(prove(challenge, proof)).rejects.toMatchObject(EXPIRED);
    await expect(signIn.requestPasskey(challenge, SITE)).rejects.toMatchObject(EXPIRED);
    await expect(person.enter()).rejects.toMatchObject({ code: 'account_disabled' });
    expect(await sessionsOf(person)).toEqual([]);
    await disable(person, false);
    await prove((await person.step()).challenge, { recovery_code: person.recovery_code });
  });

  test('is not signed in to with a passkey, asked for before as after', async () => {
    const person = await withPasskey();
    const before = await requestAlone();
    await disable(person);
    for (const request of [before, await requestAlone()])
      await expect(enterAlone(person.device.get(request))).rejects.toMatchObject(REFUSED);
    expect(await sessionsOf(person)).toEqual([]);
  });
});

describe('a recovery code', () => {
  test('signs in once however it is typed, tells its owner, and warns when few are left', async () => {
    const person = await withApp();
    const [first = '', ...rest] = person.recovery_codes;
    const enter = async (recovery_code: string) => await prove((await person.step()).challenge, { recovery_code });
    await enter(first.toUpperCase().replaceAll('-', ' '));
    expect((await read(person)).recovery_codes_left).toBe(9);
    expect(person.letters().at(-1)).toBe('A recovery code was used');
    await expect(enter(first)).rejects.toMatchObject(REFUSED);
    for (const code of rest.slice(0, 7)) await enter(code);
    expect(person.letters().at(-1)).toBe('A recovery code was used, 2 left');
    expect((await person.audited()).filter((kind) => kind === 'recovery_code_used')).toHaveLength(8);
  });

  test('is worth nothing once a new set is made, and none is stored as it is', async () => {
    const person = await withApp();
    const fresh = await twoFactor.renewRecoveryCodes(person.actor);
    expect(fresh).toHaveLength(10);
    const { challenge } = await person.step();
    await expect(prove(challenge, { recovery_code: person.recovery_code })).rejects.toMatchObject(REFUSED);
    await prove(challenge, { recovery_code: fresh[0] ?? '' });
    expect(person.letters()).toContain('New recovery codes were created');
    const stored = JSON.stringify(await database.selectFrom('recovery_codes').selectAll().execute());
    for (const code of fresh) expect(stored).not.toContain(code);
  });
});

describe('a confirmation', () => {
  /** The same person in another session. */
  async function elsewhere(person: FeaturePerson) {
    const { session_id } = await parts.sessions.start(person.id, ORIGIN);
    return { ...person.actor, session_id };
  }

  test('lasts ten minutes, for the session that gave it', async () => {
    const person = await start();
    await person.confirm();
    await expect(twoFactor.startTotp(await elsewhere(person))).rejects.toMatchObject(UNCONFIRMED);
    clock.now += 599_000;
    await twoFactor.startTotp(person.actor);
    clock.now += 1_000;
    await expect(twoFactor.startTotp(person.actor)).rejects.toMatchObject(UNCONFIRMED);
  });

  // proves: asvs-6.4.4, asvs-7.5.1
  test('takes the second factor where there is one, and each change takes the confirmation', async () => {
    const person = await withApp();
    const { actor } = person;
    clock.now += 600_000;
    const changes = [
      () => twoFactor.startTotp(actor),
      () => twoFactor.removeTotp(actor),
      () => twoFactor.requestNewPasskey(actor, SITE),
      () => twoFactor.renewRecoveryCodes(actor),
      () => twoFactor.turnOff(actor),
    ];
    for (const change of changes) await expect(change()).rejects.toMatchObject(UNCONFIRMED);
    await expect(person.confirm()).rejects.toMatchObject({ errors: [{ field: 'code' }] });
    await expect(person.confirm({ code: person.code(5) })).rejects.toMatchObject(REFUSED);
    await expect(twoFactor.turnOff(actor)).rejects.toMatchObject(UNCONFIRMED);
    await person.confirm({ code: person.code() });
    await twoFactor.turnOff(actor);
  });

  test('with the password alone ends when two-factor sign-in is turned on elsewhere', async () => {
    const person = await start();
    const other = await elsewhere(person);
    await person.confirm();
    await twoFactor.confirm(other, { current_password: PASSWORD, proof: undefined, site: SITE });
    await newPasskey(person);
    await expect(twoFactor.turnOff(other)).rejects.toMatchObject(UNCONFIRMED);
  });

  test('is proved by a passkey', async () => {
    const person = await withPasskey();
    clock.now += 600_000;
    await person.confirm({ passkey: person.device.get(await twoFactor.requestProof(person.id, SITE)) });
    await twoFactor.turnOff(person.actor);
    await expect(enterAlone(person.device.get(await requestAlone()))).rejects.toMatchObject(REFUSED);
  });
});

test('turning two-factor sign-in off takes everything of it away, and the password signs in', async () => {
  const person = await withApp();
  await newPasskey(person);
  await twoFactor.turnOff(person.actor);
  expect(await read(person)).toMatchObject({ enabled: false, totp_since: null, passkeys: [], recovery_codes_left: 0 });
  await person.enter();
  expect(await person.audited()).toContain('two_factor_disabled');
  expect(person.letters().at(-1)).toBe('Two-factor sign-in was turned off');
});

describe('a passkey', () => {
  test('turns two-factor sign-in on, has a name, and can be removed beside another', async () => {
    const person = await withPasskey();
    const { actor, added } = person;
    expect(added.recovery_codes).toHaveLength(10);
    expect(added.passkey).toMatchObject({ name: 'Phone', last_used_at: null });
    expect((await passkeys.rename(added.passkey.id, 'Old phone')).name).toBe('Old phone');
    const row = await passkeys.find(added.passkey.id);
    if (row === undefined) throw new Error('the passkey is gone');
    await expect(twoFactor.removePasskey(actor, row)).rejects.toMatchObject({ code: 'conflict' });
    expect((await newPasskey(person, 'Key')).added.recovery_codes).toBeNull();
    await twoFactor.removePasskey(actor, row);
    expect((await read(person)).passkeys.map(({ name }) => name)).toEqual(['Key']);
    expect(person.letters()).toEqual(['A passkey was added', 'A passkey was added', 'A passkey was removed']);
    expect(await person.audited()).toEqual([
      ...['passkey_added', 'two_factor_enabled', 'recovery_codes_made', 'passkey_added', 'passkey_removed'],
    ]);
  });

  test('is the second factor after the password, with one answer to one question', async () => {
    const person = await withPasskey();
    const { methods, challenge } = await person.step();
    expect(methods).toEqual(['passkey', 'recovery_code']);
    const request = await signIn.requestPasskey(challenge, SITE);
    expect(request).toMatchObject({ rpId: 'localhost', allowCredentials: [{}] });
    const passkey = person.device.get(request);
    await prove(challenge, { passkey });
    expect((await read(person)).passkeys[0]?.last_used_at).toBe(new Date(clock.now).toISOString());
    await expect(prove((await person.step()).challenge, { passkey })).rejects.toMatchObject(REFUSED);
    await expect(signIn.requestPasskey('made up', SITE)).rejects.toMatchObject(EXPIRED);
  });

  test('signs in alone, once for each question, which is worth something for five minutes', async () => {
    const person = await withPasskey();
    const request = await requestAlone();
    expect(request).toMatchObject({ allowCredentials: [], userVerification: 'required' });
    const passkey = person.device.get(request);
    expect((await enterAlone(passkey)).user_info.email).toBe(person.email);
    await expect(enterAlone(passkey)).rejects.toMatchObject(REFUSED);
    const late = await requestAlone();
    clock.now += 300_000;
    await expect(enterAlone(person.device.get(late))).rejects.toMatchObject(REFUSED);
  });

  test.each([
    ['another page', { origin: 'https://evil.example' }],
    ['another host', { rp_id: 'evil.example' }],
    ['an address in place of the name', { origin: 'http://127.0.0.1:3000' }],
    ['a device that has not checked who holds it', { verified: false }],
    ['a question that was never asked', { challenge: 'bm90IGFza2Vk' }],
  ])('of %s is refused, to be kept as to sign in', async (_, lies) => {
    const person = await withPasskey();
    await expect(enterAlone(person.device.get(await requestAlone(), lies))).rejects.toMatchObject(REFUSED);
    const made = new Authenticator(SITE.origin).create(await twoFactor.requestNewPasskey(person.actor, SITE), lies);
    const kept = twoFactor.addPasskey(person.actor, { name: 'Liar', made, site: SITE });
    await expect(kept).rejects.toMatchObject({ code: 'conflict' });
  });

  test('is refused when its counter decreases or repeats, and taken without one', async () => {
    const [counting, plain] = [await withPasskey(), await withPasskey()];
    const use = async ({ device }: typeof plain, counter: number) =>
      await enterAlone(device.get(await requestAlone(), { counter }));
    await use(counting, 7);
    for (const counter of [6, 7, 0])
      await expect(use(counting, counter)).rejects.toMatchObject({
        message: 'This passkey may have been copied. Sign in another way, then remove it.',
      });
    await use(counting, 8);
    for (let time = 0; time < 2; time += 1) await use(plain, 0);
  });

  // proves: asvs-11.6.1
  test('signed by another key, or of another person, is refused', async () => {
    const [one, other] = [await withPasskey(), await withPasskey()];
    const alone = await requestAlone();
    const { id, rawId } = one.device.get(alone);
    await expect(enterAlone({ ...other.device.get(alone), id, rawId })).rejects.toMatchObject(REFUSED);
    const { challenge } = await one.step();
    const foreign = other.device.get(await signIn.requestPasskey(challenge, SITE));
    await expect(prove(challenge, { passkey: foreign })).rejects.toMatchObject(REFUSED);
    const forAlone = one.device.get(await requestAlone());
    await expect(prove(challenge, { passkey: forAlone })).rejects.toMatchObject(REFUSED);
  });

  test('is kept for one account alone', async () => {
    const [one, other] = [await start(), await start()];
    const device = new Authenticator(SITE.origin);
    const keep = async (person: FeaturePerson) => {
      await person.confirm();
      const made = device.create(await twoFactor.requestNewPasskey(person.actor, SITE));
      return await twoFactor.addPasskey(person.actor, { name: 'Shared', made, site: SITE });
    };
    await keep(one);
    await expect(keep(other)).rejects.toMatchObject({ code: 'conflict' });
  });
});

// proves: asvs-6.5.5
test('without drift a code counts for its own 30 seconds alone, when the app is set up and at sign-in', async () => {
  const strict = await accountParts({ drift_steps: 0 });
  const person = await strict.person();
  await person.confirm();
  const { secret } = await strict.twoFactor.startTotp(person.actor);
  const setUp = (away: number) => strict.twoFactor.activateTotp(person.actor, codeAt(secret, strict.clock.now, away));
  for (const away of [-1, 1]) await expect(setUp(away)).rejects.toMatchObject({ errors: [{ field: 'code' }] });
  await setUp(0);
  strict.clock.now += 2 * STEP_MS;
  const { challenge } = await person.step();
  const enter = (away: number) =>
    strict.signIn.withSecondFactor({ challenge, proof: { code: codeAt(secret, strict.clock.now, away) }, site: SITE }, ORIGIN);
  for (const away of [-1, 1]) await expect(enter(away)).rejects.toMatchObject(REFUSED);
  await enter(0);
});

test('the routes set up an app and a passkey, and sign in with each', async () => {
  const { call, signIn: newcomer } = await startTestApp({ environment: { PUBLIC_URL: 'http://localhost:3000' } });
  const { token, email, password } = await newcomer();
  expect((await call(startTotp, { token })).status).toBe(403);
  replyOf(await call(confirmIdentity, { token, body: { current_password: password } }));
  const { secret } = replyOf(await call(startTotp, { token }));
  const code = codeAt(secret, Date.now());
  const typed = ` ${code.slice(0, 3)} ${code.slice(3)}`;
  const { recovery_codes } = replyOf(await call(activateTotp, { token, body: { code: typed } }));
  const asked = problemOf(await call(login, { body: { email, password } }));
  expect(asked).toMatchObject({ status: 401, code: 'two_factor_required', methods: ['totp', 'recovery_code'] });
  const { challenge = '' } = asked;
  const recovery_code = recovery_codes?.[0] ?? '';
  for (const body of [{ challenge }, { challenge, code, recovery_code }])
    expect((await call(loginSecondStep, { body })).status).toBe(422);
  expect(replyOf(await call(loginSecondStep, { body: { challenge, recovery_code } })).user_info.email).toBe(email);

  const { passkey_origin } = replyOf(await call(readTwoFactor, { token }));
  const device = new Authenticator(passkey_origin ?? '');
  const made = device.create(replyOf(await call(requestNewPasskey, { token })));
  const { passkey } = replyOf(await call(addPasskey, { token, body: { name: 'Phone', passkey: made } }));
  const params = { id: passkey.id };
  expect(replyOf(await call(renamePasskey, { token, params, body: { name: ' Old phone ' } })).name).toBe('Old phone');
  const second = problemOf(await call(login, { body: { email, password } })).challenge ?? '';
  const proof = device.get(replyOf(await call(requestSecondStepPasskey, { body: { challenge: second } })));
  replyOf(await call(loginSecondStep, { body: { challenge: second, passkey: proof } }));
  const alone = device.get(replyOf(await call(requestPasskeyLogin)));
  replyOf(await call(loginWithPasskey, { body: { passkey: alone } }));
  const again = device.get(replyOf(await call(requestPasskeyProof, { token })));
  replyOf(await call(confirmIdentity, { token, body: { current_password: password, passkey: again } }));
  expect(replyOf(await call(renewRecoveryCodes, { token })).recovery_codes).toHaveLength(10);
  expect((await call(removePasskey, { token, params })).status).toBe(204);
  expect((await call(turnTwoFactorOff, { token })).status).toBe(204);
  expect((await call(login, { body: { email, password } })).status).toBe(200);
});
