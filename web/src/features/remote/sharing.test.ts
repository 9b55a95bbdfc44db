import { completeSession, type RemoteSession } from '@palisade/contract/remote';
import type { LiveSession } from '@palisade/contract/remote-record';
import { approveSession, readIce } from '@palisade/contract/remote-session';
import { act, renderHook } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { keepEventsOpen } from '#api/events.ts';
import { MARIA } from '#api/fake-records.ts';
import { at, FakeServer, refusal, reply } from '#api/fake-server.ts';
import { useSharingNow } from '#domain/session/sharing-now.ts';
import { sessionOf } from './fake-sessions.ts';
import { attend, OFFERS_EVERY, pause, share, stop, tellOnScreen, useSharing } from './sharing.ts';

const CURSOR = '01890a5d-ac96-774b-bcce-b302099a8057';

/** As much of a shared picture as the page uses. */
class FakeTrack extends EventTarget {
  contentHint = '';
  readyState = 'live';
  getSettings = () => ({ displaySurface: 'monitor' });

  stop() {
    this.readyState = 'ended';
  }
}

/** The test is about the page, not about the network: a connection that never finds a way. */
class IdlePeer extends EventTarget {
  static generateCertificate = async () => ({});
  connectionState = 'new';
  localDescription = { sdp: 'v=0' };
  replaceTrack = vi.fn(async () => undefined);
  addTransceiver = () => ({ sender: this });
  createDataChannel = () => new EventTarget();
  createOffer = async () => ({});
  setLocalDescription = async () => undefined;
  close = () => undefined;
}

let session: RemoteSession;
let running: LiveSession;

const server = FakeServer.ofEachTest(MARIA);
let close: () => void;
let picker: ReturnType<typeof vi.fn<() => Promise<unknown>>>;
let track: FakeTrack;

const tell = (told: LiveSession) =>
  server.socket.say({
    kind: 'event',
    id: null,
    topic: { session_id: session.id },
    event: { kind: 'remote_changed', session: told },
  });
const signals = () => server.socket.sent.flatMap((frame) => (frame.kind === 'remote_signal' ? [frame.signal] : []));
const listening = () =>
  server.socket.say({ kind: 'listening', topic: { session_id: session.id }, cursor: CURSOR, missed: false });
const typedSchema = z.object({ type: z.string() });
const sharing = () => renderHook(useSharing).result.current;
const settle = () => vi.advanceTimersByTimeAsync(0);

/** The page is the session's, and the technician asks. */
async function begin() {
  attend(session);
  listening();
  tell({ ...session, version: 2 });
  await settle();
}

/** The customer chooses a picture and the server lets it pass. */
async function approve() {
  server.on(at(approveSession, session), () => {
    tell(running);
    return reply(approveSession, { ...session, ...running });
  });
  await share(session);
  await settle();
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(console, 'error').mockReturnValue();
  session = sessionOf({ status: 'pending', phase: 'claimed', support_agent: 'tina' });
  running = { ...session, version: 3, status: 'active', phase: 'active', view: 'screen' };
  server.answer(at(readIce, session), { ice_servers: [], has_relay: false, expires_at: null });
  close = keepEventsOpen('token-1');
  server.socket.open();
  server.socket.say({ kind: 'welcome', cursor: CURSOR, missed: false, heartbeat_ms: 25_000 });
  track = new FakeTrack();
  picker = vi.fn(async () => ({ getVideoTracks: () => [track] }));
  vi.stubGlobal('isSecureContext', true);
  vi.stubGlobal('RTCPeerConnection', IdlePeer);
  Object.defineProperty(navigator, 'mediaDevices', { configurable: true, value: { getDisplayMedia: picker } });
  Object.assign(HTMLCanvasElement.prototype, {
    getContext: () => ({ fillRect: () => undefined }),
    captureStream: () => ({ getVideoTracks: () => [new FakeTrack()] }),
  });
});

afterEach(async () => {
  tell({ ...running, version: 9, status: 'completed', phase: 'ended' });
  close();
  vi.useRealTimers();
});

