import type { Signal } from '@palisade/contract/remote-signal';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type IceServers, LINK_PATIENCE, type Link, LOST_PATIENCE } from './connection.ts';
import { FakeChannel, FakePeer, trackOf } from './fake-peer.ts';
import type { Mark } from './marks.ts';
import { createSharer, createWatcher, MARKS_PER_SECOND, type Picture, type Sharer } from './peer.ts';

const RELAY: IceServers = [{ urls: ['turn:relay.example:3478'], username: 'u', credential: 'c' }];
const settle = () => vi.advanceTimersByTimeAsync(0);
const ONE = '11111111-1111-4111-8111-111111111111';
const TWO = '22222222-2222-4222-8222-222222222222';
const candidateOf = (connection_id: string, candidate: string): Signal => ({
  type: 'candidate',
  connection_id,
  candidate,
  sdp_mid: '0',
  sdp_mline_index: 0,
  username_fragment: null,
});

let sent: Signal[];
let links: Link[];
let marks: Mark[];
let servers: IceServers;

function partsOf() {
  return {
    ice: async () => servers,
    send: (signal: Signal) => void sent.push(signal),
    onLink: (link: Link) => void links.push(link),
    onCode: vi.fn(),
  };
}

function share(track = trackOf(), black = trackOf()) {
  const sharer = createSharer({ ...partsOf(), track, black, isPaused: false, onMark: (mark) => void marks.push(mark) });
  return { sharer, track, black };
}

async function connect() {
  const shared = share();
  shared.sharer.connect();
  await settle();
  return shared;
}

const newest = () => FakePeer.newest();

const answer = (sharer: Sharer, sdp = 'v=0') => sharer.take({ type: 'answer', connection_id: sharer.connection_id() ?? '', sdp });

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('RTCPeerConnection', FakePeer);
  FakePeer.made = [];
  [sent, links, marks, servers] = [[], [], [], []];
});

afterEach(() => vi.useRealTimers());

describe('the customer’s side', () => {
  test('offers its picture alone, sharp, with a channel that keeps no order', async () => {
    const { track } = await connect();
    expect(track.contentHint).toBe('detail');
    expect(newest().transceivers).toMatchObject([{ track, direction: 'sendonly' }]);
    expect(newest().channels).toMatchObject([{ label: 'pointer', options: { ordered: false } }]);
    expect(sent.map(({ type }) => type)).toEqual(['offer']);
  });

  test('takes no offer, and an answer once', async () => {
    const { sharer } = await connect();
    sharer.take({ type: 'offer', connection_id: sharer.connection_id() ?? '', sdp: 'v=0 from a stranger' });
    sharer.take({ type: 'answer', connection_id: ONE, sdp: 'v=0 of another connection' });
    answer(sharer, 'v=0 first');
    answer(sharer, 'v=0 second');
    await settle();
    expect(newest().remoteDescription).toEqual({ type: 'answer', sdp: 'v=0 first' });
  });

  test('keeps candidates that come before the answer', async () => {
    const { sharer } = await connect();
    sharer.take(candidateOf(sharer.connection_id() ?? '', 'early'));
    sharer.take(candidateOf(ONE, 'of another connection'));
    await settle();
    expect(newest().candidates).toEqual([]);
    answer(sharer);
    sharer.take(candidateOf(sharer.connection_id() ?? '', 'late'));
    await settle();
    expect(newest().candidates).toMatchObject([{ candidate: 'early' }, { candidate: 'late' }]);
  });

  // proves: remote-16
  test('takes in what the technician shows, and drops what is none', async () => {
    await connect();
    const [channel] = newest().channels;
    for (const data of [
      '{"kind":"pointer","order":0,"at":{"x":2.5,"y":0}}',
      'nonsense',
      '{"kind":"pointer","order":1,"at":{"x":0.5,"y":1}}',
    ])
      channel?.dispatchEvent(new MessageEvent('message', { data }));
    expect(marks).toEqual([{ kind: 'pointer', order: 1, at: { x: 0.5, y: 1 } }]);
  });

  test('takes in no more marks than a hand makes, so that a flood leaves the page time for Stop', async () => {
    const { sharer } = await connect();
    const flood = () => {
      for (let order = 0; order < 2_000; order += 1)
        newest().channels[0]?.dispatchEvent(
          new MessageEvent('message', { data: JSON.stringify({ kind: 'pointer', order, at: null }) }),
        );
    };
    flood();
    expect(marks).toHaveLength(MARKS_PER_SECOND);
    // A connection that the technician asks for anew is no new beginning.
    sharer.connect();
    await settle();
    flood();
    expect(marks).toHaveLength(MARKS_PER_SECOND);
    await vi.advanceTimersByTimeAsync(500);
    flood();
    expect(marks).toHaveLength(1.5 * MARKS_PER_SECOND);
  });

  test('closes whatever channel the technician opens', async () => {
    await connect();
    const channel = Object.assign(new FakeChannel('more'), { close: vi.fn() });
    newest().dispatchEvent(Object.assign(new Event('datachannel'), { channel }));
    expect(channel.close).toHaveBeenCalledOnce();
  });

  test('sends a picture of nothing while it is paused, over a new connection too', async () => {
    const { sharer, track, black } = await connect();
    const [first] = newest().transceivers;
    sharer.pause(true);
    expect(first?.sender.replaceTrack).toHaveBeenLastCalledWith(black);
    sharer.connect();
    await settle();
    expect(newest().transceivers[0]?.track).toBe(black);
    sharer.pause(false);
    expect(newest().transceivers[0]?.sender.replaceTrack).toHaveBeenLastCalledWith(track);
  });

  test('looks for another way when the one that it had stays silent', async () => {
    const { sharer } = await connect();
    answer(sharer);
    await settle();
    newest().become('connected');
    newest().become('disconnected');
    expect(links.at(-1)).toEqual({ state: 'lost' });
    await vi.advanceTimersByTimeAsync(LOST_PATIENCE);
    expect(newest().offers).toEqual([{ iceRestart: false }, { iceRestart: true }]);
    expect(FakePeer.made).toHaveLength(1);
  });

  test('does not when the way recovers', async () => {
    await connect();
    newest().become('connected');
    newest().become('disconnected');
    newest().become('connected');
    await vi.advanceTimersByTimeAsync(LINK_PATIENCE);
    expect(newest().offers).toHaveLength(1);
    expect(links.at(-1)).toEqual({ state: 'connected' });
  });

  test('offers a new connection to a technician who has come back, and closes the old one', async () => {
    const { sharer } = await connect();
    const before = newest();
    sharer.connect();
    await settle();
    expect(before.connectionState).toBe('closed');
    expect(FakePeer.made).toHaveLength(2);
    expect(sent).toHaveLength(2);
  });

  test('that has been closed while it asked for servers makes no connection', async () => {
    const { sharer } = share();
    sharer.connect();
    sharer.close();
    await settle();
    expect(FakePeer.made).toEqual([]);
    expect(sent).toEqual([]);
  });
});

