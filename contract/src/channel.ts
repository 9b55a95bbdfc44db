import type { z } from 'zod';

/**
 * The protocol of a socket between the server and one kind of peer (a page or an agent). Every frame is one JSON text with a `kind`. The peer starts with `hello`
 * to authenticate; `said` is the schema of its later frames, `told` of the server's. The mechanism's own frames are not listed: the server sends
 * `{ "kind": "ping" }`, and the peer replies with `{ "kind": "pong" }`.
 */
export interface Channel<Hello = unknown, Said = unknown, Told = unknown> {
  path: `/${string}`;
  hello: z.ZodType<Hello>;
  said: z.ZodType<Said>;
  told: z.ZodType<Told>;
  /** Maximum size of the first frame, and of later ones, in bytes. */
  hello_bytes: number;
  frame_bytes: number;
  /** Maximum number of the peer's frames between two heartbeats, including frames of the protocol itself. */
  frames_per_heartbeat: number;
  /**
   * Separate limits for one kind of the peer's frames: size in bytes, and number per second. A frame longer than 1 KiB counts once for each KiB; `at_once` is
   * the maximum burst.
   */
  lively?: { kind: string; bytes: number; per_second: number; at_once: number };
}

/** Declares a channel and preserves the types of its frames. */
export function channel<Hello, Said, Told>(definition: Channel<Hello, Said, Told>): Channel<Hello, Said, Told> {
  return definition;
}

/** WebSocket close codes of any channel (RFC 6455 section 7.4: 4000 to 4999 are for applications). */
export const CLOSED = {
  /** The server is stopping; the peer should reconnect, to this server or another one. */
  going_away: 1001,
  /** A frame was larger than the channel allows. */
  too_big: 1009,
  failed: 1011,
  /** Events may have been lost: the peer reconnects and receives them. */
  again: 1012,
  /** An unknown frame, or too many frames. */
  malformed: 4400,
  /** The peer is not authenticated, or no longer. Repeating the same request fails again. */
  unauthenticated: 4401,
  /** The `hello` did not arrive in time. */
  silent: 4408,
  /** The principal has reached its limit of sockets. */
  too_many: 4429,
} as const;
