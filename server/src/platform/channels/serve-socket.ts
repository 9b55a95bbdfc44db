import type { Socket } from 'node:net';
import { type Channel, CLOSED } from '@palisade/contract/channel';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RawData, WebSocket } from 'ws';
import { z } from 'zod';
import { logFailure } from '#platform/database-patience.ts';
import { readBounded } from '#platform/json-body.ts';
import { sourceOf } from '#platform/origin.ts';
import { Problem } from '#platform/problem.ts';
import { type CrowdLimits, createCrowd, type Stranger } from './crowd.ts';
import { createBucket, end, isOfKind, parseJson, type Refusal, say, sayText } from './frames.ts';
import { createIndexByKey } from './index-by-key.ts';
import { admitRequest, letGo, noteAnswer, type SocketDoor } from './socket-request.ts';
import { createStandings } from './standing.ts';

/** Bounds of a channel's sockets. Times in ms. */
export interface SocketLimits extends CrowdLimits {
  /** How long a socket may take to say who it is. */
  hello_ms: number;
  /** The server says something at least this often; a peer that has not answered by the next time is gone. */
  heartbeat_ms: number;
  sockets_per_principal: number;
  /** A peer that reads so slowly that this many bytes wait for it is dropped; it resumes when it comes back. */
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

/** A socket that has been let in. */
export interface Connection<Principal, Told> {
  readonly principal: Principal;
  tell(frame: Told): void;
  /** What many are told is put into words once (`JSON.stringify`, as bytes). */
  tellText(text: Buffer): void;
  end(refusal: Refusal): void;
}

/** What one connection hears and how it ends. */
interface Conversation<Said> {
  onFrame?(frame: Said): void;
  /** Called once, whoever left. */
  onLeave(): void;
}

/** What serves a channel: who its peers are and what they are told. */
export interface ChannelService<Principal, Hello, Said, Told> {
  channel: Channel<Hello, Said, Told>;
  /** Who says `hello`. */
  meet(hello: Hello): Promise<{ principal: Principal } | { refusal: Refusal }>;
  /** Whose sockets are counted and looked up together. */
  keyOf(principal: Principal): string;
  /** Which of many may not stay (any more), and why. Asked once a principal is in, at each heartbeat, and when told to (`lookAgain`). */
  refused(principals: readonly Principal[]): Promise<ReadonlyMap<Principal, Refusal>>;
  /** Somebody is in. */
  join(connection: Connection<Principal, Told>, hello: Hello): Conversation<Said>;
}

export interface SocketParts extends SocketDoor {
  limits: SocketLimits;
}

export interface Sockets {
  /** Has those of a principal asked about anew. */
  lookAgain(key: string): void;
  /** How many have said who they are, and how many have not. */
  open(): { known: number; strangers: number };
  /** Ends every socket with the word that its peer is to connect elsewhere. */
  close(): void;
}

const RETRY_AFTER_S = 5;
/** What the first frame may take on the wire beside its own bytes: headers of its parts (RFC 6455 section 5.2), and pings before it. */
const FRAMING_BYTES = 1024;
/** Into how many parts heartbeats are spread, so that no moment is everybody's. */
const SPREAD = 100;

/** How many are asked whether they are there before anything else has its turn. */
const ASKED_AT_ONCE = 10;
const PING = Buffer.from(JSON.stringify({ kind: 'ping' }));

const pongSchema = z.object({ kind: z.literal('pong') });

const KIB = 1024;

/** What a socket has said since the last heartbeat. */
interface Talk {
  frames: number;
  alive: boolean;
}

/** A connection, as the mechanism keeps it. */
interface Member<Principal, Said> {
  socket: WebSocket;
  principal: Principal;
  talk: Talk;
  /** Which of the parts of a heartbeat is its. */
  turn: number;
  /** Undefined until it has joined. */
  conversation: Conversation<Said> | undefined;
}

/** One is kept for each open page, so what it does is the class's and not of each. */
class SocketConnection<Principal, Told> implements Connection<Principal, Told> {
  readonly principal: Principal;
  readonly #socket: WebSocket;
  readonly #waiting_bytes: number;

  constructor(principal: Principal, socket: WebSocket, waiting_bytes: number) {
    this.principal = principal;
    this.#socket = socket;
    this.#waiting_bytes = waiting_bytes;
  }