describe('after 15 seconds without a way', () => {
  async function fail(prepare: ((peer: FakePeer) => void) | undefined, isAnswered: boolean) {
    const { sharer } = await connect();
    if (isAnswered) answer(sharer);
    await settle();
    prepare?.(newest());
    await vi.advanceTimersByTimeAsync(LINK_PATIENCE - 100);
    expect(links.at(-1)).toEqual({ state: 'connecting' });
    await vi.advanceTimersByTimeAsync(200);
    return links.at(-1);
  }
  const refused = (errorCode: number) => (peer: FakePeer) =>
    void peer.dispatchEvent(
      Object.assign(new Event('icecandidateerror'), { url: 'turn:relay.example:3478?transport=udp', errorCode }),
    );

  test.each<[Extract<Link, { state: 'failed' }>['missing'], IceServers, ((peer: FakePeer) => void) | undefined, boolean]>([
    ['other_side', [], undefined, false],
    ['relay', [], undefined, true],
    // The relay refuses what the server gave, or does not answer.
    ['relay_access', RELAY, refused(401), true],
    ['relay_answer', RELAY, refused(701), true],
  ])('says that this is missing: %s', async (missing, known, prepare, isAnswered) => {
    servers = known;
    expect(await fail(prepare, isAnswered)).toEqual({ state: 'failed', missing });
  });

  // proves: remote-10
  test('says that the relay does not answer any more, where it did before the way was lost', async () => {
    servers = RELAY;
    const { sharer } = await connect();
    answer(sharer);
    await settle();
    const candidate = { candidate: 'candidate:1', type: 'relay', sdpMid: '0', sdpMLineIndex: 0, usernameFragment: null };
    newest().dispatchEvent(Object.assign(new Event('icecandidate'), { candidate }));
    newest().become('connected');
    newest().become('disconnected');
    await vi.advanceTimersByTimeAsync(LOST_PATIENCE + LINK_PATIENCE + 100);
    expect(links.at(-1)).toEqual({ state: 'failed', missing: 'relay_answer' });
  });

  test('says nothing once there is one', async () => {
    await connect();
    newest().become('connected');
    await vi.advanceTimersByTimeAsync(2 * LINK_PATIENCE);
    expect(links.at(-1)).toEqual({ state: 'connected' });
  });
});