describe('shared screens of a customer', () => {
  test('is chosen first, then approved, then offered, and every screen says so', async () => {
    await begin();
    await approve();
    expect(server.callsOf(at(approveSession, session))[0]?.body).toEqual({ view: 'screen' });
    expect(signals().map((signal) => typedSchema.parse(signal).type)).toEqual(['choosing', 'offer', 'share_started']);
    expect(signals().at(-1)).toMatchObject({ surface: 'monitor' });
    expect(sharing().screens).toHaveLength(1);
    expect(renderHook(useSharingNow).result.current).toEqual({
      technician: 'tina',
      is_shown: true,
      is_paused: false,
      voice: 'off',
    });
  });

  test('is offered once this page has heard that the session runs: before, the server passes no offer on', async () => {
    await begin();
    const approving = at(approveSession, session);
    server.on(approving, reply(approveSession, { ...session, ...running }));
    const shared = share(session);
    await settle();
    expect(server.callsOf(approving)).toHaveLength(1);
    expect(sharing().screens).toEqual([]);
    tell(running);
    await shared;
    expect(sharing().screens).toHaveLength(1);
  });

  test('is offered at once, without another approval, in a session that runs already', async () => {
    await begin();
    tell(running);
    await share({ ...session, phase: 'active' });
    expect(sharing().screens).toHaveLength(1);
    expect(server.callsOf(at(approveSession, session))).toEqual([]);
  });

  test('is nothing when the browser is told not to: the technician waits on, and it can be tried again', async () => {
    await begin();
    picker.mockRejectedValueOnce(new DOMException('Permission denied', 'NotAllowedError'));
    await share(session);
    expect(sharing()).toMatchObject({ notShown: 'refused', isChoosing: false, screens: [] });
    expect(server.callsOf(at(approveSession, session))).toEqual([]);
    await approve();
    expect(sharing()).toMatchObject({ notShown: undefined });
    expect(sharing().screens).toHaveLength(1);
  });

  test('is stopped when the session was cancelled while it was chosen', async () => {
    await begin();
    server.on(at(approveSession, session), refusal('conflict', { detail: 'It is over.' }));
    await share(session);
    expect(track.readyState).toBe('ended');
    expect(sharing().error?.message).toBe('It is over.');
    expect(sharing().screens).toEqual([]);
  });

  test('is told to have stopped when the browser’s own bar stops it', async () => {
    await begin();
    await approve();
    track.dispatchEvent(new Event('ended'));
    expect(signals().at(-1)).toEqual({ type: 'share_stopped', connection_id: null });
    expect(sharing().screens).toEqual([]);
    expect(renderHook(useSharingNow).result.current).toBeUndefined();
  });

  test('is offered anew when the technician has no picture, once a second however often they ask', async () => {
    await begin();
    await approve();
    await vi.advanceTimersByTimeAsync(OFFERS_EVERY);
    const offers = () => signals().filter((signal) => typedSchema.parse(signal).type === 'offer').length;
    const before = offers();
    const ask = async () => {
      const event = {
        kind: 'remote_signal',
        session_id: session.id,
        from: 'technician',
        signal: { type: 'offer_wanted' },
      } as const;
      server.socket.say({ kind: 'event', id: null, topic: { session_id: session.id }, event });
      await settle();
    };
    await ask();
    expect(offers()).toBe(before + 1);
    for (let count = 0; count < 40; count += 1) await ask();
    expect(offers()).toBe(before + 1);
    await vi.advanceTimersByTimeAsync(OFFERS_EVERY);
    expect(offers()).toBe(before + 2);
    await vi.advanceTimersByTimeAsync(3 * OFFERS_EVERY);
    expect(offers()).toBe(before + 2);
  });

  test('is paused and shown again, and the technician is told', async () => {
    await begin();
    await approve();
    pause(true);
    expect(sharing().isPaused).toBe(true);
    expect(signals().at(-1)).toEqual({ type: 'paused' });
    pause(false);
    expect(signals().at(-1)).toEqual({ type: 'resumed' });
  });

  test('ends at once with Stop, also when the server cannot be reached', async () => {
    await begin();
    await approve();
    server.lose(at(completeSession, session));
    const stopped = stop();
    expect(track.readyState).toBe('ended');
    await stopped;
    expect(sharing().screens).toEqual([]);
  });

  test('ends with the session, whoever ends it', async () => {
    await begin();
    await approve();
    tell({ ...running, version: 4, status: 'completed', phase: 'ended', end_reason: 'ended_by_technician' });
    expect(track.readyState).toBe('ended');
    expect(sharing().session_id).toBeUndefined();
  });

  test('ends with the screens that say so: with the sign-out', async () => {
    await begin();
    await approve();
    const first = tellOnScreen();
    const second = tellOnScreen();
    first();
    await settle();
    expect(track.readyState).toBe('live');
    second();
    await settle();
    expect(track.readyState).toBe('ended');
    expect(sharing().session_id).toBeUndefined();
  });

  test('ends here when another device of the person has taken the place', async () => {
    await begin();
    await approve();
    act(() => server.socket.say({ kind: 'refused', topic: { session_id: session.id }, why: 'taken' }));
    expect(track.readyState).toBe('ended');
    expect(sharing().place).toBe('taken');
  });
});

describe('a page that was loaded again', () => {
  test('says that nothing is shown any more', async () => {
    attend(session);
    listening();
    tell({ ...running, share: 'running' });
    await settle();
    expect(signals()).toEqual([{ type: 'share_stopped', connection_id: null }]);
  });

  test('says nothing of a share that there was not', async () => {
    await begin();
    expect(signals()).toEqual([]);
  });
});
