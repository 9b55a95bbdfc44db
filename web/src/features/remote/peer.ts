import { isOfVoices } from '@palisade/contract/remote-sdp';
import type { CustomerSignal, Signal, TechnicianSignal } from '@palisade/contract/remote-signal';
import { randomUuid } from '#api/browser.ts';
import { type Connection, certificateOfPage, createConnection, type IceServers, type Link, tellCode } from './connection.ts';
import { type Mark, readMark, writeMark } from './marks.ts';

const FRAMES_PER_SECOND_MAXIMUM = 30;
const MARKS_CHANNEL = 'pointer';
/** Marks that are taken in, and so many at once: a hand on a fast screen makes 240 in a second. A flood would leave the page no time for Stop. */
export const MARKS_PER_SECOND = 300;
/** Pointers that wait here behind a slow way are of no use any more. Bytes. */
const MARKS_WAITING_MAXIMUM = 64 * 1024;

interface PeerParts<Said> {
  /** Asked for each connection. */
  ice: () => Promise<IceServers>;
  send: (signal: Said) => void;
  onLink: (link: Link) => void;
  /** The code to be read aloud, each time that both certificates are known. */
  onCode: (code: string | undefined) => void;
}

/** One screen, window or tab that the customer shares. */
export interface Sharer {
  /** Offers a new connection: the technician has come, or has come back, or somebody asks for it. */
  connect: () => void;
  take: (signal: Signal) => void;
  /** Black until it is called with false; the shared picture itself goes nowhere meanwhile. */
  pause: (isPaused: boolean) => void;
  /** The name of the connection of just now. */
  connection_id: () => string | undefined;
  close: () => void;
}

interface SharerParts extends PeerParts<CustomerSignal> {
  /** The picture that is shared. */
  track: MediaStreamTrack;
  /** A picture of nothing, for the pause. */
  black: MediaStreamTrack;
  isPaused: boolean;
  onMark: (mark: Mark) => void;
}

/** Answers whether one more mark is taken in now. */
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

/** The customer's side: it alone offers, sends its picture, and takes none. */
export function createSharer(parts: SharerParts): Sharer {
  const { track, black, ice, send, onCode, onMark, onLink } = parts;
  // Small letters stay sharp; what is short of room is the number of frames.
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
    // The technician has no channel of their own to open: nobody would read it, and it would be filled.
    connection.pc.addEventListener('datachannel', (event) => event.channel.close());
    offer(id, connection, false);
  }

  function offer(connection_id: string, connection: Connection, iceRestart: boolean): void {
    connection.watch();
    connection.inTurn(async () => {
      const { pc } = connection;
      // An offer that was never answered is taken back by the next one.
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
      // It ignores an offer of the other side.
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

/** A picture of the customer, as it comes. */
export interface Picture {
  connection_id: string;
  track: MediaStreamTrack;
}

export interface Watcher {
  /** Whether a picture comes, or a way for one is looked for. */
  isBusy: () => boolean;
  take: (signal: Signal) => void;
  /** Shows a mark on a picture; false while there is no way to the customer, or it is too slow. */
  mark: (connection_id: string, mark: Mark) => boolean;
  stats: (connection_id: string) => Promise<RTCStatsReport | undefined>;
  close: () => void;
}

interface WatcherParts extends PeerParts<TechnicianSignal> {
  /** Every picture that comes just now: one for each monitor that the customer shares. */
  onPictures: (pictures: readonly Picture[]) => void;
}

interface Watched {
  connection: Connection;
  track?: MediaStreamTrack;
  channel?: RTCDataChannel;
}

/** Voices have a connection of their own (voice-call.ts). */
const isOffer = (signal: Signal): signal is Extract<Signal, { type: 'offer' }> =>
  signal.type === 'offer' && !isOfVoices(signal.sdp);

/** The technician's side: it answers, watches and shows marks, and sends no picture. */
export function createWatcher(parts: WatcherParts): Watcher {
  const { ice, send, onCode, onPictures, onLink } = parts;
  const all = new Map<string, Watched>();
  let isClosed = false;
  /** Offers that have come, and have no connection yet. */
  let offered = 0;
  /** Signals one after the other: candidates that come before the connection is made wait for it. */
  let arrivals = Promise.resolve();

  function tellPictures(): void {
    onPictures([...all].flatMap(([connection_id, { track }]) => (track ? [{ connection_id, track }] : [])));
  }

  function drop(connection_id: string): void {
    all.get(connection_id)?.connection.close();
    if (all.delete(connection_id)) tellPictures();
  }

  /** A connection that has come takes the place of those that have broken off: the customer's page has begun anew. */
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
        // The customer alone offers, and may not have noticed.
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
      // The customer's page has closed its side, or is gone: known sooner here than by a picture that stands still.
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
