// proves: security-44

import { pollAgent, type Said, saidSchema } from '@palisade/contract/agent';
import { completeSession, createSession, joinSession } from '@palisade/contract/remote';
import { approveSession, readSessionChanges } from '@palisade/contract/remote-session';
import type { MeasuredChanges } from '@palisade/contract/session-changes';
import { eventually } from '@palisade/scanner/test/eventually';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { newId } from '#platform/id.ts';
import { enrol, helloOf, reportOf } from '#test/agent-double.ts';
import { openDevices } from '#test/device-parts.ts';
import { replyOf, startTestApp } from '#test/harness.ts';
import { AWAITED_MS } from './measured-sessions.ts';

const parts = await openDevices();
const { database, clock, devices, measuredSessions, agents, withDevice } = parts;

const FOUND: MeasuredChanges = {
  ...{ from: '2026-11-22T10:00:00.000Z', to: '2026-11-22T10:30:00.000Z', more: 0, unread: [] },
  changes: [{ thing: 'account', how: 'added', name: '<b>helper</b>' }],
};
const eventOf = (session_id: string, measured: MeasuredChanges): Said => ({
  ...{ kind: 'event', id: newId(), at: '2026-11-22T10:30:00.000Z' },
  event: { event: 'session_changes', session_id, measured },
});

/** A remote session of a person, without anything that devices do not read. */
async function newSession(user_id: string): Promise<string> {
  const [id, time] = [newId(), new Date(clock.time).toISOString()];
  await sql`insert into remote_sessions (id, user_id, customer, session_code, status, started_at, expires_at)
    values (${id}, ${user_id}, 'maria', ${id}, 'completed', ${time}, ${time})`.execute(database);
  return id;
}

/** A session of a person with a device that is connected, which has begun. */
async function startSession() {
  const device = await withDevice();
  const session_id = await newSession(device.user_id);
  await measuredSessions.begin({ id: session_id, user_id: device.user_id });
  return {
    ...{ ...device, session_id },
    wanted: async () => (await device.desired()).remote_sessions,
    end: () => measuredSessions.end(session_id),
    read: () => measuredSessions.read(session_id),
    say: (measured: MeasuredChanges) => device.hear(eventOf(session_id, measured)),
  };
}

test('a connected device takes stock at the beginning and says at the end what changed, once', async () => {
  const { session_id, wanted, read, say, end } = await startSession();
  expect(await wanted()).toEqual([{ id: session_id, wanted: 'stock' }]);
  expect(await read()).toMatchObject([{ device_name: 'laptop', state: 'measuring', from: null, changes: [] }]);
  // Before the session is over, no report was asked for: an early one is not stored.
  await say({ ...FOUND, changes: [] });
  await end();
  expect(await wanted()).toEqual([{ id: session_id, wanted: 'changes' }]);
  expect(await read()).toMatchObject([{ state: 'awaited' }]);
  await say(FOUND);
  expect(await read()).toMatchObject([{ ...FOUND, state: 'measured' }]);
  // It gets no more orders, and a second report changes nothing.
  expect(await wanted()).toEqual([]);
  await say({ ...FOUND, changes: [] });
  expect(await read()).toMatchObject([FOUND]);
});

test('a device that is not connected, of another person, or revoked, has no part in it', async () => {
  const { session_id, user_id, agent, row, doer, read } = await startSession();
  const foreign = await withDevice();
  await foreign.hear(eventOf(session_id, FOUND));
  expect(await read()).toMatchObject([{ state: 'measuring' }]);
  await agents.leave(agent);
  const later = await newSession(user_id);
  await measuredSessions.begin({ id: later, user_id });
  expect(await measuredSessions.read(later)).toEqual([]);
  await devices.revoke(await row(), doer);
  await measuredSessions.begin({ id: later, user_id });
  expect(await measuredSessions.read(later)).toEqual([]);
});

test('a device that saw no beginning, or is silent for a day, measured nothing', async () => {
  const [unseen, silent] = [await startSession(), await startSession()];
  for (const { end } of [unseen, silent]) await end();
  await unseen.say({ ...FOUND, from: null, changes: [] });
  expect(await unseen.read()).toMatchObject([{ state: 'not_measured', changes: [] }]);
  clock.time += AWAITED_MS - 1;
  expect(await silent.read()).toMatchObject([{ state: 'awaited' }]);
  clock.time += 1;
  expect(await silent.read()).toMatchObject([{ state: 'not_measured' }]);
  expect(await silent.wanted()).toEqual([]);
});

test('a device that is removed from the list takes its reports along', async () => {
  const { row, doer, say, end, read } = await startSession();
  await end();
  await say(FOUND);
  await devices.remove(await row(), doer);
  expect(await read()).toEqual([]);
});

const one = { thing: 'account', how: 'added', name: 'x' };
test.each([
  ['101 changes', Array.from({ length: 101 }, () => one)],
  ['a name of two lines', [{ ...one, name: 'two\nlines' }]],
  ['a name of 201 letters', [{ ...one, name: 'x'.repeat(201) }]],
  ['an unknown thing', [{ ...one, thing: 'planet' }]],
])('%s of a hostile agent is no frame', (_, changes) => {
  const frameWith = (some: unknown) => ({
    ...eventOf(newId(), FOUND),
    event: { event: 'session_changes', session_id: newId(), measured: { ...FOUND, changes: some } },
  });
  expect([frameWith([one]), frameWith(changes)].map((frame) => saidSchema.safeParse(frame).success)).toEqual([true, false]);
});

test('a session begins with its consent and is over with its end, and its customer alone reads what changed', async () => {
  const { call, signIn } = await startTestApp();
  const [technician, maria] = [await signIn(undefined, 'support'), await signIn()];
  const identity = await enrol({ call }, maria.token);
  const hello = helloOf(identity);
  const poll = async (said: Said[] = []) => {
    const { told } = replyOf(await call(pollAgent, { body: { hello, said } }));
    return told.flatMap((frame) => (frame.kind === 'desired' ? frame.remote_sessions : []));
  };
  await poll();
  const { id, session_code } = replyOf(await call(createSession, { token: maria.token }));
  replyOf(await call(joinSession, { token: technician.token, body: { session_code } }));
  const at = { token: maria.token, params: { id } };
  replyOf(await call(approveSession, { ...at, body: { view: 'talk' } }));
  // The device has it at its next look.
  await eventually(async () => expect(await poll([reportOf()])).toEqual([{ id, wanted: 'stock' }]));
  replyOf(await call(completeSession, at));
  await eventually(async () => expect(await poll([reportOf()])).toEqual([{ id, wanted: 'changes' }]));
  await poll([eventOf(id, FOUND)]);
  expect(replyOf(await call(readSessionChanges, at))).toMatchObject([{ ...FOUND, state: 'measured' }]);
  expect((await call(readSessionChanges, { ...at, token: technician.token })).status).toBe(404);
});
