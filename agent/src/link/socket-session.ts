import type { LookupFunction } from 'node:net';
import {
  AGENT_CLOSED,
  AGENT_HEARTBEAT_MS,
  AGENT_PATH,
  type Hello,
  type Said,
  TOLD_BYTES_MAXIMUM,
  type Told,
} from '@palisade/contract/agent';
import { WebSocket } from 'ws';
import { addressOf, failureOf } from './call.ts';
import { textOf } from './frames.ts';
import { trustSystem } from './trust.ts';

/** The connection counts as lost after this time without a message of the server, in ms. */
const SILENCE_MS = 2.5 * AGENT_HEARTBEAT_MS;
export const HANDSHAKE_MS = 10_000;

/** The end of a session with the server. */
export interface Ended {
  was_connected: boolean;
  code: number;
  reason: string;
}

export interface SocketSessionParts {
  server: URL;
  lookup: LookupFunction;
  hello: () => Hello;
  /** Handles a frame of the server; undefined for one that this agent does not understand. */
  hear: (json: unknown) => Told | undefined;
  onWelcome: (session: SocketSession) => void;
  onClosed: (session: SocketSession) => void;
}

function dial({ server, lookup }: SocketSessionParts): WebSocket {
  const url = addressOf(server, AGENT_PATH);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  trustSystem(url);
  return new WebSocket(url, {
    maxPayload: TOLD_BYTES_MAXIMUM,
    perMessageDeflate: false,
    handshakeTimeout: HANDSHAKE_MS,
    lookup,
  });
}

/** One WebSocket connection to the server. */
export class SocketSession {
  readonly ended: Promise<Ended>;
  readonly #parts: SocketSessionParts;
  readonly #socket: WebSocket;
  #was_connected = false;
  /** Reason if the agent closed the connection or the connection failed. */
  #failure = '';
  #silence_timer: NodeJS.Timeout | undefined;

  constructor(parts: SocketSessionParts) {
    this.#parts = parts;
    const socket = dial(parts);
    this.#socket = socket;
    socket.on('open', () => {
      this.#heard();
      socket.send(JSON.stringify(parts.hello()));
    });
    socket.on('message', (bytes: Buffer, is_binary) => this.#hear(bytes, is_binary));
    socket.on('error', (error) => (this.#failure ||= failureOf(error)));
    this.ended = new Promise((resolve) => {
      socket.on('close', (code, reason) => {
        clearTimeout(this.#silence_timer);
        parts.onClosed(this);
        const said = reason.toString() || this.#failure || 'the connection ended';
        resolve({ was_connected: this.#was_connected, code, reason: said });
      });
    });
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  send(frame: Said): void {
    const text = textOf(frame);
    if (text !== undefined) this.#socket.send(text);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #heard(): void {
    clearTimeout(this.#silence_timer);
    this.#silence_timer = setTimeout(() => {
      this.#failure = 'the server fell silent';
      this.#socket.terminate();
    }, SILENCE_MS);
  }

  #hear(bytes: Buffer, is_binary: boolean): void {
    this.#heard();
    const told = is_binary ? undefined : this.#parse(bytes);
    if (told === undefined) {
      this.#failure = 'the server said something that this agent does not understand';
      this.#socket.close(AGENT_CLOSED.malformed);
    } else if (told.kind === 'ping') {
      this.#socket.send('{"kind":"pong"}');
    } else if (told.kind === 'welcome') {
      this.#was_connected = true;
      this.#parts.onWelcome(this);
    }
  }

  #parse(bytes: Buffer): Told | undefined {
    try {
      return this.#parts.hear(JSON.parse(bytes.toString()));
    } catch {
      return undefined;
    }
  }
}
