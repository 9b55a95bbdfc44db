import { changePassword, currentUser, login, logout } from '@palisade/contract/auth';
import { EVENTS_CLOSED, type LiveEvent } from '@palisade/contract/events';
import { completeSession, createSession, joinSession, SESSION_LIMITS } from '@palisade/contract/remote';
import type { LiveSession, Voice } from '@palisade/contract/remote-record';
import {
  approveSession,
  listSessionAudit,
  readSession,
  reportSession,
  writeSessionMessage,
} from '@palisade/contract/remote-session';
import type { Signal } from '@palisade/contract/remote-signal';
import { changeUser } from '@palisade/contract/users';
import { eventually } from '@palisade/scanner/test/eventually';
import { describe, expect, test } from 'vitest';
import { createLog } from '#platform/log.ts';
import { replyOf, startListeningApp } from '#test/harness.ts';
import { takePlace } from '#test/running-session.ts';
import { listenAs, type TestSocket } from '#test/socket.ts';

const clock = { now: Date.parse('2026-11-20T10:00:00Z') };
/** The server's log lines, from warnings on. */
const logged: string[] = [];
const logger = createLog('warn', { write: (line) => logged.push(line) });
const app = await startListeningApp({ surroundings: { now: () => clock.now, logger } });
const { call, signIn } = app;
const boss = await signIn('boss');
const tina = await signIn('tina', 'support');

const CONNECTION = '5f0c1c5e-6a0f-4f6b-9a53-0d3f3f1c2a10';
const described = (...media: string[]) => ['v=0', 'o=- 1 2 IN IP4 0.0.0.0', 's=-', 't=0 0', ...media, ''].join('\r\n');
const VIDEO = 'm=video 9 UDP/TLS/RTP/SAVPF 96';
const OFFER: Signal = { type: 'offer', connection_id: CONNECTION, sdp: described(VIDEO, 'a=sendonly') };
const ANSWER: Signal = { type: 'answer', connection_id: CONNECTION, sdp: described(VIDEO, 'a=recvonly') };
const CANDIDATE: Signal = {
  ...{ type: 'candidate', connection_id: CONNECTION, candidate: 'candidate:1 1 udp 1 192.0.2.1 9 typ host' },
  ...{ sdp_mid: '0', sdp_mline_index: 0, username_fragment: null },
};
const STARTED: Signal = { type: 'share_started', connection_id: CONNECTION, surface: 'monitor' };

const isSignal = (event: LiveEvent) => event.kind === 'remote_signal';
/** Whether it is how a session stands, and stands so. */
const stands = (wanted: Partial<LiveSession>) => (event: LiveEvent) =>
  event.kind === 'remote_changed' && Object.entries(wanted).every(([name, value]) => Reflect.get(event.session, name) === value);
const signals = (page: TestSocket) => page.events().flatMap((event) => (event.kind === 'remote_signal' ? [event.signal] : []));

/** A session that runs, with a page of each side in its place. */
async function start(technician = tina, view: 'screen' | 'talk' = 'screen') {
  const customer = await signIn();
  const { id, session_code } = replyOf(await call(createSession, { token: customer.token }));
  replyOf(await call(joinSession, { token: technician.token, body: { session_code } }));
  const [hers, theirs] = [await takePlace(app, customer.token, id), await takePlace(app, technician.token, id)];
  const approve = () => call(approveSession, { token: customer.token, params: { id }, body: { view } });
  const say = (page: TestSocket, signal: unknown) => page.say({ kind: 'remote_signal', session_id: id, signal });
  return {
    ...{ customer, id, hers, theirs, approve, say, session_code },
    read: async () => replyOf(await call(readSession, { token: customer.token, params: { id } })),
    /** Waits until earlier signals have passed, or were dropped: this one follows them. */
    async settled(from: TestSocket, to: TestSocket) {
      const mark = `candidate:${crypto.randomUUID()}`;
      say(from, { ...CANDIDATE, candidate: mark });
      await to.event((event) => event.kind === 'remote_signal' && 'candidate' in event.signal && event.signal.candidate === mark);
    },
  };
}

async function startRunning(technician = tina, view: 'screen' | 'talk' = 'screen') {
  const session = await start(technician, view);
  replyOf(await session.approve());
  await Promise.all([session.hers, session.theirs].map((page) => page.event(stands({ phase: 'active' }))));
  return session;
}

