import type { LiveSession, Side } from '@palisade/contract/remote-record';
import { isOfVoices } from '@palisade/contract/remote-sdp';
import type { CustomerSignal, Signal, TechnicianSignal } from '@palisade/contract/remote-signal';
import { randomUuid } from '#api/browser.ts';
import { type Connection, certificateOfPage, createConnection, type IceServers, type Link, tellCode } from './connection.ts';

/** Interval at which missing voices are requested, in ms. */
export const VOICE_ASKED_EVERY = 3_000;

/** Signals of both sides' pages. */
type VoiceSignal = Extract<CustomerSignal | TechnicianSignal, { type: 'candidate' | 'offer' | 'answer' | 'voice_wanted' }>;

/**
 * The talk of the two sides by voice, on a connection of its own: it begins and ends without touching a picture, and needs none. As with the picture, the customer's page alone
 * offers. There is one while both sides have their voice on.
 */
export interface VoiceCall {
  /** State of both sides in the session. */
  stand: (voice: LiveSession['voice']) => void;
  take: (signal: Signal) => void;
  /** The sent track from now on; null when the microphone is gone. */
  speak: (track: MediaStreamTrack | null) => void;
  /** Looks for a way anew. */
  again: () => void;
  close: () => void;
}

export function createVoiceCall(parts: {
  side: Side;
  track: MediaStreamTrack;
  ice: () => Promise<IceServers>;
  send: (signal: VoiceSignal) => void;
  onLink: (link: Link) => void;
  /** The code to be read aloud. */
  onCode: (code: string | undefined) => void;
  /** The other side's voice as it comes; undefined once it comes no more. */
  onVoice: (track: MediaStreamTrack | undefined) => void;
}): VoiceCall {
  const { side, ice, send, onLink, onCode, onVoice } = parts;
  let track: MediaStreamTrack | null = parts.track;
  let current: { id: string; connection: Connection } | undefined;
  let sender: RTCRtpSender | undefined;
  let areBothOn = false;
  let isClosed = false;
  let attempt = 0;
  let isOpening = false;
  let asking: ReturnType<typeof setInterval> | undefined;
  /** Signals one after the other: candidates that come before the connection is made wait for it. */
  let arrivals = Promise.resolve();

  function drop(): void {
    attempt += 1;
    current?.connection.close();
    current = undefined;
    sender = undefined;
    onVoice(undefined);
  }

  const wanted = () => send({ type: 'voice_wanted' });
  const fail = (error: unknown) => {
    if (isClosed) return;
    console.error(error);
    onLink({ state: 'failed', missing: 'other_side' });
  };

  async function open(id: string): Promise<Connection | undefined> {
    drop();
    const own = attempt;
    isOpening = true;
    const [iceServers, certificate] = await Promise.all([ice(), certificateOfPage()]).finally(() => (isOpening = false));
    if (isClosed || own !== attempt) return undefined;
    const connection: Connection = createConnection({
      connection_id: id,
      iceServers,
      certificate,
      onLink,
      onCandidate: send,
      onLost: () => (side === 'customer' ? offer(id, connection, true) : wanted()),
    });
    current = { id, connection };
    connection.pc.addEventListener('track', (event) => onVoice(event.track));
    return connection;
  }

  async function connect(): Promise<void> {
    const id = randomUuid();
    const connection = await open(id);
    if (!connection) return;
    ({ sender } = connection.pc.addTransceiver(track ?? 'audio', { direction: 'sendrecv' }));
    offer(id, connection, false);
  }

  function offer(connection_id: string, connection: Connection, iceRestart: boolean): void {
    connection.watch();
    connection.inTurn(async () => {
      const { pc } = connection;
      await pc.setLocalDescription(await pc.createOffer({ iceRestart }));
      send({ type: 'offer', connection_id, sdp: pc.localDescription?.sdp ?? '' });
    });
  }

  async function answer(connection_id: string, sdp: string): Promise<void> {
    const connection = current?.id === connection_id ? current.connection : await open(connection_id);
    if (!connection) return;
    connection.watch();
    connection.inTurn(async () => {
      const { pc } = connection;
      await connection.setRemote({ type: 'offer', sdp });
      const [transceiver] = pc.getTransceivers();
      if (transceiver) {
        transceiver.direction = 'sendrecv';
        ({ sender } = transceiver);
        await sender.replaceTrack(track);
      }
      await pc.setLocalDescription(await pc.createAnswer());
      send({ type: 'answer', connection_id, sdp: pc.localDescription?.sdp ?? '' });
      await tellCode(connection, onCode);
    });
  }

  async function take(signal: Signal): Promise<void> {
    if (isClosed || !areBothOn) return;
    if (side === 'technician' && signal.type === 'offer' && isOfVoices(signal.sdp))
      await answer(signal.connection_id, signal.sdp);
    if (side === 'customer' && signal.type === 'voice_wanted') await connect();
    if (!current || !('connection_id' in signal) || signal.connection_id !== current.id) return;
    const { connection } = current;
    if (signal.type === 'candidate') connection.takeCandidate(signal);
    if (side === 'customer' && signal.type === 'answer')
      connection.inTurn(async () => {
        if (connection.pc.signalingState !== 'have-local-offer') return;
        await connection.setRemote({ type: 'answer', sdp: signal.sdp });
        await tellCode(connection, onCode);
      });
  }

  return {
    stand({ customer, technician }) {
      const areOn = customer !== 'off' && technician !== 'off';
      if (areOn === areBothOn || isClosed) return;
      areBothOn = areOn;
      clearInterval(asking);
      if (!areOn) {
        drop();
        onLink({ state: 'waiting' });
      } else if (side === 'customer') connect().catch(fail);
      else
        asking = setInterval(() => {
          if (!current && !isOpening) wanted();
        }, VOICE_ASKED_EVERY);
    },
    take(signal) {
      arrivals = arrivals.then(() => take(signal)).catch(fail);
    },
    speak(now) {
      track = now;
      void sender?.replaceTrack(now);
    },
    again() {
      if (side === 'customer') connect().catch(fail);
      else wanted();
    },
    close() {
      isClosed = true;
      clearInterval(asking);
      drop();
    },
  };
}
