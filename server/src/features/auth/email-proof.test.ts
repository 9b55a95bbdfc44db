// proves: security-5
import {
  changePassword,
  changeUsername,
  currentUser,
  forgotPassword,
  login,
  proveEmail,
  recoverUsername,
  register,
  resetPassword,
  sendEmailProof,
} from '@palisade/contract/auth';
import { createSession } from '@palisade/contract/remote';
import { requestPlan } from '@palisade/contract/subscription';
import { activateTotp, confirmIdentity, renewRecoveryCodes, requestNewPasskey, startTotp } from '@palisade/contract/two-factor';
import { deleteUnprovenUser, listUsers } from '@palisade/contract/users';
import { describe, expect, test } from 'vitest';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';

const PASSWORD = 'a long enough password';
const PUBLIC = { EXPOSURE: 'public', ADMIN_EMAILS: 'boss@example.com', RESET_DELIVERY: 'outbox' };
const HOUR = 3_600_000;
/** A sentence in a username's place. */
const ADVERT = 'You have won 900 at evil.example';

let clock = Date.parse('2026-11-20T10:00:00Z');
const { call, signIn, signInUnproven, app } = await startTestApp({
  environment: { ...PUBLIC, PUBLIC_URL: 'https://palisade.example.com', REQUIRE_TWO_FACTOR: 'staff' },
  surroundings: { now: () => clock },
});

type Person = Awaited<ReturnType<typeof signIn>>;

async function lettersTo(recipient: string): Promise<{ subject: string; text: string }[]> {
  const rows = await app.database
    .selectFrom('mails')
    .select(['subject', 'text'])
    .where('recipient', '=', recipient)
    .orderBy('id')
    .execute();
  return rows.map(({ subject, text }) => ({ subject: subject.replace('Palisade: ', ''), text: text ?? '' }));
}
const subjectsTo = async (recipient: string) => (await lettersTo(recipient)).map(({ subject }) => subject);
/** A reset token, or the short code that proves an address. */
const tokenIn = (text = '') => /^(?:[\w-]{43}|(?:[2-9A-HJ-NP-Z]{4}-){2}[2-9A-HJ-NP-Z]{4})$/m.exec(text)?.[0] ?? '';

/** The newest token in a mailbox, once it has so many letters of the kind. */
async function tokenOf(recipient: string, subject: string, count = 1): Promise<string> {
  const ofKind = async () => (await lettersTo(recipient)).filter((letter) => letter.subject === subject);
  await expect.poll(async () => (await ofKind()).length).toBe(count);
  return tokenIn((await ofKind()).at(-1)?.text);
}
const proofOf = (email: string, count = 1) => tokenOf(email, 'Confirm your email address', count);
const resetOf = async (email: string, count = 1) => {
  replyOf(await call(forgotPassword, { body: { email } }));
  return await tokenOf(email, 'Reset your password', count);
};
const isUnproven = async (token: string) => replyOf(await call(currentUser, { token })).email_unproven;
const kindsOf = async (email: string) => {
  const { id } = await app.database.selectFrom('users').select('id').where('email', '=', email).executeTakeFirstOrThrow();
  const rows = await app.database
    .selectFrom('audit_entries')
    .select('kind')
    .where('subject_id', '=', id)
    .orderBy('seq')
    .execute();
  return rows.map(({ kind }) => kind);
};
/** Factors that a stranger with another's address could have set before addresses were proved. */
async function plantFactors({ email }: Person): Promise<void> {
  const { id } = await app.database.selectFrom('users').select('id').where('email', '=', email).executeTakeFirstOrThrow();
  const since = new Date(clock).toISOString();
  const app_row = { secret: 'x', since, last_step: 0, pending_secret: null, pending_until: null, tries: 0, tries_until: since };
  await app.database
    .insertInto('totp')
    .values({ user_id: id, ...app_row })
    .execute();
  await app.database
    .insertInto('recovery_codes')
    .values({ user_id: id, code_hash: `hash-${id}` })
    .execute();
}

