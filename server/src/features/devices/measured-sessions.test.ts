// proves: security-44
import { randomUUID } from 'node:crypto';
import { SAID_BYTES_MAXIMUM } from '@palisade/contract/agent';
import { removeDevice, revokeDevice } from '@palisade/contract/devices';
import { completeSession, createSession, joinSession } from '@palisade/contract/remote';
import { approveSession, readSessionChanges } from '@palisade/contract/remote-session';
import type { MeasuredChanges } from '@palisade/contract/session-changes';
import { expect, test, vi } from 'vitest';
import { newId } from '#platform/id.ts';
import { AgentDouble, enrol } from '#test/agent-double.ts';
import { replyOf, startTestApp } from '#test/harness.ts';
import { AWAITED_MS } from './measured-sessions.ts';

let shift_ms = 0;
const app = await startTestApp({ surroundings: { now: () => Date.now() + shift_ms } });
const { call, signIn } = app;
const tina = await signIn('tina', 'support');

const FOUND: MeasuredChanges = {
  ...{ from: '2026-11-22T10:00:00.000Z', to: '2026-11-22T10:30:00.000Z', more: 0, unread: [] },
  changes: [{ thing: 'account', how: 'added', name: '<b>helper</b>' }],
};
const soon = (check: () => unknown) => vi.waitFor(check, { timeout: 15_000, interval: 20 });

async function startSession(token: string) {
  const { id, session_code } = replyOf(await call(createSession, { token }));
  replyOf(await call(joinSession, { token: tina.token, body: { session_code } }));
  const at = { token, params: { id } };
  replyOf(await call(approveSession, { ...at, body: { view: 'talk' } }));
  return {
    id,
    end: async () => replyOf(await call(completeSession, at)),
    read: async () => replyOf(await call(readSessionChanges, at)),
    readAs: (other: string) => call(readSessionChanges, { token: other, params: { id } }),
  };
}

const say = (agent: AgentDouble, session_id: string, measured: MeasuredChanges) =>
  agent.say({
    ...{ kind: 'event', id: newId(), at: new Date().toISOString() },
    event: { event: 'session_changes', session_id, measured },
  });
const wants = (agent: AgentDouble, session_id: string, wanted?: 'stock' | 'changes') =>
  agent.desired(({ remote_sessions }) => remote_sessions.find(({ id }) => id === session_id)?.wanted === wanted);

test('a device that is connected takes stock with the consent and says what changed at the end, which the customer alone reads', async () => {
  const { token } = await signIn();
  const device = await enrol(app, token);
  const agent = await AgentDouble.connect(app.url, device);
  const session = await startSession(token);
  await wants(agent, session.id, 'stock');
  expect(await session.read()).toMatchObject([{ device_name: 'laptop', state: 'measuring', from: null, changes: [] }]);
  // Before the session is over, no report was asked for: an early one is not stored.
  say(agent, session.id, { ...FOUND, changes: [] });
  await session.end();
  await wants(agent, session.id, 'changes');
  expect(await session.read()).toMatchObject([{ state: 'awaited' }]);
  say(agent, session.id, FOUND);
  await soon(async () => expect(await session.read()).toMatchObject([{ ...FOUND, state: 'measured' }]));
  // It gets no more orders, and a second report changes nothing.
  await wants(agent, session.id);
  say(agent, session.id, { ...FOUND, changes: [] });
  const stranger = await signIn();
  for (const other of [stranger.token, tina.token]) expect((await session.readAs(other)).status).toBe(404);
  expect(await session.read()).toMatchObject([FOUND]);
});

test('a device that was not connected, of another person, or revoked, has no part in it', async () => {
  const [maria, max] = [await signIn(), await signIn()];
  await enrol(app, maria.token, { hostname: 'asleep' });
  const foreign = await AgentDouble.connect(app.url, await enrol(app, max.token));
  const session = await startSession(maria.token);
  await session.end();
  expect(await session.read()).toEqual([]);
  // Reports of another person's device.
  say(foreign, session.id, FOUND);
  say(foreign, randomUUID().replace(/^(.{14})./u, '$17'), FOUND);
  const own = await startSession(max.token);
  await wants(foreign, own.id, 'stock');
  expect(await session.read()).toEqual([]);
});

test('a device that saw no beginning measured nothing', async () => {
  const { token } = await signIn();
  const device = await enrol(app, token);
  const agent = await AgentDouble.connect(app.url, device);
  const session = await startSession(token);
  await session.end();
  await wants(agent, session.id, 'changes');
  say(agent, session.id, { ...FOUND, from: null, changes: [] });
  await soon(async () => expect(await session.read()).toMatchObject([{ state: 'not_measured', changes: [] }]));
});

test('text of a hostile agent is bounded, and one line', async () => {
  const { token } = await signIn();
  const device = await enrol(app, token);
  const session_of = async () => {
    const agent = await AgentDouble.connect(app.url, device);
    const session = await startSession(token);
    await session.end();
    await wants(agent, session.id, 'changes');
    return { agent, session };
  };
  const frame = (session_id: string, measured: unknown) => ({
    ...{ kind: 'event', id: newId(), at: new Date().toISOString() },
    event: { event: 'session_changes', session_id, measured },
  });
  const one = { thing: 'account', how: 'added', name: 'x' };
  for (const changes of [
    Array.from({ length: 101 }, () => one),
    [{ ...one, name: 'two\nlines' }],
    [{ ...one, name: 'x'.repeat(201) }],
    [{ ...one, thing: 'planet' }],
    [{ ...one, name: 'x'.repeat(SAID_BYTES_MAXIMUM) }],
  ]) {
    const { agent, session } = await session_of();
    agent.sayRaw(frame(session.id, { ...FOUND, changes }));
    await agent.ending();
    expect(await session.read()).toMatchObject([{ state: 'awaited', changes: [] }]);
  }
});

test('a device that is removed from the list takes its reports along', async () => {
  const { token } = await signIn();
  const device = await enrol(app, token);
  const agent = await AgentDouble.connect(app.url, device);
  const session = await startSession(token);
  await session.end();
  await wants(agent, session.id, 'changes');
  say(agent, session.id, FOUND);
  await soon(async () => expect(await session.read()).toMatchObject([{ state: 'measured' }]));
  const at = { token, params: { id: device.device_id } };
  replyOf(await call(revokeDevice, at));
  await call(removeDevice, at);
  expect(await session.read()).toEqual([]);
});

// The last: the clock moves on by a day.
test('a device that is silent for a day measured nothing', async () => {
  const { token } = await signIn();
  const device = await enrol(app, token);
  const agent = await AgentDouble.connect(app.url, device);
  const session = await startSession(token);
  await session.end();
  await wants(agent, session.id, 'changes');
  expect(await session.read()).toMatchObject([{ state: 'awaited' }]);
  shift_ms += AWAITED_MS;
  expect(await session.read()).toMatchObject([{ state: 'not_measured' }]);
});
