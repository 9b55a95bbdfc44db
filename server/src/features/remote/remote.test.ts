import {
  cancelSession,
  completeJoined,
  completeSession,
  createSession,
  joinSession,
  listJoined,
  listRemoteSessions,
} from '@palisade/contract/remote';
import { approveSession, declineSession } from '@palisade/contract/remote-session';
import { beforeAll, describe, expect, test } from 'vitest';
import { COUNTED_IN_MEMORY, problemOf, replyOf, startTestApp } from '#test/harness.ts';

const MINUTE_MS = 60_000;
const START = Date.parse('2026-11-20T10:00:00Z');

/** An application whose first account is its administrator, with the rights of support. */
async function startRemote() {
  const clock = { now: START };
  const app = await startTestApp({ environment: COUNTED_IN_MEMORY, surroundings: { now: () => clock.now } });
  const agent = await app.signIn('tina');
  return {
    ...app,
    clock,
    agent: agent.token,
    customer: async () => (await app.signIn()).token,
    create: async (token: string) => replyOf(await app.call(createSession, { token })),
    join: (session: { session_code: string }, token: string | undefined = agent.token) =>
      app.call(joinSession, { token, body: { session_code: session.session_code } }),
    /** As its customer, once a technician has asked. */
    approve: (token: string, { id }: { id: string }) =>
      app.call(approveSession, { token, params: { id }, body: { view: 'talk' } }),
    newest: async (token: string) => replyOf(await app.call(listRemoteSessions, { token }))[0],
  };
}

describe('a remote session', async () => {
  const { call, clock, agent, customer, create, join, approve, newest } = await startRemote();

  test('is joined by its code however it is typed, and tells who joined; its technician sees whose it is', async () => {
    const token = await customer();
    const session = await create(token);
    const typed = session.session_code.toLowerCase().replaceAll('-', ' ');
    const joined = replyOf(await join({ session_code: typed }));
    expect(joined).toMatchObject({ id: session.id, status: 'pending', phase: 'claimed', support_agent: 'tina' });
    expect(joined.customer).toMatch(/^person-/u);
    expect(await newest(token)).toMatchObject({ status: 'pending', phase: 'claimed', support_agent: 'tina', ended_at: null });
    expect(replyOf(await call(listJoined, { token: agent }))[0]).toEqual(joined);
  });

  // proves: asvs-2.3.1
  test('is declined, or approved and ended by its customer or by the technician who joined', async () => {
    const token = await customer();
    const declined = await create(token);
    expect(problemOf(await call(completeSession, { token, params: { id: declined.id } })).status).toBe(409);
    await join(declined);
    const refused = { status: 'cancelled', end_reason: 'declined' };
    expect(replyOf(await call(declineSession, { token, params: { id: declined.id } }))).toMatchObject(refused);
    expect((await approve(token, declined)).status).toBe(409);
    const first = await create(token);
    await join(first);
    replyOf(await approve(token, first));
    const done = replyOf(await call(completeSession, { token, params: { id: first.id } }));
    expect(done).toMatchObject({ status: 'completed', support_agent: 'tina', ended_at: new Date(clock.now).toISOString() });
    expect(done).not.toHaveProperty('customer');
    const second = await create(token);
    await join(second);
    replyOf(await approve(token, second));
    const ended = replyOf(await call(completeJoined, { token: agent, params: { id: second.id } }));
    expect(ended).toMatchObject({ status: 'completed', end_reason: 'ended_by_technician' });
  });

  test('is cancelled while it waits or runs, and not after', async () => {
    const token = await customer();
    const waiting = await create(token);
    const cancelled = replyOf(await call(cancelSession, { token, params: { id: waiting.id } }));
    expect(cancelled).toMatchObject({
      status: 'cancelled',
      end_reason: 'cancelled',
      ended_at: new Date(clock.now).toISOString(),
    });
    const running = await create(token);
    await join(running);
    replyOf(await approve(token, running));
    expect(replyOf(await call(cancelSession, { token, params: { id: running.id } })).status).toBe('cancelled');
    for (const endpoint of [cancelSession, completeSession]) {
      expect(problemOf(await call(endpoint, { token, params: { id: running.id } }))).toMatchObject({
        status: 409,
        code: 'conflict',
      });
    }
    expect(problemOf(await call(completeJoined, { token: agent, params: { id: running.id } })).status).toBe(409);
    expect(problemOf(await join(waiting)).detail).toContain('No session is waiting with this code');
  });

  test('gives way to a newer one while it waits, and stays while it runs', async () => {
    const token = await customer();
    const first = await create(token);
    const second = await create(token);
    expect(replyOf(await call(listRemoteSessions, { token }))).toMatchObject([
      { id: second.id, status: 'pending' },
      { id: first.id, status: 'cancelled', end_reason: 'replaced' },
    ]);
    await join(second);
    replyOf(await approve(token, second));
    await create(token);
    expect(replyOf(await call(listRemoteSessions, { token })).map(({ status }) => status)).toEqual([
      'pending',
      'active',
      'cancelled',
    ]);
  });

  test('is found by its code and its technician, and counted over all pages', async () => {
    const token = await customer();
    const first = await create(token);
    await join(first);
    replyOf(await approve(token, first));
    replyOf(await call(completeSession, { token, params: { id: first.id } }));
    for (let more = 0; more < 4; more += 1) await create(token);
    const read = async (query: string) => {
      const answer = await call(listRemoteSessions, { token, query });
      return { rows: replyOf(answer).length, total: answer.headers.get('x-total-count') };
    };
    expect(await read('?limit=2')).toEqual({ rows: 2, total: '5' });
    expect(await read('?limit=2&status=cancelled')).toEqual({ rows: 2, total: '3' });
    expect(await read(`?search=${first.session_code.toLowerCase()}`)).toEqual({ rows: 1, total: '1' });
    expect(await read('?search=TIN')).toEqual({ rows: 1, total: '1' });
    expect(await read('?search=%25')).toEqual({ rows: 0, total: '0' });
    const joined = await call(listJoined, { token: agent, query: '?status=completed&search=PERSON' });
    expect(replyOf(joined).map(({ id }) => id)).toContain(first.id);
  });
});

