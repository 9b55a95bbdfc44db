import { listAudit } from '@palisade/contract/audit';
import { currentUser, login, register } from '@palisade/contract/auth';
import {
  acceptInvitation,
  INVITATION_DAYS,
  invitePerson,
  listInvitations,
  withdrawInvitation,
} from '@palisade/contract/invitation';
import { describe, expect, test } from 'vitest';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';
import { oneRow } from '#test/rows.ts';

const DAY_MS = 86_400_000;
let clock = Date.parse('2026-11-20T10:00:00Z');
const app = await startTestApp({ surroundings: { now: () => clock } });
const { call, signIn } = app;
const boss = await signIn('boss');
const PASSWORD = 'a long enough password';

const invite = (email: string, role: 'customer' | 'support' = 'customer') =>
  call(invitePerson, { token: boss.token, body: { email, role } });
const accept = (token: string, username: string) => call(acceptInvitation, { body: { token, username, password: PASSWORD } });
const open = async () => replyOf(await call(listInvitations, { token: boss.token }));

/** The token of the newest letter to an address. */
async function tokenTo(recipient: string): Promise<string> {
  const letter = await app.app.database
    .selectFrom('mails')
    .select('text')
    .where('recipient', '=', recipient)
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow();
  return /\/invitation#(\S+)/u.exec(letter.text ?? '')?.[1] ?? '';
}

