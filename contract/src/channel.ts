import type { z } from 'zod';

/**
 * A socket between the server and one kind of peer (a page, an agent), whole: what each side may say, and how much of it. Every frame is one JSON text, told apart by
 * `kind`. The peer speaks first and says who it is (`hello`); later frames are `said` by the peer and `told` by the server. The mechanism's own frames are not among
 * them: the server says `{ "kind": "ping" }`, which the peer answers with `{ "kind": "pong" }`.
 */
export interface Channel<Hello = unknown, Said = unknown, Told = unknown> {
  path: `/${string}`;
  hello: z.ZodType<Hello>;
  said: z.ZodType<Said>;
  told: z.ZodType<Told>;
  /** Largest first frame, and largest later one. Bytes. */
  hello_bytes: number;
  frame_bytes: number;
  /** Frames of the peer between two heartbeats, those of the protocol itself too. */
  frames_per_heartbeat: number;
  /**
   * Separate limits for the peer's frames of one kind: their size in bytes, and their number per second. A frame longer than a KiB counts once for each KiB; `at_once` is
   * the maximum burst.
   */
  lively?: { kind: string; bytes: number; per_second: number; at_once: number };
}

/** Declares a channel and keeps the types of its frames. */
export function channel<Hello, Said, Told>(definition: Channel<Hello, Said, Told>): Channel<Hello, Said, Told> {
  return definition;
}

/** Why the server closes a socket of any channel, as WebSocket close codes (RFC 6455 section 7.4: 4000 to 4999 are the application's own). */
export const CLOSED = {
  /** The server is stopping; the peer should connect again, to this or another one. */
  going_away: 1001,
  /** A frame of more bytes than the channel takes. */
  too_big: 1009,
  failed: 1011,
  /** Recent events may be incomplete: the peer reconnects and receives the missed ones. */
  again: 1012,
  /** A frame that the channel does not know, or too many frames. */
  malformed: 4400,
  /** The peer is not, or no longer, authenticated. Repeating the same request is useless. */
  unauthenticated: 4401,
  /** No `hello` in time. */
  silent: 4408,
  /** The principal has as many sockets as it may have. */
  too_many: 4429,
} as const;
