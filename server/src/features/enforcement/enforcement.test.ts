import { forgotPassword, login, recoverUsername, register, resetPassword } from '@palisade/contract/auth';
import { liftAnyBlock, liftBlock, listAllBlocks, listBlocks } from '@palisade/contract/blocks';
import { describe, expect, test } from 'vitest';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';

const PASSWORD = 'a long enough password';

const {
  app,
  call,
  registerAndSignIn: signIn,
} = await startTestApp({ environment: { LIMITS: 'recovery=2/15m,recovery.source=9/15m,register.source=3/1h' } });
const admin = await signIn('boss', 'admin');

async function guess(email: string, times: number): Promise<number> {
  let status = 0;
  for (let time = 0; time < times; time += 1) status = (await call(login, { body: { email, password: 'not it' } })).status;
  return status;
}

const auditOf = (kind: 'block_added' | 'block_lifted') =>
  app.database.selectFrom('audit_entries').select(['subject_id', 'actor_id']).where('kind', '=', kind).execute();

describe('a refusal in force', () => {
  test('is listed for its owner and for administrators, and ends with Undo, which forgets the wrong passwords', async () => {
    const maria = await signIn('maria');
    expect(replyOf(await call(listBlocks, { token: maria.token }))).toEqual([]);
    expect(await guess(maria.email, 6)).toBe(429);
    const [block] = replyOf(await call(listBlocks, { token: maria.token }));
    expect(block).toMatchObject({ kind: 'pair', source: '127.0.0.1', rule: 'wrong_passwords', level: 1 });
    expect(replyOf(await call(listAllBlocks, { token: admin.token }))).toEqual([{ ...block, email: maria.email }]);

    expect((await call(liftBlock, { token: maria.token, params: { id: block?.id ?? '' } })).status).toBe(204);
    expect(replyOf(await call(listBlocks, { token: maria.token }))).toEqual([]);
    expect(await guess(maria.email, 4)).toBe(401);
    expect((await call(login, { body: maria })).status).toBe(200);
    expect(problemOf(await call(liftBlock, { token: maria.token, params: { id: block?.id ?? '' } })).code).toBe('not_found');
    const [lifted] = await auditOf('block_lifted');
    expect(lifted?.subject_id).toBe(lifted?.actor_id);
  });

  test('of an email without an account is seen, and ended, by administrators alone', async () => {
    expect(await guess('nobody@example.com', 6)).toBe(429);
    const blocks = replyOf(await call(listAllBlocks, { token: admin.token }));
    expect(blocks).toMatchObject([{ kind: 'pair', email: null }]);
    const body = { block_id: blocks[0]?.id ?? '' };
    expect(problemOf(await call(liftBlock, { token: admin.token, params: { id: body.block_id } })).code).toBe('not_found');
    expect((await call(liftAnyBlock, { token: admin.token, body })).status).toBe(204);
    expect(problemOf(await call(liftAnyBlock, { token: admin.token, body })).detail).toBe('This block has already ended.');
    expect(await guess('nobody@example.com', 1)).toBe(401);
  });

  test('of an account is in the audit log', async () => {
    const zoe = await signIn('zoe');
    await guess(zoe.email, 5);
    await expect.poll(async () => (await auditOf('block_added')).map(({ actor_id }) => actor_id)).toContain(null);
  });
});

// proves: asvs-2.4.1
describe('requests by strangers', () => {
  test.each([
    ['an email of an account', 'boss@example.com', 200],
    ['an email of nobody', 'no-such-person@example.com', 404],
  ])('is bounded for each email: %s', async (_, email, status) => {
    expect((await call(forgotPassword, { body: { email } })).status).toBe(status);
    expect((await call(forgotPassword, { body: { email } })).status).toBe(status);
    const refused = await call(forgotPassword, { body: { email } });
    expect(problemOf(refused).detail).toBe('Too many requests for this. Try again in 8 minutes.');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(400);
    // A person who forgot both is not refused the second: each has a limit of its own.
    expect((await call(recoverUsername, { body: { email } })).status).toBe(status);
    expect((await call(recoverUsername, { body: { email } })).status).toBe(status);
    expect((await call(recoverUsername, { body: { email } })).status).toBe(429);
  });

  test('is bounded for each source', async () => {
    const body = { reset_token: 'no such token', new_password: 'a long enough password' };
    const statuses: number[] = [];
    for (let time = 0; time < 10; time += 1) statuses.push((await call(resetPassword, { body })).status);
    // The requests above are of other kinds.
    expect(statuses).toEqual([...Array.from({ length: 9 }, () => 422), 429]);
    const refused = await call(register, { body: { email: 'one-more@example.com', username: 'one more', password: PASSWORD } });
    expect(problemOf(refused).detail).toBe('Too many accounts were created from your network. Try again in 20 minutes.');
  });
});
