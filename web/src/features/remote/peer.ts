import { isOfVoices } from '@palisade/contract/remote-sdp';
import type { CustomerSignal, Signal, TechnicianSignal } from '@palisade/contract/remote-signal';
import { randomUuid } from '#api/browser.ts';
import { type Connection, certificateOfPage, createConnection, type IceServers, type Link, tellCode } from './connection.ts';
import { type Mark, readMark, writeMark } from './marks.ts';

const FRAMES_PER_SECOND_MAXIMUM = 30;
const MARKS_CHANNEL = 'pointer';
/** Rate limit and burst size of received marks. A pointer on a fast screen sends 240 per second; a flood would block the page and its Stop button. */
export const MARKS_PER_SECOND = 300;
/** Send buffer above which marks are dropped, in bytes: late pointers are useless. */
const MARKS_WAITING_MAXIMUM = 64 * 1024;

interface PeerParts<Said> {
  /** Called for each connection. */
  ice: () => Promise<IceServers>;
  send: (signal: Said) => void;
  onLink: (link: Link) => void;
  /** Called with the code to read aloud when both certificates are known. */
  onCode: (code: string | undefined) => void;
}

/** One screen, window or tab that the customer shares. */
export interface Sharer {
  /** Offers a new connection, when the technician arrives, returns or requests one. */
  connect: () => void;
  take: (signal: Signal) => void;
  /** Sends black instead of the shared picture while paused. */
  pause: (isPaused: boolean) => void;
  /** Id of the present connection. */
  connection_id: () => string | undefined;
  close: () => void;
}

interface SharerParts extends PeerParts<CustomerSignal> {
  /** The shared picture. */
  track: MediaStreamTrack;
  /** A black picture for the pause. */
  black: MediaStreamTrack;
  isPaused: boolean;
  onMark: (mark: Mark) => void;
}

