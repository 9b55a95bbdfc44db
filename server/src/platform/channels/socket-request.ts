import type { IncomingMessage, ServerResponse } from 'node:http';
import websocket from '@fastify/websocket';
import type { Channel } from '@palisade/contract/channel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import type { Counters } from '#platform/counters.ts';
import type { Rate } from '#platform/limits.ts';
import { sourceOf } from '#platform/origin.ts';
import { refuse, refuseFor } from '#platform/platform.refusals.ts';

/** A frame may come in parts, and parts may be empty: a bound on bytes bounds neither. */
const FRAGMENTS_MAXIMUM = 16;
const CHUNKS_MAXIMUM = 64;

/** Rate limit of new sockets, and the addresses of this installation. */
export interface SocketDoor {
  /** Number of sockets that a source may open in a period, and its counters. */
  opening: { rate: Rate; counters: Pick<Counters, 'take'> };
  public_url: string | undefined;
}

/** One of our pages, or a program that is no browser. Another site's page can open a socket here, and its browser says so (RFC 6455 section 10.2). */
function isOwnOrigin(request: FastifyRequest, public_url: string | undefined): boolean {
  const { origin } = request.headers;
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  return (
    new URL(origin).host === request.host || (public_url !== undefined && new URL(origin).origin === new URL(public_url).origin)
  );
}

/** The answers of requests that ask for a socket. */
const answers = new WeakMap<IncomingMessage, ServerResponse>();

/** Keeps the answer of a request that asks for a socket at hand for `letGo`. */
export function noteAnswer(request: FastifyRequest, reply: FastifyReply): void {
  answers.set(request.raw, reply.raw);
}

/**
 * Forgets the request that a socket came by: its answer is never sent, and would keep it, its headers and its log for as long as the socket is open.
 * @fastify/websocket, which serves the upgrade, holds them to log invalid frames of the peer.
 */
export function letGo(socket: WebSocket, request: IncomingMessage): void {
  const answer = answers.get(request);
  if (answer?.socket === request.socket) {
    answer.detachSocket(request.socket);
    // The request is over: the count of those under way (drain.ts) waits for this, not for the socket.
    answer.emit('close');
  }
  socket.removeAllListeners('error');
  socket.on('error', cut);
}

/** Ends a socket whose peer sends invalid frames: ws has answered them by then, and reads no more. */
function cut(this: WebSocket): void {
  this.terminate();
}

/** Whether a socket may be opened at all: by one of our pages or a program, with nothing secret in its address, and not too often. Answers from where. */
export async function admitRequest(request: FastifyRequest, { opening, public_url }: SocketDoor): Promise<string> {
  if (!request.ws) throw refuse('socket.only');
  if (request.url.includes('?')) throw refuse('socket.token_in_address');
  if (!isOwnOrigin(request, public_url)) throw refuse('socket.other_site');
  const source = sourceOf(request.ip);
  const empty = await opening.counters.take([{ key: `sockets:${source}`, rate: opening.rate }]);
  if (empty !== undefined) throw refuseFor(empty.wait_ms, 'socket.too_many');
  return source;
}

/** Lets sockets be served below `/api`; once, before the first of `channels` is. */
export async function openSockets(fastify: FastifyInstance, channels: readonly Channel[]): Promise<void> {
  await fastify.register(websocket, {
    options: {
      // One bound for all; a frame beyond its channel's own bound is refused as soon as it is read.
      maxPayload: Math.max(
        ...channels.map(({ frame_bytes, hello_bytes, lively }) => Math.max(frame_bytes, hello_bytes, lively?.bytes ?? 0)),
      ),
      maxFragments: FRAGMENTS_MAXIMUM,
      maxBufferedChunks: CHUNKS_MAXIMUM,
      perMessageDeflate: false,
    },
  });
}