describe('at once', async () => {
  const { call, customer, create, join, newest } = await startRemote();
  const again = (times: number) => Array.from({ length: times });

  test('several creations leave one that waits', async () => {
    const token = await customer();
    const answers = await Promise.all(again(4).map(() => call(createSession, { token })));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    const statuses = replyOf(await call(listRemoteSessions, { token })).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual(['cancelled', 'cancelled', 'cancelled', 'pending']);
  });

  // proves: asvs-2.3.4, remote-1
  test('of several joins one succeeds, and the others are answered as if there were no such code', async () => {
    const session = await create(await customer());
    const answers = await Promise.all(again(4).map(() => join(session)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 404, 404, 404]);
    const unknown = problemOf(await join({ session_code: 'AAA-AAA-AAA' }));
    for (const answer of answers.filter(({ ok }) => !ok))
      expect(problemOf(answer)).toEqual({ ...unknown, request_id: problemOf(answer).request_id });
  });

  test('a join and a cancellation end in one state that both see', async () => {
    for (let round = 0; round < 5; round += 1) {
      const token = await customer();
      const session = await create(token);
      const [joined, cancelled] = await Promise.all([join(session), call(cancelSession, { token, params: { id: session.id } })]);
      expect(cancelled.status).toBe(200);
      expect([200, 404]).toContain(joined.status);
      expect(await newest(token)).toMatchObject({ status: 'cancelled', support_agent: joined.ok ? 'tina' : null });
    }
  });
});

// proves: asvs-2.3.2, security-43
describe('wrong codes', () => {
  let remote: Awaited<ReturnType<typeof startRemote>>;
  const UNKNOWN = { session_code: 'AAA-AAA-AAA' };

  beforeAll(async () => {
    remote = await startRemote();
  });

  test('are ten in ten minutes, also at once; then not even the right one is tried until the first is forgotten', async () => {
    const { clock, join, create, customer } = remote;
    const session = await create(await customer());
    const answers = await Promise.all(Array.from({ length: 12 }, () => join(UNKNOWN)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array.from({ length: 10 }, () => 404), 429, 429]);
    clock.now += 9 * MINUTE_MS;
    const held = await join(session);
    expect(problemOf(held)).toMatchObject({ status: 429, code: 'too_many_requests' });
    expect(held.headers.get('retry-after')).toBe('60');
    clock.now += MINUTE_MS;
    expect((await join(session)).status).toBe(200);
  });

  test('are all answered alike, whatever their fault, and right ones are not counted', async () => {
    const { clock, join, create, customer, call, agent } = remote;
    clock.now += 60 * MINUTE_MS;
    for (let round = 0; round < 12; round += 1) expect((await join(await create(await customer()))).status).toBe(200);
    const [used, over, own] = [await create(await customer()), await create(await customer()), await create(agent)];
    await join(used);
    clock.now += 30 * MINUTE_MS;
    const late = await create(await customer());
    await call(cancelSession, { token: agent, params: { id: own.id } });
    const again = await create(agent);
    const wrong = [
      'AAA-AAA-AAA',
      used.session_code,
      over.session_code,
      again.session_code,
      'K7M',
      '',
      "' or '1'='1",
      'K'.repeat(1_000),
    ];
    const answers = await Promise.all(wrong.map(async (session_code) => problemOf(await join({ session_code }))));
    for (const { request_id: _, ...answer } of answers) {
      const { request_id: _id, ...first } = answers[0] ?? { request_id: '' };
      expect(answer).toEqual(first);
      expect(answer).toMatchObject({ status: 404, code: 'not_found' });
    }
    expect((await join(late)).status).toBe(200);
  });
});
