// proves: security-5
import { currentUser, proveEmail, register, sendEmailProof } from '@palisade/contract/auth';
import { describe, expect, test } from 'vitest';
import { createMemoryCounters } from '#platform/counters.ts';
import { parseLimits } from '#platform/limits.ts';
import { createMail } from '#platform/mail.ts';
import { restrainMail } from '#server/app/letters.ts';
import { accountParts, type FeaturePerson, PASSWORD, SITE } from '#test/account-parts.ts';
import { ORIGIN } from '#test/feature-database.ts';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';
import { insertRow } from '#test/rows.ts';

const HOUR = 3_600_000;
const NEW_PASSWORD = 'another long password';
const CONFIRM = 'Confirm your email address';
const WRONG_CODE = { code: 'invalid_field', errors: [{ field: 'token' }] };

const parts = await accountParts({ exposure: 'public', admin_emails: ['boss@example.com'] });
const { database, clock, mail, askedMail, emailProofs, recovery, sessions, person: start } = parts;
/** A reset token, or the short code that proves an address. */
const TOKEN = /^(?:[\w-]{43}|(?:[2-9A-HJ-NP-Z]{4}-){2}[2-9A-HJ-NP-Z]{4})$/;

/** The token of the newest letter of a kind, once the letters that were asked for are written. */
async function tokenTo(email: string, subject: string): Promise<string> {
  await askedMail.close();
  const letter = mail.letters.findLast((one) => one.recipient === email && one.subject === subject);
  return letter?.lines.find((line) => TOKEN.test(line)) ?? '';
}
const codeOf = async ({ id, email }: FeaturePerson) => {
  await emailProofs.mailAgain(id);
  return await tokenTo(email, CONFIRM);
};
const resetTokenOf = async ({ email }: FeaturePerson) => {
  recovery.mailToken({ email, source: ORIGIN.source });
  return await tokenTo(email, 'Reset your password');
};
const prove = (person: FeaturePerson, code: string) => emailProofs.prove(code, person.actor);
/** Factors that a stranger with another's address could have set before addresses were proved. */
async function plantFactors({ id }: FeaturePerson): Promise<void> {
  const since = new Date(clock.now).toISOString();
  const app = { secret: 'x', since, last_step: 0, pending_secret: null, pending_until: null, tries: 0, tries_until: since };
  await insertRow(database, 'totp', { user_id: id, ...app });
  await insertRow(database, 'recovery_codes', { user_id: id, code_hash: `hash-${id}` });
}

