import type { Channel } from '@palisade/contract/channel';
import type { Refusal } from './frames.ts';
import type { SocketAdmissionLimits } from './socket-admission.ts';
import type { SocketDoor } from './socket-request.ts';

/** Bounds of a channel's sockets. Times in ms. */
export interface SocketLimits extends SocketAdmissionLimits {
  /** Time in which a socket must authenticate. */
  hello_ms: number;
  /** The server sends something at least this often, in ms; a peer that has not answered by the next heartbeat is disconnected. */
  heartbeat_ms: number;
  sockets_per_principal: number;
  /** A peer is disconnected once this many bytes wait for it; it resumes when it reconnects. */
  waiting_bytes: number;
}

export const SOCKET_LIMITS: SocketLimits = {
  hello_ms: 5_000,
  heartbeat_ms: 25_000,
  sockets_per_principal: 20,
  strangers: 2_000,
  strangers_per_source: 200,
  waiting_bytes: 1024 ** 2,
};

/** An admitted socket. */
export interface Connection<Principal, Told> {
  readonly principal: Principal;
  tell(frame: Told): void;
  /** A message for many peers, serialized once (`JSON.stringify`, as bytes). */
  tellText(text: Buffer): void;
  end(refusal: Refusal): void;
}

/** Handlers for one connection's frames and its end. */
export interface Conversation<Said> {
  onFrame?(frame: Said): void;
  /** Called once, whichever side closed the connection. */
  onLeave(): void;
}

/** A service on a channel: authentication of its peers and their messages. */
export interface ChannelService<Principal, Hello, Said, Told> {
  channel: Channel<Hello, Said, Told>;
  /** Authenticates the peer from its `hello`. */
  meet(hello: Hello): Promise<{ principal: Principal } | { refusal: Refusal }>;
  /** Sockets with the same key are counted and looked up together. */
  keyOf(principal: Principal): string;
  /** The principals that may not stay connected, and why. Called after a principal joins, at each heartbeat, and on `lookAgain`. */
  refused(principals: readonly Principal[]): Promise<ReadonlyMap<Principal, Refusal>>;
  /** Called when a principal has been admitted. */
  join(connection: Connection<Principal, Told>, hello: Hello): Conversation<Said>;
}

export interface SocketParts extends SocketDoor {
  limits: SocketLimits;
}

export interface Sockets {
  /** Checks the sockets of a principal again. */
  lookAgain(key: string): void;
  /** The counts of authenticated peers and of others. */
  open(): { known: number; strangers: number };
  /** Closes every socket and tells its peer to reconnect to another server. */
  close(): void;
}