  tell(frame: Told): void {
    if (this.#socket.bufferedAmount > this.#waiting_bytes) this.#socket.terminate();
    else say(this.#socket, frame);
  }

  tellText(text: Buffer): void {
    if (this.#socket.bufferedAmount > this.#waiting_bytes) this.#socket.terminate();
    else sayText(this.#socket, text);
  }

  end(refusal: Refusal): void {
    end(this.#socket, refusal);
  }
}

/**
 * Serves one channel (contract/src/channel.ts): who opens a socket, from where and how many; the first frame, which says who it is; sizes and rates; heartbeats, spread
 * over their time; peers that do not read; and whether each principal may still be there, many at a time.
 */
export function serveSocket<Principal, Hello, Said, Told>(
  fastify: FastifyInstance,
  service: ChannelService<Principal, Hello, Said, Told>,
  parts: SocketParts,
): Sockets {
  const { channel } = service;
  const { limits, opening, public_url } = parts;
  const { lively } = channel;
  /** Of any frame but the first. */
  const longest = Math.max(channel.frame_bytes, lively?.bytes ?? 0);
  const members = new Set<Member<Principal, Said>>();
  const byPrincipal = createIndexByKey<Member<Principal, Said>>();
  const turns = Array.from({ length: SPREAD }, () => new Set<Member<Principal, Said>>());
  const sockets = new Map<WebSocket, Peer<Principal, Said>>();
  const crowd = createCrowd(limits, (socket) =>
    end(socket, { code: CLOSED.silent, reason: 'Too many have not said who they are.' }),
  );
  let joined = 0;
  let turn = 0;

  const standings = createStandings<Principal, Member<Principal, Said>>({
    refused: (principals) => service.refused(principals),
    isMember: (member) => members.has(member),
    logger: fastify.log,
  });

  function ask({ socket, talk }: Member<Principal, Said>): void {
    if (!talk.alive) {
      socket.terminate();
      return;
    }
    talk.alive = false;
    talk.frames = 0;
    sayText(socket, PING);
  }

  /** A part of the members at a time, and of these some at a time: what arrives meanwhile is not kept waiting. */
  function beat(): void {
    turn = (turn + 1) % SPREAD;
    const due = turns[turn] ?? new Set();
    const left = [...due];
    const askSome = () => {
      for (const member of left.splice(0, ASKED_AT_ONCE)) if (members.has(member)) ask(member);
      if (left.length > 0) setImmediate(askSome);
    };
    askSome();
    standings.askSoon(due);
  }

  function forget(member: Member<Principal, Said>): void {
    members.delete(member);
    byPrincipal.remove(service.keyOf(member.principal), member);
    turns[member.turn]?.delete(member);
    standings.forget(member);
    member.conversation?.onLeave();
  }

  function admit(socket: WebSocket, talk: Talk, principal: Principal, hello: Hello): Member<Principal, Said> {
    joined = (joined + 1) % SPREAD;
    const member: Member<Principal, Said> = { socket, principal, talk, turn: joined, conversation: undefined };
    members.add(member);
    byPrincipal.add(service.keyOf(principal), member);
    turns[member.turn]?.add(member);
    member.conversation = service.join(new SocketConnection(principal, socket, limits.waiting_bytes), hello);
    // It may have lost its right while it was looked up.
    standings.askSoon([member]);
    return member;
  }

  async function meet(socket: WebSocket, talk: Talk, hello: Hello): Promise<Member<Principal, Said> | undefined> {
    const met = await service.meet(hello);
    if (socket.readyState !== socket.OPEN) return undefined;
    if ('refusal' in met) {
      end(socket, met.refusal);
      return undefined;
    }
    if (byPrincipal.of(service.keyOf(met.principal)).size >= limits.sockets_per_principal) {
      end(socket, { code: CLOSED.too_many, reason: 'Too many are open.' });
      return undefined;
    }
    return admit(socket, talk, met.principal, hello);
  }

  /** Before it has said who it is, nothing is kept for it that is larger than a hello. */
  function countRead({ socket, raw, entering }: Peer<Principal, Said>): void {
    if (entering === undefined || raw.bytesRead - entering.read_before <= channel.hello_bytes + FRAMING_BYTES) return;
    raw.off('data', entering.count);
    end(socket, { code: CLOSED.too_big, reason: 'A hello is shorter.' });
  }

  function become(peer: Peer<Principal, Said>, next: 'talking' | 'known'): void {
    const { entering, raw } = peer;
    if (entering === undefined || peer.state === next) return;
    peer.state = next;
    clearTimeout(entering.silence);
    raw.off('data', entering.count);
    if (next === 'talking') {
      crowd.talk(entering.stranger);
      return;
    }
    crowd.leave(entering.stranger);
    // It is as long open as its page: what letting it in took is kept no longer.
    peer.entering = undefined;
  }

  const refuseFrame = (socket: WebSocket) => end(socket, { code: CLOSED.malformed, reason: 'This frame is not understood.' });

  /** Whatever it says counts, the frames of the protocol itself too. */
  function isTooMuch({ socket, talk }: Peer<Principal, Said>): boolean {
    talk.frames += 1;
    if (talk.frames <= channel.frames_per_heartbeat) return false;
    end(socket, { code: CLOSED.malformed, reason: 'Too many frames.' });
    return true;
  }

  function leave(peer: Peer<Principal, Said>): void {
    sockets.delete(peer.socket);
    become(peer, 'known');
    if (peer.member !== undefined && members.has(peer.member)) forget(peer.member);
  }

  function hearHello(peer: Peer<Principal, Said>, json: unknown): void {
    const { socket } = peer;
    const hello = channel.hello.safeParse(json);
    if (!hello.success) {
      refuseFrame(socket);
      return;
    }
    become(peer, 'talking');
    meet(socket, peer.talk, hello.data).then(
      (met) => {
        peer.member = met;
        become(peer, 'known');
        // It may have gone meanwhile.
        if (socket.readyState !== socket.OPEN) leave(peer);
      },
      (error: unknown) => {
        logFailure(fastify.log, error, 'a peer of a socket could not be let in');
        end(socket, { code: CLOSED.failed, reason: 'Something went wrong on the server.' });
      },
    );
  }

  /** Whether a frame has as many bytes as it may, and is one of as many as there may be. */
  function isAllowed(peer: Peer<Principal, Said>, json: unknown, length: number): boolean {
    const { socket, state, takeLively } = peer;
    if (takeLively !== undefined && state === 'known' && isOfKind(json, lively?.kind)) {
      if (takeLively(Math.max(1, Math.ceil(length / KIB)))) return true;
      end(socket, { code: CLOSED.malformed, reason: 'Too many frames.' });
      return false;
    }
    if (isTooMuch(peer)) return false;
    if (length <= (state === 'silent' ? channel.hello_bytes : channel.frame_bytes)) return true;
    end(socket, { code: CLOSED.too_big, reason: 'A frame is shorter.' });
    return false;
  }

  function hear(peer: Peer<Principal, Said>, text: string): void {
    const { socket, state, talk, member } = peer;
    if (text.length > (state === 'silent' ? channel.hello_bytes : longest)) {
      end(socket, { code: CLOSED.too_big, reason: 'A frame is shorter.' });
      return;
    }
    const json = parseJson(text);
    if (!isAllowed(peer, json, text.length)) return;
    if (state === 'silent') {
      hearHello(peer, json);
      return;
    }
    if (pongSchema.safeParse(json).success) {
      talk.alive = true;
      return;
    }
    const said = readBounded(channel.said, json);
    // Nobody hears what is said before the welcome.
    if (!said.ok || member === undefined) {
      refuseFrame(socket);
      return;
    }
    talk.alive = true;
    member.conversation?.onFrame?.(said.value);
  }

  function accept(socket: WebSocket, request: FastifyRequest): void {
    letGo(socket, request.raw);
    const { socket: raw } = request.raw;
    const count = () => countRead(peer);
    const peer: Peer<Principal, Said> = {
      ...{ socket, raw, talk: { frames: 0, alive: true }, state: 'silent', member: undefined },
      takeLively: lively && createBucket(lively),
      entering: {
        stranger: { socket, source: sourceOf(request.ip) },
        silence: setTimeout(() => end(socket, { code: CLOSED.silent, reason: 'No hello in time.' }), limits.hello_ms),
        read_before: raw.bytesRead,
        count,
      },
    };
    sockets.set(socket, peer);
    if (peer.entering) crowd.enter(peer.entering.stranger);
    if (longest > channel.hello_bytes) raw.on('data', count);
    hearFrames(socket);
  }

  function onMessage(this: WebSocket, bytes: RawData, isBinary: boolean): void {
    const peer = sockets.get(this);
    if (!peer) return;
    try {
      hear(peer, isBinary ? '' : bytes.toString());
    } catch (error) {
      // One frame must not end the server, which nobody would catch this for.
      logFailure(fastify.log, error, 'a frame could not be taken in');
      end(this, { code: CLOSED.failed, reason: 'Something went wrong on the server.' });
    }
  }

  function onSign(this: WebSocket): void {
    const peer = sockets.get(this);
    if (peer) isTooMuch(peer);
  }

  function onClose(this: WebSocket): void {
    const peer = sockets.get(this);
    if (peer) leave(peer);
  }

  /** The same functions for all sockets: those of each would be kept as long as it is open. */
  function hearFrames(socket: WebSocket): void {
    socket.on('ping', onSign);
    socket.on('pong', onSign);
    socket.on('message', onMessage);
    socket.on('close', onClose);
  }

  fastify.get(
    `/api${channel.path}`,
    {
      websocket: true,
      onRequest: async (request, reply) => {
        noteAnswer(request, reply);
        const source = await admitRequest(request, { opening, public_url });
        if (crowd.isFull(source)) throw new Problem('too_many_requests', { retry_after: RETRY_AFTER_S });
      },
    },
    accept,
  );

  const heartbeat = setInterval(beat, limits.heartbeat_ms / SPREAD);
  heartbeat.unref();
  return {
    lookAgain: (key) => standings.askSoon(byPrincipal.of(key)),
    open: () => ({ known: members.size, strangers: sockets.size - members.size }),

    close() {
      clearInterval(heartbeat);
      for (const socket of sockets.keys()) end(socket, { code: CLOSED.going_away, reason: 'The server is stopping.' });
    },
  };
}

/** A connection from its first byte on. */
interface Peer<Principal, Said> {
  socket: WebSocket;
  raw: Socket;
  talk: Talk;
  state: 'silent' | 'talking' | 'known';
  /** Once it has been let in. */
  member: Member<Principal, Said> | undefined;
  takeLively: ((much: number) => boolean) | undefined;
  /** Until it is known who it is, or it is gone. `read_before`: bytes of its connection before the first of its own; `count` is called when more come. */
  entering: { stranger: Stranger; silence: NodeJS.Timeout; read_before: number; count: () => void } | undefined;
}