describe('an unproved address', () => {
  test('is confirmed by its person with the code of the mail, once, and the others are signed out', async () => {
    const person = await start();
    const { token: other } = await person.sessionAgain();
    expect((await person.enter()).email_unproven).toBe(true);
    const code = await codeOf(person);
    expect(mail.letters.at(-1)?.lines).toContain(`https://palisade.example.com/confirm-email#${code}`);
    for (const wrong of [code.slice(1), `${code}x`, 'x']) await expect(prove(person, wrong)).rejects.toMatchObject(WRONG_CODE);
    // It is copied by hand: capitals, dashes and blanks do not matter.
    expect(code).toHaveLength(14);
    await prove(person, ` ${code.toLowerCase().replaceAll('-', ' ')} `);
    expect(await emailProofs.isUnproven(person.id)).toBe(false);
    expect([await person.isSignedIn(), await sessions.resolve(other)]).toEqual([true, undefined]);
    await expect(prove(person, code)).rejects.toMatchObject(WRONG_CODE);
    expect(await person.audited()).toContain('email_proven');
    await emailProofs.mailAgain(person.id);
    expect(person.letters()).toEqual([CONFIRM]);
  });

  test('is not confirmed by another person who has the code, which sets no password', async () => {
    const [squatter, stranger] = [await start(), await start()];
    const code = await codeOf(squatter);
    await expect(prove(stranger, code)).rejects.toMatchObject(WRONG_CODE);
    await expect(recovery.reset(code, NEW_PASSWORD, ORIGIN)).rejects.toMatchObject({ errors: [{ field: 'reset_token' }] });
    expect(await emailProofs.isUnproven(squatter.id)).toBe(true);
  });

  test('has a code for 24 hours, and gets another one, so many a day', async () => {
    const person = await start();
    const first = await codeOf(person);
    for (let count = 2; count <= 5; count += 1) await codeOf(person);
    await expect(emailProofs.mailAgain(person.id)).rejects.toMatchObject({ code: 'too_many_requests' });
    expect(person.letters()).toHaveLength(5);
    clock.now += 24 * HOUR - 1;
    // A new token does not void earlier ones.
    await prove(person, first);
    const late = await start();
    const code = await codeOf(late);
    clock.now += 24 * HOUR;
    await expect(prove(late, code)).rejects.toMatchObject(WRONG_CODE);
  });

  // proves: attack-B.7-3
  test('with factors and a session of a stranger is its owner’s after a reset, whole', async () => {
    const squatter = await start();
    await plantFactors(squatter);
    const reset_token = await resetTokenOf(squatter);
    // The stranger who registered changes the password meanwhile, which does not affect the mailbox.
    const { user_id, session_id } = squatter.actor;
    const passwords = { current_password: PASSWORD, new_password: 'a password of the stranger' };
    await parts.accounts.changePassword({ user_id, session_id, ...passwords, origin: ORIGIN });
    await recovery.reset(reset_token, NEW_PASSWORD, ORIGIN);
    expect(await squatter.isSignedIn()).toBe(false);
    expect((await squatter.enter(NEW_PASSWORD)).email_unproven).toBeUndefined();
    const factors = await parts.twoFactor.read({ id: squatter.id, role: 'customer' }, SITE);
    expect(factors).toMatchObject({ enabled: false, recovery_codes_left: 0 });
    expect(await squatter.audited()).toEqual(expect.arrayContaining(['email_proven', 'two_factor_disabled', 'password_reset']));
  });

  test('once proved, a reset is no way around its second factor', async () => {
    const person = await start({ proven: true });
    await plantFactors(person);
    await recovery.reset(await resetTokenOf(person), NEW_PASSWORD, ORIGIN);
    await expect(person.enter(NEW_PASSWORD)).rejects.toMatchObject({ code: 'two_factor_required' });
  });

  // proves: asvs-6.3.2
  test('of ADMIN_EMAILS is an administrator’s once it is proved by the code or a reset, and only once', async () => {
    const roleOf = async (id: string) => (await parts.auth.findUser(id))?.role;
    const boss = await start({ email: 'boss@example.com' });
    await prove(boss, await codeOf(boss));
    expect(await roleOf(boss.id)).toBe('admin');
    expect(await boss.audited()).toEqual(expect.arrayContaining(['email_proven', 'role_changed']));
    // A role that was taken away does not come back with another reset.
    await database.updateTable('users').set({ role: 'customer' }).where('id', '=', boss.id).execute();
    await recovery.reset(await resetTokenOf(boss), NEW_PASSWORD, ORIGIN);
    expect(await roleOf(boss.id)).toBe('customer');
    const fresh = { role: 'customer', email_proven_at: null, admin_by_email_at: null } as const;
    await database.updateTable('users').set(fresh).where('id', '=', boss.id).execute();
    await recovery.reset(await resetTokenOf(boss), PASSWORD, ORIGIN);
    expect(await roleOf(boss.id)).toBe('admin');
  });

  // proves: attack-B.7-4
  test('has its account deleted by an administrator, without a mail about it; a proved one has not', async () => {
    const by = { actor_id: (await start({ role: 'admin', proven: true })).id, origin: ORIGIN };
    const [squatter, owner] = [await start(), await start({ proven: true })];
    await expect(parts.accountDeletion.removeUnproven(owner.id, by)).rejects.toMatchObject({ code: 'conflict' });
    const query = { limit: 10, sort: 'newest', search: squatter.email } as const;
    expect(await parts.users.list(query)).toMatchObject([{ email_unproven: true }]);
    await parts.accountDeletion.removeUnproven(squatter.id, by);
    expect([await squatter.isSignedIn(), await owner.isSignedIn()]).toEqual([false, true]);
    await expect(parts.accountDeletion.removeUnproven(squatter.id, by)).rejects.toMatchObject({ code: 'not_found' });
    const entry = database.selectFrom('audit_entries').select('actor_id').where('subject_id', '=', squatter.id);
    expect(await entry.where('kind', '=', 'account_deleted').execute()).toEqual([{ actor_id: by.actor_id }]);
  });
});

