import { vi } from 'vitest';
import type { IceServers } from './connection.ts';

interface Description {
  type: string;
  sdp: string;
}

/** The part of a browser's data channel that both sides use. */
export class FakeChannel extends EventTarget {
  readyState = 'open';
  bufferedAmount = 0;
  readonly sent: string[] = [];
  readonly label: string;
  readonly options: unknown;

  constructor(label: string, options?: unknown) {
    super();
    this.label = label;
    this.options = options;
  }

  send(message: string) {
    this.sent.push(message);
  }
}

/** The part of a browser's connection that pictures and voices use. The test acts as the network. */
export class FakePeer extends EventTarget {
  static made: FakePeer[] = [];
  static generateCertificate = async () => ({ expires: 0 });
  connectionState = 'new';
  signalingState = 'stable';
  localDescription: Description | null = null;
  remoteDescription: Description | null = null;
  readonly transceivers: {
    track: unknown;
    direction: string;
    sender: { replaceTrack: ReturnType<typeof vi.fn> };
  }[] = [];
  readonly channels: FakeChannel[] = [];
  readonly candidates: unknown[] = [];
  readonly offers: unknown[] = [];
  readonly configuration: { iceServers: IceServers };

  constructor(configuration: { iceServers: IceServers }) {
    super();
    this.configuration = configuration;
    FakePeer.made.push(this);
  }

  static newest(): FakePeer {
    const peer = FakePeer.made.at(-1);
    if (!peer) throw new Error('No connection was made.');
    return peer;
  }

  addTransceiver(track: unknown, { direction }: { direction: string }) {
    const transceiver = { track, direction, sender: { replaceTrack: vi.fn(async () => undefined) } };
    this.transceivers.push(transceiver);
    return transceiver;
  }

  getTransceivers = () => this.transceivers;

  createDataChannel(label: string, options: unknown) {
    const channel = new FakeChannel(label, options);
    this.channels.push(channel);
    return channel;
  }

  async createOffer(options: unknown) {
    this.offers.push(options);
    return { type: 'offer', sdp: `v=0\r\no=- ${FakePeer.made.indexOf(this) + 100} 2 IN IP4 127.0.0.1\r\n` };
  }

  createAnswer = async () => ({ type: 'answer', sdp: 'v=0\r\no=- 7 2 IN IP4 127.0.0.1\r\n' });

  async setLocalDescription(description: Description) {
    this.localDescription = description;
    this.signalingState = description.type === 'offer' ? 'have-local-offer' : 'stable';
  }

  async setRemoteDescription(description: Description) {
    this.remoteDescription = description;
    this.signalingState = description.type === 'offer' ? 'have-remote-offer' : 'stable';
    // A browser adds a transceiver for each offered voice.
    if (description.type === 'offer' && description.sdp.includes('m=audio')) this.addTransceiver(null, { direction: 'recvonly' });
  }

  async addIceCandidate(candidate: unknown) {
    if (!this.remoteDescription) throw new Error('There is no remote description.');
    this.candidates.push(candidate);
  }

  become(state: string) {
    this.connectionState = state;
    this.dispatchEvent(new Event('connectionstatechange'));
  }

  close() {
    this.connectionState = 'closed';
  }
}

function isTrack(value: unknown): value is MediaStreamTrack {
  return value instanceof EventTarget && 'contentHint' in value;
}

/** The part of a media track that both sides use. */
export function trackOf(): MediaStreamTrack {
  const track: unknown = Object.assign(new EventTarget(), { contentHint: '', readyState: 'live' });
  if (!isTrack(track)) throw new Error('It is no track.');
  return track;
}