describe('a page on another screen', () => {
  const isNews = (event: LiveEvent) => event.kind === 'changed' && event.topic === 'remote';

  test('learns that a technician asks, also when it comes later, and that it is over', async () => {
    const { customer, id, approve } = await start();
    const late = await listenAs(app, customer.token);
    await late.event(isNews);
    const count = () => late.events().filter(isNews).length;
    const before = count();
    replyOf(await approve());
    await eventually(() => expect(count()).toBeGreaterThan(before));
    replyOf(await call(completeSession, { token: customer.token, params: { id } }));
    await eventually(() => expect(count()).toBeGreaterThan(before + 1));

    // A later listener is not told about a finished session: its next frame is answered all the same.
    const later = await listenAs(app, customer.token);
    later.say({ kind: 'listen_remote', session_id: id });
    await eventually(() => expect(later.frames).toContainEqual({ kind: 'refused', topic: { session_id: id } }));
    expect(later.events().filter(isNews)).toEqual([]);
  });
});

describe('signals', () => {
  // proves: remote-6
  test('pass from each page to the other, in order, and to no third page', async () => {
    const { hers, theirs, id, say } = await startRunning();
    const nosy = await signIn();
    const [stranger, chief] = [await listenAs(app, nosy.token), await listenAs(app, boss.token)];
    for (const page of [stranger, chief]) {
      page.say({ kind: 'listen_remote', session_id: id });
      await eventually(() => expect(page.frames).toContainEqual({ kind: 'refused', topic: { session_id: id } }));
      say(page, OFFER);
    }
    for (const signal of [OFFER, CANDIDATE, STARTED]) say(hers, signal);
    await theirs.event((event) => event.kind === 'remote_signal' && event.signal.type === 'share_started');
    expect(signals(theirs)).toEqual([OFFER, CANDIDATE, STARTED]);
    for (const signal of [ANSWER, CANDIDATE]) say(theirs, signal);
    await hers.event((event) => event.kind === 'remote_signal' && event.signal.type === 'candidate');
    expect(signals(hers)).toEqual([ANSWER, CANDIDATE]);
    for (const page of [stranger, chief]) expect(page.events().filter(isSignal)).toEqual([]);
  });

  test('pass not before the customer has approved, nor once it is over', async () => {
    const { hers, theirs, say, approve, id, customer, settled } = await start();
    say(hers, OFFER);
    say(theirs, { type: 'offer_wanted' });
    replyOf(await approve());
    await Promise.all([hers, theirs].map((page) => page.event(stands({ phase: 'active' }))));
    await settled(hers, theirs);
    await settled(theirs, hers);
    expect([...signals(hers), ...signals(theirs)].every(({ type }) => type === 'candidate')).toBe(true);
    replyOf(await call(completeSession, { token: customer.token, params: { id } }));
    await theirs.event(stands({ phase: 'ended', end_reason: 'ended_by_customer' }));
    const before = signals(hers).length;
    say(theirs, CANDIDATE);
    theirs.say({ kind: 'listen_remote', session_id: id });
    await eventually(() => expect(theirs.frames.at(-1)).toEqual({ kind: 'refused', topic: { session_id: id } }));
    expect(signals(hers)).toHaveLength(before);
  });

  // proves: asvs-17.3.2
  test('of the other side, or with a picture of the wrong direction, are dropped and logged, and the page stays', async () => {
    const { hers, theirs, say, settled, read } = await startRunning();
    logged.length = 0;
    say(theirs, OFFER);
    say(theirs, { ...ANSWER, sdp: described(VIDEO, 'a=sendrecv') });
    say(theirs, { type: 'pointer', at: { x: 0, y: 1 } });
    await settled(theirs, hers);
    // The log says that they were dropped, and not their content.
    expect(logged).toHaveLength(2);
    for (const line of logged) expect(line).toContain('a signal of a remote session was dropped: ');
    expect(logged.join('')).not.toContain('m=video');
    expect(signals(hers).map(({ type }) => type)).toEqual(['pointer', 'candidate']);
    expect(await read()).toMatchObject({ share: 'none', is_paused: false });
  });

  // proves: asvs-17.3.1, remote-8
  test('of a megabyte close the socket, and so do more than fifty in a second', async () => {
    const { hers, theirs, say } = await startRunning();
    say(hers, { ...OFFER, sdp: 'a'.repeat(1024 ** 2) });
    expect(await hers.closed).toBe(EVENTS_CLOSED.too_big);
    for (let count = 0; count < 400; count += 1) say(theirs, CANDIDATE);
    expect(await theirs.closed).toBe(EVENTS_CLOSED.malformed);
  });
});