// proves: attack-B.7-2, security-7
test('letters that nobody asked for go to proved addresses alone, so many an hour of all kinds together', async () => {
  const counters = createMemoryCounters({ now: () => clock.now });
  const inner = createMail({ database, server: undefined, now: () => clock.now, logger: parts.logger });
  const limits = parseLimits([], 'public');
  const restrained = restrainMail(inner, { counters, limits, mayHear: (from, email) => emailProofs.mayHear(from, email) });
  const [proven, unproven] = [await start({ proven: true }), await start()];
  const letters = async ({ email }: FeaturePerson) =>
    (await database.selectFrom('mails').select('id').where('recipient', '=', email).execute()).length;
  const queue = (recipient: string, asked?: true) =>
    restrained.queue(database, { recipient, subject: 'News', lines: ['Hello,'], ...(asked && { asked }) });
  for (let count = 0; count < 80; count += 1) await queue(proven.email);
  await queue(unproven.email);
  expect([await letters(proven), await letters(unproven)]).toEqual([60, 0]);
  await queue(unproven.email, true);
  await queue(proven.email, true);
  expect([await letters(proven), await letters(unproven)]).toEqual([61, 1]);
});

test('local exposure asks for no proof, mails none, and deletes no account for the want of it', async () => {
  const local = await accountParts();
  const person = await local.person();
  local.emailProofs.mail(person.email);
  await local.emailProofs.mailAgain(person.id);
  await local.askedMail.close();
  expect(person.letters()).toEqual([]);
  expect((await person.enter()).email_unproven).toBeUndefined();
  const removed = local.accountDeletion.removeUnproven(person.id, { actor_id: person.id, origin: ORIGIN });
  await expect(removed).rejects.toMatchObject({ code: 'conflict' });
});

// proves: attack-B.7-1, attack-B.7-2
test('the routes say that the address is unproved, mail its code without words of the registering person, and take it', async () => {
  const environment = { EXPOSURE: 'public', ADMIN_EMAILS: 'boss@example.com', RESET_DELIVERY: 'outbox' };
  const { app, call, signInUnproven } = await startTestApp({ environment });
  const advert = { email: 'stranger@example.com', username: 'You have won 900 at evil.example', password: PASSWORD };
  replyOf(await call(register, { body: advert }));
  const lettersTo = async (email: string) =>
    (await app.database.selectFrom('mails').select('text').where('recipient', '=', email).execute()).map(
      ({ text }) => text ?? '',
    );
  await expect.poll(async () => (await lettersTo(advert.email)).length).toBe(1);
  for (const text of await lettersTo(advert.email)) {
    expect(text).not.toContain('evil');
    expect(text.startsWith('Hello,\n')).toBe(true);
  }
  const { token, email } = await signInUnproven();
  expect(replyOf(await call(currentUser, { token })).email_unproven).toBe(true);
  replyOf(await call(sendEmailProof, { token }));
  const code = (await lettersTo(email))
    .at(-1)
    ?.split('\n')
    .find((line) => TOKEN.test(line));
  expect(problemOf(await call(proveEmail, { token, body: { token: 'x' } })).status).toBe(422);
  expect(replyOf(await call(proveEmail, { token, body: { token: code ?? '' } }))).toEqual({ success: true });
  expect(replyOf(await call(currentUser, { token })).email_unproven).toBeUndefined();
});