/** Returns a rate limiter: whether one more mark is accepted now. */
function createMarkLimit(): () => boolean {
  let [left, at] = [MARKS_PER_SECOND, Date.now()];
  return () => {
    const now = Date.now();
    left = Math.min(MARKS_PER_SECOND, left + ((now - at) / 1_000) * MARKS_PER_SECOND);
    at = now;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}

/** The customer's peer connection: it makes all offers, sends its picture and receives none. */
export function createSharer(parts: SharerParts): Sharer {
  const { track, black, ice, send, onCode, onMark, onLink } = parts;
  // Keeps small text sharp; a slow connection lowers the frame rate instead.
  track.contentHint = 'detail';
  let current: { id: string; connection: Connection } | undefined;
  let sender: RTCRtpSender | undefined;
  let { isPaused } = parts;
  let isClosed = false;
  let attempt = 0;
  const isTaken = createMarkLimit();

  async function connect(): Promise<void> {
    attempt += 1;
    const own = attempt;
    current?.connection.close();
    current = undefined;
    const [iceServers, certificate] = await Promise.all([ice(), certificateOfPage()]);
    if (isClosed || own !== attempt) return;
    const id = randomUuid();
    const connection = createConnection({
      connection_id: id,
      iceServers,
      certificate,
      onLink,
      onCandidate: send,
      onLost: () => offer(id, connection, true),
    });
    current = { id, connection };
    ({ sender } = connection.pc.addTransceiver(isPaused ? black : track, {
      direction: 'sendonly',
      sendEncodings: [{ maxFramerate: FRAMES_PER_SECOND_MAXIMUM }],
    }));
    const channel = connection.pc.createDataChannel(MARKS_CHANNEL, { ordered: false });
    channel.addEventListener('message', ({ data }) => {
      const mark = isTaken() ? readMark(data) : undefined;
      if (mark) onMark(mark);
    });
    // Channels of the technician's side are closed: they would fill without a reader.
    connection.pc.addEventListener('datachannel', (event) => event.channel.close());
    offer(id, connection, false);
  }

  function offer(connection_id: string, connection: Connection, iceRestart: boolean): void {
    connection.watch();
    connection.inTurn(async () => {
      const { pc } = connection;
      // An offer without an answer is replaced by the next one.
      await pc.setLocalDescription(await pc.createOffer({ iceRestart }));
      send({ type: 'offer', connection_id, sdp: pc.localDescription?.sdp ?? '' });
    });
  }

  return {
    connect() {
      connect().catch((error: unknown) => {
        if (isClosed) return;
        console.error(error);
        onLink({ state: 'failed', missing: 'other_side' });
      });
    },
    take(signal) {
      if (!current || !('connection_id' in signal) || signal.connection_id !== current.id) return;
      const { connection } = current;
      if (signal.type === 'candidate') connection.takeCandidate(signal);
      // Offers from the other side are ignored.
      if (signal.type === 'answer')
        connection.inTurn(async () => {
          if (connection.pc.signalingState !== 'have-local-offer') return;
          await connection.setRemote({ type: 'answer', sdp: signal.sdp });
          await tellCode(connection, onCode);
        });
    },
    pause(wanted) {
      isPaused = wanted;
      void sender?.replaceTrack(wanted ? black : track);
    },
    connection_id: () => current?.id,
    close() {
      isClosed = true;
      current?.connection.close();
      current = undefined;
    },
  };
}

/** A received picture of the customer. */
export interface Picture {
  connection_id: string;
  track: MediaStreamTrack;
}

export interface Watcher {
  /** Whether a picture arrives or a connection is being established. */
  isBusy: () => boolean;
  take: (signal: Signal) => void;
  /** Sends a mark to a picture; false without a connection or if it is too slow. */
  mark: (connection_id: string, mark: Mark) => boolean;
  stats: (connection_id: string) => Promise<RTCStatsReport | undefined>;
  close: () => void;
}

interface WatcherParts extends PeerParts<TechnicianSignal> {
  /** All pictures that arrive at present, one for each screen that the customer shares. */
  onPictures: (pictures: readonly Picture[]) => void;
}

interface Watched {
  connection: Connection;
  track?: MediaStreamTrack;
  channel?: RTCDataChannel;
}

/** Voices use a separate connection (voice-call.ts). */
const isOffer = (signal: Signal): signal is Extract<Signal, { type: 'offer' }> =>
  signal.type === 'offer' && !isOfVoices(signal.sdp);

/** The technician's side: it answers, watches and sends marks, but no picture. */
export function createWatcher(parts: WatcherParts): Watcher {
  const { ice, send, onCode, onPictures, onLink } = parts;
  const all = new Map<string, Watched>();
  let isClosed = false;
  /** Received offers without a connection yet. */
  let offered = 0;
  /** Handles signals one after the other, so that early candidates wait until the connection exists. */
  let arrivals = Promise.resolve();

  function tellPictures(): void {
    onPictures([...all].flatMap(([connection_id, { track }]) => (track ? [{ connection_id, track }] : [])));
  }

  function drop(connection_id: string): void {
    all.get(connection_id)?.connection.close();
    if (all.delete(connection_id)) tellPictures();
  }

  /** A new connection replaces broken ones: the customer's page has reloaded. */
  function dropBroken(kept: string): void {
    for (const [connection_id, { connection }] of all) {
      if (connection_id !== kept && connection.pc.connectionState !== 'connected') drop(connection_id);
    }
  }

  async function connectionFor(connection_id: string): Promise<Connection | undefined> {
    const known = all.get(connection_id);
    if (known) return known.connection;
    const [iceServers, certificate] = await Promise.all([ice(), certificateOfPage()]);
    if (isClosed) return undefined;
    const connection = createConnection({
      connection_id,
      iceServers,
      certificate,
      onLink(link) {
        if (link.state === 'connected') dropBroken(connection_id);
        onLink(link);
      },
      onCandidate: send,
      onLost() {
        onLink({ state: 'lost' });
        // Only the customer offers, and may not have noticed the loss.
        send({ type: 'offer_wanted' });
      },
    });
    const watched: Watched = { connection };
    all.set(connection_id, watched);
    connection.pc.addEventListener('track', ({ track }) => {
      watched.track = track;
      tellPictures();
    });
    connection.pc.addEventListener('datachannel', ({ channel }) => {
      if (channel.label !== MARKS_CHANNEL) return;
      watched.channel = channel;
      // The customer's page has closed or is gone. The channel shows it sooner than a frozen picture.
      channel.addEventListener('close', () => {
        if (isClosed || all.get(connection_id) !== watched) return;
        drop(connection_id);
        if (all.size === 0) onLink({ state: 'lost' });
      });
    });
    return connection;
  }

  async function answer(connection_id: string, sdp: string): Promise<void> {
    const connection = await connectionFor(connection_id);
    if (!connection) return;
    connection.watch();
    connection.inTurn(async () => {
      const { pc } = connection;
      await connection.setRemote({ type: 'offer', sdp });
      await pc.setLocalDescription(await pc.createAnswer());
      send({ type: 'answer', connection_id, sdp: pc.localDescription?.sdp ?? '' });
      await tellCode(connection, onCode);
    });
  }

  async function take(signal: Signal): Promise<void> {
    if (isClosed) return;
    if (isOffer(signal)) await answer(signal.connection_id, signal.sdp);
    if (signal.type === 'candidate') all.get(signal.connection_id)?.connection.takeCandidate(signal);
    if (signal.type === 'share_stopped')
      for (const connection_id of signal.connection_id === null ? [...all.keys()] : [signal.connection_id]) drop(connection_id);
  }

  return {
    isBusy: () => all.size > 0 || offered > 0,
    take(signal) {
      if (isOffer(signal)) offered += 1;
      arrivals = arrivals
        .then(() => take(signal))
        .finally(() => {
          if (isOffer(signal)) offered -= 1;
        })
        .catch((error: unknown) => {
          console.error(error);
          onLink({ state: 'failed', missing: 'other_side' });
        });
    },
    mark(connection_id, mark) {
      const channel = all.get(connection_id)?.channel;
      if (channel?.readyState !== 'open') return false;
      if (mark.kind === 'pointer' && channel.bufferedAmount > MARKS_WAITING_MAXIMUM) return false;
      const message = writeMark(mark);
      if (message === undefined) return false;
      channel.send(message);
      return true;
    },
    stats: async (connection_id) => await all.get(connection_id)?.connection.pc.getStats(),
    close() {
      isClosed = true;
      for (const { connection } of all.values()) connection.close();
      all.clear();
    },
  };
}