describe('an unproved address', () => {
  // proves: attack-B.7-1
  test('holds back factors, plan requests and remote sessions, and says so', async () => {
    const { token, password } = await signInUnproven();
    expect(await isUnproven(token)).toBe(true);
    const refused = { status: 403, code: 'email_unproven' };
    replyOf(await call(confirmIdentity, { token, body: { current_password: password } }));
    for (const endpoint of [startTotp, requestNewPasskey, renewRecoveryCodes, createSession])
      expect(problemOf(await call(endpoint, { token }))).toMatchObject(refused);
    expect(problemOf(await call(activateTotp, { token, body: { code: '000000' } }))).toMatchObject(refused);
    const template_id = '01890a5d-ac96-774b-bcce-b302099a8057';
    expect(problemOf(await call(requestPlan, { token, body: { template_id } }))).toMatchObject({
      ...refused,
      detail: 'Confirm your email address first. We emailed you a code.',
    });
  });

  // proves: attack-B.7-2
  test('gets the confirmation alone, with no word that the registering person chose', async () => {
    const email = 'stranger@example.com';
    await call(register, { body: { email, username: ADVERT, password: PASSWORD } });
    const { access_token: token } = replyOf(await call(login, { body: { email, password: PASSWORD } }));
    const body = { current_password: PASSWORD, new_password: 'another long password' };
    replyOf(await call(changePassword, { token, body }));
    await call(recoverUsername, { body: { email } });
    await expect.poll(async () => (await subjectsTo(email)).toSorted()).toEqual(['Confirm your email address', 'Your username']);
    for (const { text } of await lettersTo(email)) {
      expect(text).not.toContain('evil');
      expect(text.startsWith('Hello,\n')).toBe(true);
    }
  });

  test('is confirmed by its person with the code of the mail, once, and the others are signed out', async () => {
    const { token, email, password } = await signInUnproven();
    const other = replyOf(await call(login, { body: { email, password } }));
    expect(other.email_unproven).toBe(true);
    const code = await proofOf(email);
    expect((await lettersTo(email))[0]?.text).toContain(`https://palisade.example.com/confirm-email#${code}`);
    for (const wrong of [code.slice(1), `${code}x`, 'x']) {
      const problem = problemOf(await call(proveEmail, { token, body: { token: wrong } }));
      expect(problem).toMatchObject({ status: 422, errors: [{ field: 'token' }] });
    }
    // It is copied by hand: capitals, dashes and blanks do not matter.
    expect(code).toHaveLength(14);
    const typed = ` ${code.toLowerCase().replaceAll('-', ' ')} `;
    expect(replyOf(await call(proveEmail, { token, body: { token: typed } }))).toEqual({ success: true });
    expect(await isUnproven(token)).toBeUndefined();
    expect((await call(currentUser, { token: other.access_token })).status).toBe(401);
    expect((await call(createSession, { token })).status).toBe(201);
    expect((await call(proveEmail, { token, body: { token: code } })).status).toBe(422);
    expect(await kindsOf(email)).toContain('email_proven');
  });

  test('is not confirmed by another person who has the code, nor by the one who registered without it', async () => {
    const [squatter, stranger] = [await signInUnproven(), await signInUnproven()];
    const code = await proofOf(squatter.email);
    expect((await call(proveEmail, { token: stranger.token, body: { token: code } })).status).toBe(422);
    expect((await call(proveEmail, { body: { token: code } })).status).toBe(401);
    // The code sets no password.
    const body = { reset_token: code, new_password: 'another long password' };
    expect((await call(resetPassword, { body })).status).toBe(422);
    expect(await isUnproven(squatter.token)).toBe(true);
  });

  test('has a code for 24 hours, and gets another one, so many a day', async () => {
    const { token, email } = await signInUnproven();
    const first = await proofOf(email);
    for (let count = 2; count <= 5; count += 1) {
      replyOf(await call(sendEmailProof, { token }));
      await proofOf(email, count);
    }
    const refused = await call(sendEmailProof, { token });
    expect(problemOf(refused)).toMatchObject({ status: 429, code: 'too_many_requests' });
    expect(await subjectsTo(email)).toHaveLength(5);
    clock += 24 * HOUR - 1;
    // A new token does not void earlier ones.
    expect((await call(proveEmail, { token, body: { token: first } })).status).toBe(200);
    const late = await signInUnproven();
    const code = await proofOf(late.email);
    clock += 24 * HOUR;
    expect((await call(proveEmail, { token: late.token, body: { token: code } })).status).toBe(422);
    replyOf(await call(sendEmailProof, { token }));
    expect(await subjectsTo(email)).toHaveLength(5);
  });

  // proves: attack-B.7-3
  test('with factors and a session of a stranger is its owner’s after a reset, whole', async () => {
    const squatter = await signInUnproven();
    const { email, token } = squatter;
    await plantFactors(squatter);
    const reset_token = await resetOf(email);
    // The stranger who registered changes the password meanwhile, which does not affect the mailbox.
    const body = { current_password: PASSWORD, new_password: 'a password of the stranger' };
    replyOf(await call(changePassword, { token, body }));
    const new_password = 'a password of the owner';
    replyOf(await call(resetPassword, { body: { reset_token, new_password } }));
    expect((await call(currentUser, { token })).status).toBe(401);
    const owner = replyOf(await call(login, { body: { email, password: new_password } }));
    expect(owner.email_unproven).toBeUndefined();
    replyOf(await call(confirmIdentity, { token: owner.access_token, body: { current_password: new_password } }));
    expect((await call(startTotp, { token: owner.access_token })).status).toBe(200);
    expect(await kindsOf(email)).toEqual(expect.arrayContaining(['email_proven', 'two_factor_disabled', 'password_reset']));
    expect(await subjectsTo(email)).toContain('Your password was changed');
  });

  test('once proved, a reset is no way around its second factor', async () => {
    const person = await signIn();
    await plantFactors(person);
    const reset_token = await resetOf(person.email);
    replyOf(await call(resetPassword, { body: { reset_token, new_password: 'another long password' } }));
    const problem = problemOf(await call(login, { body: { email: person.email, password: 'another long password' } }));
    expect(problem.code).toBe('two_factor_required');
  });

  test('of an administrator is proved by the code as by a reset', async () => {
    await call(register, { body: { email: 'boss@example.com', username: 'boss', password: PASSWORD } });
    const { access_token: token, user_info } = replyOf(
      await call(login, { body: { email: 'boss@example.com', password: PASSWORD } }),
    );
    expect(user_info.role).toBe('customer');
    replyOf(await call(proveEmail, { token, body: { token: await proofOf('boss@example.com') } }));
    // A person who must have a second factor continues with its setup.
    expect(replyOf(await call(currentUser, { token }))).toMatchObject({ role: 'admin', two_factor_setup_required: true });
    expect(await kindsOf('boss@example.com')).toEqual(expect.arrayContaining(['email_proven', 'role_changed']));
  });

  test('is confirmed also by who must have a second factor first', async () => {
    const { token, email } = await signInUnproven();
    await app.database.updateTable('users').set({ role: 'support' }).where('email', '=', email).execute();
    expect(replyOf(await call(currentUser, { token }))).toMatchObject({ two_factor_setup_required: true, email_unproven: true });
    expect((await call(startTotp, { token })).status).toBe(403);
    replyOf(await call(sendEmailProof, { token }));
    replyOf(await call(proveEmail, { token, body: { token: await proofOf(email, 2) } }));
    expect(problemOf(await call(startTotp, { token })).code).toBe('confirmation_required');
  });
});