describe("the customer's shared picture", () => {
  test('is known to both sides: started, paused, stopped; and a minute without it is the end', async () => {
    const { hers, theirs, say, read } = await startRunning();
    expect(await read()).toMatchObject({ share: 'none', due_reason: 'share_stopped' });
    say(hers, STARTED);
    await theirs.event(stands({ share: 'running', due_reason: 'not_reaffirmed' }));
    say(hers, { type: 'paused' });
    await theirs.event(stands({ is_paused: true }));
    say(hers, { type: 'resumed' });
    await theirs.event(stands({ is_paused: false, share: 'running' }));
    // Several monitors are several shares: it runs until the last one ends.
    const second = crypto.randomUUID();
    say(hers, { ...STARTED, connection_id: second });
    say(hers, { type: 'share_stopped', connection_id: CONNECTION });
    await theirs.event((event) => event.kind === 'remote_signal' && event.signal.type === 'share_stopped');
    expect(await read()).toMatchObject({ share: 'running' });
    say(hers, { type: 'share_stopped', connection_id: second });
    await theirs.event(stands({ share: 'stopped', due_reason: 'share_stopped' }));
    clock.now += SESSION_LIMITS.share_stopped;
    await app.app.settleSessions();
    await theirs.event(stands({ phase: 'ended', end_reason: 'share_stopped' }));
  });

  test('while they choose it, or were refused the picker, the minute of their answer begins anew, and five are the most', async () => {
    const { hers, say, approve, read } = await start();
    const { technician } = await read();
    const asked_at = Date.parse(technician?.asked_at ?? '');
    for (let minute = 0; minute < 6; minute += 1) {
      clock.now += SESSION_LIMITS.consent - 1_000;
      const wanted = Math.min(clock.now + SESSION_LIMITS.consent, asked_at + SESSION_LIMITS.consent_longest);
      if (clock.now >= asked_at + SESSION_LIMITS.consent_longest) break;
      say(hers, { type: 'choosing' });
      await hers.event(stands({ due_at: new Date(wanted).toISOString() }));
    }
    clock.now = asked_at + SESSION_LIMITS.consent_longest;
    expect((await approve()).status).toBe(409);
    expect(await read()).toMatchObject({ status: 'cancelled', end_reason: 'no_answer' });
  });
});

describe('the voice of a side', () => {
  const voices = (customer: Voice, technician: Voice) => (event: LiveEvent) =>
    event.kind === 'remote_changed' && event.session.voice.customer === customer && event.session.voice.technician === technician;

  test('is turned on and muted by that side alone, shown to both and recorded, and ends with its page', async () => {
    const { hers, theirs, say, read, id, customer, settled } = await startRunning(tina, 'talk');
    expect(await read()).toMatchObject({ voice: { customer: 'off', technician: 'off' } });
    say(theirs, { type: 'voice', state: 'muted' });
    await hers.event(voices('off', 'muted'));
    say(hers, { type: 'voice', state: 'muted' });
    say(hers, { type: 'voice', state: 'open' });
    await theirs.event(voices('open', 'muted'));
    // The state is read from the session: these signals are not passed on.
    await settled(hers, theirs);
    await settled(theirs, hers);
    expect([...signals(hers), ...signals(theirs)].every(({ type }) => type === 'candidate')).toBe(true);

    theirs.leave();
    await hers.event(voices('open', 'off'));
    const back = await takePlace(app, tina.token, id);
    say(back, { type: 'voice', state: 'open' });
    await hers.event(voices('open', 'open'));
    say(hers, { type: 'voice', state: 'off' });
    await back.event(voices('off', 'open'));
    replyOf(await call(completeSession, { token: customer.token, params: { id } }));
    await back.event(stands({ phase: 'ended' }));
    expect(await read()).toMatchObject({ voice: { customer: 'off', technician: 'off' } });
    const record = replyOf(await call(listSessionAudit, { token: customer.token, params: { id } }));
    expect(
      record.flatMap(({ kind, details }) => (kind.startsWith('remote_voice') ? [`${kind} ${details['side']}`] : [])),
    ).toEqual([
      'remote_voice_on technician',
      'remote_voice_on customer',
      'remote_voice_on technician',
      'remote_voice_off customer',
    ]);
  });

  // proves: remote-22
  test('fills no more than half of the record, and events that occur once are recorded however full it is', async () => {
    const { hers, theirs, say, id, customer } = await startRunning(tina, 'talk');
    const of = { token: customer.token, params: { id } };
    const recorded = async () =>
      replyOf(await call(listSessionAudit, of)).map(({ kind, details }) => `${kind} ${details['side']}`);
    const fill = (noted: number) => app.app.database.updateTable('remote_sessions').set({ noted }).where('id', '=', id).execute();
    await fill(100);
    say(theirs, { type: 'voice', state: 'muted' });
    await hers.event(voices('off', 'muted'));
    say(hers, { type: 'voice', state: 'muted' });
    await theirs.event(voices('muted', 'muted'));
    expect((await recorded()).filter((entry) => entry.startsWith('remote_voice'))).toEqual(['remote_voice_on customer']);
    await fill(200);
    say(hers, { type: 'voice', state: 'off' });
    await theirs.event(voices('off', 'muted'));
    replyOf(await call(reportSession, { ...of, body: { reason: 'asked_for_money', comment: '' } }));
    expect((await recorded()).slice(-3)).toEqual([
      'remote_voice_on customer',
      'remote_session_reported customer',
      'remote_session_ended customer',
    ]);
  });
});