describe('an invitation', () => {
  test('makes the account of its address and role, once, with a confirmed address', async () => {
    const invitation = replyOf(await invite('zoe@example.com', 'support'));
    expect(invitation).toMatchObject({ email: 'zoe@example.com', role: 'support' });
    expect(Date.parse(invitation.expires_at) - clock).toBe(INVITATION_DAYS * DAY_MS);
    const token = await tokenTo('zoe@example.com');
    expect(JSON.stringify(invitation)).not.toContain(token);
    expect(replyOf(await accept(token, 'zoe'))).toEqual({ email: 'zoe@example.com' });
    const signedIn = replyOf(await call(login, { body: { email: 'zoe@example.com', password: PASSWORD } }));
    expect(replyOf(await call(currentUser, { token: signedIn.access_token }))).toMatchObject({
      role: 'support',
      username: 'zoe',
    });
    const stored = await oneRow(app.app.database, 'users', { email: 'zoe@example.com' });
    expect(stored.email_proven_at).not.toBeNull();
    expect(problemOf(await accept(token, 'zoe-2'))).toMatchObject({ status: 422, errors: [{ field: 'token' }] });
    expect(await open()).toEqual([]);
    const kinds = replyOf(await call(listAudit, { token: boss.token })).map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(['person_invited', 'account_registered']));
  });

  test('is replaced by a newer one to the same address, and ended by withdrawing it', async () => {
    replyOf(await invite('twice@example.com'));
    const first = await tokenTo('twice@example.com');
    const { id } = replyOf(await invite('twice@example.com'));
    const second = await tokenTo('twice@example.com');
    expect(second).not.toBe(first);
    expect(problemOf(await accept(first, 'twice')).status).toBe(422);
    expect((await open()).map(({ email }) => email)).toEqual(['twice@example.com']);
    const withdraw = () => call(withdrawInvitation, { token: boss.token, body: { invitation_id: id } });
    expect(replyOf(await withdraw())).toEqual({ success: true });
    expect(problemOf(await accept(second, 'twice')).status).toBe(422);
    expect(problemOf(await withdraw()).code).toBe('not_found');
  });

  test('to somebody with an account is refused', async () => {
    const maria = await signIn('maria');
    expect(problemOf(await invite(maria.email))).toMatchObject({
      code: 'conflict',
      detail: 'maria@example.com has an account already.',
    });
  });

  test('takes the place of an account that another person registered with the address meanwhile', async () => {
    replyOf(await invite('fast@example.com', 'support'));
    const token = await tokenTo('fast@example.com');
    const squatter = { email: 'fast@example.com', username: 'fast', password: 'a password of somebody else' };
    replyOf(await call(register, { body: squatter }));
    const { access_token } = replyOf(await call(login, { body: squatter }));
    expect(replyOf(await accept(token, 'fast'))).toEqual({ email: 'fast@example.com' });
    expect((await call(currentUser, { token: access_token })).status).toBe(401);
    expect((await call(login, { body: squatter })).status).toBe(401);
    const signedIn = replyOf(await call(login, { body: { email: 'fast@example.com', password: PASSWORD } }));
    expect(replyOf(await call(currentUser, { token: signedIn.access_token })).role).toBe('support');
    const letters = await app.app.database
      .selectFrom('mails')
      .select('subject')
      .where('recipient', '=', 'fast@example.com')
      .execute();
    expect(letters.map(({ subject }) => subject)).not.toContain('Your account is deleted');
  });

  test.each([
    { of: 'a proved account', change: { email_proven_at: '2026-11-20T10:00:00.000Z' } },
    { of: 'an account that was given a role', change: { role: 'admin' as const } },
  ])('leaves $of alone', async ({ of, change }) => {
    const email = `${of.replaceAll(' ', '-')}@example.com`;
    replyOf(await invite(email));
    const token = await tokenTo(email);
    replyOf(await call(register, { body: { email, username: `owner of ${of}`.slice(0, 30), password: PASSWORD } }));
    await app.app.database.updateTable('users').set(change).where('email', '=', email).execute();
    expect(problemOf(await accept(token, 'other')).code).toBe('email_taken');
    expect((await call(login, { body: { email, password: PASSWORD } })).status).toBe(200);
    // The link stays.
    expect((await open()).map((invitation) => invitation.email)).toContain(email);
  });

  const users = app.app.database.updateTable('users');
  test.each([
    {
      end: 'is disabled',
      take: (id: string) => users.set({ disabled_at: '2026-11-20T10:00:00.000Z' }).where('id', '=', id).execute(),
    },
    { end: 'gets another role', take: (id: string) => users.set({ role: 'support' }).where('id', '=', id).execute() },
    { end: 'is deleted', take: (id: string) => app.app.database.deleteFrom('users').where('id', '=', id).execute() },
    {
      end: 'is not known, as in an older version',
      take: (id: string) =>
        app.app.database.updateTable('invitations').set({ invited_by: null }).where('invited_by', '=', id).execute(),
    },
  ])('ends when its maker $end', async ({ end, take }) => {
    const { token: before, email: address, password } = await signIn();
    const { id } = replyOf(await call(currentUser, { token: before }));
    await users.set({ role: 'admin' }).where('id', '=', id).execute();
    const email = `${end.replaceAll(/[ ,]/g, '-')}@example.com`;
    const maker = replyOf(await call(login, { body: { email: address, password } }));
    replyOf(await call(invitePerson, { token: maker.access_token, body: { email, role: 'support' } }));
    const token = await tokenTo(email);
    expect((await open()).map((invitation) => invitation.email)).toContain(email);
    await take(id);
    expect((await open()).map((invitation) => invitation.email)).not.toContain(email);
    expect(problemOf(await accept(token, 'late comer'))).toMatchObject({ status: 422, errors: [{ field: 'token' }] });
    // Another administrator may invite them.
    replyOf(await invite(email, 'support'));
    expect(replyOf(await accept(await tokenTo(email), `${email} again`.slice(-30).replaceAll(/[^a-z ]/g, '')))).toEqual({
      email,
    });
  });

  test('keeps its link when the chosen name is taken', async () => {
    replyOf(await invite('name@example.com'));
    const token = await tokenTo('name@example.com');
    expect(problemOf(await accept(token, 'boss')).code).toBe('username_taken');
    expect(replyOf(await accept(token, 'another name'))).toEqual({ email: 'name@example.com' });
  });

  test('expires', async () => {
    replyOf(await invite('late@example.com'));
    const token = await tokenTo('late@example.com');
    clock += INVITATION_DAYS * DAY_MS;
    expect(problemOf(await accept(token, 'late'))).toMatchObject({ status: 422, errors: [{ field: 'token' }] });
  });
});
