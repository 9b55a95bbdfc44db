import type { Socket } from 'node:net';
import { CLOSED } from '@palisade/contract/channel';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RawData, WebSocket } from 'ws';
import { z } from 'zod';
import { logFailure } from '#platform/database-patience.ts';
import { readBounded } from '#platform/json-body.ts';
import { sourceOf } from '#platform/origin.ts';
import { Problem } from '#platform/problem.ts';
import type { ChannelService, Connection, Conversation, SocketLimits, SocketParts, Sockets } from './channel-service.ts';
import { createBucket, end, isOfKind, parseJson, type Refusal, say, sayText } from './frames.ts';
import { createIndexByKey } from './index-by-key.ts';
import { createSocketAdmission, type SocketAdmission, type Stranger } from './socket-admission.ts';
import { admitRequest, letGo, noteAnswer } from './socket-request.ts';
import { createStandings, type Standings } from './standing.ts';

const RETRY_AFTER_S = 5;

/** Bytes on the wire that the first frame may take besides its content: headers of its fragments (RFC 6455 section 5.2), and pings before it. */
const FRAMING_BYTES = 1024;

/** Number of groups that heartbeats are spread over, so that not all sockets are due at once. */
const SPREAD = 100;

/** Number of peers that are pinged before the event loop runs other work. */
const ASKED_AT_ONCE = 10;

const PING = Buffer.from(JSON.stringify({ kind: 'ping' }));

const pongSchema = z.object({ kind: z.literal('pong') });

const KIB = 1024;

/** A socket's frame count since the last heartbeat. */
interface Talk {
  frames: number;
  alive: boolean;
}

/** Internal state of an admitted connection. */
interface Member<Principal, Said> {
  socket: WebSocket;
  principal: Principal;
  talk: Talk;
  /** The heartbeat group. */
  turn: number;
  /** Undefined until it has joined. */
  conversation: Conversation<Said> | undefined;
}

/** There is one for each open page, so its methods are on the prototype and not closures. */
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

interface SocketListeners {
  message(this: WebSocket, bytes: RawData, isBinary: boolean): void;
  sign(this: WebSocket): void;
  close(this: WebSocket): void;
}

/** Listeners shared by all sockets: each gets its socket from the event. */
function listenersOf(heard: {
  onMessage: (socket: WebSocket, bytes: RawData, isBinary: boolean) => void;
  onSign: (socket: WebSocket) => void;
  onClose: (socket: WebSocket) => void;
}): SocketListeners {
  return {
    message(bytes, isBinary) {
      heard.onMessage(this, bytes, isBinary);
    },
    sign() {
      heard.onSign(this);
    },
    close() {
      heard.onClose(this);
    },
  };
}

function ask({ socket, talk }: Pick<Member<unknown, unknown>, 'socket' | 'talk'>): void {
  if (!talk.alive) {
    socket.terminate();
    return;
  }
  talk.alive = false;
  talk.frames = 0;
  sayText(socket, PING);
}

const refuseFrame = (socket: WebSocket) => end(socket, { code: CLOSED.malformed, reason: 'We can’t read this frame.' });

/**
 * Serves one channel (contract/src/channel.ts): checks the origin and number of new sockets, authenticates by the first frame, bounds sizes and rates, spreads heartbeats
 * over time, drops peers that do not read, and checks in batches whether each principal may still be connected.
 */
class ChannelSockets<Principal, Hello, Said, Told> implements Sockets {
  private readonly fastify: FastifyInstance;
  private readonly service: ChannelService<Principal, Hello, Said, Told>;
  private readonly limits: SocketLimits;
  private readonly channel: ChannelService<Principal, Hello, Said, Told>['channel'];
  private readonly lively: ChannelService<Principal, Hello, Said, Told>['channel']['lively'];
  /** Length limit of frames other than the first. */
  private readonly longest: number;
  private readonly members = new Set<Member<Principal, Said>>();
  private readonly byPrincipal = createIndexByKey<Member<Principal, Said>>();
  private readonly turns = Array.from({ length: SPREAD }, () => new Set<Member<Principal, Said>>());
  private readonly sockets = new Map<WebSocket, Peer<Principal, Said>>();
  private readonly admission: SocketAdmission;
  private joined = 0;
  private turn = 0;
  private readonly standings: Standings<Member<Principal, Said>>;
  /** Shared by all sockets: separate closures would use memory for as long as each socket is open. */
  private readonly listeners: SocketListeners;
  private readonly heartbeat: NodeJS.Timeout;