describe('the technician’s side', () => {
  let pictures: string[][];
  function watch() {
    pictures = [];
    return createWatcher({
      ...partsOf(),
      onPictures: (all: readonly Picture[]) => void pictures.push(all.map(({ connection_id }) => connection_id)),
    });
  }
  const offerOf = (connection_id: string): Signal => ({ type: 'offer', connection_id, sdp: 'v=0' });
  /** The picture and the channel of the newest connection arrive. */
  function arrive(): FakeChannel {
    const channel = new FakeChannel('pointer');
    newest().dispatchEvent(Object.assign(new Event('track'), { track: trackOf() }));
    newest().dispatchEvent(Object.assign(new Event('datachannel'), { channel }));
    return channel;
  }
  async function watchOne() {
    const watcher = watch();
    watcher.take(offerOf(ONE));
    await settle();
    return { watcher, channel: arrive() };
  }

  test('answers, offers nothing, and sends no picture', async () => {
    const watcher = watch();
    watcher.take(offerOf(ONE));
    watcher.take(candidateOf(ONE, 'theirs'));
    watcher.take(candidateOf(TWO, 'of another connection'));
    await settle();
    expect(sent).toMatchObject([{ type: 'answer', connection_id: ONE }]);
    expect(newest().transceivers).toEqual([]);
    expect(newest().candidates).toMatchObject([{ candidate: 'theirs' }]);
  });

  test('continues with the connection that is offered anew, and shows one picture for each other one', async () => {
    const watcher = watch();
    watcher.take(offerOf(ONE));
    watcher.take(offerOf(ONE));
    await settle();
    arrive();
    newest().become('connected');
    expect(FakePeer.made).toHaveLength(1);
    watcher.take(offerOf(TWO));
    await settle();
    arrive();
    newest().become('connected');
    expect(FakePeer.made).toHaveLength(2);
    expect(pictures.at(-1)).toEqual([ONE, TWO]);
  });

  test('puts the picture of a page that has begun anew in the place of the one that broke off', async () => {
    const { watcher } = await watchOne();
    newest().become('connected');
    newest().become('disconnected');
    watcher.take(offerOf(TWO));
    await settle();
    arrive();
    newest().become('connected');
    expect(pictures.at(-1)).toEqual([TWO]);
    expect(FakePeer.made[0]?.connectionState).toBe('closed');
  });

  // proves: remote-5
  test('knows at once that the picture has ended', async () => {
    const { channel } = await watchOne();
    expect(pictures.at(-1)).toEqual([ONE]);
    channel.dispatchEvent(new Event('close'));
    expect(pictures.at(-1)).toEqual([]);
    expect(links.at(-1)).toEqual({ state: 'lost' });
  });

  test('shows nothing more of what the customer has stopped', async () => {
    const { watcher } = await watchOne();
    watcher.take({ type: 'share_stopped', connection_id: null });
    await settle();
    expect(pictures.at(-1)).toEqual([]);
    expect(newest().connectionState).toBe('closed');
  });

  test('sends marks that the customer would take, and no pointer that would come too late', async () => {
    const watcher = watch();
    const pointer: Mark = { kind: 'pointer', order: 0, at: { x: 0.5, y: 0.5 } };
    expect(watcher.mark(ONE, pointer)).toBe(false);
    watcher.take(offerOf(ONE));
    await settle();
    const channel = arrive();
    expect(watcher.mark(ONE, pointer)).toBe(true);
    expect(watcher.mark(ONE, { ...pointer, at: { x: Number.NaN, y: 0 } })).toBe(false);
    channel.bufferedAmount = 1_000_000;
    expect(watcher.mark(ONE, pointer)).toBe(false);
    expect(watcher.mark(ONE, { kind: 'erase', id: 0 })).toBe(true);
    expect(channel.sent).toHaveLength(2);
  });

  test('is busy from the moment in which an offer comes, so that none is asked for that would take its place', async () => {
    const { promise, resolve } = Promise.withResolvers<IceServers>();
    const watcher = createWatcher({ ...partsOf(), ice: () => promise, onPictures: vi.fn() });
    expect(watcher.isBusy()).toBe(false);
    watcher.take(offerOf(ONE));
    await settle();
    expect([watcher.isBusy(), FakePeer.made.length]).toEqual([true, 0]);
    resolve([]);
    await settle();
    watcher.take({ type: 'share_stopped', connection_id: ONE });
    await settle();
    expect(watcher.isBusy()).toBe(false);
  });

  test('leaves voices to the connection that they have', async () => {
    const watcher = watch();
    watcher.take({ type: 'offer', connection_id: ONE, sdp: 'v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=sendrecv\r\n' });
    await settle();
    expect([watcher.isBusy(), FakePeer.made.length]).toEqual([false, 0]);
  });

  test('takes no answer', async () => {
    const watcher = watch();
    watcher.take({ type: 'answer', connection_id: ONE, sdp: 'v=0' });
    await settle();
    expect(FakePeer.made).toEqual([]);
  });
});
