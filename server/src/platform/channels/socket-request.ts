import type { IncomingMessage, ServerResponse } from 'node:http';
import websocket from '@fastify/websocket';
import type { Channel } from '@palisade/contract/channel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import type { Counters } from '#platform/counters.ts';
import type { Rate } from '#platform/limits.ts';
import { sourceOf } from '#platform/origin.ts';
import { refuse, refuseFor } from '#platform/platform.refusals.ts';

/** A frame may come in fragments, and fragments may be empty, so a limit on bytes does not limit their number. */
const FRAGMENTS_MAXIMUM = 16;
const CHUNKS_MAXIMUM = 64;

/** Rate limit of new sockets, and the addresses of this installation. */
export interface SocketDoor {
  /** The limit on sockets that one source may open in a period, and its counters. */
  opening: { rate: Rate; counters: Pick<Counters, 'take'> };
  public_url: string | undefined;
}

/**
 * Whether the request comes from a page of this application or from a program other than a browser. A page of another site can open a socket here, and its browser sends its
 * origin (RFC 6455 section 10.2).
 */
function isOwnOrigin(request: FastifyRequest, public_url: string | undefined): boolean {
  const { origin } = request.headers;
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  return (
    new URL(origin).host === request.host || (public_url !== undefined && new URL(origin).origin === new URL(public_url).origin)
  );
}

/** The responses to requests that ask for a socket. */
const answers = new WeakMap<IncomingMessage, ServerResponse>();

/** Stores the response to a request that asks for a socket, for `letGo`. */
export function noteAnswer(request: FastifyRequest, reply: FastifyReply): void {
  answers.set(request.raw, reply.raw);
}

/**
 * Releases the upgrade request of a socket: its response is never sent, but would keep the request, its headers and its log in memory for as long as the socket is open.
 * @fastify/websocket, which serves the upgrade, holds them to log invalid frames of the peer.
 */
export function letGo(socket: WebSocket, request: IncomingMessage): void {
  const answer = answers.get(request);
  if (answer?.socket === request.socket) {
    answer.detachSocket(request.socket);
    // The request is over: the count of open requests (drain.ts) waits for this event, not for the socket.
    answer.emit('close');
  }
  socket.removeAllListeners('error');
  socket.on('error', cut);
}

/** Closes a socket whose peer sends invalid frames: ws has already sent the close frame and reads no more. */
function cut(this: WebSocket): void {
  this.terminate();
}

/** Checks that a socket may be opened: by a page of this application or a program, with no secret in its address, and not too often. Returns its source. */
export async function admitRequest(request: FastifyRequest, { opening, public_url }: SocketDoor): Promise<string> {
  if (!request.ws) throw refuse('socket.only');
  if (request.url.includes('?')) throw refuse('socket.token_in_address');
  if (!isOwnOrigin(request, public_url)) throw refuse('socket.other_site');
  const source = sourceOf(request.ip);
  const empty = await opening.counters.take([{ key: `sockets:${source}`, rate: opening.rate }]);
  if (empty !== undefined) throw refuseFor(empty.wait_ms, 'socket.too_many');
  return source;
}

/** Enables sockets below `/api`. Call this once, before the first of `channels` is served. */
export async function openSockets(fastify: FastifyInstance, channels: readonly Channel[]): Promise<void> {
  await fastify.register(websocket, {
    options: {
      // The largest limit of all channels; a frame beyond its own channel's limit is refused as soon as it is read.
      maxPayload: Math.max(
        ...channels.map(({ frame_bytes, hello_bytes, lively }) => Math.max(frame_bytes, hello_bytes, lively?.bytes ?? 0)),
      ),
      maxFragments: FRAGMENTS_MAXIMUM,
      maxBufferedChunks: CHUNKS_MAXIMUM,
      perMessageDeflate: false,
    },
  });
}