  constructor(fastify: FastifyInstance, service: ChannelService<Principal, Hello, Said, Told>, options: SocketParts) {
    this.fastify = fastify;
    this.service = service;
    this.limits = options.limits;
    this.channel = this.service.channel;
    this.lively = this.channel.lively;
    this.longest = Math.max(this.channel.frame_bytes, this.lively?.bytes ?? 0);
    this.admission = createSocketAdmission(this.limits, (socket) =>
      end(socket, { code: CLOSED.silent, reason: 'Too many connections aren’t signed in.' }),
    );
    this.standings = createStandings<Principal, Member<Principal, Said>>({
      refused: (principals) => this.service.refused(principals),
      isMember: (member) => this.members.has(member),
      logger: this.fastify.log,
    });
    this.listeners = listenersOf({ onMessage: this.onMessage, onSign: this.onSign, onClose: this.onClose });
    this.fastify.get(
      `/api${this.channel.path}`,
      {
        websocket: true,
        onRequest: async (request, reply) => {
          noteAnswer(request, reply);
          const source = await admitRequest(request, { opening: options.opening, public_url: options.public_url });
          if (this.admission.isFull(source)) throw new Problem('too_many_requests', { retry_after: RETRY_AFTER_S });
        },
      },
      this.accept,
    );
    this.heartbeat = setInterval(this.beat, this.limits.heartbeat_ms / SPREAD);
    this.heartbeat.unref();
  }

  /** Checks one group of members, in small batches, so that arriving frames are not kept waiting. */
  private readonly beat = (): void => {
    this.turn = (this.turn + 1) % SPREAD;
    const due = this.turns[this.turn] ?? new Set();
    const left = [...due];
    const askSome = () => {
      for (const member of left.splice(0, ASKED_AT_ONCE)) if (this.members.has(member)) ask(member);
      if (left.length > 0) setImmediate(askSome);
    };
    askSome();
    this.standings.askSoon(due);
  };

  private forget(member: Member<Principal, Said>): void {
    this.members.delete(member);
    this.byPrincipal.remove(this.service.keyOf(member.principal), member);
    this.turns[member.turn]?.delete(member);
    this.standings.forget(member);
    member.conversation?.onLeave();
  }

  private admit(socket: WebSocket, talk: Talk, principal: Principal, hello: Hello): Member<Principal, Said> {
    this.joined = (this.joined + 1) % SPREAD;
    const member: Member<Principal, Said> = { socket, principal, talk, turn: this.joined, conversation: undefined };
    this.members.add(member);
    this.byPrincipal.add(this.service.keyOf(principal), member);
    this.turns[member.turn]?.add(member);
    member.conversation = this.service.join(new SocketConnection(principal, socket, this.limits.waiting_bytes), hello);
    // The principal may have lost its access during the lookup.
    this.standings.askSoon([member]);
    return member;
  }

  private async meet(socket: WebSocket, talk: Talk, hello: Hello): Promise<Member<Principal, Said> | undefined> {
    const met = await this.service.meet(hello);
    if (socket.readyState !== socket.OPEN) return undefined;
    if ('refusal' in met) {
      end(socket, met.refusal);
      return undefined;
    }
    if (this.byPrincipal.of(this.service.keyOf(met.principal)).size >= this.limits.sockets_per_principal) {
      end(socket, { code: CLOSED.too_many, reason: 'Too many connections are open.' });
      return undefined;
    }
    return this.admit(socket, talk, met.principal, hello);
  }

  /** Before authentication, at most the size of a hello is buffered. */
  private countRead({ socket, raw, entering }: Peer<Principal, Said>): void {
    if (entering === undefined || raw.bytesRead - entering.read_before <= this.channel.hello_bytes + FRAMING_BYTES) return;
    raw.off('data', entering.count);
    end(socket, { code: CLOSED.too_big, reason: 'The greeting is too long.' });
  }

  private become(peer: Peer<Principal, Said>, next: 'talking' | 'known'): void {
    const { entering, raw } = peer;
    if (entering === undefined || peer.state === next) return;
    peer.state = next;
    clearTimeout(entering.silence);
    raw.off('data', entering.count);
    if (next === 'talking') {
      this.admission.talk(entering.stranger);
      return;
    }
    this.admission.leave(entering.stranger);
    // The connection may stay open for hours: free what only its admission needed.
    peer.entering = undefined;
  }

  /** Counts all frames, including control frames. */
  private isTooMuch({ socket, talk }: Peer<Principal, Said>): boolean {
    talk.frames += 1;
    if (talk.frames <= this.channel.frames_per_heartbeat) return false;
    end(socket, { code: CLOSED.malformed, reason: 'Too many frames.' });
    return true;
  }

  private leave(peer: Peer<Principal, Said>): void {
    this.sockets.delete(peer.socket);
    this.become(peer, 'known');
    if (peer.member !== undefined && this.members.has(peer.member)) this.forget(peer.member);
  }

  private hearHello(peer: Peer<Principal, Said>, json: unknown): void {
    const { socket } = peer;
    const hello = this.channel.hello.safeParse(json);
    if (!hello.success) {
      refuseFrame(socket);
      return;
    }
    this.become(peer, 'talking');
    this.meet(socket, peer.talk, hello.data).then(
      (met) => {
        peer.member = met;
        this.become(peer, 'known');
        // The socket may have closed in the meantime.
        if (socket.readyState !== socket.OPEN) this.leave(peer);
      },
      (error: unknown) => {
        logFailure(this.fastify.log, error, 'could not admit a peer of a socket');
        end(socket, { code: CLOSED.failed, reason: 'Something went wrong on the server.' });
      },
    );
  }