// proves: attack-B.7-2, security-7
test('letters to one address are so many an hour, of all kinds together', async () => {
  const person = await signIn();
  const { token, password, email } = person;
  await plantFactors(person);
  const { id } = await app.database
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .where('users.email', '=', email)
    .select('sessions.id')
    .executeTakeFirstOrThrow();
  await app.database
    .insertInto('session_confirmations')
    .values({ session_id: id, with_second_factor: 1, expires_at: new Date(clock + HOUR).toISOString() })
    .execute();
  expect(password).toBe(PASSWORD);
  for (let round = 0; round < 10; round += 1) {
    const answers = await Promise.all(Array.from({ length: 8 }, () => call(renewRecoveryCodes, { token })));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
  }
  expect((await subjectsTo(email)).filter((subject) => subject === 'New recovery codes were created')).toHaveLength(60);
});

describe('an administrator', () => {
  // proves: attack-B.7-4
  test('deletes an unproved account, and no other', async () => {
    const office = await signIn('office');
    await app.database.updateTable('users').set({ role: 'admin' }).where('email', '=', office.email).execute();
    await plantFactors(office);
    const { token } = office;
    const [squatter, owner] = [await signInUnproven('squatter'), await signIn('owner')];
    const listed = replyOf(await call(listUsers, { token, query: '?search=squatter' }))[0];
    expect(listed).toMatchObject({ email_unproven: true });
    const [proved] = replyOf(await call(listUsers, { token, query: '?search=owner' }));
    expect(proved).toMatchObject({ email_unproven: false });
    const remove = (user_id = '') => call(deleteUnprovenUser, { token, body: { user_id } });
    expect(problemOf(await remove(proved?.id))).toMatchObject({ status: 409, code: 'conflict' });
    expect((await call(currentUser, { token: owner.token })).status).toBe(200);
    expect(replyOf(await remove(listed?.id))).toEqual({ success: true });
    expect((await call(currentUser, { token: squatter.token })).status).toBe(401);
    expect(problemOf(await remove(listed?.id)).status).toBe(404);
    // Address and name are free again, and no mail about it was sent to the address.
    expect((await call(register, { body: { email: squatter.email, username: 'squatter', password: PASSWORD } })).status).toBe(
      201,
    );
    const entry = await app.database
      .selectFrom('audit_entries')
      .select(['kind', 'actor_id'])
      .where('subject_id', '=', listed?.id ?? '')
      .where('kind', '=', 'account_deleted')
      .executeTakeFirstOrThrow();
    const admin = await app.database.selectFrom('users').select('id').where('email', '=', office.email).executeTakeFirstOrThrow();
    expect(entry.actor_id).toBe(admin.id);
  });
});

describe('local exposure', async () => {
  const local = await startTestApp();
  const boss = await local.signIn('boss');

  test('holds nothing back, mails no confirmation, and deletes no account', async () => {
    const { token, email, password } = await local.signIn();
    expect(replyOf(await local.call(currentUser, { token })).email_unproven).toBeUndefined();
    expect((await local.call(createSession, { token })).status).toBe(201);
    replyOf(await local.call(confirmIdentity, { token, body: { current_password: password } }));
    expect((await local.call(startTotp, { token })).status).toBe(200);
    expect(
      await local.app.database.selectFrom('mails').selectAll().where('subject', 'like', '%onfirm your email%').execute(),
    ).toEqual([]);
    const [user] = replyOf(await local.call(listUsers, { token: boss.token, query: `?search=${email}` }));
    expect(user?.email_unproven).toBe(false);
    expect(problemOf(await local.call(deleteUnprovenUser, { token: boss.token, body: { user_id: user?.id ?? '' } })).status).toBe(
      409,
    );
    expect(replyOf(await local.call(changeUsername, { token, body: { username: 'somebody new' } })).username).toBe(
      'somebody new',
    );
  });
});
