import type { Voice } from '@palisade/contract/remote-record';
import type { Signal } from '@palisade/contract/remote-signal';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Link } from './connection.ts';
import { FakePeer, trackOf } from './fake-peer.ts';
import { VOICE_ASKED_EVERY, VoiceCall } from './voice-call.ts';

const VOICES = 'v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=sendrecv\r\n';
const PICTURE = 'v=0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\na=sendonly\r\n';
const ONE = '11111111-1111-4111-8111-111111111111';
const settle = () => vi.advanceTimersByTimeAsync(0);

let sent: Signal[];
let links: Link[];
let heard: (MediaStreamTrack | undefined)[];
const microphone = trackOf();

function start(side: 'customer' | 'technician') {
  return new VoiceCall({
    side,
    track: microphone,
    ice: async () => [],
    send: (signal) => void sent.push(signal),
    onLink: (link) => void links.push(link),
    onCode: vi.fn(),
    onVoice: (track) => void heard.push(track),
  });
}
const both = (customer: Voice = 'muted', technician: Voice = 'muted') => ({ customer, technician });

const newest = () => FakePeer.newest();

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('RTCPeerConnection', FakePeer);
  [FakePeer.made, sent, links, heard] = [[], [], [], []];
});
afterEach(() => vi.useRealTimers());

describe('the customer’s voice', () => {
  test('is offered once both have theirs on, on a connection that has nothing else', async () => {
    const call = start('customer');
    call.stand(both('muted', 'off'));
    call.stand(both('off', 'muted'));
    await settle();
    expect(FakePeer.made).toEqual([]);
    call.stand(both());
    call.stand(both('open', 'open'));
    await settle();
    expect(FakePeer.made).toHaveLength(1);
    expect(newest().transceivers).toMatchObject([{ track: microphone, direction: 'sendrecv' }]);
    expect(sent).toMatchObject([{ type: 'offer', sdp: newest().localDescription?.sdp }]);
  });

  test('ends when the other side turns theirs off, and begins anew when it is back', async () => {
    const call = start('customer');
    call.stand(both());
    await settle();
    const first = newest();
    call.stand(both('open', 'off'));
    expect(first.connectionState).toBe('closed');
    expect([links.at(-1), heard.at(-1)]).toEqual([{ state: 'waiting' }, undefined]);
    call.stand(both());
    await settle();
    expect(FakePeer.made).toHaveLength(2);
    call.close();
    expect(newest().connectionState).toBe('closed');
    call.stand(both('off', 'off'));
    call.stand(both());
    await settle();
    expect(FakePeer.made).toHaveLength(2);
  });

  test('is offered anew to who hears nothing, and nobody else’s offer is taken', async () => {
    const call = start('customer');
    call.stand(both());
    await settle();
    call.take({ type: 'offer', connection_id: ONE, sdp: VOICES });
    call.take({ type: 'answer', connection_id: ONE, sdp: VOICES });
    await settle();
    expect(newest().remoteDescription).toBeNull();
    call.take({ type: 'voice_wanted' });
    await settle();
    expect(FakePeer.made).toHaveLength(2);
    expect(sent.map(({ type }) => type)).toEqual(['offer', 'offer']);
  });

  test('is nothing once the microphone is gone, and another one’s later', async () => {
    const call = start('customer');
    call.stand(both());
    await settle();
    call.speak(null);
    expect(newest().transceivers[0]?.sender.replaceTrack).toHaveBeenLastCalledWith(null);
    const other = trackOf();
    call.speak(other);
    expect(newest().transceivers[0]?.sender.replaceTrack).toHaveBeenLastCalledWith(other);
  });
});

describe('the technician’s voice', () => {
  const candidate: Signal = {
    type: 'candidate',
    connection_id: ONE,
    candidate: 'theirs',
    sdp_mid: '0',
    sdp_mline_index: 0,
    username_fragment: null,
  };

  test('answers an offer of voices and none of a picture, and none before it is on', async () => {
    const call = start('technician');
    call.take({ type: 'offer', connection_id: ONE, sdp: VOICES });
    await settle();
    expect(FakePeer.made).toEqual([]);
    call.stand(both());
    call.take({ type: 'offer', connection_id: ONE, sdp: PICTURE });
    await settle();
    expect(FakePeer.made).toEqual([]);
    call.take({ type: 'offer', connection_id: ONE, sdp: VOICES });
    call.take(candidate);
    await settle();
    expect(sent).toMatchObject([{ type: 'answer', connection_id: ONE }]);
    expect(newest().transceivers[0]?.sender.replaceTrack).toHaveBeenCalledWith(microphone);
    expect(newest().transceivers).toMatchObject([{ direction: 'sendrecv' }]);
    expect(newest().candidates).toMatchObject([{ candidate: 'theirs' }]);
    const track = trackOf();
    newest().dispatchEvent(Object.assign(new Event('track'), { track }));
    expect(heard.at(-1)).toBe(track);
  });

  test('asks for an offer that does not come, and when the way is lost', async () => {
    const call = start('technician');
    call.stand(both());
    await vi.advanceTimersByTimeAsync(VOICE_ASKED_EVERY);
    expect(sent).toEqual([{ type: 'voice_wanted' }]);
    call.take({ type: 'offer', connection_id: ONE, sdp: VOICES });
    await settle();
    newest().become('connected');
    await vi.advanceTimersByTimeAsync(2 * VOICE_ASKED_EVERY);
    expect(sent).toHaveLength(2);
    newest().become('failed');
    expect(sent.at(-1)).toEqual({ type: 'voice_wanted' });
  });
});