  /** Whether a frame is within the limits of size and rate. */
  private isAllowed(peer: Peer<Principal, Said>, json: unknown, length: number): boolean {
    const { socket, state, takeLively } = peer;
    if (takeLively !== undefined && state === 'known' && isOfKind(json, this.lively?.kind)) {
      if (takeLively(Math.max(1, Math.ceil(length / KIB)))) return true;
      end(socket, { code: CLOSED.malformed, reason: 'Too many frames.' });
      return false;
    }
    if (this.isTooMuch(peer)) return false;
    if (length <= (state === 'silent' ? this.channel.hello_bytes : this.channel.frame_bytes)) return true;
    end(socket, { code: CLOSED.too_big, reason: 'The frame is too long.' });
    return false;
  }

  private hear(peer: Peer<Principal, Said>, text: string): void {
    const { socket, state, talk, member } = peer;
    if (text.length > (state === 'silent' ? this.channel.hello_bytes : this.longest)) {
      end(socket, { code: CLOSED.too_big, reason: 'The frame is too long.' });
      return;
    }
    const json = parseJson(text);
    if (!this.isAllowed(peer, json, text.length)) return;
    if (state === 'silent') {
      this.hearHello(peer, json);
      return;
    }
    if (pongSchema.safeParse(json).success) {
      talk.alive = true;
      return;
    }
    const said = readBounded(this.channel.said, json);
    // Frames before the welcome are refused.
    if (!said.ok || member === undefined) {
      refuseFrame(socket);
      return;
    }
    talk.alive = true;
    member.conversation?.onFrame?.(said.value);
  }

  private readonly accept = (socket: WebSocket, request: FastifyRequest): void => {
    letGo(socket, request.raw);
    const { socket: raw } = request.raw;
    const count = () => this.countRead(peer);
    const peer: Peer<Principal, Said> = {
      socket,
      raw,
      talk: { frames: 0, alive: true },
      state: 'silent',
      member: undefined,
      takeLively: this.lively && createBucket(this.lively),
      entering: {
        stranger: { socket, source: sourceOf(request.ip) },
        silence: setTimeout(
          () => end(socket, { code: CLOSED.silent, reason: 'The greeting came too late.' }),
          this.limits.hello_ms,
        ),
        read_before: raw.bytesRead,
        count,
      },
    };
    this.sockets.set(socket, peer);
    if (peer.entering) this.admission.enter(peer.entering.stranger);
    if (this.longest > this.channel.hello_bytes) raw.on('data', count);
    this.hearFrames(socket);
  };

  private readonly onMessage = (socket: WebSocket, bytes: RawData, isBinary: boolean): void => {
    const peer = this.sockets.get(socket);
    if (!peer) return;
    try {
      this.hear(peer, isBinary ? '' : bytes.toString());
    } catch (error) {
      // An error in one frame must not end the server: no caller would catch it.
      logFailure(this.fastify.log, error, 'could not read a frame');
      end(socket, { code: CLOSED.failed, reason: 'Something went wrong on the server.' });
    }
  };

  private readonly onSign = (socket: WebSocket): void => {
    const peer = this.sockets.get(socket);
    if (peer) this.isTooMuch(peer);
  };

  private readonly onClose = (socket: WebSocket): void => {
    const peer = this.sockets.get(socket);
    if (peer) this.leave(peer);
  };

  private hearFrames(socket: WebSocket): void {
    socket.on('ping', this.listeners.sign);
    socket.on('pong', this.listeners.sign);
    socket.on('message', this.listeners.message);
    socket.on('close', this.listeners.close);
  }

  /** Checks the sockets of a principal again. */
  lookAgain(key: string): void {
    this.standings.askSoon(this.byPrincipal.of(key));
  }

  /** The counts of authenticated peers and of others. */
  open(): { known: number; strangers: number } {
    return { known: this.members.size, strangers: this.sockets.size - this.members.size };
  }

  /** Closes every socket and tells its peer to reconnect to another server. */
  close(): void {
    clearInterval(this.heartbeat);
    for (const socket of this.sockets.keys()) end(socket, { code: CLOSED.going_away, reason: 'The server is stopping.' });
  }
}

export function serveSocket<Principal, Hello, Said, Told>(
  fastify: FastifyInstance,
  service: ChannelService<Principal, Hello, Said, Told>,
  options: SocketParts,
): Sockets {
  return new ChannelSockets(fastify, service, options);
}

/** A connection, from its first byte. */
interface Peer<Principal, Said> {
  socket: WebSocket;
  raw: Socket;
  talk: Talk;
  state: 'silent' | 'talking' | 'known';
  /** Set once the peer has been admitted. */
  member: Member<Principal, Said> | undefined;
  takeLively: ((much: number) => boolean) | undefined;
  /** State until the peer is authenticated or gone. `read_before`: bytes that the connection had read before its first frame; `count` is called when more arrive. */
  entering: { stranger: Stranger; silence: NodeJS.Timeout; read_before: number; count: () => void } | undefined;
}
