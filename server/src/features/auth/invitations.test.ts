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
    const stored = await app.app.database
      .selectFrom('users')
      .select('email_proven_at')
      .where('email', '=', 'zoe@example.com')
      .executeTakeFirstOrThrow();
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

  test('to somebody with an account is refused, also where they register meanwhile', async () => {
    const maria = await signIn('maria');
    expect(problemOf(await invite(maria.email))).toMatchObject({
      code: 'conflict',
      detail: 'maria@example.com has an account already.',
    });
    replyOf(await invite('fast@example.com'));
    const token = await tokenTo('fast@example.com');
    replyOf(await call(register, { body: { email: 'fast@example.com', username: 'fast', password: PASSWORD } }));
    expect(problemOf(await accept(token, 'other')).code).toBe('email_taken');
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