describe('a page that is gone', () => {
  test('the other side notices its absence at once, and continues when it is back', async () => {
    const { id, hers, theirs, customer, say } = await startRunning(tina, 'talk');
    hers.leave();
    await theirs.event(stands({ phase: 'reconnecting', is_customer_here: false, due_reason: 'customer_gone' }));
    const back = await takePlace(app, customer.token, id);
    await eventually(() =>
      expect(theirs.events().at(-1)).toMatchObject({ session: { phase: 'active', is_customer_here: true } }),
    );
    say(theirs, { type: 'offer_wanted' });
    await back.event((event) => event.kind === 'remote_signal' && event.signal.type === 'offer_wanted');
    theirs.leave();
    await back.event(stands({ phase: 'reconnecting', due_reason: 'technician_gone' }));
    clock.now += SESSION_LIMITS.technician_gone;
    await app.app.settleSessions();
    await back.event(stands({ phase: 'ended', end_reason: 'technician_gone' }));
  });

  test('gives its place to a newer one of its person, which alone is heard and spoken to', async () => {
    const { id, hers, theirs, customer, say, settled } = await startRunning(tina, 'talk');
    const newer = await takePlace(app, customer.token, id);
    await eventually(() => expect(hers.frames.at(-1)).toEqual({ kind: 'refused', topic: { session_id: id }, why: 'taken' }));
    say(hers, OFFER);
    await settled(newer, theirs);
    expect(signals(theirs).map(({ type }) => type)).toEqual(['candidate']);
    // The older one leaves, and the seat stays taken.
    hers.leave();
    await settled(newer, theirs);
    expect(theirs.events().some(stands({ phase: 'reconnecting' }))).toBe(false);
  });

  test('that leaves the session counts as closed, and hears earlier messages when it is back', async () => {
    const { id, hers, theirs, customer } = await startRunning(tina, 'talk');
    const cursor = hers.frames.flatMap((frame) => (frame.kind === 'listening' ? [frame.cursor] : []))[0] ?? '';
    hers.say({ kind: 'leave_remote', session_id: id });
    await theirs.event(stands({ is_customer_here: false }));
    replyOf(await call(writeSessionMessage, { token: tina.token, params: { id }, body: { message: 'Where are you?' } }));
    const back = await listenAs(app, customer.token);
    back.say({ kind: 'listen_remote', session_id: id, after: cursor });
    await back.event((event) => event.kind === 'remote_message' && event.message.message === 'Where are you?');
  });
});

describe('a person who loses access', () => {
  // proves: remote-13
  test.each<[string, (who: { token: string; password: string; id: string }) => Promise<unknown>, number]>([
    ['signs out', ({ token }) => call(logout, { token }), EVENTS_CLOSED.unauthenticated],
    [
      'has another password',
      async ({ token, password }) => {
        const body = { current_password: password, new_password: 'another long password' };
        // In another browser: this one's session is ended by it.
        const other = await call(login, { body: { email: replyOf(await call(currentUser, { token })).email, password } });
        return await call(changePassword, { token: replyOf(other).access_token, body });
      },
      EVENTS_CLOSED.unauthenticated,
    ],
    [
      'is no technician any more',
      ({ id }) => call(changeUser, { token: boss.token, body: { user_id: id, role: 'customer' } }),
      EVENTS_CLOSED.again,
    ],
    [
      'is disabled',
      ({ id }) => call(changeUser, { token: boss.token, body: { user_id: id, disabled: true } }),
      EVENTS_CLOSED.unauthenticated,
    ],
  ])('hears nothing from then on: who %s', async (_, change, code) => {
    const technician = await signIn(undefined, 'support');
    const { hers, theirs, say, id } = await startRunning(technician);
    const who = replyOf(await call(currentUser, { token: technician.token }));
    await change({ ...technician, id: who.id });
    expect(await theirs.closed).toBe(code);
    await hers.event(stands({ is_technician_here: false }));
    const before = signals(theirs).length;
    say(hers, OFFER);
    expect(signals(theirs)).toHaveLength(before);
    // A person who is still signed in reconnects, and is refused.
    if (code !== EVENTS_CLOSED.again) return;
    const again = await listenAs(app, technician.token);
    again.say({ kind: 'listen_remote', session_id: id });
    await eventually(() => expect(again.frames).toContainEqual({ kind: 'refused', topic: { session_id: id } }));
  });
});
