import type { LiveSession, Side } from '@palisade/contract/remote-record';
import { isOfVoices } from '@palisade/contract/remote-sdp';
import type { CustomerSignal, Signal, TechnicianSignal } from '@palisade/contract/remote-signal';
import { randomUuid } from '#api/browser.ts';
import { type Connection, certificateOfPage, createConnection, type IceServers, type Link, tellCode } from './connection.ts';

/** Interval at which a missing offer is requested, in ms. */
export const VOICE_ASKED_EVERY = 3_000;

/** Signals of both sides. */
type VoiceSignal = Extract<CustomerSignal | TechnicianSignal, { type: 'candidate' | 'offer' | 'answer' | 'voice_wanted' }>;

export interface VoiceCallParts {
  side: Side;
  track: MediaStreamTrack;
  ice: () => Promise<IceServers>;
  send: (signal: VoiceSignal) => void;
  onLink: (link: Link) => void;
  /** The code to read aloud. */
  onCode: (code: string | undefined) => void;
  /** The received voice; undefined after it has ended. */
  onVoice: (track: MediaStreamTrack | undefined) => void;
}

/**
 * The voice call of both sides, on a separate connection, so that it never affects a picture. Only the customer's page offers, as with the picture.
 * The call exists while both sides have their voice on.
 */
export class VoiceCall {
  readonly #parts: VoiceCallParts;
  #track: MediaStreamTrack | null;
  #current: { id: string; connection: Connection } | undefined;
  #sender: RTCRtpSender | undefined;
  #areBothOn = false;
  #isClosed = false;
  #attempt = 0;
  #isOpening = false;
  #asking: ReturnType<typeof setInterval> | undefined;
  /** Handles signals one after the other, so that early candidates wait until the connection exists. */
  #arrivals = Promise.resolve();

  constructor(parts: VoiceCallParts) {
    this.#parts = parts;
    this.#track = parts.track;
  }

  /** Starts or ends the call according to the voice states in the session. */
  stand({ customer, technician }: LiveSession['voice']): void {
    const areOn = customer !== 'off' && technician !== 'off';
    if (areOn === this.#areBothOn || this.#isClosed) return;
    this.#areBothOn = areOn;
    clearInterval(this.#asking);
    if (!areOn) {
      this.#drop();
      this.#parts.onLink({ state: 'waiting' });
    } else if (this.#parts.side === 'customer') this.#connect().catch(this.#fail);
    else
      this.#asking = setInterval(() => {
        if (!this.#current && !this.#isOpening) this.#ask();
      }, VOICE_ASKED_EVERY);
  }

  take(signal: Signal): void {
    this.#arrivals = this.#arrivals.then(() => this.#take(signal)).catch(this.#fail);
  }

  /** Replaces the sent track; null if the microphone is gone. */
  speak(track: MediaStreamTrack | null): void {
    this.#track = track;
    void this.#sender?.replaceTrack(track);
  }

  /** Connects again. */
  again(): void {
    if (this.#parts.side === 'customer') this.#connect().catch(this.#fail);
    else this.#ask();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#asking);
    this.#drop();
  }

  #drop(): void {
    this.#attempt += 1;
    this.#current?.connection.close();
    this.#current = undefined;
    this.#sender = undefined;
    this.#parts.onVoice(undefined);
  }

  #ask(): void {
    this.#parts.send({ type: 'voice_wanted' });
  }

  readonly #fail = (error: unknown): void => {
    if (this.#isClosed) return;
    console.error(error);
    this.#parts.onLink({ state: 'failed', missing: 'other_side' });
  };

  async #open(id: string): Promise<Connection | undefined> {
    const { side, ice, send, onLink, onVoice } = this.#parts;
    this.#drop();
    const own = this.#attempt;
    this.#isOpening = true;
    const [iceServers, certificate] = await Promise.all([ice(), certificateOfPage()]).finally(() => (this.#isOpening = false));
    if (this.#isClosed || own !== this.#attempt) return undefined;
    const connection: Connection = createConnection({
      connection_id: id,
      iceServers,
      certificate,
      onLink,
      onCandidate: send,
      onLost: () => (side === 'customer' ? this.#offer(id, connection, true) : this.#ask()),
    });
    this.#current = { id, connection };
    connection.pc.addEventListener('track', (event) => onVoice(event.track));
    return connection;
  }

  async #connect(): Promise<void> {
    const id = randomUuid();
    const connection = await this.#open(id);
    if (!connection) return;
    this.#sender = connection.pc.addTransceiver(this.#track ?? 'audio', { direction: 'sendrecv' }).sender;
    this.#offer(id, connection, false);
  }

  #offer(connection_id: string, connection: Connection, iceRestart: boolean): void {
    connection.watch();
    connection.inTurn(async () => {
      const { pc } = connection;
      await pc.setLocalDescription(await pc.createOffer({ iceRestart }));
      this.#parts.send({ type: 'offer', connection_id, sdp: pc.localDescription?.sdp ?? '' });
    });
  }

  async #answer(connection_id: string, sdp: string): Promise<void> {
    const connection = this.#current?.id === connection_id ? this.#current.connection : await this.#open(connection_id);
    if (!connection) return;
    connection.watch();
    connection.inTurn(async () => {
      const { pc } = connection;
      await connection.setRemote({ type: 'offer', sdp });
      const [transceiver] = pc.getTransceivers();
      if (transceiver) {
        transceiver.direction = 'sendrecv';
        this.#sender = transceiver.sender;
        await this.#sender.replaceTrack(this.#track);
      }
      await pc.setLocalDescription(await pc.createAnswer());
      this.#parts.send({ type: 'answer', connection_id, sdp: pc.localDescription?.sdp ?? '' });
      await tellCode(connection, this.#parts.onCode);
    });
  }

  async #take(signal: Signal): Promise<void> {
    const { side, onCode } = this.#parts;
    if (this.#isClosed || !this.#areBothOn) return;
    if (side === 'technician' && signal.type === 'offer' && isOfVoices(signal.sdp))
      await this.#answer(signal.connection_id, signal.sdp);
    if (side === 'customer' && signal.type === 'voice_wanted') await this.#connect();
    if (!this.#current || !('connection_id' in signal) || signal.connection_id !== this.#current.id) return;
    const { connection } = this.#current;
    if (signal.type === 'candidate') connection.takeCandidate(signal);
    if (side === 'customer' && signal.type === 'answer')
      connection.inTurn(async () => {
        if (connection.pc.signalingState !== 'have-local-offer') return;
        await connection.setRemote({ type: 'answer', sdp: signal.sdp });
        await tellCode(connection, onCode);
      });
  }
}
